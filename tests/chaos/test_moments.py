"""The moments of a crash that matter most, each by name."""

import errno
from pathlib import Path

import pytest

from silas.db import Database
from silas.plans import WorkItemStatus
from silas.testing import CallTool, Harness, MockClock, ScriptedChannel, ScriptedModel, a_plan
from silas.testing.tools import a_context
from silas.tools import CallFacts
from silas.tools.models import (
    validated_call,
)
from silas.tools.outcomes import SqlOutcomeStore
from silas.types import OWNER
from tests.chaos.kit import Aftermath, broken_at
from tests.stream.kit import done_sandbox, entries_of, ran, saying_yes, soon

pytestmark = pytest.mark.filterwarnings(
    "ignore:coroutine .* was never awaited:RuntimeWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)


def broken(kind: str, from_the_end: int = 0) -> Aftermath:
    """Killed at the last point of a kind, or at one before it."""
    kinds = frozenset({kind})
    points = len(broken_at(0, sends=True, kinds=kinds).seen)
    return broken_at(points - from_the_end, sends=True, kinds=kinds)


def status(after: Aftermath) -> WorkItemStatus:
    assert after.found.item is not None
    return after.found.item.status


@pytest.mark.proves("S5.1.3-WORK-RESUMED")
async def test_what_was_approved_and_had_not_begun_runs_under_the_use_that_was_spent(
    tmp_path: Path,
) -> None:
    clock, channel = MockClock(), ScriptedChannel(saying_yes)
    async with Harness(channel, home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        proposal = await soon(h.silas.runs.proposer.propose(a_plan(), channel, OWNER, "why"))
        assert proposal.verdict == "approved"
    models = {"executor": ScriptedModel([CallTool("shell_exec", {"argv": ["true"]}), ran()])}
    nobody = ScriptedChannel()
    async with Harness(
        nobody, models=models, home=tmp_path, clock=clock, sandbox=done_sandbox()
    ) as h:
        result = await soon(h.silas.wait("task-example"))
        assert result is not None
        assert result.status is WorkItemStatus.done
        assert len(await entries_of(h, "approval.used")) == 1
    assert nobody.cards == []


async def test_an_approval_that_expired_before_the_work_began_blocks_it(tmp_path: Path) -> None:
    clock, channel = MockClock(), ScriptedChannel(saying_yes)
    async with Harness(channel, home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        await soon(h.silas.runs.proposer.propose(a_plan(), channel, OWNER, "why"))
    clock.advance(31 * 60)
    sandbox = done_sandbox()
    async with Harness(home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status is WorkItemStatus.blocked
    assert sandbox.runs == []


def test_what_was_applied_and_not_recorded_is_recorded_and_not_done_again() -> None:
    after = broken("journal")  # the journal says `applied`, and is not on the disk for good
    assert status(after) is WorkItemStatus.done
    assert after.noted["worked"] == 1
    assert after.found.result is not None
    assert "result.txt" in after.found.result.diff


def test_what_was_verified_and_not_wholly_applied_is_taken_back_and_not_called_done() -> None:
    after = broken("journal", 1)  # all files are written, and the journal does not say so
    assert status(after) is WorkItemStatus.blocked  # its effect outside had happened


def test_a_question_that_was_open_is_asked_again() -> None:
    after = broken("asked", 1)  # the first card is the plan's
    assert (after.noted["asked"], after.noted["approved"]) == (2, 1)
    assert status(after) is WorkItemStatus.done


async def test_a_question_that_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    for channel in (ScriptedChannel(), ScriptedChannel(saying_yes)):
        async with Harness(channel, home=tmp_path, sandbox=done_sandbox()) as h:
            await soon(h.silas.runs.proposer.propose(a_plan(), channel, OWNER, "why"))
            assert await h.silas.runs.proposer.waiting() == []


@pytest.mark.proves("B4-NEVER-REPEATED")
def test_a_call_that_may_have_happened_is_not_made_again_and_the_owner_is_asked() -> None:
    for from_the_end in (1, 0):  # before it happens, and after
        after = broken("effect", from_the_end)
        assert status(after) is WorkItemStatus.blocked
        assert after.found.result is not None
        assert "silas calls" in after.found.result.summary


def test_work_that_was_interrupted_after_an_effect_does_not_go_on_by_itself() -> None:
    after = broken("sandbox")
    assert status(after) is WorkItemStatus.blocked
    assert after.found.result is not None
    assert "took effect" in after.found.result.summary
    assert after.noted["effect"] == 1


@pytest.mark.parametrize(("network", "ended"), [([], "done"), (["example.org"], "blocked")])
async def test_a_sandboxed_command_is_repeated_only_where_it_could_reach_nobody(
    tmp_path: Path, network: list[str], ended: str
) -> None:
    clock, channel = MockClock(), ScriptedChannel(saying_yes)
    models = {"executor": ScriptedModel([CallTool("shell_exec", {"argv": ["true"]}), ran()])}
    async with Harness(channel, home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        item = a_plan(network=network)
        await soon(h.silas.runs.proposer.propose(item, channel, OWNER, "why"))
        item.status, item.attempts = WorkItemStatus.running, 1
        await h.store.save(item)
    attempted(h.config.data_dir, clock)
    async with Harness(models=models, home=tmp_path, clock=clock, sandbox=done_sandbox()) as h:
        result = await soon(h.silas.wait("task-example"))
    assert result is not None
    assert result.status.value == ended


def attempted(data: Path, clock: MockClock) -> None:
    """The journal as a crash in the middle of a command leaves it."""
    db = Database(data / "silas.db", clock)
    try:
        call = validated_call("shell_exec", "run", {"argv": ["true"]})
        context, outcomes = a_context(task_id="task-example"), SqlOutcomeStore(db, clock)
        assert outcomes.begin("k" * 64, call, context, CallFacts(), idempotent=False) is None
    finally:
        db.close()


def disk_full() -> BaseException:
    return OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_that_refuses_the_journals_last_word_leaves_the_directory_as_it_was() -> None:
    kinds = frozenset({"journal"})
    points = len(broken_at(0, sends=True, kinds=kinds).seen)
    after = broken_at(points, sends=True, what=disk_full, kinds=kinds)
    assert status(after) is WorkItemStatus.blocked  # and `broken_at` looks at the directory
