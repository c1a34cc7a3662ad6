"""A list that a request names as people do, in place of a file: `put milk on my shopping list`.

Which file that is, a look at the folder tells. Where it has none, a line makes one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from pydantic_ai.messages import ModelMessage

from silas.agents.runbook import attached
from silas.agents.runbook.everyday.spelling import with_umlauts
from silas.agents.runbook.framed import all_framed, first_framed

_LISTS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    r"shopping[ -]?list|grocer(?:y|ies)[ -]?list": ("shopping-list.txt", ("shopping", "grocer")),
    r"(?:to-?do|to do|task)s?[ -]?list|to-?dos": ("todo.txt", ("todo", "to-do", "task")),
    r"packing[ -]?list": ("packing-list.txt", ("packing",)),
    r"wish[ -]?list": ("wishlist.txt", ("wish",)),
    r"einkaufs(?:liste|zettel)": ("Einkaufsliste.txt", ("einkauf",)),
    r"(?:to-?do|aufgaben)-?liste|to-?dos": ("todo.txt", ("todo", "to-do", "aufgabe")),
    r"packliste": ("Packliste.txt", ("packliste",)),
    r"wunschliste": ("Wunschliste.txt", ("wunsch",)),
}
"""Lists as people call them, the file that is made for one, and how such files' names begin."""

_SECTION: Final = "list"
_ENDINGS: Final = ("txt", "md")
_NAMED: Final = "|".join(_LISTS)
_POLITE: Final = r"\s*(?:(?:please|pls|silas|hey|can you|could you|bitte|kannst du)[,!]?\s+)*"
_END: Final = r"(?:,?\s+(?:please|pls|thanks|bitte|danke))*[\s.!]*"
_THING: Final = (
    r"(?:the\s+(?:item|entry|line)\s+)?(?P<text>\"[^\"\n]{1,160}\"|“[^”\n]{1,160}”|„[^“\n]{1,160}“|"
    r"(?!(?:it|this|that|these|those|them|everything|all|what|something|a|an|the|my|new|"
    r"me|you|him|her|mich|dich|ihn|sie|uns|"
    r"es|das|dies|diese|dieses|alles|was|etwas|ein|eine|einen|die|der|den|mein|meine|meinen)\b)"
    r"[^\"'`“”„\n?!;:]{1,160}?)"
)
_ASKS: Final = tuple(
    (verb, re.compile(rf"{_POLITE}(?:{form}){_END}", re.IGNORECASE))
    for verb, form in (
        (
            "add",
            rf"(?:put|add|write|append)\s+{_THING}\s+(?:on|onto|to|in|into)\s+(?:(?:the|my|our)\s+)"
            rf"(?P<list>{_NAMED})",
        ),
        (
            "remove",
            rf"(?:remove|delete|take|strike|cross)\s+(?:off\s+|out\s+)?{_THING}\s+"
            rf"(?:from|off|on|of)\s+(?:(?:the|my|our)\s+)(?P<list>{_NAMED})",
        ),
        (
            "add",
            rf"(?:setze?|schreibe?|packe?|tue?|füge?|notiere?)\s+(?:mir\s+)?{_THING}\s+"
            rf"(?:auf|zu|zur|in|an)\s+(?:(?:die|der|meine|meiner|unsere|unserer)\s+)?"
            rf"(?P<list>{_NAMED})(?:\s+(?:hinzu|an|drauf))?",
        ),
        (
            "remove",
            rf"(?:streiche?|entferne?|lösche?|nimm|nehme)\s+{_THING}\s+(?:von|aus)\s+"
            rf"(?:(?:der|meiner|unserer|die|meine)\s+)?(?P<list>{_NAMED})"
            r"(?:\s+(?:runter|herunter|raus|weg))?",
        ),
    )
)
_MAKES: Final = re.compile(
    rf"{_POLITE}(?:make|create|start|write|mach|mache|erstelle?|schreibe?)\s+(?:me\s+|mir\s+)?"
    rf"(?:(?:a|my|our|the|eine|meine)\s+)?(?:(?:new|neue)\s+)?(?:(?P<list>{_NAMED})|list|liste)"
    r"\s*(?::|\bwith\b|\bmit\b)\s*(?P<text>[^\"'`“”„\n?!:]{1,300}?)" + _END,
    re.IGNORECASE,
)
"""A list that is made of what is named with it: `make a shopping list: milk, eggs`."""

_PLAIN: Final = "list.txt"
_WRITING: Final = re.compile(
    r"\b(?:and|und|then|dann)\s+(?:remind|erinner\w*|delete|lösche?)\b", re.I
)


class ListRequest(NamedTuple):
    """What is wanted of a list.

    Attributes:
        request: The same of a file.
        names: Patterns of the names that such a list may have.
    """

    request: str
    names: Sequence[str]


def list_request(text: str) -> ListRequest | None:
    """What a message asks of a list that it calls as people do; None for every other message."""
    for verb, form in _ASKS:
        found = form.fullmatch(text)
        if found is None or _WRITING.search(text):
            continue
        thing = found["text"].strip('"“”„ ')
        called = found["list"].lower()
        file, stems = next(
            known for named, known in _LISTS.items() if re.fullmatch(named, called, re.IGNORECASE)
        )
        to = "to" if verb == "add" else "from"
        names = [f"{stem}*.{ending}" for stem in stems for ending in _ENDINGS]
        return ListRequest(f'{verb} "{thing}" {to} {file}', names)
    return None


def _list_to_make(text: str) -> str:
    """The request for a list that does not yet exist, with a file's name; else nothing."""
    found = _MAKES.fullmatch(text)
    if found is None or _WRITING.search(text):
        return ""
    called = found["list"] or ""
    known = (file for named, (file, _) in _LISTS.items() if re.fullmatch(named, called, re.I))
    return f'make the list {next(known, _PLAIN)} of "{found["text"].strip()}"'


def name_files(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """The sections of a request by kind, its message with files named in place of words that mean
    them.
    """
    framed = first_framed(messages)
    if "message" not in framed:
        return framed
    before = attached.names_before(all_framed(messages))
    text = with_umlauts(attached.as_named(framed["message"], before))
    if made := _list_to_make(text):
        return {**framed, "message": made}
    of_list = list_request(text)
    if of_list is None:
        return {**framed, "message": text}
    return {**framed, "message": of_list.request, _SECTION: "\n".join(of_list.names)}


def names_in(framed: Mapping[str, str]) -> Sequence[str]:
    """The names that the list of a request may have; none where it names a file, or nothing."""
    return framed.get(_SECTION, "").split()
