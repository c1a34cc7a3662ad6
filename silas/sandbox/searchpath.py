"""Where a command is looked for inside, and that nothing inside can plant one there.

The fixed directories of the system come last. What a run is given besides (`SandboxFiles.path`)
comes first, and only where it is shown read-only: the work could write itself a `pytest` anywhere
else, and a check would take it for the real one.
"""

import functools
import os
from collections.abc import Iterable
from pathlib import Path

from silas.errors import SandboxError
from silas.sandbox.models import Mount, SandboxFiles

SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")
"""What every run has, read-only."""

ALIASES = "/silas/bin"
"""A read-only directory in memory that holds a link `python`, where the system has none."""


def search_path(files: SandboxFiles) -> str:
    """The value of PATH.

    Raises:
        SandboxError: `E_SANDBOX_PATH`: a directory of it is not plain, or can be written inside.
    """
    last = (*SYSTEM, *((ALIASES,) if python_alias() else ()))
    for place in files.path:
        if why := _unplain(place) or _why_unseen(place, files.mounts):
            raise _path_error(place, why)
    for place in (*files.path, *map(Path, last)):
        if why := _writable(place, files.mounts):
            raise _path_error(place, why)
    return ":".join((*map(str, files.path), *last))


def _path_error(place: Path, why: str) -> SandboxError:
    return SandboxError(f"{place} cannot be in the PATH: {why}.", code="E_SANDBOX_PATH")


def _unplain(place: Path) -> str:
    text = str(place)
    plain = place.is_absolute() and os.path.normpath(text) == text and ":" not in text
    return "" if plain else "it is not an absolute path without `..` and colons"


def _why_unseen(place: Path, mounts: tuple[Mount, ...]) -> str:
    shown = (Path("/usr"), *(mount.target for mount in mounts))
    return "" if any(_within(place, root) for root in shown) else "nothing is shown there"


def _writable(place: Path, mounts: tuple[Mount, ...]) -> str:
    cover = next((m for m in reversed(mounts) if _within(place, m.target)), None)
    if cover is not None and cover.writable:
        return "the work can write to it"
    below = any(m.writable and _within(m.target, place) for m in mounts)
    return "the work can write to a part of it" if below else ""


def _within(path: Path, root: Path) -> bool:
    return path == root or root in path.parents


@functools.cache
def python_alias() -> str:
    """The interpreter of this system that has no link `python` beside it; empty for none."""
    if _first("python"):
        return ""
    return _first("python3")


def _first(name: str) -> str:
    places: Iterable[str] = (f"{place}/{name}" for place in SYSTEM)
    return next((path for path in places if os.access(path, os.X_OK)), "")


def alias_options() -> tuple[str, ...]:
    """What makes the link, as options of bubblewrap."""
    target = python_alias()
    return ("--symlink", target, f"{ALIASES}/python") if target else ()
