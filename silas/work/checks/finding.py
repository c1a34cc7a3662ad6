"""Work that looks and finds a failure: that is its result, and no try that went wrong (5.2.1 e).

"Run the tests" on a project whose tests fail: the work's own command ran to its end and failed, and
the check, which is the same command, failed as well. To try it again could find nothing else.
"""

import shlex
from typing import Any

from silas.plans import WorkItem
from silas.tools.builtin.sandboxed import exit_code_of
from silas.work.attempt import Attempt


def what_was_found(item: WorkItem, attempt: Attempt, *, follows_runbook: bool) -> str:
    """What an attempt found to fail, in a sentence; nothing where another could do better.

    Every check that failed is a command that the work ran itself, and that failed there, too. A
    model counts only where the plan lets it change nothing: it may mend elsewhere what it found.
    """
    if attempt.error is not None or attempt.report is None:
        return ""
    if not follows_runbook and item.writes != []:
        return ""
    ran = [
        _of_step(entry.args.get("argv"))
        for entry in attempt.ledger.entries
        if not entry.result.ok and exit_code_of(entry.result)
    ]
    commands = {check.name: _words(check.run) for check in item.verify}
    failed = attempt.report.failed
    if not failed or any(
        one.exit_code is None or commands.get(one.name) not in ran for one in failed
    ):
        return ""
    named = ", ".join(f"`{one.name}` failed with exit code {one.exit_code}" for one in failed)
    return f"It ran to its end, and what it looked at is not in order: {named}."


def _of_step(argv: Any) -> list[str]:
    match argv:
        case ["sh", "-c", str(text)]:
            return _words(text)
        case [*words]:
            return [str(word) for word in words]
        case _:
            return []


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # no whole command
        return [command]
