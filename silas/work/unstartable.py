"""Checks and steps that could not even start: a broken plan, and no failed work (5.2.1 e)."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from silas.plans import WorkItem
from silas.work.attempt import Attempt
from silas.work.ledger import LedgerEntry

_CANNOT_START = {126: "cannot be executed", 127: "is not there"}
_NAMED = re.compile(
    r"(?:^|: )(?P<name>[^\s:][^:\n]*): (?:command not found|not found|Permission denied|"
    r"cannot execute[^\n]*|No such file or directory)\s*$",
    re.MULTILINE,
)
_MODULE = re.compile(r"\A\S*python[0-9.]*: No module named '?(?P<name>[\w.]+)'?\s*\Z")
_TOOLS = frozenset(
    {"pytest", "ruff", "mypy", "tox", "nox", "nose", "coverage", "black", "flake8", "pylint"}
)
"""Modules that are installed and not written by the work that they check."""


class Ran(NamedTuple):
    """A command that ended: what it is called, its exit code, and what it printed."""

    title: str
    exit_code: int | None
    output: str


def broken_plan(item: WorkItem, attempt: Attempt, *, follows_runbook: bool) -> str:
    """Why a plan cannot work whatever is tried: one sentence; nothing where it can.

    What lies in the workspace the work may still make. A step counts only where the model follows
    the plan to the letter: another model may try something else.
    """
    ran = list[Ran]()
    if attempt.report is not None:
        failed = [one for one in attempt.report.results if not one.passed]
        ran += [Ran(f"check {one.name!r}", one.exit_code, one.output) for one in failed]
    if follows_runbook and item.worker is None:
        ran += [_step(entry) for entry in attempt.ledger.entries if not entry.result.ok]
    found = next((told for one in ran if (told := _unstartable(one, item.workspace))), "")
    return (
        found and f"The plan is broken: its {found} Correct the plan, or install what is missing."
    )


def _step(entry: LedgerEntry) -> Ran:
    code = entry.result.metadata.get("exit_code")
    text = entry.result.return_value
    return Ran(f"step {entry.step}", code if isinstance(code, int) else None, text)


def _unstartable(ran: Ran, workspace: str | None) -> str:
    words = _CANNOT_START.get(ran.exit_code or 0, "")
    found = list(_NAMED.finditer(ran.output))
    if words:
        name = found[-1]["name"].strip() if found else ""
        if _makeable(name, workspace):
            return ""
        return f"{ran.title} cannot start: {f'`{name}`' if name else 'its program'} {words}."
    module = _MODULE.match(ran.output.strip()) if ran.exit_code else None
    if module is not None and module["name"].split(".")[0] in _TOOLS:
        return f"{ran.title} cannot start: the module `{module['name']}` is not there."
    return ""


def _makeable(name: str, workspace: str | None) -> bool:
    """Whether a name is a path in the workspace, which the work itself may bring."""
    if "/" not in name:
        return False
    inside = workspace is not None and name.startswith(f"{workspace}/")
    return inside or not name.startswith("/")


def fingerprint(attempt: Attempt) -> Sequence[object]:
    """What an attempt did and how it ended, without what may differ by chance, such as times."""
    calls = [
        (entry.tool_name, repr(entry.args), entry.result.ok, entry.result.metadata.get("exit_code"))
        for entry in attempt.ledger.entries
    ]
    results = attempt.report.results if attempt.report is not None else []
    return (attempt.error, calls, [(one.name, one.passed, one.exit_code) for one in results])
