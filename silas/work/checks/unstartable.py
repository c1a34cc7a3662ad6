"""Checks and steps that could not even start: a broken plan, and no failed work (5.2.1 e).

A check that ends with 126 or 127 says nothing about the work. It is `blocked` at once, unless the
work may make what is missing or the plan expects that code.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from silas.language import tr
from silas.plans import WorkItem
from silas.work.attempt import Attempt
from silas.work.ledger import LedgerEntry

NOT_EXECUTABLE: Final = 126
"""The exit code of a shell for what is there and no program; 127 is for what is not there."""

_CANNOT_START = {NOT_EXECUTABLE: "cannot be executed", 127: "is not there"}
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


class EndedCommand(NamedTuple):
    """A command that ended: what it is called, its exit code, and what it printed."""

    title: str
    exit_code: int | None
    output: str


def broken_plan(item: WorkItem, attempt: Attempt, *, follows_runbook: bool) -> str:
    """Why a plan cannot work whatever is tried: one sentence; nothing where it can.

    What lies in the workspace the work may still make. A step counts only where the model follows
    the plan to the letter: another model may try something else.
    """
    ran = list[EndedCommand]()
    if attempt.report is not None:
        failed = [one for one in attempt.report.results if not one.passed]
        ran += [
            EndedCommand(tr("its check {name}", name=repr(one.name)), one.exit_code, one.output)
            for one in failed
        ]
    if follows_runbook and item.worker is None:
        ran += [_step(entry) for entry in attempt.ledger.entries if not entry.result.ok]
    found = next((told for one in ran if (told := _find_unstartable(one, item.workspace))), "")
    return found and tr(
        "The plan is broken: {found}. Correct the plan, or install what is missing.", found=found
    )


def _step(entry: LedgerEntry) -> EndedCommand:
    code = entry.result.metadata.get("exit_code")
    text = entry.result.return_value
    return EndedCommand(
        tr("its step {step}", step=entry.step), code if isinstance(code, int) else None, text
    )


class MissingCommand(NamedTuple):
    """What kept a command from starting.

    Attributes:
        name: Of a program or a module, as the shell or Python told it; empty where unknown.
        why: `is not there` or `cannot be executed`.
        module: Whether it is a module of Python.
        installed: Whether it is one that is installed, and not written by the work.
    """

    name: str
    why: str
    module: bool = False
    installed: bool = False


def missing_of(ran: EndedCommand) -> MissingCommand | None:
    """What kept a command that failed from starting; None where it started."""
    words = _CANNOT_START.get(ran.exit_code or 0, "")
    if words:
        found = list(_NAMED.finditer(ran.output))
        return MissingCommand(found[-1]["name"].strip() if found else "", words)
    module = _MODULE.match(ran.output.strip()) if ran.exit_code else None
    if module is None:
        return None
    name = module["name"]
    return MissingCommand(name, "is not there", module=True, installed=name.split(".")[0] in _TOOLS)


def _find_unstartable(ran: EndedCommand, workspace: str | None) -> str:
    missing = missing_of(ran)
    if missing is None:
        return ""
    if missing.module:
        told = tr(
            "{part} cannot start: the module `{name}` is not there",
            part=ran.title,
            name=missing.name,
        )
        return told if missing.installed else ""
    if _makeable(missing.name, workspace):
        return ""
    named = f"`{missing.name}`" if missing.name else tr("its program")
    if missing.why == _CANNOT_START[NOT_EXECUTABLE]:
        return tr("{part} cannot start: {name} cannot be executed", part=ran.title, name=named)
    return tr("{part} cannot start: {name} is not there", part=ran.title, name=named)


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
