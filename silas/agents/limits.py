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


_ASKED: Final = r"(?:can|could|would|will)\s+you|(?:kannst|könntest|würdest)\s+du"
_BEFORE: Final = rf"^(?i:(?:silas|please|hey|bitte|{_ASKED})\b,? *)*"
_SENTENCE: Final = rf"(?:{_BEFORE}|[.:;!]\s+(?i:please\s+)?)"
_PROGRAMS: Final = r"(?:Bash|Cargo|Docker|Git|Java|Make|Node|Perl|Pytest|Python|Ruby|Silas)\b"
_WHOM: Final = (
    rf"(?!{_PROGRAMS})(?:[A-Z][a-zà-ÿ]+\b|(?i:my|our)\s+\w+|"
    r"(?i:the\s+(?:doctor|dentist|police|bank|landlord|plumber|school|office))\b)"
)
"""A name, "my sister", or somebody with a telephone."""
_WEN: Final = rf"(?!{_PROGRAMS})(?:[A-ZÄÖÜ][a-zà-ÿ]+\b|(?i:meine[mnr]?|unsere[mnr]?)\s+[A-ZÄÖÜ]\w+)"
_THEM: Final = r"(?i:us|him|her|them)\b"
_ADDRESS: Final = r"\S*\w@[\w-]+(?:\.[\w-]+)*\.(?!(?:csv|json|log|md|py|txt)\b)[a-z]{2,}"
_TO: Final = rf"(?i:to)\s+(?:{_WHOM}|{_ADDRESS}|{_THEM})"
_AFTER: Final = (
    r"(?=\s*(?:[.!,?]|$)|\s+(?i:about|and|at|for|from|in|on|that|to|tonight|tomorrow|with)\b)"
)
_GUARDS: Final = r"(?i:approvals?|confirmations?|sandbox|gates)\b"
_OWN: Final = (
    rf"(?:(?i:the)\s+|(?i:your|all|silas'?s?)\s+(?:\w+\s+){{0,2}}){_GUARDS}"
    r"(?=\s*(?:[.!,?]|$)|\s+(?i:and|entirely|for|from\s+now|now|off|please)\b)"
)
"""What keeps Silas from acting alone; followed by another noun it is a thing of the project."""


def _asks(*words: str, tools: str, told: str) -> _Limit:
    return _Limit(re.compile("|".join(words)), tuple(tools.split()), told)


_LIMITS: Final = (
    _asks(
        rf"{_BEFORE}(?i:call|phone|ring|dial)(?i:\s+up)?\s+{_WHOM}",
        rf"{_BEFORE}(?i:rufe?)\s+(?i:bitte\s+|mal\s+)*{_WEN}.*\s(?i:an)\b",
        rf"{_BEFORE}(?i:bitte\s+|mal\s+)*{_WEN}\s+(?i:anrufen)\b",
        tools="call phone dial",
        told="Silas cannot phone or call anybody",
    ),
    _asks(
        rf"{_BEFORE}(?i:e-?mail|mail)\s+(?:{_WHOM}|{_THEM})(?:\s+(?i:an?|my|the|this))?{_AFTER}",
        rf"{_BEFORE}(?i:e-?mail|mail)\s+(?:{_WHOM}|{_THEM})\s+(?i:an?|my|our|the|this)\s",
        rf"{_BEFORE}(?i:e-?mail|mail)\s+(?:{_ADDRESS}|.*\b{_TO})",
        rf"{_BEFORE}(?i:send|forward)\b.*(?:(?i:by e-?mail)\b|(?i:to)\s+{_ADDRESS})",
        rf"{_BEFORE}(?i:schicke?|sende|maile?)\b.*(?:(?i:per e-?mail)\b|(?i:an)\s+{_ADDRESS})",
        rf"{_BEFORE}(?i:schicke?|sende|schreibe?)\s+{_WEN}\s+(?i:eine\s+e?-?mail)\b",
        tools="mail send",
        told="Silas has no mail here and cannot send any",
    ),
    _asks(
        rf"{_BEFORE}(?i:text|message|sms|whatsapp)\s+{_WHOM}"
        r"(?=\s*(?:[.!,?]|$)|\s+(?i:about|and|i|i'm|saying|that|to)\b)",
        rf"{_BEFORE}(?i:schicke?|sende|schreibe?)\s+{_WEN}\s+(?i:eine\s+(?:sms|nachricht))\b",
        tools="message sms send chat",
        told="Silas cannot send messages to anybody",
    ),
    _asks(
        rf"{_BEFORE}(?i:book|reserve)\s+(?i:me\s+|us\s+)?(?i:an?|the)\s+"
        rf"(?i:table|flight|hotel|room|taxi|train|ticket|seat|appointment)\b{_AFTER}",
        rf"{_BEFORE}(?i:buy|purchase)\s+(?i:me\s+|us\s+)?(?i:an?|some|\d+)\s(?!get\b)",
        rf"{_BEFORE}(?i:order)\s+(?i:me|us)\s+(?i:an?|some|\d+)\s",
        rf"{_BEFORE}(?i:pay)\s+(?i:the|my|this|our)\s+(?i:bill|invoice|rent|fine|tax){_AFTER}",
        rf"{_BEFORE}(?i:buche?|reserviere)\s+(?i:mir\s+|uns\s+)?(?i:eine?n?)\s+"
        r"(?:Tisch|Flug|Hotel|Zimmer|Taxi|Zug|Ticket|Platz|Termin)\b",
        rf"{_BEFORE}(?i:kaufe?|bestelle?)\s+(?i:mir|uns)\s",
        rf"{_BEFORE}(?i:be)?(?i:zahle?)\s+(?i:die|meine|unsere)\s+(?:Miete|Rechnung|Steuern?)\b",
        tools="book reserve buy order pay",
        told="Silas cannot book, buy or pay for anything",
    ),
    _asks(
        rf"{_SENTENCE}(?i:switch|turn|shut)\s+(?:(?i:off)\s+{_OWN}|{_OWN}\s+(?i:off)\b)",
        rf"{_SENTENCE}(?i:disable|skip|bypass)\s+{_OWN}",
        rf"{_SENTENCE}(?i:schalte?)\s+(?i:die|deine|alle)\s+"
        r"(?:Freigaben|Genehmigungen|Bestätigungen|Sandbox)\s+(?i:ab|aus)\b",
        tools="",
        told="Silas cannot switch off approvals, gates or its sandbox, nor work without them",
    ),
)
_ASKS_ABOUT: Final = re.compile(
    r"^(?:how|what|why|when|where|which|who|is|are|does|do|did|has|have)\b", re.IGNORECASE
)
_POLITE: Final = re.compile(rf"{_BEFORE}(?i:{_ASKED})\b|{_ASKED}", re.IGNORECASE)
_PROJECTS: Final = re.compile(
    r"\w\(|\w_\w|`|\b(?:[\w-]+/)+[\w-]+|(?<![@\w.])[\w-]+\.[A-Za-z]\w{0,5}\b(?!\s*@)|"
    r"\b(?:api|arguments?|attributes?|builds?|class|code|columns?|commands?|config|endpoints?|"
    r"flags?|functions?|funktion|libraries|library|logs?|main|methods?|modules?|parsers?|"
    r"programs?|queues?|scripts?|services?|skript|tests?|tools?|variables?)\b",
    re.IGNORECASE,
)
"""A file, a name of code, or a word for a thing that programs are made of."""


def cannot(text: str, tools: Collection[str]) -> str:
    """What of a request Silas cannot do, as a sentence without its end; empty for nothing known.

    What may be meant for a file or a program is left to the model: to refuse what can be done is
    worse than a model that has to say no itself.

    Args:
        text: The request.
        tools: Names of the tools that there are: who has one for it can.
    """
    said = text.strip()
    asks = "?" in said and not _POLITE.match(said)
    if asks or _ASKS_ABOUT.match(said):
        return ""
    for limit in _LIMITS:
        if any(part in name for name in tools for part in limit.tools):
            continue
        found = limit.wanted.search(said)
        if found and not _is_of_a_project(said, found):
            return limit.told
    return ""


def _is_of_a_project(said: str, found: re.Match[str]) -> bool:
    """Whether a request is about a file or a program: a recipient makes it none."""
    if re.search(_ADDRESS, found.group()) or re.search(rf"\b{_TO}", found.group()):
        return False
    return _PROJECTS.search(said) is not None


_MORE: Final = re.compile(
    r"\b(?:add|append|calculate|change|compare|compute|convert|copy|correct|count|create|delete|"
    r"draft|edit|extract|find|fix|list|"
    r"make|move|put|read|rename|remove|run|save|show|summari[sz]e|update|write|zip|"
    r"aktualisiere?|ändere?|benenne?|erstelle?|finde|führe?|füge?|korrigiere?|kopiere?|lies|liste|"
    r"lösche?|mache?|speichere?|verschiebe?|zeige?)\b",
    re.IGNORECASE,
)


def wants_more(text: str) -> bool:
    """Whether a request asks for work besides, which a plan may do."""
    return _MORE.search(text) is not None
