"""No approval, no execution: what must hold before a task starts (spec 5.2.1 step 0)."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from silas.approval import ApprovalVerdict
from silas.plans import WorkItem, WorkItemStatus, subject_of
from silas.testing import FakeSandbox, a_plan, a_signer
from silas.testing.approval import a_decision, a_token
from silas.testing.tools import exit_result
from tests.plans.test_subject import CHANGES
from tests.work.kit import DONE, Work, argv, at_work


async def _no_token(work: Work) -> WorkItem:
    return a_plan()


async def _declined(work: Work) -> WorkItem:
    item = a_plan()
    item.approval_token = await work.silas.approval.issue_token(
        subject_of(item), a_decision(ApprovalVerdict.declined)
    )
    return item


async def _of_another_item(work: Work) -> WorkItem:
    other = await work.approve(a_plan(id="task-other"))
    return a_plan(approval_token=other.approval_token)


async def _never_spent(work: Work) -> WorkItem:
    item = a_plan()
    item.approval_token = await work.silas.approval.issue_token(subject_of(item), a_decision())
    return item


async def _expired(work: Work) -> WorkItem:
    item = await work.approve(a_plan())
    work.harness.clock.advance(timedelta(minutes=30).total_seconds())
    return item


async def _counter_edited(work: Work) -> WorkItem:
    item = await work.approve(a_plan())
    assert item.approval_token is not None
    item.approval_token = item.approval_token.model_copy(update={"max_executions": 2})
    return item


async def _spent_elsewhere(work: Work) -> WorkItem:
    async with at_work() as elsewhere:
        return await elsewhere.approve(a_plan())


async def _of_another_key(work: Work) -> WorkItem:
    item, thief = a_plan(), a_signer("thief")
    subject = subject_of(item)
    item.approval_token = a_token(
        thief, work.harness.clock, plan_hash=subject.digest, work_item_id=subject.id
    )
    return item


def _approved_and(**wants: Any) -> Callable[[Work], Awaitable[WorkItem]]:
    async def make(work: Work) -> WorkItem:
        return await work.approve(a_plan(**wants))

    return make


REFUSED: dict[str, tuple[Callable[[Work], Awaitable[WorkItem]], str]] = {
    "no token": (_no_token, "There is no approval"),
    "declined": (_declined, "did not approve"),
    "another item's token": (_of_another_item, "not what was approved"),
    "never spent": (_never_spent, "No use of this approval was spent"),
    "spent elsewhere only": (_spent_elsewhere, "No use of this approval was spent"),
    "of another key": (_of_another_key, "signature"),
    "expired": (_expired, "expire"),
    "a counter edited": (_counter_edited, "signature"),
    "skills": (_approved_and(skills=["excel"]), "skills that are not installed: excel"),
    "network": (_approved_and(network=["10.0.0.1"]), "not an IP address"),
    "tools": (_approved_and(tools=[{"name": "mail"}]), "`tools`"),
    "worker": (_approved_and(worker="coder"), "`worker`"),
    "a project": (_approved_and(type="project"), "is a project"),
    "a goal": (_approved_and(type="goal"), "no standing approval"),
    "a schedule": (_approved_and(schedule="0 * * * *"), "Only a goal runs by the clock"),
    "a provider": (
        _approved_and(gates=[{"name": "tone", "on": "on_tool_call", "provider": "llm"}]),
        "no provider llm",
    ),
    "a gate for messages": (
        _approved_and(gates=[{"name": "in", "on": "every_user_message"}]),
        "to which a task never comes",
    ),
}


async def assert_refused(work: Work, sandbox: FakeSandbox, item: WorkItem, words: str) -> None:
    result = await work.execute(item)
    assert result.status is WorkItemStatus.blocked
    assert words in result.summary
    assert result.last_error == result.summary
    assert not sandbox.runs
    assert not work.executor.requests
    stored = await work.stored(item.id)
    assert (stored.status, stored.attempts) == (WorkItemStatus.blocked, 0)
    assert await work.silas.store.get_result(item.id) == result
    [(_, blocked)] = await work.record("execution_blocked_no_approval")
    assert blocked == {"work_item_id": item.id, "reason": result.summary}
    assert [event.status for event in work.told] == ["blocked"]


@pytest.mark.proves("S5.2.1-NO-TOKEN-BLOCKS", "S5.2.1-BAD-TOKEN-BLOCKS")
@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_approved_does_not_run(name: str) -> None:
    make, words = REFUSED[name]
    sandbox = FakeSandbox(lambda run: exit_result())
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
        await assert_refused(work, sandbox, await make(work), words)


@pytest.mark.proves("B2-CHANGED-PLAN-REFUSED", "S5.2.1-BAD-TOKEN-BLOCKS")
@pytest.mark.parametrize("change", CHANGES, ids=str)
async def test_a_plan_edited_after_its_approval_does_not_run(change: dict[str, Any]) -> None:
    sandbox = FakeSandbox(lambda run: exit_result())
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
        approved = await work.approve(a_plan())
        edited = a_plan(**change, approval_token=approved.approval_token)
        await assert_refused(work, sandbox, edited, "")


async def test_the_same_plan_unedited_does_run() -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
        result = await work.run()
        assert result.status is WorkItemStatus.done
        assert len(sandbox.runs) == 2  # the call, and the check
        assert "execution_blocked_no_approval" not in await work.events()


async def test_waiting_for_work_that_is_not_done_blocks() -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("true"), DONE, argv("true"), DONE, sandbox=sandbox) as work:
        later = {"id": "task-later", "depends_on": ["task-example"]}
        blocked = await work.run(**later)
        assert blocked.status is WorkItemStatus.blocked
        assert blocked.summary == "It waits for task-example, which is not done."
        assert not sandbox.runs
        assert (await work.run()).status is WorkItemStatus.done
        assert (await work.run(**later)).status is WorkItemStatus.done
