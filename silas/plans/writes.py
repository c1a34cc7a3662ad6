"""What a plan may change in its workspace: `writes:`, `none` or paths and patterns (decision B22).

A path names exactly itself. `*` and `?` stand for characters of one name, `**` for any number of
names, and `folder/` is short for `folder/**`. Everything else is taken as it is written.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple, cast

NONE: Final = "none"
"""How a plan says that it changes nothing."""

ANY_DEPTH: Final = "**"
WILD: Final = frozenset("*?")
"""The characters that make an entry a pattern."""
_LONGEST: Final = 1000  # characters of one entry


_ENDING = re.compile(r"(?:\*{1,2}/)*\*(\.[A-Za-z0-9]+)")
_FOLDER = re.compile(r"([^*?]+)/\*{1,2}")
_ALL = re.compile(r"\*{1,2}(?:/\*{1,2})*")


class WritesByKind(NamedTuple):
    """Entries as people speak of files; what is said so may be more than they name, never less.

    Attributes:
        all: Any file may be among them.
        endings: How the names of files end, each once in whatever case.
        folders: Folders of which any file may be one.
        others: Every other entry; not a folder that is among `folders`.
    """

    all: bool
    endings: tuple[str, ...]
    folders: tuple[str, ...]
    others: tuple[str, ...]


def by_kind(entries: Sequence[str]) -> WritesByKind:
    """What entries name, by the kind of it."""
    endings: dict[str, str] = {}
    for entry in entries:
        if found := _ENDING.fullmatch(entry):
            endings.setdefault(found[1].lower(), found[1])
    folders = [found[1] for entry in entries if (found := _FOLDER.fullmatch(entry))]
    taken = (_ENDING, _FOLDER, _ALL)
    return WritesByKind(
        any(map(_ALL.fullmatch, entries)),
        tuple(endings.values()),
        tuple(dict.fromkeys(folders)),
        tuple(
            entry
            for entry in entries
            if entry not in folders and not any(kind.fullmatch(entry) for kind in taken)
        ),
    )


def read_writes(value: object) -> object:
    """`none` as the empty list that it means; anything else is told in one sentence."""
    if value == NONE:
        return list[str]()
    if value is None:
        return None
    if isinstance(value, list):
        entries = cast(list[object], value)
        if all(isinstance(entry, str) for entry in entries):
            return entries
    raise ValueError("must be `none` or a list of paths and patterns under the workspace")


def entry_fault(entry: str, workspace: str | None) -> str:
    """Why an entry names nothing under the workspace; empty where it does."""
    if not entry.strip() or len(entry) > _LONGEST:
        return f"must be a path of at most {_LONGEST} characters"
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in entry):
        return "must not contain control characters"
    parts = entry.split("/")
    if ".." in parts:
        return "must not contain `..`"
    if any(ANY_DEPTH in part and part != ANY_DEPTH for part in parts):
        return "has `**` inside a name; it stands alone between slashes, as in `docs/**`"
    if workspace is None:
        return "names files, and the plan has no `workspace`"
    if entry.startswith("/") and _below(entry, workspace) is None:
        return "lies outside the workspace; give a path under it"
    return "" if normal_entry(entry, workspace) else "must name something under the workspace"


def normal_entry(entry: str, workspace: str) -> str:
    """An entry that has no fault, relative to the workspace and in one spelling."""
    below = _below(entry, workspace) if entry.startswith("/") else entry
    parts = [part for part in (below or "").split("/") if part not in ("", ".")]
    whole = entry.endswith("/") or (entry.startswith("/") and not parts)
    return "/".join([*parts, ANY_DEPTH] if whole and parts[-1:] != [ANY_DEPTH] else parts)


def _below(entry: str, workspace: str) -> str | None:
    """The part of an absolute entry under the workspace; None where it lies outside."""
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    top = [part for part in workspace.split("/") if part]
    return "/".join(parts[len(top) :]) if parts[: len(top)] == top else None


def literal_parts(pattern: str) -> tuple[str, ...]:
    """The names of a pattern before its first wildcard."""
    parts = pattern.split("/")
    first = next((at for at, part in enumerate(parts) if WILD & set(part)), len(parts))
    return tuple(parts[:first])


def matches(pattern: str, path: str) -> bool:
    """Whether a normalised pattern names a path; takes at most pattern times path steps."""
    return _parts_match(tuple(pattern.split("/")), tuple(path.split("/")))


def matches_any(patterns: Sequence[str], path: str) -> bool:
    """Whether any of these patterns names the path."""
    return any(matches(pattern, path) for pattern in patterns)


@lru_cache(maxsize=4096)
def _parts_match(pattern: tuple[str, ...], path: tuple[str, ...]) -> bool:
    return _wild_match(pattern, path, ANY_DEPTH, _name_matches)


def _name_matches(pattern: str, name: str) -> bool:
    return _wild_match(pattern, name, "*", _sign_matches)


def _sign_matches(sign: str, letter: str) -> bool:
    return sign in ("?", letter)


def _wild_match(
    pattern: Sequence[str], text: Sequence[str], many: str, one: Callable[[str, str], bool]
) -> bool:
    """Match where `many` stands for any run; goes back to the last such sign alone, so that no
    pattern takes exponential time.
    """
    at, star, mark = 0, -1, 0
    here = 0
    while here < len(text):
        if at < len(pattern) and pattern[at] == many:
            star, mark, at = at, here, at + 1
        elif at < len(pattern) and one(pattern[at], text[here]):
            at, here = at + 1, here + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return all(sign == many for sign in pattern[at:])
