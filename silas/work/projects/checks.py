"""The checks of a project itself, once all of its tasks are done (spec 5.2.2 step 5)."""

from pathlib import Path

from silas.audit import Audit
from silas.plans import VerificationReport, WorkItem
from silas.work.authority.allowed_hosts import PlannedNetwork
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.checks.verify import VerificationRunner


class ProjectChecks:
    """Runs them in the verification sandbox, on a private copy of the project's workspace.

    Args:
        verifier: Runs checks.
        audit: Where the result is recorded, and what they reach over the network.
        scratch: Where copies are made.
    """

    def __init__(self, verifier: VerificationRunner, audit: Audit, scratch: Path) -> None:
        self._verifier = verifier
        self._audit = audit
        self._scratch = scratch

    async def run(self, project: WorkItem) -> VerificationReport:
        """What they find; it is noted on the project.

        Raises:
            SandboxError: There is no place, or no sandbox, to run them in.
        """
        async with TaskWorkspace.open_copy(
            project, self._scratch / project.id, {}
        ) as task_workspace:
            bench = PlannedNetwork(project, self._audit).for_checks(task_workspace.bench())
            report = await self._verifier.run_checks(tuple(project.verify), bench)
        results = [result.model_dump(mode="json") for result in report.results]
        project.verification_results.append({"attempt": project.attempts, "results": results})
        await self._audit.log(
            "verification_finished",
            work_item_id=project.id,
            attempt=project.attempts,
            all_passed=report.all_passed,
            checks={result.name: result.passed for result in report.results},
        )
        return report
