"""What is told where a model fails: which role and model it was, where it is asked, and why."""

import re
from collections.abc import Sequence
from typing import Any, Final, cast

from pydantic_ai.exceptions import ContentFilterError, ModelHTTPError, OutputTokenLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelResponse

from silas.context import flat
from silas.errors import LLMError

_LONGEST: Final = 300  # characters of a server's own sentence
_QUOTED: Final = frozenset({"E_LLM_API", "E_LLM_QUOTA", "E_LLM_RATE_LIMIT", "E_LLM_MODEL"})
"""Failures whose cause only the server knows. It never quotes there the key that it refuses."""

_OWN_DETAIL: Final = frozenset({"E_LLM_BUDGET", "E_LLM_RUN"})
_SECRET: Final = re.compile(
    r"(?i)\b(?:sk|pk|key|bearer|token)[-_=: ]+[^\s,;\"']{6,}|(?=[\w+/=.-]*\d)[\w+/=.-]{32,}"
)
"""What may be a key, or a long text of letters and digits; names of models are shorter."""


def told(ours: LLMError, foreign: Exception, who: str) -> LLMError:
    """The failure with the server's own sentence, shortened and without keys, and who was asked."""
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
    said = " ".join(flat(_SECRET.sub("[...]", body)).split())
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
            "The model refuses to answer this; put it differently, or choose another model under "
            f"`models:`. ({who})",
            code="E_LLM_REFUSED",
        )
    return None
