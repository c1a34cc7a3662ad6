"""Providers whose key stands in the environment: the variable's name, and which model to offer."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic_ai.providers import infer_provider_class

from silas.agents.choice import ModelChoice


class HostedProvider(NamedTuple):
    """A company whose models are asked over the internet.

    Attributes:
        variable: The environment variable that holds a key; its value is never read here.
        company: Who gets what the model is shown.
        model: The name that is offered; another one is typed.
    """

    variable: str
    company: str
    model: str

    @property
    def prefix(self) -> str:
        """What its models' names begin with."""
        return self.model.partition(":")[0]


HOSTED = (
    HostedProvider("OPENROUTER_API_KEY", "OpenRouter", "openrouter:anthropic/claude-sonnet-5.5"),
    HostedProvider("ANTHROPIC_API_KEY", "Anthropic", "anthropic:claude-sonnet-5-5"),
    HostedProvider("OPENAI_API_KEY", "OpenAI", "openai:gpt-6.1-sol"),
    HostedProvider("GOOGLE_API_KEY", "Google", "google:gemini-3.8-flash"),
    HostedProvider("GEMINI_API_KEY", "Google", "google:gemini-3.8-flash"),
    HostedProvider("DEEPSEEK_API_KEY", "DeepSeek", "deepseek:deepseek-v4-pro"),
    HostedProvider("MISTRAL_API_KEY", "Mistral", "mistral:mistral-large-latest"),
    HostedProvider("GROQ_API_KEY", "Groq", "groq:openai/gpt-oss-120b"),
    HostedProvider("XAI_API_KEY", "xAI", "xai:grok-4.3"),
)
"""In the order in which they are offered; of two variables of one provider the first counts."""


def keys_present(environ: Mapping[str, str]) -> tuple[HostedProvider, ...]:
    """The providers whose variable is set, each provider once."""
    found = {one.prefix: one for one in reversed(HOSTED) if environ.get(one.variable, "").strip()}
    return tuple(one for one in HOSTED if found.get(one.prefix) is one)


def hosted_by(choice: ModelChoice) -> HostedProvider | None:
    """The provider that a name belongs to; None for a server of its own or another provider."""
    prefix = choice.name.partition(":")[0]
    mine = [one for one in HOSTED if one.prefix == prefix and not choice.base_url]
    named = [one for one in mine if one.variable == choice.api_key_env]
    return next(iter(named or mine), None)


def missing_package(model: str) -> str:
    """What to install before a provider's model can be asked, with the pip line; empty if there."""
    try:
        infer_provider_class(model.partition(":")[0])
    except ImportError as error:
        _, _, line = str(error).partition("`pip ")
        return f"pip {line.rstrip('`')}" if line else str(error)
    return ""
