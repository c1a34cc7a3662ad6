"""What a plan's checks hold a folder or a file to: seen when the plan is made, before its card.

A check that only looks at the end of the work cannot tell what was there before. So what must still
be there is filled in here, as numbers and digests: no name of a file comes into a plan by this.
"""

import os
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import Field

from silas.types import FrozenModel

MOST_MARKS: Final = 100
"""Files that are told apart by their marks; of more it is held to how many there are."""

_LINES: Final = re.compile(r"[^\n]*\n|[^\n]+")
_NUMBERS: Final = {"first": 1, "second": 2, "third": 3, "erste": 1, "zweite": 2, "dritte": 3}
_LAST: Final = frozenset({"last", "letzte"})
_LONGEST: Final = 10_000_000  # bytes of a file that is read for it


class RemovedLine(FrozenModel):
    """The parameters of a runbook that takes one line out of a file.

    Attributes:
        file: The one that names the file.
        which: The one that says which line.
        rest: The one that is filled with the digest of what is to be left of the file.
    """

    file: str = Field(min_length=1)
    which: str = Field(min_length=1)
    rest: str = Field(min_length=1)

    @property
    def parameters(self) -> frozenset[str]:
        """Those that it names."""
        return frozenset({self.file, self.which, self.rest})


def rest_digest(path: Path, which: str) -> str:
    """The SHA-256 of a text file without one of its lines; empty where that cannot be told."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LONGEST:
            return ""
        lines = _LINES.findall(path.read_bytes().decode("utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    last = max((at for at, line in enumerate(lines, 1) if line.strip()), default=0)
    said = which.lower()
    number = last if said in _LAST else _NUMBERS.get(said) or int(said)
    if not 0 < number <= len(lines):
        return ""
    return sha256("".join(lines[: number - 1] + lines[number:]).encode()).hexdigest()


def count_files(folder: Path, endings: Sequence[str]) -> int:
    """How many files lie in a folder itself that have one of the endings, hidden ones and links
    aside; without endings, all of them.
    """
    return len(_names(folder, endings))


def file_marks(folder: Path, endings: Sequence[str]) -> str:
    """What tells these files apart: eight hexadecimal digits for each name, one after the other;
    empty for more than `MOST_MARKS`.
    """
    names = _names(folder, endings)
    if len(names) > MOST_MARKS:
        return ""
    return "".join(sorted(sha256(os.fsencode(one)).hexdigest()[:8] for one in names))


def _names(folder: Path, endings: Sequence[str]) -> list[str]:
    if not folder.is_dir():
        return []
    return [
        one.name
        for one in folder.iterdir()
        if not one.name.startswith(".")
        and (not endings or one.name.endswith(tuple(endings)))
        and one.is_file()
        and not one.is_symlink()
    ]
