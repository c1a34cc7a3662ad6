"""Which providers and models PydanticAI knows by name, and which known name is nearest."""

import difflib
from collections.abc import Sequence
from typing import get_args

from pydantic_ai.models import KnownModelName
from pydantic_ai.providers import infer_provider_class

from silas.agents.choice import ModelChoice

_UNLISTED = (
    "alibaba",
    "azure",
    "fireworks",
    "github",
    "litellm",
    "nebius",
    "ollama",
    "openai-responses",
    "openrouter",
    "ovhcloud",
    "sambanova",
    "together",
    "vercel",
    "vllm",
)
"""Providers of which PydanticAI lists no model; for hints alone, it decides itself."""

_KNOWN = tuple(str(name) for name in get_args(KnownModelName.__value__))
_LISTED = frozenset(one.partition(":")[0] for one in _KNOWN if ":" in one)
_MAKERS = ("anthropic:", "openai:", "google:", "mistral:", "groq:", "deepseek:", "xai:")
"""Whose models are suggested where a name has no provider: each is there under its own name."""

_SOME = ", ".join(sorted({*(one.removesuffix(":") for one in _MAKERS), "ollama", "openrouter"}))
PROVIDERS = tuple(sorted({*_LISTED, *_UNLISTED}))


def provider_fault(choice: ModelChoice) -> str:
    """Why nobody can be asked for this model: a clause; empty where its provider is known.

    A model with a `base_url` has no provider, whatever its name.
    """
    if choice.base_url or choice.name in _KNOWN:
        return ""
    provider, colon, model = choice.name.partition(":")
    if not colon:
        by_model = {one.partition(":")[2]: one for one in _KNOWN if one.startswith(_MAKERS)}
        near = by_model.get(_nearest(choice.name, tuple(by_model)), "openrouter:VENDOR/MODEL")
        return f"it names no provider; write `provider:model`, such as {near}, or set `base_url`"
    if _known_provider(provider):
        return "" if model else f"it names no model of {provider}"
    near = _nearest(provider, PROVIDERS)
    hint = f"the nearest is {near}" if near else f"known are, among others, {_SOME}"
    return f"there is no provider {provider!r}; {hint}"


def unlisted_model(choice: ModelChoice) -> str:
    """Advice about a model that PydanticAI does not list for its provider; empty where it does.

    It may exist all the same: providers add models faster than a list does.
    """
    provider, _, model = choice.name.partition(":")
    if choice.base_url or choice.name in _KNOWN or not model or provider not in _LISTED:
        return ""
    of_provider = [one for one in _KNOWN if one.startswith(f"{provider}:")]
    near = _nearest(choice.name, of_provider)
    hint = f" (the nearest is {near})" if near else ""
    return f"{model} is not among the known models of {provider}{hint}"


def _known_provider(provider: str) -> bool:
    try:
        infer_provider_class(provider)
    except ImportError:
        return True  # it is known; what is missing is its package
    except Exception:
        return False
    return True


def _nearest(word: str, known: Sequence[str]) -> str:
    return next(iter(difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.5)), "")
