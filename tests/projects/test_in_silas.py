"""Projects in a whole Silas: one card, one yes, every task on the road of a plan of its own."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.agents.models import ExecutorAgentOutput
from silas.agents.plan_fields import plan_text as plan_of_fields
from silas.approval.revocation import revoke
from silas.cards import Card, PlanCard
from silas.plans import PlanParser, WorkItemStatus, plan_hash
from silas.plans.projects.card import TASKS
from silas.plans.projects.signed_tasks import PROJECT as OF_PROJECT
from silas.sandbox import SandboxResult
from silas.stream.session import Session
from silas.testing import CallTool, Harness, ScriptedChannel, plan_text
from silas.wiring.parts import Parts
from tests.projects.kit import PROJECT, Ran, chain, project_text, task_text
from tests.stream.kit import entries_of, planned, proposing, saying_yes, soon
from tests.stream.kit import ran as said
from tests.support.command import environment, python, run
from tests.support.waits import SECONDS


async def statuses(h: Harness, *names: str) -> list[str]:
    found = [await h.store.get(name) for name in names]
    return ["none" if one is None else one.status.value for one in found]


@pytest.mark.proves("S5.2.2-DEPENDENCY-ORDER", "S5.2.2-PROJECT-CHECKS")
async def test_one_yes_runs_all_tasks_in_their_order_and_then_the_projects_own_checks() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    given = {"c": {"depends_on": ["b"]}, **chain("a", "b")}
    check = {"name": "whole", "run": "check-whole", "expect": {"exit_code": 0}}
    async with Harness(channel, sandbox=ran.sandbox) as h:
        result = await h.silas.run(project_text(given, verify=[check]))
        assert result.status is WorkItemStatus.done
        assert result.summary == "All 3 tasks are done, and verified: whole."
        assert ran.words == [
            *("do-a", "check-a", "do-b", "check-b", "do-c", "check-c", "check-whole"),
        ]
        assert result.budget_used.attempts == 3
        assert await statuses(h, PROJECT, "a", "b", "c") == ["done"] * 4


async def test_one_yes_mints_a_token_for_the_project_and_one_for_each_task() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        await h.silas.run(project_text(chain("a", "b")))
        project, a, b = [await h.store.get(name) for name in (PROJECT, "a", "b")]
        assert project is not None
        assert project.approval_token is not None
        assert a is not None
        assert b is not None
        token = project.approval_token
        assert token.plan_hash == plan_hash(project)
        assert token.conditions["tasks"] == {"a": plan_hash(a), "b": plan_hash(b)}
        for task in (a, b):
            assert task.approval_token is not None
            assert task.approval_token.plan_hash == plan_hash(task)
            assert task.approval_token.conditions[OF_PROJECT] == token.token_id
        used = await entries_of(h, "approval.used")
        assert [one["work_item_id"] for one in used] == [PROJECT, "a", "b"]


async def test_the_one_card_has_each_task_whole_and_a_hash_over_all_of_it() -> None:
    channel, ran = ScriptedChannel(), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        await h.silas.run(project_text(chain("a", "b")))
        await h.silas.run(project_text({**chain("a", "b"), "b": {"title": "Another"}}))
    one, other = [card for card in channel.cards if isinstance(card, PlanCard)]
    assert one.plan_hash == other.plan_hash  # which holds ids alone
    assert one.approves != other.approves
    assert one.task_hashes[0] == other.task_hashes[0]
    assert one.task_hashes[1] != other.task_hashes[1]
    overview = next(part for part in one.details if part.heading == TASKS)
    assert overview.open
    assert any("Do a (`a`): Works in an empty folder" in line for line in overview.lines)
    assert "  begins after `a`" in overview.lines
    (whole,) = [part for part in one.details if part.heading == "Task 2: Do b"]
    for line in (
        "  | do-b",
        "    | check-b",
        "What verifies it:",
        f"  sha256:{one.task_hashes[1]}",
    ):
        assert line in whole.lines, whole.lines
    assert ran.words == []


async def test_a_failing_task_fails_the_project_and_what_was_not_begun_is_told() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    ran.failing.add("check-b")
    async with Harness(channel, sandbox=ran.sandbox) as h:
        tasks = {**chain("a", "b", "c"), "d": {"depends_on": ["a"]}}
        result = await h.silas.run(project_text(tasks))
        assert result.status is WorkItemStatus.failed
        assert result.summary.startswith("The task “Do b” is stuck:\nThe check “right” failed")
        assert result.summary.endswith("\nNot begun: “Do c”, “Do d”.")
        assert ran.done == ["a", "b"]
        assert await statuses(h, "a", "b", "c", "d") == ["done", "stuck", "blocked", "blocked"]
        left = await h.store.get_result("c")
        assert left is not None
        assert left.summary == f"Not begun, because its project {PROJECT} is failed."


async def test_a_failing_check_of_the_project_fails_it_though_its_tasks_are_done() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    ran.failing.add("check-whole")
    check = {"name": "whole", "run": "check-whole", "expect": {"exit_code": 0}}
    async with Harness(channel, sandbox=ran.sandbox) as h:
        result = await h.silas.run(project_text(chain("a"), verify=[check]))
        assert result.status is WorkItemStatus.failed
        assert result.summary.startswith("All tasks are done, and the project is not right: ")
        assert await statuses(h, "a") == ["done"]


async def test_forty_tasks() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    names = [f"t{number:02}" for number in range(40)]
    budget = {"max_tokens": 500_000, "max_cost_usd": 10.0, "max_wall_time_seconds": 7200}
    async with Harness(channel, sandbox=ran.sandbox) as h:
        result = await h.silas.run(project_text(chain(*names), budget=budget))
        assert result.summary == "All 40 tasks are done."
        assert ran.done == names
        assert len(channel.cards) == 1


@pytest.mark.parametrize("places", ["one", "two"])
async def test_tasks_run_at_once_only_where_their_workspaces_differ(
    places: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two places, both are at work before either is done."""
    channel, ran = ScriptedChannel(saying_yes), Ran()
    first, second = tmp_path / "first", tmp_path / ("first" if places == "one" else "second")
    for place in (first, second):
        place.mkdir(exist_ok=True)
    given: dict[str, dict[str, Any]] = {
        "a": {"workspace": str(first)},
        "b": {"workspace": str(second)},
    }
    together: list[tuple[str, ...]] = []

    running, both = set[str](), asyncio.Event()
    real = ran.sandbox.run

    async def run(argv: Any, limits: Any, files: Any = None, **more: Any) -> SandboxResult:
        word = argv[-1].strip()
        if word.startswith("do-"):
            running.add(word)
            together.append(tuple(sorted(running)))
            if len(running) == len(given):
                both.set()
            if places == "two":  # else the first may be done before the second has begun
                await asyncio.wait_for(both.wait(), SECONDS)
        result = await real(argv, limits, files, **more)
        if word.startswith("check-"):
            running.discard(f"do-{word.removeprefix('check-')}")
        return result

    monkeypatch.setattr(ran.sandbox, "run", run)
    async with Harness(channel, sandbox=ran.sandbox) as h:
        budget = {"max_tokens": 500_000, "max_cost_usd": 10.0, "max_wall_time_seconds": 7200}
        result = await h.silas.run(project_text(given, budget=budget))
        assert result.status is WorkItemStatus.done, result.summary
    assert (("do-a", "do-b") in together) is (places == "two")


async def test_a_task_that_is_exchanged_between_yes_and_run_is_refused() -> None:
    """Somebody writes another plan under the id of a task before it is begun."""
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        await h.silas.run(task_text("forged", parent=PROJECT))
        forged = await h.store.get("forged")
        assert forged is not None
        assert forged.approval_token is not None
        project = h.silas.parse(project_text(chain("a", "b")))
        proposal = await h.silas.runs.proposer.propose(project, channel, "owner", "why")
        assert proposal.verdict == "approved"
        b = await h.store.get("b")
        assert b is not None
        swapped = b.model_copy(update={"body": forged.body, "depends_on": []})
        await h.store.save(swapped)
        result = await h.silas.executor.execute(project, _nobody)
        assert result.status is WorkItemStatus.blocked
        assert "The task b is not the one that was approved with project-deploy." in result.summary
        assert ran.done == ["forged"]


async def test_a_task_that_was_approved_elsewhere_does_not_count() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        await h.silas.run(task_text("a"))
        result = await h.silas.run(project_text(chain("a", "b")))
        assert result.status is WorkItemStatus.blocked
        assert "the task a was approved elsewhere, as work of its own" in result.summary
        assert len(channel.cards) == 1
        assert ran.done == ["a"]


async def test_a_token_of_another_yes_for_the_same_task_does_not_count() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        text = project_text(chain("a", "b"))
        first, again = h.silas.parse(text), h.silas.parse(text)
        await h.silas.runs.proposer.propose(first, channel, "owner", "why")
        await h.silas.runs.proposer.propose(again, channel, "owner", "why")
        await h.store.save(first.children[1])  # approved with the same project before
        result = await h.silas.executor.execute(again, _nobody)
        assert result.status is WorkItemStatus.blocked
        assert "The task b was approved elsewhere, which does not count here." in result.summary
        assert ran.done == []


async def test_a_task_that_changes_while_the_card_is_read_is_refused() -> None:
    ran = Ran()
    holder: list[Any] = []

    def answer(card: Card[Any]) -> Any:
        holder[0].children[1].body = "Something else.\n\n```sh\ndo-evil\n```"
        return card.actions[0].value

    channel = ScriptedChannel(answer)
    async with Harness(channel, sandbox=ran.sandbox) as h:
        project = h.silas.parse(project_text(chain("a", "b")))
        holder.append(project)
        proposal = await h.silas.runs.proposer.propose(project, channel, "owner", "why")
        assert proposal.verdict == "refused"
        assert "the plan changed after it was shown" in proposal.words
        assert await entries_of(h, "approval.issued") == []
        assert await h.silas.work_items() == []


async def test_a_project_that_is_taken_back_begins_no_further_task() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    wired: list[Parts] = []

    @asynccontextmanager
    async def beside(parts: Parts, session: Session) -> AsyncGenerator[None]:
        del session
        wired.append(parts)
        yield

    async with Harness(channel, sandbox=ran.sandbox, beside=beside) as h:
        project = h.silas.parse(project_text(chain("a", "b")))
        await h.silas.runs.proposer.propose(project, channel, "owner", "why")
        token = project.approval_token
        assert token is not None
        told: list[str] = []

        async def notify(event: Any) -> None:
            told.append(event.message)
            if event.message == "a is done (1 of 2 done)":
                assert await revoke(token, wired[0].nonces, h.audit)

        result = await h.silas.executor.execute(project, notify)
        assert result.status is WorkItemStatus.blocked
        assert "took this approval back" in result.summary
        assert result.summary.endswith("Not begun: “Do b”.")
        assert ran.done == ["a"]


async def test_a_budget_that_is_used_up_begins_no_further_task() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        ran.before = lambda word: h.clock.advance(74.6) if word.startswith("do-") else None
        budget = {"max_wall_time_seconds": 150}
        result = await h.silas.run(project_text(chain("a", "b", "c", "d"), budget=budget))
        assert result.status is WorkItemStatus.stuck
        assert ran.done == ["a", "b"]
        assert result.summary == (
            "Its budget has no room for the task c: 149 of 150 seconds are used.\n"
            f"`silas projects rest {PROJECT}` asks about what is not done as a new project, with a "
            "budget and an approval of its own; what is done stays.\nNot begun: “Do c”, “Do d”."
        )


async def test_a_task_waits_for_the_time_that_one_beside_it_holds(tmp_path: Path) -> None:
    """Begun at once it would have 10 of its 50 seconds, and the rest would come back too late."""
    channel, ran = ScriptedChannel(saying_yes), Ran()
    given = dict[str, dict[str, Any]]()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        limits = {"max_attempts": 1, "max_wall_time_seconds": 50}
        given[name] = {"workspace": str(tmp_path / name), "budget": limits}
    async with Harness(channel, sandbox=ran.sandbox) as h:
        took = {"do-a": 5, "do-b": 40}
        ran.before = lambda word: h.clock.advance(took.get(word, 0))
        budget = {"max_tokens": 500_000, "max_cost_usd": 10.0, "max_wall_time_seconds": 60}
        result = await h.silas.run(project_text(given, budget=budget))
        assert result.status is WorkItemStatus.done, result.summary
        assert ran.words == ["do-a", "check-a", "do-b", "check-b"]


async def test_what_a_project_had_left_for_a_task_that_failed_for_it_is_told() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        ran.before = lambda word: h.clock.advance(100) if word.startswith("do-") else None
        budget = {"max_wall_time_seconds": 150}
        result = await h.silas.run(project_text(chain("a", "b"), budget=budget))
        assert "had 50 of its 1,800 seconds left for it" in result.summary, result.summary
        assert f"`silas projects rest {PROJECT}`" in result.summary


async def test_a_project_that_a_model_proposes_is_asked_about_and_run() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    text = project_text(chain("a", "b"))
    work = [
        step for name in "ab" for step in (CallTool("shell_exec", {"argv": [f"do-{name}"]}), said())
    ]
    models = planned(proposing(text), executor=work)
    async with Harness(channel, models=models, sandbox=ran.sandbox) as h:
        reply = await h.silas.ask("deploy it")
        assert reply.outcome == "dispatched", reply.text
        result = await h.silas.wait(PROJECT)
        assert result is not None
        assert result.summary == "All 2 tasks are done."


async def test_what_the_executors_of_its_tasks_say_is_told_with_the_project() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    work = [
        *(
            CallTool("shell_exec", {"argv": ["do-a"]}),
            ExecutorAgentOutput(summary="There are 42 rosters."),
        ),
        *(
            CallTool("shell_exec", {"argv": ["do-b"]}),
            ExecutorAgentOutput(summary="May has the most."),
        ),
    ]
    models = planned(proposing(project_text(chain("a", "b"))), executor=work)
    async with Harness(channel, models=models, sandbox=ran.sandbox) as h:
        await soon(h.silas.ask("which month has the most rosters?"))
        result = await soon(h.silas.wait(PROJECT))
        assert result is not None
        assert result.report == "“Do a”: There are 42 rosters.\n“Do b”: May has the most."


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from silas.testing import Harness, ScriptedChannel
from silas.work.projects.allowances import Allowances
from tests.projects.kit import Ran, chain, project_text
from tests.stream.kit import saying_yes

home, when = Path(sys.argv[1]), sys.argv[2]
ran, begun = Ran(), []

def die():
    (home / "done").write_text(" ".join(ran.done))
    os.kill(os.getpid(), signal.SIGKILL)

limit = Allowances.limit
def counted(self, item, budget):
    begun.append(item.id)
    if when == "between" and len(begun) == 3:
        die()
    limit(self, item, budget)
Allowances.limit = counted
ran.before = lambda word: die() if word == when else None

async def main():
    async with Harness(ScriptedChannel(saying_yes), sandbox=ran.sandbox, home=home) as h:
        await h.silas.run(project_text(chain("a", "b", "c", "d")))
asyncio.run(main())
"""


@pytest.mark.parametrize("when", ["between", "check-c", "do-c"])
async def test_a_killed_project_goes_on_and_repeats_no_finished_task(
    when: str, tmp_path: Path
) -> None:
    ended = run(python(KILLED, tmp_path, when), environment(tmp_path), imported=True)
    assert ended.code == -9, ended.err
    before = (tmp_path / "done").read_text().split()
    assert before[:2] == ["a", "b"]
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox, home=tmp_path) as h:
        await h.silas.wait_for_work()
        result = await h.silas.wait(PROJECT)
        assert result is not None
        assert channel.cards == []
        assert not {"a", "b"} & set(ran.done)
        if when == "between":
            assert result.status is WorkItemStatus.done, result.summary
            assert ran.done == ["c", "d"]
        else:  # what it did is not known, or its only attempt is gone: told, and never repeated
            assert result.status is WorkItemStatus.failed
            assert ran.done == []
            assert result.summary.endswith("Not begun: “Do d”.")
            assert f"It is part of {PROJECT}: `silas run` that project again" in result.summary
            await h.silas.run(project_text(chain("a", "b", "c", "d")))  # what is said can be done
            assert ran.done == ["a", "b", "c", "d"]


async def _nobody(event: Any) -> None:
    del event


def test_a_plan_of_a_task_keeps_its_place_in_errors() -> None:
    text = project_text(chain("a", "b"))
    broken = text.replace('title: "Do b"', 'titel: "Do b"')
    line = broken.split("\n").index('titel: "Do b"') + 1
    with pytest.raises(Exception, match=f"line {line}, column 1: in the task b, unknown key"):
        PlanParser().parse(broken)


def test_a_task_given_twice_is_refused_where_it_stands() -> None:
    text = project_text(chain("a"))
    twice = text + "\n=== task: a ===\n" + plan_text(id="a")
    with pytest.raises(Exception, match="the task a is given twice; leave one of them"):
        PlanParser().parse(twice)


def test_a_model_may_give_a_project_and_its_tasks_in_fields() -> None:
    tasks = [{"id": name, "title": f"Do {name}", "briefing": "```sh\ntrue\n```"} for name in "ab"]
    fields = {"id": PROJECT, "type": "project", "title": "Deploy it", "tasks": tasks}
    project = PlanParser().parse(plan_of_fields({**fields, "briefing": "In order."}))
    assert (project.tasks, project.body) == (["a", "b"], "In order.")
    assert [(child.id, child.parent) for child in project.children] == [
        ("a", PROJECT),
        ("b", PROJECT),
    ]
