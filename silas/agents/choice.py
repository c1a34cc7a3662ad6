"""Which model serves which role: one line of configuration each (spec 11, decision A21)."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from silas.types import FrozenModel

OutputSetting = Literal["auto", "tool", "native", "prompted"]
"""How a model is made to answer in form.

`tool`: it calls an output tool. `native`: the server constrains the answer to a JSON schema.
`prompted`: the schema stands in the prompt. `auto`: what the model's profile prefers, and one
other form if that one fails.
"""

OutputMode = Literal["tool", "native", "prompted"]
"""An `OutputSetting` that says which; `auto` chooses among these."""

ToolsSetting = Literal["auto", "none"]
"""Whether a model is offered tools to call.

`auto`: yes, until its server says that it takes none. `none`: never; it asks for a call in an
answer of its own, one step at a time.
"""

RUNBOOK = "runbook"
"""The name of the deterministic model that needs no key and no network."""


def _name_only(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


class ModelChoice(FrozenModel):
    """One model. A plain string is read as its name.

    Attributes:
        name: Any PydanticAI name (`openrouter:...`, `anthropic:...`, `openai:...`, `ollama:...`),
            `runbook`, or `python:package.module:factory`; with `base_url` the server's own name.
        base_url: An OpenAI-compatible endpoint, such as `http://127.0.0.1:8080/v1`.
        api_key_env: The environment variable that holds the key. Empty: the provider's own
            variable; with `base_url` no key is sent.
        output: How the model is made to answer in form.
        tools: Whether it is offered tools to call; `none` for a server that takes none.
        timeout_seconds: Until a whole answer is there, sending and waiting included.
        first_token_seconds: Until an answer that is streamed begins.
        max_tokens: Longest answer; null is 4,096 for the proxy, 8,192 for planner and executor,
            1,024 for the scorer.
        temperature: Null is the provider's; on the owner's own server 0 for proxy, planner and
            scorer, 0.2 for the executor and workers.
        fallback: Who is asked where this one cannot be reached or refuses the key; null: nobody.
    """

    name: str = Field(min_length=1)
    base_url: str = ""
    api_key_env: str = ""
    output: OutputSetting = "auto"
    tools: ToolsSetting = "auto"
    timeout_seconds: float = Field(default=300.0, gt=0)
    first_token_seconds: float = Field(default=120.0, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    fallback: Annotated["ModelChoice | None", BeforeValidator(_name_only)] = None

    @model_validator(mode="after")
    def _one_stands_in(self) -> "ModelChoice":
        if self.fallback is not None and self.fallback.fallback is not None:
            raise ValueError("fallback must not have a fallback of its own")
        return self

    @model_validator(mode="after")
    def _an_output_tool_is_a_tool(self) -> "ModelChoice":
        if self.tools == "none" and self.output == "tool":
            raise ValueError("output: tool needs tools; with tools: none use native or prompted")
        return self

    @model_validator(mode="after")
    def _endpoint_serves_a_network_model(self) -> "ModelChoice":
        local = self.name == RUNBOOK or self.name.startswith("python:")
        if local and (self.base_url or self.api_key_env):
            raise ValueError(f"{self.name} takes neither base_url nor api_key_env")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError("base_url must start with http:// or https://")
        return self


Choice = Annotated[ModelChoice, BeforeValidator(_name_only)]
"""A `ModelChoice`, or just its name."""


class ModelsConfig(FrozenModel):
    """The `models:` section. Every role defaults to the model that needs nothing."""

    proxy: Choice = ModelChoice(name=RUNBOOK)
    planner: Choice = ModelChoice(name=RUNBOOK)
    executor: Choice = ModelChoice(name=RUNBOOK)
    scorer: Choice = ModelChoice(name=RUNBOOK)


_FAST = ModelChoice(name="openrouter:anthropic/claude-haiku-4-5")
_STRONG = ModelChoice(name="openrouter:anthropic/claude-sonnet-5.5")


PROVIDER_KEY = "OPENROUTER_API_KEY"
"""The variable with OpenRouter's key; the secret of this name counts where it is not set."""


def default_models(environ: Mapping[str, str], *, key_stored: bool = False) -> ModelsConfig:
    """Hosted models where OpenRouter's key is there, else `runbook` for every role (spec 11, D425).

    Args:
        environ: Where `OPENROUTER_API_KEY` may be set.
        key_stored: Whether the owner chose OpenRouter at the first run and its key is a secret.
    """
    if not (key_stored or environ.get(PROVIDER_KEY, "").strip()):
        return ModelsConfig()
    return ModelsConfig(proxy=_FAST, planner=_STRONG, executor=_FAST, scorer=_FAST)
