"""What Silas cannot do, whatever a model says: phone, mail, buy, or work without its owner's yes.

A small model plays the secretary that it is asked to be: it writes "Anna, I am late", or says that
the mail has been sent. Code knows better, so the owner is told. Pure.
"""

import re
from collections.abc import Collection
from typing import Final, NamedTuple


class _Limit(NamedTuple):
    """Words of a request, parts of the names of tools that could do it, and what is told."""

    wanted: re.Pattern[str]
    tools: tuple[str, ...]
    told: str


_BEFORE: Final = r"^(?i:(?:silas|please|hey|can you|could you|would you|will you|bitte)\b,? *)*"
_WHOM: Final = (
    r"(?:[A-Z][a-zà-ÿ]+\b|(?i:my|our)\s+(?!function|script|code|method|api\b|tool|command)\w+)"
)
"""A name, or "my sister"; a function is called in another way."""
_GUARDS: Final = r"(?i:approvals?|confirmations?|sandbox|gates?)\b"


def _asks(words: str, *tools: str, told: str) -> _Limit:
    return _Limit(re.compile(words), tools, told)


_LIMITS: Final = (
    _asks(
        rf"{_BEFORE}(?i:call|phone|ring|dial)(?i:\s+up)?\s+{_WHOM}",
        *("call", "phone", "dial"),
        told="Silas cannot phone or call anybody",
    ),
    _asks(
        rf"{_BEFORE}(?i:e-?mail|mail)\s+(?:{_WHOM}|.*\w@\w|(?i:the|this|that|it|them|us|him|her)\b)|"
        rf"{_BEFORE}(?i:send|forward)\b.*(?i:by e-?mail\b|\w@\w)",
        *("mail", "send"),
        told="Silas has no mail here and cannot send any",
    ),
    _asks(
        rf"{_BEFORE}(?i:text|message|sms|whatsapp)\s+{_WHOM}",
        *("message", "sms", "send", "chat"),
        told="Silas cannot send messages to anybody",
    ),
    _asks(
        rf"{_BEFORE}(?i:book|reserve)\s+(?i:me\s+|us\s+)?(?i:an?|the)\s+"
        r"(?i:table|flight|hotel|room|taxi|train|ticket|seat|appointment)\b|"
        rf"{_BEFORE}(?i:buy|purchase)\s+(?i:me\s+|us\s+)?(?i:an?|some|\d+)\s|"
        rf"{_BEFORE}(?i:order)\s+(?i:me|us)\s+(?i:an?|some|\d+)\s|"
        rf"{_BEFORE}(?i:pay)\s+(?i:the|my|this|our)\s+(?i:bill|invoice|rent|fine|tax)",
        *("book", "reserve", "buy", "order", "pay"),
        told="Silas cannot book, buy or pay for anything",
    ),
    _asks(
        rf"\b(?i:switch|turn|shut)\s+(?i:off\s+)?(?i:your|the|all|silas'?s?)\s[^.?!]{{0,20}}{_GUARDS}|"
        rf"\b(?i:disable|skip|bypass)\s+(?i:your|all)\s[^.?!]{{0,20}}{_GUARDS}",
        told="Silas cannot switch off approvals, gates or its sandbox, nor work without them",
    ),
)
_ASKS_ABOUT: Final = re.compile(
    r"^(?:how|what|why|when|where|which|who|is|are|does|do|did|has|have)\b", re.IGNORECASE
)


def cannot(text: str, tools: Collection[str]) -> str:
    """What of a request Silas cannot do, as a sentence without its end; empty for nothing known.

    Args:
        text: The request.
        tools: Names of the tools that there are: who has one for it can.
    """
    if _ASKS_ABOUT.match(text.strip()):
        return ""
    for limit in _LIMITS:
        if any(part in name for name in tools for part in limit.tools):
            continue
        if limit.wanted.search(text.strip()):
            return limit.told
    return ""


_MORE: Final = re.compile(
    r"\b(?:add|append|change|convert|copy|correct|create|delete|draft|edit|extract|find|fix|list|"
    r"make|move|put|read|rename|remove|run|save|show|summari[sz]e|update|write|zip)\b",
    re.IGNORECASE,
)


def wants_more(text: str) -> bool:
    """Whether a request asks for work besides, which a plan may do."""
    return _MORE.search(text) is not None
