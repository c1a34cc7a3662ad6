"""Making the model that one line of configuration names (contract "Model names").

With `base_url` no key is sent unless one is named. A server that reports no usage is charged an
estimate, since a token budget would mean nothing otherwise.
"""

import importlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from pydantic_ai.exceptions import UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings, merge_model_settings
from pydantic_ai.usage import RequestUsage

from silas.agents.choice import RUNBOOK, ModelChoice
from silas.agents.jsoncalls import JsonCallsModel
from silas.agents.providers.fallback_model import FallbackModel
from silas.agents.providers.known_names import provider_fault
from silas.agents.providers.output_modes import NOTHING_KEPT, ModeMemory
from silas.errors import ConfigError

OLLAMA_URL = "http://127.0.0.1:11434/v1"
"""Where Ollama listens unless `base_url` or `OLLAMA_BASE_URL` says otherwise."""

_CODE = "E_CFG_MODEL"
# Prefixes that may stand before a name although `base_url` already says which server it is;
# any other colon belongs to the name itself (`qwen3:8b`).
_OPENAI_PREFIXES = ("openai:", "openai-chat:")
_WANTED_VARIABLE = re.compile(r"Set the `([A-Z][A-Z0-9_]*)` environment variable")
_CLIENT_LATER = 5.0
"""Seconds after `timeout_seconds` that a client gives up by itself, which it would after 600."""

_BYTES_PER_TOKEN = 3  # of JSON; low, so that an estimate is rather too high than too low


class ConfiguredModel(WrapperModel):
    """A model with the settings of its choice, whose answers always carry a token count.

    The provider client's own retries are off: waiting is done in one place, through the Clock.
    Servers that report no usage would make a token budget meaningless, so their answers are
    charged with an estimate from the size of what was exchanged.
    """

    def __init__(
        self,
        wrapped: Model,
        settings: ModelSettings,
        own_server: bool,
        modes: ModeMemory,
        *,
        takes_tools: bool,
    ) -> None:
        super().__init__(wrapped)
        self._chosen = settings
        self.own_server = own_server
        self.modes = modes
        self.takes_tools = takes_tools

    @property
    def settings(self) -> ModelSettings | None:
        """The wrapped model's settings under those of the choice."""
        return merge_model_settings(self.wrapped.settings, self._chosen)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One request; usage is estimated where the server reports none."""
        try:
            response = await super().request(messages, model_settings, model_request_parameters)
        except (IndexError, KeyError, AttributeError):
            # The adapters reach into the answer, and a server may send one without any choices.
            # The cause is left out because the model is told the last one.
            raise UnexpectedModelBehavior("the server's answer is incomplete") from None
        return add_cost(response, messages)


def is_own_server(model: Model) -> bool:
    """Whether a model is asked at a server that the owner names (`base_url`, Ollama)."""
    first = _first(model)
    return isinstance(first, ConfiguredModel) and first.own_server


def takes_tools(model: Model) -> bool:
    """Whether a model may be offered tools, as far as its configuration says."""
    first = _first(model)
    return not isinstance(first, ConfiguredModel) or first.takes_tools


def mode_memory(model: Model) -> ModeMemory:
    """Where it is kept which output mode works with this model."""
    first = _first(model)
    return first.modes if isinstance(first, ConfiguredModel) else NOTHING_KEPT


def _first(model: Model) -> Model:
    while isinstance(model, FallbackModel):
        model = model.wrapped
    return model


def add_cost(response: ModelResponse, messages: list[ModelMessage]) -> ModelResponse:
    """The answer with what it cost; an estimate where the server did not say."""
    if response.usage.unmeasured_requests:
        response.usage = RequestUsage(
            input_tokens=_estimate(messages), output_tokens=_estimate([response])
        )
    return response


def _estimate(messages: list[ModelMessage]) -> int:
    return len(ModelMessagesTypeAdapter.dump_json(messages)) // _BYTES_PER_TOKEN + 1


def make_model(
    choice: ModelChoice,
    *,
    runbook: Callable[[], Model],
    environ: Mapping[str, str] = os.environ,
    modes: ModeMemory = NOTHING_KEPT,
) -> Model:
    """The model a choice names, ready to be asked. Enter it (`async with`) to close its client.

    Args:
        choice: Name and settings.
        runbook: Makes the built-in model.
        environ: Where `api_key_env` is looked up. A provider's own variable is read by PydanticAI
            from the process environment.
        modes: Where it is kept which output mode works with which server.

    Raises:
        ConfigError: `E_CFG_MODEL`: unknown name, missing key, missing package, or a factory that
            does not make a model; the sentence says what to set or install.
    """
    if choice.fallback is not None:
        alone = choice.model_copy(update={"fallback": None})
        first, other = (
            make_model(one, runbook=runbook, environ=environ, modes=modes)
            for one in (alone, choice.fallback)
        )
        if not takes_tools(other):  # the first may take them
            other = JsonCallsModel(other, root_union=is_own_server(other))
        return FallbackModel(first, other)
    if choice.name == RUNBOOK:
        return runbook()
    if choice.name.startswith("python:"):
        made = _from_factory(choice.name)
    else:
        made = _from_provider(choice, _key(choice, environ))
    return ConfiguredModel(
        made,
        _settings(choice, made),
        bool(server_of(choice)),
        modes,
        takes_tools=choice.tools != "none",
    )


def _settings(choice: ModelChoice, model: Model) -> ModelSettings:
    wanted = ModelSettings(
        request_timeout=choice.timeout_seconds,
        timeout=choice.timeout_seconds + _CLIENT_LATER,
        first_event_timeout=choice.first_token_seconds,
        max_retries=0,
    )
    if choice.max_tokens is not None:
        wanted["max_tokens"] = choice.max_tokens
    if choice.temperature is not None:
        wanted["temperature"] = choice.temperature
    for name in model.unsupported_settings & {"max_retries", "timeout"}:
        del wanted[name]  # it would warn at every request
    return wanted


def _key(choice: ModelChoice, environ: Mapping[str, str]) -> str:
    if not choice.api_key_env:
        return ""
    key = environ.get(choice.api_key_env, "").strip()
    if not key:
        raise ConfigError(
            f"The model {choice.name!r} takes its key from {choice.api_key_env}, which is not set; "
            f"export {choice.api_key_env} or remove `api_key_env`.",
            code=_CODE,
        )
    return key


def _from_provider(choice: ModelChoice, key: str) -> Model:
    if fault := provider_fault(choice):
        raise ConfigError(f"The model {choice.name!r} cannot be used: {fault}.", code=_CODE)
    try:
        if choice.name.startswith("ollama:"):
            return _ollama(choice, key)
        if choice.base_url:
            return _openai_compatible(choice, key)
        return infer_model(choice.name, _provider_factory(key))
    except ImportError as error:
        raise ConfigError(
            f"The model {choice.name!r} needs a package that is not installed: {error}.",
            code=_CODE,
        ) from error
    except (UserError, ValueError, TypeError) as error:
        if wanted := _WANTED_VARIABLE.match(str(error)):
            raise ConfigError(
                f"The model {choice.name!r} needs {wanted[1]}, which is not set; export it, or "
                "name another variable in `api_key_env`; `runbook` needs no key.",
                code=_CODE,
            ) from error
        raise ConfigError(
            f"The model {choice.name!r} cannot be used: {_first_line(error)} "
            "Set the key or correct the name under `models:`; `runbook` needs neither.",
            code=_CODE,
        ) from error
    except Exception as error:
        # provider clients refuse a missing key with an error of their own package
        if not type(error).__module__.startswith(("openai", "anthropic", "groq", "google")):
            raise
        raise ConfigError(
            f"The model {choice.name!r} cannot be used: {_first_line(error)}", code=_CODE
        ) from error


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    line = text.splitlines()[0]
    return line if line.endswith((".", "!", "?")) else line + "."


def _provider_factory(key: str) -> Callable[[str], Provider[Any]]:
    if not key:
        return infer_provider  # reads the provider's own environment variable

    def with_key(name: str) -> Provider[Any]:
        made = cast(Callable[..., Provider[Any]], infer_provider_class(name))  # signatures vary
        return made(api_key=key)

    return with_key


def _openai_compatible(choice: ModelChoice, key: str) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - heavy, one provider
    from pydantic_ai.providers.openai_compatible import (  # noqa: PLC0415 - heavy, one provider
        OpenAICompatibleProvider,
    )

    # never OpenAIProvider: that would send OPENAI_API_KEY to whatever `base_url` names
    provider = OpenAICompatibleProvider(
        "openai-compatible",
        base_url=choice.base_url,
        api_key=key or None,
        profile=_OF_A_SERVER,
    )
    name = choice.name
    for prefix in _OPENAI_PREFIXES:
        name = name.removeprefix(prefix)
    return OpenAIChatModel(name, provider=provider)


_OF_A_SERVER: Final = OpenAIModelProfile(
    supports_json_schema_output=True,
    supports_json_object_output=True,
    openai_chat_supports_multiple_system_messages=False,
)
"""PydanticAI goes by the vendor in a name such as `Qwen/Qwen3-8B`, and says of most that they
cannot keep to a schema. It is the server that makes them: vLLM, llama.cpp, LM Studio. Chat
templates of many models refuse a second system message."""


def server_of(choice: ModelChoice) -> str:
    """The address of a server that is the owner's own to run; empty for a provider's."""
    if choice.name.startswith("ollama:"):
        return choice.base_url or os.environ.get("OLLAMA_BASE_URL") or OLLAMA_URL
    return choice.base_url


def at_low_temperature(choice: ModelChoice, role: str) -> ModelChoice:
    """The choice with a low temperature where the owner's own server is asked and he sets none.

    Such servers sample at 0.7 to 1.0 by themselves, at which small models answer out of form; what
    providers host is left as it is, because some of their models refuse the setting.
    """
    other = None if choice.fallback is None else at_low_temperature(choice.fallback, role)
    low = _TEMPERATURES[role] if server_of(choice) else None
    wanted = low if choice.temperature is None else choice.temperature
    return choice.model_copy(update={"temperature": wanted, "fallback": other})


_TEMPERATURES: Final = {"proxy": 0.0, "planner": 0.0, "executor": 0.2, "scorer": 0.0}
"""An executor that is stuck should not say the same again."""


def _ollama(choice: ModelChoice, key: str) -> Model:
    from pydantic_ai.models.ollama import OllamaModel  # noqa: PLC0415 - heavy, one provider
    from pydantic_ai.providers.ollama import OllamaProvider  # noqa: PLC0415 - heavy, one provider

    provider = OllamaProvider(base_url=server_of(choice), api_key=key or None)
    return OllamaModel(choice.name.removeprefix("ollama:"), provider=provider)


def _from_factory(name: str) -> Model:
    module, _, attribute = name.removeprefix("python:").partition(":")
    if not module or not attribute:
        raise ConfigError(
            f"The model {name!r} must be written python:package.module:factory.", code=_CODE
        )
    try:
        factory = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"The model {name!r} cannot be loaded: {_first_line(error)}", code=_CODE
        ) from error
    made = cast(object, factory() if callable(factory) else factory)
    if not isinstance(made, Model):
        raise ConfigError(
            f"The factory of {name!r} made a {type(made).__name__}; "
            "it must return a pydantic_ai.models.Model.",
            code=_CODE,
        )
    return cast(Model, made)  # narrowed to Model[Unknown]
