"""The checks of a goal, in the verification sandbox on a private copy of its workspace (5.2.3)."""

from pathlib import Path

from silas.audit import Audit
from silas.plans import VerificationReport, WorkItem
from silas.work.authority.allowed_hosts import PlannedNetwork
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.checks.verify import VerificationRunner


class GoalChecks:
    """Runs them.

    Args:
        verifier: Runs checks in the verification sandbox.
        audit: Records what they reach over the network.
        scratch: Where copies are made.
    """

    def __init__(self, verifier: VerificationRunner, audit: Audit, scratch: Path) -> None:
        self._verifier = verifier
        self._audit = audit
        self._scratch = scratch

    async def run(self, goal: WorkItem) -> VerificationReport:
        """Each check once."""
        async with TaskWorkspace.open_copy(goal, self._scratch / goal.id, {}) as task_workspace:
            bench = PlannedNetwork(goal, self._audit).for_checks(task_workspace.bench())
            return await self._verifier.run_checks(tuple(goal.verify), bench)
