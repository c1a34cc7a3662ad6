"""What rules about a private copy may look at: names, what files hold, where links lead."""

import posixpath
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

_LONGEST: Final = 256 << 10  # bytes of a script that is followed into what it runs


class CopyTree(NamedTuple):
    """What is in the copy after the work; every path is relative to it.

    Attributes:
        exists: Whether a path is there.
        names: The names in a directory.
        text: What a file holds; empty where it is none, is too long, or is no text.
        real: Where a path leads through its links; empty where it leads out.
    """

    exists: Callable[[str], bool]
    names: Callable[[str], Sequence[str]]
    text: Callable[[str], str]
    real: Callable[[str], str]


def tree_of(root: Path) -> CopyTree:
    """A directory on disk; nothing that a link of it leads out to."""
    top = root.resolve()

    def names(place: str) -> Sequence[str]:
        there = (top / place).resolve()
        if not there.is_relative_to(top) or not there.is_dir():
            return ()
        return tuple(sorted(entry.name for entry in there.iterdir()))

    def exists(path: str) -> bool:
        return posixpath.basename(path) in names(posixpath.dirname(path))

    def real(path: str) -> str:
        try:
            there = (top / path).resolve()
        except (OSError, RuntimeError):  # links in a circle
            return ""
        return there.relative_to(top).as_posix() if there.is_relative_to(top) else ""

    def text(path: str) -> str:
        inside = real(path)
        there = top / inside
        try:
            if not inside or not there.is_file() or there.stat().st_size > _LONGEST:
                return ""
            return there.read_text(encoding="utf-8")
        except (OSError, ValueError):
            return ""

    return CopyTree(exists, names, text, real)
