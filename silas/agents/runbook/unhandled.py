"""What of a request a runbook does not do: told, so that no half of it is dropped in silence."""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol

from silas.language import tr
from silas.plans.runbooks.request import wanted_of

_MASKED: Final = re.compile(
    r"'[^'\n]*[/ ][^'\n]*'(?!\w)|\"[^\"\n]*\"|`[^`\n]*`"
    r"|(?:(?<!\S)|(?<=['\"`]))(?:\S+/\S*|/\S+)"  # elsewhere, all that follows has no slash
    r"|\b\d{1,2}\.\s+(?i:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|"
    r"november|dezember)\b"
)
"""Paths, quoted texts and days of a month: nothing in them begins another part of a request."""

_BREAK: Final = re.compile(
    r"(?P<strong>\s*;\s*|[.!?]\s+|\n+|"
    r",?\s*\b(?:and\s+)?(?:then|afterwards|after\s+that|also)\b,?\s*|"
    r",?\s*\b(?:und\s+)?(?:dann|danach|anschließend|außerdem)\b,?\s*)"
    r"|,?\s+(?:and|but|plus|und|sowie|as\s+well\s+as|while|before|followed\s+by|bevor|während)\s+"
    r"|\s*(?:&+|\|+|\s[-+/\u2013]+\s|\u2014|[()])\s*|,\s+",
    re.IGNORECASE,
)
_VERB_LIST: Final = """
add apply archive back backup book build burn buy call cancel change clean clear close commit
compile compress convert copy create decrypt delete deploy destroy disable discard download drop
duplicate edit email empty encrypt erase execute extract fetch fix forget format forward insert
install kill launch lock mail make merge message migrate move nuke obliterate open order organise
organize overwrite pay phone post print publish pull purge push put rebuild refactor release
remind remember remove rename repair replace reset restart restore revert rewrite ring rm run save
schedule scrap sell send share shred shut sign sort split start stop swap sync text throw tidy
translate trash undo uninstall unpack unzip update upgrade upload wipe write zip ändere
aktualisiere baue behebe benenne bereinige entferne ersetze erstelle führe installiere kaufe
kopiere lade leere lösche mache repariere schicke schreibe sende setze starte stoppe überschreibe
verschiebe veröffentliche vernichte
"""
VERBS: Final = frozenset(_VERB_LIST.split())
"""Words that a request for work begins with."""

_GERUNDS: Final = frozenset(
    form
    for verb in VERBS
    for form in (f"{verb}ing", f"{verb.removesuffix('e')}ing", f"{verb}{verb[-1]}ing")
)  # "before deleting it"
_OBJECT: Final = re.compile(
    r"(?!(?:all|any|each|every|how|in|of|on|what|when|where|which|who|why|with|the|a|an|das|die|"
    r"tell|show|give|let|report|say|print|summari[sz]e|sag|zeig|gib|melde)\b)"
    r"\w*[^\Ws](?:\s+[\w'-]+){0,3}\s+(?:them|everything|all|it|those|alles)",
    re.IGNORECASE,
)  # "dump them", "do away with everything": a word that is no plural, and what it is done to
_TELLS: Final = re.compile(
    r"(?:please|bitte)?\s*(?:(?:tell|show|give|let|report|say|print|sag|sage|zeig|zeige|gib|melde|berichte)\b"
    r"(?:\s+(?:to|me|us|know|back|mir|uns|the|a|an|das|die|den|ein|eine|of|on|it|them|how|what|which|"
    r"whether|if|ob|was|wie|welche|result|results|output|outcome|report|summary|ergebnis|ausgabe|bericht|"
    r"failed|fails|fail|went|happened|pass|passed|they|you|find|found|did|are|were|is|was)\b)*"
    r"|thanks|thank\s+you(?:\s+very\s+much)?|danke|please|bitte|now|jetzt|ok|okay|quickly)?[\s.!?]*",
    re.IGNORECASE,
)
_ONE_OF_MANY: Final = re.compile(
    r"\b(?:biggest|largest|smallest|newest|oldest|latest|longest|shortest|slowest|fastest|"
    r"(?:größte|kleinste|neueste|neuste|älteste|längste|kürzeste|langsamste)[nrsm]?)\b",
    re.IGNORECASE,
)  # "tell me the biggest one" asks for more than what was found
_COURTESY: Final = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten \w+|thanks|thank you|danke|"
    r"please|bitte|ok|okay|yes|no|silas)(?: (?:so much|very much|silas|there|a lot))?",
    re.IGNORECASE,
)
_STATES: Final = re.compile(
    r"(?:i|i'm|i've|we|it|they|this|that|there|my|our|ich|wir|es|sie|das|mein|meine)\b",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"^(?:(?:please|bitte|also|and|then|first|now|next|finally|und|dann|zuerst|jetzt|just|to|you|du|can\s+you|could\s+you|would\s+you|"
    r"kannst\s+du)(?:\s+|$))+",
    re.IGNORECASE,
)
_REACHED_AT: Final = re.compile(r"(?:phone|fax):?\s*[+(\d]|(?:e-?)?mail:\s*\S+@", re.IGNORECASE)
"""A number or an address under which somebody is reached: it asks for nothing."""

_LONGEST: Final = 200  # characters of a part that are said again


class TitledRunbook(Protocol):
    """A plan of the library."""

    @property
    def title(self) -> str:
        """What it does, in a few words."""
        ...


class _Part(NamedTuple):
    text: str
    strong: bool


def unmatched_parts(
    text: str, fits: Callable[[str], bool], other: Callable[[str], bool]
) -> Sequence[str]:
    """The parts of a request that ask for something else than the plan that was found.

    Args:
        text: What was asked; what it says is not to be done counts for nothing.
        fits: Whether the plan is for these words.
        other: Whether another plan is.
    """
    parts = _parts(wanted_of(text))
    return [p.text[:_LONGEST] for p in parts if not fits(p.text) and _asks(p, other)]


def further_parts(text: str, other: Callable[[str], bool]) -> Sequence[str]:
    """What a request asks for beyond its first part, for an answer that is about one thing."""
    found = [one for one in _parts(wanted_of(text)) if not _COURTESY.fullmatch(one.text)]
    return [part.text[:_LONGEST] for part in found[1:] if _asks(part, other)]


def orders_in(text: str, other: Callable[[str], bool]) -> Sequence[str]:
    """The parts of what is to be remembered that are something to do, and are only remembered.

    Most sentences of it are facts, so a part counts by its verb or its plan alone.
    """
    found = (part._replace(strong=False) for part in _parts(text)[1:])
    orders = (part for part in found if not _REACHED_AT.match(part.text))
    return [part.text[:_LONGEST] for part in orders if _asks(part, other)]


def sentence(text: str, find: Callable[[str], TitledRunbook | None], title: str) -> str:
    """What of a request the plan of this title does not do; empty where it does all of it."""
    return words(
        _parts_unmatched(text, find, title), lambda p: _title_of(p, find) not in ("", title)
    )


def fits_no_part(text: str, find: Callable[[str], TitledRunbook | None], title: str) -> bool:
    """Whether the plan of this title does nothing of a request for several things."""
    parts = _parts(wanted_of(text))
    return len(parts) > 1 and len(_parts_unmatched(text, find, title)) == len(parts)


def _parts_unmatched(
    text: str, find: Callable[[str], TitledRunbook | None], title: str
) -> Sequence[str]:
    return unmatched_parts(
        text,
        lambda part: _title_of(part, find) == title,
        lambda part: _title_of(part, find) not in ("", title),
    )


def _title_of(part: str, find: Callable[[str], TitledRunbook | None]) -> str:
    found = find(part)
    return "" if found is None else found.title


def words(rest: Sequence[str], other: Callable[[str], bool]) -> str:
    """The sentence about what is left out; empty where nothing is."""
    if not rest:
        return ""
    quoted = ", ".join(tr('"{words}"', words=one) for one in rest)
    known = [one for one in rest if other(one)]
    why = (
        tr("ask for that by itself") if len(known) == len(rest) else tr("I know no runbook for it")
    )
    return (
        tr("I leave out: {quoted}, because {why}.", quoted=quoted, why=why)
        if not known
        else tr("I leave out: {quoted}; {why}.", quoted=quoted, why=why)
    )


def _asks(part: _Part, other: Callable[[str], bool]) -> bool:
    if other(part.text):
        return True
    if _ONE_OF_MANY.search(part.text):
        return True
    said = _POLITE.sub("", part.text)
    if not said or _TELLS.fullmatch(part.text):
        return False
    first = re.match(r"\w+\b(?!\.\w)", said)  # `copy.txt` is no verb
    if first is not None and first[0].casefold() in VERBS | _GERUNDS:
        return True
    if not _STATES.match(said) and _OBJECT.fullmatch(said):
        return True
    return part.strong and first is not None and not _STATES.match(said)


def _parts(text: str) -> list[_Part]:
    masked = _MASKED.sub(lambda found: "_" * len(found[0]), text)
    found, start, strong = list[_Part](), 0, False
    for cut in _BREAK.finditer(masked):
        found.append(_Part(text[start : cut.start()].strip(" ,.;!?\n"), strong))
        start, strong = cut.end(), cut["strong"] is not None
    found.append(_Part(text[start:].strip(" ,.;!?\n"), strong))
    return [part for part in found if part.text]
