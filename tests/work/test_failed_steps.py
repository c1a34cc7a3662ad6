"""A step of a runbook that failed is never told as done, also where its checks hold (5.2.1)."""

import json
from pathlib import Path

import pytest

from silas.goals.models import Outcome
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import START, Watched, cycles, until
from tests.stream.kit import saying_yes, soon
from tests.support.command import environment, run, silas
from tests.support.plans import check, sh_plan

SAID = "Step 1 failed: sub is there already; nothing was made."
A_DAY = 24 * 3600
GONE = "Step 1 failed: There is no file gone.txt."


async def test_a_step_that_failed_is_told_in_the_words_of_its_program(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask("make a folder sub", workspace=tmp_path))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
        why = await soon(h.silas.ask("why did that fail", workspace=tmp_path))
    assert done is not None
    assert (done.status, done.summary.split("\n")[0]) == (WorkItemStatus.failed, SAID)
    assert "Its checks hold all the same: folder_is_there." in done.summary
    assert SAID in why.text
    printed = "\n".join(channel.texts)
    assert SAID in printed
    assert "Done and verified" not in printed


@pytest.mark.parametrize(
    ("steps", "status", "said"),
    [
        (("false",), WorkItemStatus.failed, "Step 1 failed: exit code 1"),
        (("touch made", "ls gone >&2"), WorkItemStatus.failed, "Step 2 failed: "),
        (("echo all is well; echo Oh no. >&2; exit 3",), WorkItemStatus.failed, "failed: Oh no."),
        (("touch made", "false || true"), WorkItemStatus.done, "Done and verified: checked."),
    ],
)
async def test_a_step_that_may_fail_says_so_itself(
    steps: tuple[str, ...], status: WorkItemStatus, said: str, tmp_path: Path
) -> None:
    text = sh_plan(*steps, workspace=str(tmp_path), verify=check("true"))
    async with Harness(ScriptedChannel(saying_yes)) as h:
        result = await soon(h.silas.run(text))
    assert (result.status, said in result.summary) == (status, True), result.summary
    assert (tmp_path / "made").exists() is (status is WorkItemStatus.done)


async def test_where_checks_fail_the_words_of_the_program_come_first(tmp_path: Path) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, settings={"language": "de"}) as h:
        reply = await soon(h.silas.ask("verschiebe gone.txt nach sub", workspace=tmp_path))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.stuck
    assert done.summary.startswith("Schritt 1 ist fehlgeschlagen: There is no file gone.txt.\n")
    assert "Was es ausgegeben hat (nicht Silas' Worte):" in "\n".join(channel.texts)


async def test_by_the_clock_it_is_work_that_was_not_done(tmp_path: Path) -> None:
    channel, clock, noted = ScriptedChannel(saying_yes), MockClock(START), Watched()
    async with Harness(channel, clock=clock, beside=noted.beside) as h:
        reply = await soon(h.silas.ask("every day at 10 delete gone.txt", workspace=tmp_path))
        assert reply.plan is not None, reply.text
        goal = reply.plan.id
        await until(lambda: bool(noted.goals.store.all()))
        clock.advance(A_DAY)
        await until(lambda: bool(cycles(noted, goal)))
        (cycle,) = cycles(noted, goal)
        task = await h.store.get_result(cycle.task_id)
    assert cycle.outcome is Outcome.not_done, cycle
    assert task is not None
    assert (task.status, task.summary.split("\n")[0]) == (WorkItemStatus.failed, GONE)
    assert "Done and verified" not in "\n".join(channel.texts)
    assert GONE in "\n".join(channel.texts)


def test_every_command_tells_it_as_failed(tmp_path: Path) -> None:
    work, env = tmp_path / "work", environment(tmp_path / "home")
    work.mkdir()
    plan = tmp_path / "plan.md"
    steps = ("echo There is no file gone.txt. >&2; exit 1",)
    text = sh_plan(*steps, id="task-gone", workspace=str(work), verify=check("test ! -e gone.txt"))
    plan.write_text(text, encoding="utf-8")
    assert run(silas("init"), env).code == 0
    digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
    ended = run(silas("run", plan, "--approve", digest, "--json"), env)
    assert ended.code != 0
    told = json.loads(ended.out)
    assert (told["status"], told["summary"].split("\n")[0]) == ("failed", GONE)
    assert told["last_error"].startswith(GONE)
    for command in (("show", "task-gone"), ("status",), ("show", "task-gone", "--json")):
        shown = run(silas(*command), env)
        assert "Done and verified" not in shown.out
        assert "failed" in shown.out, shown.out
