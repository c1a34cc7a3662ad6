"""What is told where a model fails: which role and model it was, where it is asked, and why."""

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    OutputTokenLimitExceeded,
)
from pydantic_ai.messages import ModelMessage, ModelResponse

from silas.context import flatten_line
from silas.errors import LLMError, SilasError, from_foreign

_LONGEST: Final = 300  # characters of a server's own sentence
_QUOTED: Final = frozenset(
    {
        "E_LLM_API",
        "E_LLM_CONTEXT",
        "E_LLM_MODEL",
        "E_LLM_OVERLOADED",
        "E_LLM_QUOTA",
        "E_LLM_RATE_LIMIT",
        "E_LLM_REFUSED",
    }
)
"""Failures whose cause only the server knows. It never quotes there the key that it refuses."""

_OWN_DETAIL: Final = frozenset({"E_LLM_BUDGET", "E_LLM_RUN"})
_SECRET: Final = re.compile(
    r"(?i)\b(?:sk|pk|key|bearer|token)[-_=: ]+[^\s,;\"']{6,}|(?=[\w+/=.-]*\d)[\w+/=.-]{32,}"
)
"""What may be a key, or a long text of letters and digits; names of models are shorter."""


_REFUSED_WORDS: Final = (
    "The model refuses to answer this; put it differently, or choose another model under `models:`."
)
_BY_WORDS: Final = (
    # llama.cpp, LM Studio, Ollama, Anthropic: how each says that a request is too long
    (
        frozenset({400, 413, 500}),
        ("available context size", "context length", "prompt is too long", "context window"),
        ModelContextWindowExceededError,
    ),
    (frozenset({400, 403}), ("credit balance", "insufficient credit"), ModelQuotaExceededError),
    (frozenset({400, 403}), ("flagged", "content policy", "moderation"), ContentFilterError),
)
"""What a status alone does not tell, and PydanticAI does not know of every server."""


def kind_of(error: BaseException) -> type[BaseException]:
    """What a failure is, by the server's own words where its status says less."""
    if isinstance(error, ModelHTTPError):
        said = server_sentence(error).lower()
        for statuses, words, kind in _BY_WORDS:
            if error.status_code in statuses and any(one in said for one in words):
                return kind
    return type(error)


_BY_ANOTHER_NAME: Final[dict[type[BaseException], Exception]] = {
    type(one): one
    for one in (ModelContextWindowExceededError("", ""), ModelQuotaExceededError("", ""))
}
_NOT_OF_FORM: Final = (
    ModelAuthenticationError,
    ModelNotFoundError,
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
    ContentFilterError,
)


def of_the_form(error: BaseException) -> bool:
    """Whether a refused request may be for the form in which an answer was asked."""
    return not issubclass(kind_of(error), _NOT_OF_FORM)


_NO_TOOLS: Final = (
    (frozenset({400, 500}), "does not support tools"),  # Ollama
    (frozenset({400}), "--enable-auto-tool-choice"),  # vLLM
    (frozenset({400, 500}), "requires --jinja"),  # llama.cpp
    (frozenset({400, 500}), "unsupported param: tools"),  # llama.cpp before it had templates
    (frozenset({404}), "support tool use"),  # OpenRouter
)
"""How a server says that it takes no tools: statuses, and words of its sentence."""


def refuses_tools(error: BaseException) -> bool:
    """Whether a server refused a request because tools were offered in it."""
    if not isinstance(error, ModelHTTPError):
        return False
    said = server_sentence(error).lower()
    return any(error.status_code in statuses and words in said for statuses, words in _NO_TOOLS)


def translate_error(foreign: Exception, who: str) -> LLMError | None:
    """The failure with the server's own sentence, shortened and without keys, and who was asked.

    None where it is no failure of a model, such as a setting that it does not know.
    """
    kind = kind_of(foreign)
    ours: SilasError | None
    if kind is ContentFilterError:
        ours = LLMError(_REFUSED_WORDS, code="E_LLM_REFUSED")
    elif kind in _BY_ANOTHER_NAME:
        ours = from_foreign(_BY_ANOTHER_NAME[kind])
    else:
        ours = from_foreign(foreign)
    if not isinstance(ours, LLMError):
        return None
    if ours.code in _OWN_DETAIL:
        return ours
    words = ours.message.split(" (", 1)[0]
    said = server_sentence(foreign) if ours.code in _QUOTED else ""
    quoted = f' It says: "{said}".' if said else ""
    return LLMError(f"{words}{quoted} ({who})", code=ours.code)


def server_sentence(error: Exception) -> str:
    """What the server says of its error, in one line of at most 300 characters; empty if nothing.

    Keys, and what may be one, are left out: providers quote them.
    """
    if not isinstance(error, ModelHTTPError):
        return ""
    body: Any = error.body
    for key in ("error", "message"):
        if isinstance(body, dict):
            fields = cast(dict[str, Any], body)
            body = fields.get(key, fields)
    if not isinstance(body, str):
        return ""
    said = " ".join(flatten_line(_SECRET.sub("[...]", body)).split())
    return said if len(said) <= _LONGEST else said[:_LONGEST].rstrip() + "..."


def cut_or_refused(error: Exception, messages: Sequence[ModelMessage], who: str) -> LLMError | None:
    """Why an answer has no end, or is none; None where its form alone is wrong.

    Asking again would end in the same place: the limit is the same, and so is what was asked.
    """
    last = next((m for m in reversed(messages) if isinstance(m, ModelResponse)), None)
    reason = None if last is None else last.finish_reason
    if isinstance(error, OutputTokenLimitExceeded) or reason == "length":
        return LLMError(
            "The model's answer was cut off at its longest length; raise `max_tokens` under "
            f"`models:`, or ask for less. ({who})",
            code="E_LLM_CUT",
        )
    if isinstance(error, ContentFilterError) or reason == "content_filter":
        return LLMError(
            f"{_REFUSED_WORDS} ({who})",
            code="E_LLM_REFUSED",
        )
    return None
