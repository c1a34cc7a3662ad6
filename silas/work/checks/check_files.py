"""Which of a plan's own files the work changed: what its checks and blocks run. Pure.

To add a test is ordinary work, and so it is said, never refused. What is run by its name is asked
about once text from outside was read (decision D360).
"""

import posixpath
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from silas.plans import VerificationCheck, WorkItem, show
from silas.plans.commands.executed_files import FileUse, Use
from silas.plans.commands.plan_commands import uses_of_plan
from silas.work.changes.copy_view import CopyTree
from silas.work.checks.called_scripts import inside, uses_within
from silas.work.checks.inline_code import looked_at
from silas.workspace.copy import Change

SHOWN: Final = 10
"""Of the files that a sentence names."""

_BY_CHECK: Final = "a check of the plan runs it or is told by it"
_BY_BLOCK: Final = "a block of the plan runs it"
_BEFORE: Final = "it takes the place of what a check of the plan runs"
_CHECKS: Final = re.compile(
    r"(?:^|[/_.-])(?:tests?|checks?|specs?|verify|validate|lint|ci|e2e|smoke|run_?tests?)(?=[/_.-]|$)"
    r"|\.(?:sh|bash|zsh|bats)$",
    re.IGNORECASE,
)
"""Names of what judges: where only its output is compared, other programs are what is judged."""


def changed_files(
    changes: Iterable[Change], checks: Iterable[VerificationCheck], workspace: str, tree: CopyTree
) -> tuple[str, ...]:
    """The paths, ordered, that the work created, changed or deleted and a check's verdict rests on.

    Args:
        changes: What the work did.
        checks: The checks of the plan.
        workspace: Where it stands, for absolute paths in a command.
        tree: The copy after the work, for what scripts run in their turn.
    """
    uses = {
        use
        for check in checks
        for use in uses_within(check.run, workspace, tree)
        if not (use.how is FileUse.names and looked_at(check.run).issuperset(use.paths))
    }
    return tuple(
        change.path
        for change in sorted(changes)
        if _is_file(change) and any(_use_means_change(change, use, workspace, tree) for use in uses)
    )


def run_files(changes: Iterable[Change], item: WorkItem, tree: CopyTree) -> dict[str, str]:
    """The changed files that a check or a block of a plan runs by name, each with why it counts.

    A file that the work made, and in whose place there was nothing, is what the work was about.

    Args:
        changes: What the work did.
        item: Its plan.
        tree: The copy after the work.
    """
    workspace, files = item.workspace or "", [one for one in changes if _is_file(one)]
    made = frozenset(change.path for change in files if change.before is None)
    found: dict[str, str] = {}
    for use, why in _uses(item, tree):
        for change in files:
            if said := _runs(change, use, why, made, workspace, tree):
                found.setdefault(change.path, said)
    return found


def check_files_note(paths: tuple[str, ...]) -> str:
    """The sentence of a result; empty where there is nothing to say."""
    if not paths:
        return ""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    named = ", ".join(map(show, paths[:SHOWN])) + more
    return f"This work changed what its own checks run: {named}."


def _uses(item: WorkItem, tree: CopyTree) -> Iterator[tuple[Use, str]]:
    for check in item.verify:
        by_output = check.expect.exit_code is None and check.expect.file_exists is None
        for use in uses_within(check.run, item.workspace or "", tree):
            yield use._replace(compared=use.compared or by_output), _BY_CHECK
    for use in uses_of_plan(item.model_copy(update={"verify": []})):
        yield use, _BY_BLOCK


def _runs(
    change: Change, use: Use, why: str, made: frozenset[str], workspace: str, tree: CopyTree
) -> str:
    """Why this change is one of what a use runs by name; empty where it is not."""
    if use.how is FileUse.told:
        return why if _use_means_change(change, use, workspace, tree) else ""
    if use.how is FileUse.collects:
        within = inside(use.within, workspace)
        return why if change.path == within and change.path not in made else ""
    if use.how not in (FileUse.runs, FileUse.imports):
        return ""
    named = [inside(path, workspace) for path in use.paths]
    at = next((at for at, one in enumerate(named) if _is_at(change.path, one, tree)), None)
    if at is None:
        return ""
    if change.path in made:  # a package beside the module of the same name comes before it
        others = [one for one in named if one != change.path and one not in made]
        return _BEFORE if any(one and tree.exists(one) for one in others) else ""
    judges = not use.compared or _CHECKS.search(change.path)
    return why if use.how is FileUse.runs and judges else ""


def _is_file(change: Change) -> bool:
    return any(entry is not None and entry.kind != "dir" for entry in (change.before, change.after))


def _is_at(path: str, named: str, tree: CopyTree) -> bool:
    """Whether a path is what a word of a command names: itself, by a pattern, or through links."""
    if not named:
        return False
    if set("*?[") & set(named):
        whole = "/" in named
        return fnmatchcase(path if whole else posixpath.basename(path), named)
    return path in (named, tree.real(named))


def _use_means_change(change: Change, use: Use, workspace: str, tree: CopyTree) -> bool:
    path, name = change.path, posixpath.basename(change.path)
    match use.how:
        case FileUse.runs:
            return any(_is_at(path, inside(one, workspace), tree) for one in use.paths)
        case FileUse.names:  # what was not there before is what the work made, and is looked at
            named = {inside(one, workspace) for one in use.paths}
            return change.before is not None and path in named
        case FileUse.told:
            return any(fnmatchcase(name, pattern) for pattern in use.paths)
        case FileUse.collects:
            within = inside(use.within, workspace)
            if not within:
                return any(fnmatchcase(name, pattern) for pattern in use.paths)
            return path == within or path.startswith(f"{within}/")
        case FileUse.imports | FileUse.mentions:
            return False
