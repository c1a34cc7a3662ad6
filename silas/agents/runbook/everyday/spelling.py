"""German without umlauts, and slips of the pen: the first is understood, the second is asked back.

What a message is about is never rewritten: only the word that it begins with, and words of looks.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Final

from silas.agents.runbook.unhandled import VERBS
from silas.language import tr

_FOLDED: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})

_BEGINNINGS: Final[Mapping[str, str]] = {
    word.translate(_FOLDED): word
    for word in (
        *("ändere", "ändre", "öffne", "überschreibe", "übersetze", "füge", "führe", "lösch"),
        *("lösche", "räum", "räume", "wähle", "zähl", "zähle", "prüfe", "größte", "älteste"),
    )
}
"""Words that a request begins with, as they are typed where there are no umlauts."""

_INSIDE: Final[Mapping[str, str]] = {
    word.translate(_FOLDED): word
    for word in (
        *("größte", "größten", "älteste", "ältesten", "wörter", "geändert", "nächste", "nächsten"),
    )
}
_POLITE: Final = (
    r"(?:(?:please|pls|hey|hi|hallo|ok|okay|bitte|silas|can\s+you|could\s+you|kannst\s+du|"
    r"könntest\s+du)[,!]?\s+)*"
)
_BEGINS: Final = re.compile(rf"(?P<before>\s*{_POLITE})(?P<word>[^\W\d_]+)\b", re.IGNORECASE)
_QUESTION: Final = re.compile(r"\s*(?:welche|was|wie|zeig)", re.IGNORECASE)
_PLAIN_WORD: Final = re.compile(r"[^\W\d_]+")
_LOOKS: Final = """
show list find search count help remind tell read view summarise summarize compare display where
zeig zeige suche finde zähle liste vergleiche erinnere merke öffne füge
"""
_KNOWN: Final = sorted(VERBS | frozenset(_LOOKS.split()))
_DAYS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tomorow", "tommorow", "tommorrow", "tomorrw", "tmrw"), "tomorrow"),
    **dict.fromkeys(("wensday", "wendesday", "wednsday"), "Wednesday"),
    "todya": "today",
    "morgn": "morgen",
}
_CLOSE: Final = 0.75


def fold_umlauts(text: str) -> str:
    """A text without umlauts."""
    return text.translate(_FOLDED)


def with_umlauts(text: str) -> str:
    """A message whose first word is a German one without its umlaut, with it."""
    found = _BEGINS.match(text)
    word = "" if found is None else found["word"]
    if found is not None and (known := _BEGINNINGS.get(word.lower())):
        text = f"{found['before']}{known}{text[found.end() :]}"
    if _QUESTION.match(text):  # a question is about a folder, and keeps nothing of its words
        text = _PLAIN_WORD.sub(lambda one: _INSIDE.get(one[0].lower(), one[0]), text)
    return text


def did_you_mean(text: str, understood: Callable[[str], bool]) -> str:
    """The question whether a message means the same with its first word mended; else nothing.

    Args:
        text: A message that nobody understood.
        understood: Whether another one would be.
    """
    found = _BEGINS.match(text)
    if found is None or len(found["word"]) < len("rm x"):
        return ""
    word = found["word"].lower()
    rest = _PLAIN_WORD.sub(lambda one: _DAYS.get(one[0].lower(), one[0]), text[found.end() :])
    near = [] if word in _KNOWN else get_close_matches(word, _KNOWN, n=3, cutoff=_CLOSE)
    tried = (f"{verb}{rest}".strip() for verb in near or [word])
    meant = next((one for one in tried if one != text.strip() and understood(one)), "")
    return tr("I do not understand that. Did you mean “{meant}”?", meant=meant) if meant else ""
