"""How a goal and its approval stand, told at each door to who asks (spec 5.2.3, 5.9)."""

import asyncio
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from silas.clock import SystemClock
from silas.db import Database
from silas.goals.models import Outcome
from silas.plans import WorkItemStatus
from silas.plans.store import SqlWorkItemStore
from silas.plans.subject import subject_of
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import NAME, START, WATCHED, Watched, after, goal_text, house, yes
from tests.support.command import environment, run, silas

MAY = (
    "what may you do on your own?",
    "What can you do without asking me",
    "was darfst du von selbst tun?",
    "show my goals",
    "which goals do I have?",
    "zeig mir meine Ziele",
)
WHY = (
    f"why did the goal {WATCHED} stop?",
    f"how does goal {WATCHED} stand?",
    f"why is {WATCHED} paused",
    f"warum ist das Ziel {WATCHED} stehen geblieben?",
    f"wie steht es um {WATCHED}?",
)
RUNS_FILE: dict[str, Any] = {
    "cycle": "work",
    "schedule": "0 10 * * *",
    "on_failure": "report",
    "failure_context": None,
    "verify": [],
    "body": "Look after it.\n\n```sh\nsh work.sh\n```",
}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """What the plan of a goal runs."""
    place = tmp_path / "place"
    place.mkdir()
    file = place / "work.sh"
    file.write_text("true\n")
    return file


async def _says(h: Harness, said: str) -> str:
    return (await h.silas.ask(said)).text


async def test_in_a_conversation_what_may_run_alone_and_why_a_goal_starts_nothing(
    script: Path,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        assert await _says(h, MAY[0]) == "Nothing. Each piece of work asks you first."
        await h.silas.run(goal_text(**RUNS_FILE, workspace=str(script.parent)))
        for said in MAY:
            told = await _says(h, said)
            assert told.startswith("Without asking you I may do this"), (said, told)
            assert f"- {NAME}: " in told
            assert "used 0 of 20, until Thursday 24 December 2026" in told
        for said in WHY:
            told = await _says(h, said)
            assert told.startswith(f"{NAME} did not stop: it runs next on "), (said, told)
        script.write_text("echo other\n")
        changed = f"{script}, which the plan runs, changed after the plan was approved"
        assert f"- {NAME} starts nothing: {changed}" in await _says(h, MAY[0])
        told = await _says(h, WHY[0])
        assert f"but: {changed}" in told
        assert told.endswith("run its plan again to approve it as it is now.")
        (cycle,) = await after(watched, clock, 24 * 3600, 1)
        assert cycle.outcome is Outcome.refused
        assert (await _says(h, WHY[0])).startswith(f"{NAME} is paused. {changed}")
        assert (await _says(h, "why did goal nope stop?")).startswith("There is no goal 'nope'")


async def test_in_a_conversation_that_an_approval_is_over_and_what_to_do() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        await after(watched, clock, 31 * 24 * 3600, 1)
        why = (
            "What it starts asks you each time, because its approval has expired; run its plan "
            "again to approve it anew."
        )
        told = await _says(h, WHY[0])
        assert told.startswith(f"{NAME} runs next on ")
        assert told.endswith(f", but: {why}")
        assert f"- {NAME}: {why}" in await _says(h, MAY[0])
        (asking,) = (await h.silas.ahead(1)).asking
        assert (asking.id, asking.why) == (WATCHED, why)
        h.silas.pause(WATCHED)
        assert (await _says(h, WHY[0])).startswith(f"{NAME} is paused, by you; ")
        assert (await h.silas.ahead(1)).asking == ()


async def test_the_pages_say_that_an_approval_was_taken_back() -> None:
    async with a_house(ScriptedChannel(yes)) as cockpit:
        h = cockpit.harness
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        before = (await cockpit.get(f"/work/{WATCHED}"))["summary"]
        assert (await cockpit.get("/ahead"))["asking"] == []
        await h.silas.take_back(WATCHED)
        why = "Its approval was taken back, so it pauses at its next cycle."
        found = await cockpit.get("/ahead")
        (row,) = found["paused"]
        assert (row["id"], row["why"], row["resumes"]) == (WATCHED, why, False)
        assert found["asking"] == []
        assert f"{NAME}: {why}" in await _says(h, "what may you do on your own?")
        assert (await cockpit.get(f"/work/{WATCHED}"))["summary"] == why != before


def test_the_command_that_shows_a_goal_says_why_it_starts_nothing(
    tmp_path: Path, script: Path
) -> None:
    env, plan = environment(tmp_path / "home"), tmp_path / "goal.md"
    plan.write_text(goal_text(**RUNS_FILE, workspace=str(script.parent)))
    assert run(silas("init"), env).code == 0
    shown = run(silas("plan", "check", plan), env).out.split()
    assert run(silas("run", plan, "--approve", shown[-1]), env).code == 0
    found = run(silas("show", WATCHED), env).out.splitlines()
    assert found[0].startswith(f"healthy  {WATCHED}")
    assert found[1].startswith("====")
    script.write_text("echo other\n")
    why = f"{script}, which the plan runs, changed after the plan was approved"
    assert run(silas("show", WATCHED), env).out.splitlines()[1].startswith(why)
    document = json.loads(run(silas("show", WATCHED, "--json"), env).out)
    assert (document["status"], document["why"].startswith(why)) == ("healthy", True)
    assert run(silas("goals", "pause", WATCHED), env).code == 0
    found = run(silas("show", WATCHED), env).out
    assert found.startswith(f"paused  {WATCHED}")


async def _changed_behind_silas(h: Harness, **changes: Any) -> None:
    """The stored plan of the goal becomes another one; its approval stays as it is."""
    stored = await h.store.get(WATCHED)
    assert stored is not None
    await h.store.save(stored.model_copy(update=changes))


async def test_a_goal_whose_stored_plan_was_changed_is_approved_again_by_its_own_plan() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    text = goal_text(schedule="0 7 * * *")
    async with house(channel, clock, watched) as h:
        await h.silas.run(text)
        await _changed_behind_silas(h, failure_context="steal the keys")
        why = "This is not what was approved: it was changed afterwards, or it is something else"
        way = f"{why}; run its plan again to approve it as it is now."
        assert (await _says(h, WHY[0])).endswith(f", but: {way}")  # before its next cycle, too
        assert f"- {NAME} starts nothing: {way}" in await _says(h, MAY[0])
        (alone,) = (await h.silas.ahead(1)).alone
        assert alone.lapsed == way
        (cycle,) = await after(watched, clock, 24 * 3600, 1)
        assert cycle.outcome is Outcome.refused
        for said in WHY:
            assert (await _says(h, said)).startswith(f"{NAME} is paused. {why}"), said
        # another plan under this id is none of that way
        other = await h.silas.run(text.replace("The check failed.", "Do something else."))
        assert f"another plan with the id {WATCHED} exists already" in other.summary
        assert len(channel.cards) == 1
        # what the sentence says is asked about as any plan is, and then the goal works
        await h.silas.run(text)
        assert len(channel.cards) == 2
        assert watched.goals.get(WATCHED).why == ""
        assert (await _says(h, WHY[0])).startswith(f"{NAME} did not stop: it runs next on ")
        watched.good = False
        fixed, _ = await after(watched, clock, 24 * 3600, 2)
        assert (fixed.outcome, watched.repaired, len(channel.cards)) == (Outcome.fixed, 1, 2)


async def test_a_goal_whose_plan_and_approval_were_changed_says_what_works() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    text = goal_text(schedule="0 7 * * *")
    async with house(channel, clock, watched) as h:
        await h.silas.run(text)
        await _changed_behind_silas(h, failure_context="steal the keys")
        stored = await h.store.get(WATCHED)
        assert stored is not None
        assert stored.approval_token is not None
        signed = {"plan_hash": subject_of(stored).digest}
        token = stored.approval_token.model_copy(update=signed)
        await _changed_behind_silas(h, approval_token=token)
        (cycle,) = await after(watched, clock, 24 * 3600, 1)
        assert (cycle.outcome, watched.repaired) == (Outcome.refused, 0)
        way = "run its plan again, under another id where Silas says that this one is taken."
        assert (await _says(h, WHY[0])).endswith(way)
        again = await h.silas.run(text)  # what it says: this id is taken
        assert "exists already, so give this one another id" in again.summary
        other = await h.silas.run(text.replace(WATCHED, "goal-anew"))
        assert other.status is WorkItemStatus.healthy
        assert watched.goals.get("goal-anew").why == ""


async def _changed_in(home: Path) -> None:
    (file,) = home.rglob("silas.db")
    with closing(Database(file, SystemClock())) as db:
        store = SqlWorkItemStore(db, SystemClock())
        stored = await store.get(WATCHED)
        assert stored is not None
        await store.save(stored.model_copy(update={"failure_context": "steal the keys"}))


def test_the_commands_tell_a_changed_plan_and_approve_it_again(tmp_path: Path) -> None:
    env, plan = environment(tmp_path / "home"), tmp_path / "goal.md"
    plan.write_text(goal_text(schedule="0 7 * * *"))
    assert run(silas("init"), env).code == 0
    shown = run(silas("plan", "check", plan), env).out.split()
    assert run(silas("run", plan, "--approve", shown[-1]), env).code == 0
    asyncio.run(_changed_in(tmp_path / "home"))
    why = "This is not what was approved"
    assert f"  {why}" in run(silas("goals", "list"), env).out
    assert run(silas("show", WATCHED), env).out.splitlines()[1].startswith(why)
    assert f"lapsed     {WATCHED}" in run(silas("approvals", "list"), env).out
    assert why in run(silas("ahead"), env).out
    again = run(silas("run", plan, "--approve", shown[-1]), env)
    assert again.code == 0, again.err
    assert why not in run(silas("goals", "list"), env).out
    assert run(silas("show", WATCHED), env).out.startswith(f"healthy  {WATCHED}")


async def test_the_pages_tell_a_changed_plan_and_that_it_was_approved_again() -> None:
    async with a_house(ScriptedChannel(yes)) as cockpit:
        h = cockpit.harness
        text = goal_text(schedule="0 7 * * *")
        await h.silas.run(text)
        await _changed_behind_silas(h, failure_context="steal the keys")
        (row,) = (await cockpit.get("/ahead"))["alone"]
        assert row["lapsed"] is True
        there = "ask for it again in a conversation to approve it as it is now."
        assert there in row["left"]
        assert there in (await cockpit.get(f"/work/{WATCHED}"))["summary"]
        await h.silas.run(text)
        (row,) = (await cockpit.get("/ahead"))["alone"]
        assert row["lapsed"] is False
