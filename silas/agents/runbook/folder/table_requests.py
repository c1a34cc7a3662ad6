"""Which questions about a table in a CSV file are understood: rows, figures, groups."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from silas.agents.runbook.folder.questions import LookRequest
from silas.plans.runbooks.sentences import matches, parse_request

_IN: Final = "in|of|from|for|aus|von [the|my|der|die] [file|table|datei|tabelle] {table}"
_ASK: Final = (
    "[what_is|what's|whats|what_are|show|give|tell|calculate|compute|work_out|was_ist|was_sind|"
    "zeig|zeige|berechne] [me|mir] [the|die|der|das|den]"
)
_WHICH: Final = "which|what|welche|welcher|welches"
_ROWS: Final = "rows|records|entries|data_rows|datensätze|einträge|datenzeilen"
_PER: Final = "per|by|for_each|for_every|pro|je|nach"

_SENTENCES: Final = (
    (
        "rows",
        (
            f"how many {_ROWS} are|is [there] {_IN}",
            f"how many {_ROWS} does|has [the|my] [file|table] {{table}} [have|contain]",
            f"count [the|all] [number_of] {_ROWS} {_IN}",
            f"{_ASK} number_of {_ROWS} {_IN}",
            f"wie_viele|wieviele {_ROWS} sind|stehen|gibt_es|hat [es] [in] [der|die] [datei] "
            "{table}",
        ),
    ),
    (
        "columns",
        (
            f"{_WHICH} columns|spalten are|is|sind|gibt_es [there|es] {_IN}",
            f"{_WHICH} columns|spalten does|has|hat [the|my|die] [file|table|datei] {{table}} "
            "[have|contain]",
            f"how many columns are|is [there] {_IN}",
            f"show|list [me] [the] columns {_IN}",
        ),
    ),
    (
        "groups",
        (
            f"how many {_ROWS} are|is [there] {_PER} {{group...}} {_IN}",
            f"how many {_ROWS} {_PER} {{group...}} are|is [there] {_IN}",
            f"{_ASK} [number|count|anzahl] [of|der] {_ROWS} {_PER} {{group...}} {_IN}",
            f"count [the] {_ROWS} {_PER} {{group...}} {_IN}",
            f"wie_viele|wieviele {_ROWS} {_PER} {{group...}} sind|gibt_es|stehen [es] {_IN}",
            f"{_ASK} {{figure}} [of|von] [the|der] {{column...}} {_PER} {{group...}} {_IN}",
            f"{_ASK} {{column...}} {_PER} {{group...}} {_IN}",
        ),
    ),
    (
        "best",
        (
            f"{_WHICH} {{group...}} has|have|had|hat [the|den|das|die] {{best}} average|mean "
            f"{{averaged...}} {_IN}",
            f"{_WHICH} {{group...}} has|have|had|hat [the|den|das|die] {{best}} [total] {{of...}} "
            f"{_IN}",
            f"{_WHICH} {{group...}} appears|occurs|comes_up {{often}} often {_IN}",
            f"{_ASK} {{often}} common|frequent {{group...}} {_IN}",
        ),
    ),
    (
        "figure",
        (
            f"who|which_row|which_one|wer has|have|had|hat [the|den|das|die] {{extreme}} "
            f"{{column...}} {_IN}",
            f"{_ASK} {{figure}} [of|von|der] [the|der] {{column...}} column|spalte {_IN}",
            f"{_ASK} {{figure}} [of|von|der] [the|der] [column|spalte] {{column...}} {_IN}",
            f"{_ASK} {{figure}} value|wert [of|in|von|der] [the|der] [column|spalte] "
            f"{{column...}} {_IN}",
        ),
    ),
)
_MOST_WORDS: Final = ("highest", "largest", "biggest", "greatest", "maximum", "max")
_LEAST_WORDS: Final = ("lowest", "smallest", "minimum", "min")
_EXTREMES: Final = {
    **dict.fromkeys((*_MOST_WORDS, "höchste", "höchsten", "größte", "größten"), "highest"),
    **dict.fromkeys(
        (*_LEAST_WORDS, "niedrigste", "niedrigsten", "kleinste", "kleinsten"), "lowest"
    ),
}
_FIGURES: Final = {
    **_EXTREMES,
    **dict.fromkeys(("total", "sum", "summe", "gesamtsumme"), "total"),
    **dict.fromkeys(("average", "mean", "durchschnitt", "mittelwert", "schnitt"), "average"),
}
_BEST: Final = {
    **_EXTREMES,
    **dict.fromkeys(("most", "meisten"), "highest"),
    **dict.fromkeys(("fewest", "least", "wenigsten"), "lowest"),
}
_OFTEN: Final = {"most": "highest", "least": "lowest"}
_TABLE: Final = re.compile(r"[\w+(@~.-][\w .,+()@&#=~/-]{0,150}\.(?:csv|tsv)", re.IGNORECASE)
_HEADING: Final = re.compile(r"(?!.*\b(?:and|then|und|dann)\b)[^\n]{1,80}", re.IGNORECASE)
"""Two requests in one are not a heading with `and` in it; such a one is named in quotes."""


def _from(words: Mapping[str, str]) -> Callable[[str], str | None]:
    return lambda said: words.get(said.lower())


def _heading(said: str) -> str | None:
    return said if _HEADING.fullmatch(said) else None


_READS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "table": lambda said: said if _TABLE.fullmatch(said) else None,
    "figure": _from(_FIGURES),
    "extreme": _from(_EXTREMES),
    "best": _from(_BEST),
    "often": _from(_OFTEN),
    **dict.fromkeys(("column", "group", "of", "averaged"), _heading),
}
_MEANS: Final = {"extreme": "figure", "often": "best"}
"""Slots that are another one in other words."""


def table_request(text: str) -> LookRequest | None:
    """What a message asks about a table of this folder; None where it is no such question."""
    said, place = parse_request(text)
    return next(_find_requests(said), None) if said and not place else None


def _find_requests(said: str) -> Iterator[LookRequest]:
    for kind, sentences in _SENTENCES:
        for slots in matches(sentences, said):
            read = {name: _READS[name](value) for name, value in slots.items()}
            given = {
                _MEANS.get(name, name): value for name, value in read.items() if value is not None
            }
            if len(given) == len(read):
                yield LookRequest(kind, MappingProxyType(given))


_STANDS_IN: Final = "unnamed.csv"
_NEEDED: Final = frozenset({"group", "column"})


def unnamed_table_request(text: str) -> LookRequest | None:
    """What a message asks about a table that it does not name; its columns tell which one it is."""
    if _TABLE.search(text):
        return None
    look = table_request(f"{text.rstrip(' ?!.')} in {_STANDS_IN}")
    if look is None or not _NEEDED & look.given.keys():
        return None
    given = {name: value for name, value in look.given.items() if name != "table"}
    return LookRequest(look.kind, MappingProxyType(given))
