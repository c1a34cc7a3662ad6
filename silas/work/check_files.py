"""Which of a check's own files the work changed: what it runs, collects and is told by. Pure.

To add a test is ordinary work, and so it is said, never refused.
"""

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from silas.plans import VerificationCheck, show
from silas.plans.runs import How, Use, uses_of_text
from silas.sandbox.workspace import Change

SHOWN: Final = 10
"""Of the files that a sentence names."""


def changed_files(
    changes: Iterable[Change], checks: Iterable[VerificationCheck], workspace: str
) -> tuple[str, ...]:
    """The paths, ordered, that the work created, changed or deleted and a check's verdict rests on.

    Args:
        changes: What the work did.
        checks: The checks of the plan.
        workspace: Where it stands, for absolute paths in a command.
    """
    uses = {use for check in checks for use in uses_of_text(check.run)}
    return tuple(
        change.path
        for change in sorted(changes)
        if _is_file(change) and any(_meant(change, use, workspace) for use in uses)
    )


def told(paths: tuple[str, ...]) -> str:
    """The sentence of a result; empty where there is nothing to say."""
    if not paths:
        return ""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    named = ", ".join(map(show, paths[:SHOWN])) + more
    return f"This work changed what its own checks run: {named}."


def _is_file(change: Change) -> bool:
    return any(entry is not None and entry.kind != "dir" for entry in (change.before, change.after))


def _meant(change: Change, use: Use, workspace: str) -> bool:
    path, name = change.path, posixpath.basename(change.path)
    match use.how:
        case How.runs:
            return path in {_inside(one, workspace) for one in use.paths}
        case How.names:  # what was not there before is what the work made, and is looked at
            named = {_inside(one, workspace) for one in use.paths}
            return change.before is not None and path in named
        case How.told:
            return any(fnmatchcase(name, pattern) for pattern in use.paths)
        case How.collects:
            within = _inside(use.within, workspace)
            if not within:
                return any(fnmatchcase(name, pattern) for pattern in use.paths)
            return path == within or path.startswith(f"{within}/")
        case How.imports:
            return False


def _inside(path: str, workspace: str) -> str:
    if workspace and path.startswith(f"{workspace}/"):
        return path[len(workspace) + 1 :]
    return "" if path == "." else path
