"""An approval that is taken back while its work runs ends the work there."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from silas.approval import NonceConfig
from silas.approval.nonces import SqlNonceStore
from silas.approval.revocation import revoke
from silas.audit import AuditLog
from silas.db import Database
from silas.plans import WorkItem, WorkItemStatus
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, a_plan
from silas.testing.tools import SandboxRun, exit_result
from tests.support.waits import SECONDS
from tests.work.kit import DONE, Work, argv, at_work

CHECK = {"name": "c", "run": "check", "expect": {"exit_code": 0}}


def take_back(work: Work, item: WorkItem) -> None:
    """As another process does it, over the same database."""
    token, clock = item.approval_token, work.harness.clock
    assert token is not None
    db = Database(work.harness.config.data_dir / "silas.db", clock)
    try:
        audit = AuditLog(db, clock, work.harness.signer)
        assert asyncio.run(revoke(token, SqlNonceStore(db, clock, NonceConfig()), audit))
    finally:
        db.close()


@pytest.mark.parametrize(("moment", "ran"), [("first", ["first"]), ("check", ["first", "/bin/sh"])])
async def test_work_whose_approval_is_taken_back_makes_no_further_effect(
    tmp_path: Path, moment: str, ran: list[str]
) -> None:
    home: list[Work] = []
    (tmp_path / "there").mkdir()
    item = a_plan(workspace=str(tmp_path / "there"), verify=[CHECK], budget={"max_attempts": 1})

    def during(run: SandboxRun) -> SandboxResult:
        if moment in " ".join(run.argv):
            with ThreadPoolExecutor(1) as another:
                another.submit(take_back, home[0], item).result(timeout=SECONDS)
        return exit_result(stdout="done")

    sandbox = FakeSandbox(during)
    steps = (argv("first"), *([argv("second")] if moment == "first" else []), DONE)
    async with at_work(*steps, sandbox=sandbox) as work:
        home.append(work)
        result = await work.execute(await work.approve(item))
        assert result.status is WorkItemStatus.blocked
        assert "took this approval back" in result.summary
        assert [run.argv[0] for run in sandbox.runs] == ran
        events = await work.events()
        assert "approval.revoked" in events
        assert "workspace_applied" not in events
        assert len(await work.record("execution_blocked_no_approval")) == 1
