"""Each way the main job can end: its own exit code, one clear sentence, and nothing ran that should
not have. Declining and a missing sandbox are in `tests/cli`."""

import asyncio
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from silas.cards.models import PlanAnswer
from silas.main.output import STATUS_CODES
from silas.plans import PlanParser, WorkItemStatus
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, Harness, MockClock, ScriptedChannel
from silas.testing.tools import SandboxRun, exit_result
from tests.support.command import Ended, run, silas, started
from tests.support.home import Home, digest_of, soon
from tests.support.plans import check, sh_plan, writing_plan
from tests.support.waits import SECONDS


@pytest.fixture
async def home(tmp_path: Path) -> Home:
    return await Home.set_up(tmp_path)


def run_as_approved(home: Home, text: str) -> Ended:
    """Run a plan with the approval of exactly its text."""
    home.plan.write_text(text)
    return run(silas("run", home.plan, "--approve", digest_of(text)), home.env)


def untouched(home: Home) -> bool:
    return {p.name: p.read_text() for p in home.work.iterdir()} == {"input.txt": "as it was\n"}


def test_editing_the_plan_after_its_approval_runs_nothing(home: Home) -> None:
    home.plan.write_text(home.text.replace("cp input.txt", "cp -v input.txt"))
    done = run(home.command(), home.env)
    assert done.code == 3
    assert f"but {home.hash} was approved" in done.out
    assert done.err.strip() == "blocked: The plan was not approved; nothing was run."
    assert untouched(home)
    assert home.statuses() == []


def test_a_plan_that_took_the_name_of_another_runs_nothing(home: Home) -> None:
    assert run_as_approved(home, sh_plan("true", id="task-nap", verify=check("true"))).code == 0
    done = run_as_approved(home, home.text)
    assert done.code == 3
    assert "another plan with the id task-nap" in done.err
    assert untouched(home)


def test_a_check_that_fails_changes_nothing(home: Home) -> None:
    text = writing_plan(home.work, verify=check("test -s nowhere"), budget={"max_attempts": 2})
    done = run_as_approved(home, text)
    assert done.code == 1
    assert "check “checked” failed" in done.err
    assert done.out.count("working: attempt") == 2
    assert "Traceback" not in done.out + done.err
    assert untouched(home)
    assert run(silas("status"), home.env).out.startswith("stuck ")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopping_in_a_long_step_ends_its_processes_and_changes_nothing(
    number: signal.Signals, home: Home
) -> None:
    with started(home.command(), home.env) as process:
        soon(home.asleep, "the step")
        process.send_signal(number)
        _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 4
    assert err.strip() == "Stopped; work that was not verified has not been applied."
    assert not home.asleep()
    soon(home.nobody, "the end of the sandbox")
    assert untouched(home)
    assert home.statuses() == ["unknown"]
    assert run(silas("status"), home.env).out.startswith("paused ")
    assert run(silas("audit", "verify"), home.env).code == 0


async def test_an_approval_that_expired_while_silas_was_down_runs_nothing(tmp_path: Path) -> None:
    clock, work = MockClock(), tmp_path / "work"
    work.mkdir()
    item = PlanParser().parse(writing_plan(work, id="task-late"))
    yes = ScriptedChannel(lambda card: PlanAnswer(verdict="approved"))
    async with Harness(yes, home=tmp_path, clock=clock) as h:
        proposal = await h.silas.runs.proposer.propose(item, yes, "owner", "for the test")
        assert proposal.verdict == "approved"
        item.status = WorkItemStatus.running  # and here the machine goes down
        await h.store.save(item)

    clock.advance(timedelta(minutes=31).total_seconds())
    channel, sandbox = ScriptedChannel(), FakeSandbox(_ok)
    async with Harness(channel, home=tmp_path, clock=clock, sandbox=sandbox) as h:
        result = await asyncio.wait_for(h.silas.wait("task-late"), SECONDS)
    assert result is not None
    assert STATUS_CODES[result.status.value] == 3
    assert result.summary.startswith("The approval does not hold: ")
    assert "expired" in result.summary
    assert channel.texts == [f"blocked: {result.summary}"]
    assert sandbox.runs == []
    assert list(work.iterdir()) == []


def _ok(run: SandboxRun) -> SandboxResult:
    return exit_result()
