"""Paths named by plans, gates and checks, kept inside the directories they may look at."""

from collections.abc import Sequence
from pathlib import Path


def resolve_within(name: str, roots: Sequence[Path]) -> Path | None:
    """The real path of `name` inside one of `roots`, or None where it is or leads outside.

    A relative name is looked up in each root in order; the first in which it exists wins, else the
    first root. `..` is refused wherever it stands, even where it would stay inside, and so is a
    symbolic link that leaves the roots (spec 3.3). Existence is not required.
    """
    path = Path(name)
    if not name or "\0" in name or ".." in path.parts:
        return None
    inside = [
        real for root in roots if (real := _real(root / path)) is not None and _within(real, roots)
    ]
    return next((real for real in inside if exists(real)), inside[0] if inside else None)


def exists(path: Path) -> bool:
    """Whether it is there; what the file system refuses to look at is not."""
    try:
        return path.exists()
    except OSError:
        return False


def _real(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links, or a name the file system does not take
        return None


def _within(real: Path, roots: Sequence[Path]) -> bool:
    return any(real.is_relative_to(root.resolve()) for root in roots)
