"""Conditions of "only tell me if ...": a check that the sandbox can run, or none (spec 5.2.3).

Four kinds are understood, in English and German: files that changed, a word in a file, a size, a
number of files; and that a file is there. Whatever else is said is no condition, and whoever asks
is told so before anything is shown.
"""

import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from silas.language import tr_later

_ONLY: Final = re.compile(
    r",?\s*\b(?:but\s+)?(?:only|just)\s+"
    r"(?:(?:tell\s+me|let\s+me\s+know|report|show\s+me)\s+)?(?:if|when)\s+(?P<that>.+)\Z"
    r"|,?\s*\b(?:aber\s+)?(?:(?:sag|melde|zeig)e?\s+(?:es\s+)?mir\s+)?nur,?\s+(?:wenn|falls)\s+"
    r"(?P<dass>.+)\Z",
    re.IGNORECASE,
)
_CONDITIONAL: Final = re.compile(
    r"\b(?:only|unless|except|if|nur|wenn|falls|sofern|außer)\b", re.IGNORECASE
)

NO_CONDITION: Final = tr_later(
    "“{said}” is no condition that is checked here, so nothing is proposed. Say that something "
    "changed, that a file is there, contains a word, or is larger or smaller than a size, or that "
    "there are more or fewer files than a number."
)
NO_REPORT: Final = tr_later(
    "A condition goes with what only looks, such as the newest files or where a text is, and not "
    "with {title!r}, so nothing is proposed."
)

REPORTS: Final = frozenset(
    {
        *(
            "biggest-files",
            "changed-files",
            "compare-files",
            "count-files",
            "count-words",
            "disk-use",
        ),
        *("find-duplicates", "find-files", "find-text", "list-files", "newest-files", "show-file"),
    }
)
"""The plans of the library that look and change nothing."""

_UNITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("b", "byte", "bytes"), 1),
    **dict.fromkeys(("kb", "kilobyte", "kilobytes"), 10**3),
    **dict.fromkeys(("mb", "megabyte", "megabytes"), 10**6),
    **dict.fromkeys(("gb", "gigabyte", "gigabytes"), 10**9),
}

_FILE: Final = (
    r"(?:(?:the|my|die|meine)\s+)?(?:(?:file|datei)\s+)?[\"'“„`]?(?P<file>[\w][\w./-]*)[\"'”“`]?"
)
_WORD: Final = (
    r"(?:(?:the|das|den)\s+)?(?:(?:word|text|wort)\s+)?"
    r"(?P<word>\"[^\"]+\"|“[^”]+”|„[^“”]+[“”]|'[^']+'|`[^`]+`|\S+)"
)
_QUOTES: Final = re.compile(r"\A[\"“„'`](?=.*[\"”“'`]\Z)|(?<=.)[\"”“'`]\Z")
_SIZE: Final = r"(?P<number>\d+(?:[.,]\d+)?)\s*(?P<unit>[a-z]+)"
_HERE: Final = r"(?:\s+(?:in\s+(?:it|this\s+folder|here)|here|darin|in\s+diesem\s+ordner))?"


class WatchedCondition(NamedTuple):
    """Something that a check finds out.

    Attributes:
        name: What it says, as the name of the check.
        run: The command, in the folder that it is about.
        expect: What it is expected to find, as a plan writes it.
        request: What is told where nothing else was asked for.
    """

    name: str
    run: str
    expect: Mapping[str, Any]
    request: str

    def check(self, folder: str) -> dict[str, Any]:
        """The same as an entry of `verify`, about a folder."""
        run = f"cd {shlex.quote(folder)} && {self.run}"
        return {"name": self.name, "run": run, "expect": dict(self.expect)}


def split_condition(said: str) -> tuple[str, str]:
    """A request and the words of its condition; empty where it has none."""
    found = _ONLY.search(said)
    if found is None:
        return said, ""
    return said[: found.start()].strip(" ,"), (found["that"] or found["dass"]).strip(" .!")


def has_condition(request: str) -> bool:
    """Whether words of a request still say that it depends on something."""
    return _CONDITIONAL.search(request) is not None


def condition_of(said: str, minutes: int) -> WatchedCondition | None:
    """The condition that these words say; None where they say none that can be checked.

    Args:
        said: The words behind "only if".
        minutes: Between two times; what changed within them counts as changed.
    """
    for pattern, made in _KINDS:
        found = pattern.fullmatch(" ".join(said.split()))
        if found is not None:
            return made(found, minutes)
    return None


def _condition_of_changes(found: re.Match[str], minutes: int) -> WatchedCondition:
    del found
    hours, rest = divmod(minutes, 60)
    since = f"{minutes} minutes" if rest or hours < 2 else f"{hours} hours"
    return WatchedCondition(
        f"something changed within {since}",
        f"find . -path ./.git -prune -o -type f -mmin -{minutes} -print",
        {"not_empty": True},
        "what changed in this folder",
    )


def _word(found: re.Match[str], minutes: int) -> WatchedCondition | None:
    del minutes
    file, word = found["file"], _QUOTES.sub("", found["word"]) or found["word"]
    if not _inside(file):
        return None
    return WatchedCondition(
        f"{file} contains {word}",
        f"grep -q -F -e {shlex.quote(word)} -- {shlex.quote(file)}",
        {"exit_code": 0},
        f"show the file {file}",
    )


def _size(found: re.Match[str], minutes: int) -> WatchedCondition | None:
    del minutes
    file, unit = found["file"], _UNITS.get(found["unit"].lower())
    if unit is None or not _inside(file):
        return None
    more = found["than"].lower() not in {"smaller", "less", "under", "kleiner"}
    size = round(float(found["number"].replace(",", ".")) * unit)
    return WatchedCondition(
        f"{file} is {'larger' if more else 'smaller'} than {size:,} bytes",
        f"wc -c < {shlex.quote(file)}",
        {"output_gt" if more else "output_lt": size},
        "show the biggest files",
    )


def _number(found: re.Match[str], minutes: int) -> WatchedCondition:
    del minutes
    more, number = found["than"].lower() in {"more", "over", "mehr", "über"}, int(found["number"])
    return WatchedCondition(
        f"there are {'more' if more else 'fewer'} than {number} files",
        "find . -path ./.git -prune -o -type f -print | wc -l",
        {"output_gt" if more else "output_lt": number},
        "count the files",
    )


def _there(found: re.Match[str], minutes: int) -> WatchedCondition | None:
    del minutes
    file = found["file"]
    if not _inside(file):
        return None
    return WatchedCondition(
        f"{file} is there", f"ls -d -- {shlex.quote(file)}", {"exit_code": 0}, "list the files"
    )


def _inside(file: str) -> bool:
    """Whether a name is one of the folder that it is about."""
    return not file.startswith("/") and ".." not in file.split("/")


_Made = Callable[[re.Match[str], int], WatchedCondition | None]

_LARGER: Final = r"(?P<than>bigger|larger|greater|smaller|less|over|under)(?:\s+than)?"
_GROESSER: Final = r"(?P<than>größer|kleiner)\s+als"

_KINDS: Final[tuple[tuple[re.Pattern[str], _Made], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), made)
    for pattern, made in (
        (
            r"(?:something|anything|a\s+file|any\s+file|files|some\s+files?)"
            rf"{_HERE}\s+(?:has\s+|have\s+|was\s+|were\s+)?changed{_HERE}",
            _condition_of_changes,
        ),
        (rf"there\s+(?:are|were)\s+changes{_HERE}", _condition_of_changes),
        (
            r"(?:sich\s+(?:etwas|was|eine\s+datei)|etwas)"
            rf"{_HERE}\s+(?:geändert\s+(?:hat|wurde)|ändert)",
            _condition_of_changes,
        ),
        (
            rf"there\s+are\s+(?P<than>more|fewer|less)\s+than\s+(?P<number>\d+)\s+files{_HERE}",
            _number,
        ),
        (
            r"(?:es\s+)?(?P<than>mehr|weniger)\s+als\s+(?P<number>\d+)\s+dateien"
            rf"{_HERE}\s+(?:gibt|sind|da\s+sind)",
            _number,
        ),
        (rf"{_FILE}\s+(?:is|gets|grows)\s+{_LARGER}\s+{_SIZE}", _size),
        (rf"{_FILE}\s+{_GROESSER}\s+{_SIZE}\s+(?:ist|wird)", _size),
        (rf"{_FILE}\s+(?:exists|is\s+there)", _there),
        (rf"{_FILE}\s+(?:da\s+ist|existiert|vorhanden\s+ist)", _there),
        (rf"{_FILE}\s+(?:contains|mentions|includes|has)\s+{_WORD}", _word),
        (rf"{_WORD}\s+(?:is|appears|stands)\s+in\s+{_FILE}", _word),
        (rf"{_FILE}\s+{_WORD}\s+enthält", _word),
        (rf"{_WORD}\s+in\s+{_FILE}\s+(?:steht|vorkommt)", _word),
        (rf"in\s+{_FILE}\s+{_WORD}\s+(?:steht|vorkommt)", _word),
    )
)
"""How each is said; the first that fits decides."""
