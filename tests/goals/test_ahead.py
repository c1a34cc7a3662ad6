"""What is ahead: what comes, what may run without asking, what is paused."""

import json
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from silas.config import SilasConfig
from silas.goals.models import Outcome
from silas.goals.service import Goals
from silas.goals.store import SqlGoalStore
from silas.language import speak
from silas.plans.goals.schedule import brief_words, schedule_words
from silas.services.schedules.agenda import agenda_words
from silas.services.schedules.goals import open_goals
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import (
    HALF_AN_HOUR,
    NAME,
    START,
    WATCHED,
    Watched,
    after,
    goal_text,
    house,
    yes,
)
from tests.support.clocks import far_hour
from tests.support.command import environment, run, silas


async def _look(watched: Watched, days: int = 7) -> Any:
    return await watched.parts.ahead_service().look(days)


async def test_what_comes_stands_in_order_with_how_often_more() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        assert (await _look(watched)).coming == ()
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        for words in ("in 20 minutes to call", "every Friday at ten to water", "in 3 weeks to pay"):
            service = watched.parts.reminder_service()
            understood = await service.understand(f"remind me {words}")
            service.make(understood.text, understood.when, "channel:test")
        found = await _look(watched)
    assert [(one.kind, one.title, one.more) for one in found.coming] == [
        ("reminder", "call", 0),
        ("goal", "Watch the state", 6),
        ("reminder", "water", 0),
    ]
    assert found.coming[1].again == "every day at 07:00"
    assert (found.later, found.paused, found.warnings) == (1, (), ())


async def test_what_may_run_alone_says_what_it_does_and_what_is_left_of_the_yes() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        watched.good = False
        await after(watched, clock, 20 * 60, 1)
        (alone,) = (await _look(watched)).alone
        assert (alone.id, alone.used, alone.uses) == (WATCHED, 1, 20)
        assert alone.does.startswith("Starts work by itself each time one of its checks fails")
        assert (alone.until - START).days == 30
        watched.goals.pause(WATCHED)
        assert [one.id for one in (await _look(watched)).paused] == [WATCHED]
        await watched.parts.ahead_service().take_back(WATCHED)
        assert (await _look(watched)).alone == ()


@pytest.mark.parametrize(
    ("cron", "words"),
    [
        ("*/30 * * * *", "every 30 minutes"),
        ("* * * * *", "every minute"),
        ("0 * * * *", "every hour"),
        ("5 * * * *", "every hour at minute 5"),
        ("0 */6 * * *", "every 6 hours"),
        ("15 7 * * *", "every day at 07:15"),
        ("30 */6 * * *", "every 6 hours at minute 30"),
        ("0 9 * * 1,2,3,4,5", "Monday to Friday at 09:00"),
        ("0 9 * * 0,6", "every Sunday and Saturday at 09:00"),
        ("0 9 * * 1,3,5", "every Monday, Wednesday and Friday at 09:00"),
        ("0 9 * * 1-5", "Monday to Friday at 09:00"),
        ("0 9 * * 7", "every Sunday at 09:00"),
        ("30 8 1 * *", "on day 1 of every month at 08:30"),
    ],
)
def test_a_usual_schedule_is_said_as_a_person_says_it(cron: str, words: str) -> None:
    assert schedule_words(cron) == f"{words} in your time zone (`{cron}`)"
    zoned = schedule_words(f"CRON_TZ=Europe/Vienna {cron}")
    assert zoned == f"{words} in Europe/Vienna (`{cron}`)"
    assert brief_words(cron) == words
    assert brief_words(f"CRON_TZ=Europe/Vienna {cron}") == f"{words} (Europe/Vienna)"


@pytest.mark.parametrize(
    "cron", ["*/7 * * * *", "0 7 1 * 1", "0 7 * 3 *", "0 7,9 * * *", "0 7 * * 2-4", "0-5 7 * * *"]
)
def test_another_schedule_is_shown_as_it_is_written(cron: str) -> None:
    assert schedule_words(cron) == f"at each `{cron}` (cron) of your time zone"
    assert brief_words(cron) == schedule_words(cron)


def test_a_goal_that_runs_once_tells_its_moment_as_its_plan_gives_it() -> None:
    assert schedule_words("2027-01-01T09:00+01:00") == "once, on 2027-01-01 at 09:00 (UTC+01:00)"
    assert schedule_words("2027-01-01T09:00Z") == "once, on 2027-01-01 at 09:00 (UTC+00:00)"


OFF = {"SILAS_SCHEDULER__ENABLED": "false", "SILAS_SUGGESTIONS__ENABLED": "false"}


def test_the_command_lists_by_days_and_says_that_nobody_runs_what_is_due(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"opens the key of this test")
    (tmp_path / "key").chmod(0o600)
    env = environment(tmp_path, SILAS_KEYS__KEY_FILE=str(tmp_path / "key"))
    assert run(silas("ahead"), env).code == 2  # nothing was set up here
    assert run(silas("init"), env).code == 0
    nothing = run(silas("ahead"), env).out
    assert nothing.startswith("Nothing comes within 7 days.\n\nNo Silas is running: what is due ")
    off = run(silas("ahead"), {**env, **OFF}).out
    assert "Nothing runs by the clock: set `scheduler.enabled` to true." in off
    run(silas("remind", "tomorrow at nine to call the dentist", "--yes"), env)
    done = run(silas("ahead"), env)
    assert done.out.startswith("Tomorrow\n  09:00  call the dentist\n\nNo Silas is running: ")
    found = json.loads(run(silas("ahead", "--days", "3", "--json"), env).out)
    assert [one["title"] for one in found["coming"]] == ["call the dentist"]
    wrong = run(silas("ahead", "--days", "0"), env)
    assert (wrong.code, "1<=x<=366" in wrong.err) == (2, True)


GOAL = """---
id: goal-there
type: goal
title: Die Liste ist da
schedule: "0 {hour} * * *"
workspace: {place}
budget: {{ max_tokens: 10000, max_cost_usd: 0.10, max_wall_time_seconds: 120 }}
verify:
  - {{ name: there, run: "test -s list.txt", expect: {{ exit_code: 0 }} }}
---

Keep it.
"""


def test_the_command_says_all_of_it_in_german(tmp_path: Path) -> None:
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    (place / "list.txt").write_text("one\n")
    hour = far_hour(ZoneInfo("Europe/Vienna"))
    plan.write_text(GOAL.format(place=place, hour=hour))
    env = environment(tmp_path / "home", LC_MESSAGES="de_DE.UTF-8", TZ="Europe/Vienna")
    run(silas("init"), env)
    nothing = run(silas("ahead"), env).out
    assert nothing.startswith("In den nächsten 7 Tagen kommt nichts.\n\nSilas läuft nicht: ")
    approved = run(silas("plan", "check", plan), env).out.rpartition("sha256:")[2].strip()
    run(silas("run", plan, "--approve", f"sha256:{approved}"), env)
    run(silas("remind", "in 3 Wochen zahlen", "--yes"), env)
    said = run(silas("ahead"), env).out
    at = f"{hour:02}:00"
    assert f"  {at}  goal-there  Die Liste ist da  (jeden Tag um {at}, noch 6 Mal)\n" in said
    assert "\n  Später kommt noch 1: `silas ahead --days 366`\n" in said
    assert "\nDarf ohne Nachfrage laufen (`silas approvals revoke ID` nimmt es zurück)\n" in said
    assert "\n  goal-there  Die Liste ist da: 0 von 20 Mal benutzt, bis " in said
    run(silas("goals", "pause", "goal-there"), env)
    said = run(silas("ahead", "--days", "1"), env).out
    assert said.startswith("Heute kommt nichts.\n")
    assert "\nAngehalten (`silas goals resume ID`)\n  goal-there  Die Liste ist da\n" in said


def test_what_silas_does_says_of_a_goal_how_its_clock_stands(tmp_path: Path) -> None:
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    (place / "list.txt").write_text("one\n")
    plan.write_text(GOAL.format(place=place, hour=7))
    env = environment(tmp_path / "home")
    run(silas("init"), env)
    approved = run(silas("plan", "check", plan), env).out.rpartition("sha256:")[2].strip()
    run(silas("run", plan, "--approve", f"sha256:{approved}"), env)
    assert run(silas("status"), env).out.startswith("healthy    goal-there  ")
    run(silas("goals", "pause", "goal-there"), env)
    assert run(silas("status"), env).out.startswith("paused     goal-there  ")
    (row,) = json.loads(run(silas("status", "--json"), env).out)
    assert (row["id"], row["goal"]) == ("goal-there", "paused")
    run(silas("goals", "resume", "goal-there"), env)
    assert run(silas("status"), env).out.startswith("healthy    goal-there  ")


async def test_the_list_of_work_says_of_a_goal_how_its_clock_stands() -> None:
    async with a_house(ScriptedChannel(yes)) as cockpit:
        h = cockpit.harness
        await h.silas.run(goal_text(schedule="0 7 * * *"))

        async def row() -> tuple[str, str]:
            (found,) = await cockpit.get("/work")
            one = await cockpit.get(f"/work/{WATCHED}")
            assert (one["status"], one["summary"]) == (found["status"], found["summary"])
            return found["status"], found["summary"]

        assert (await row())[0] == "healthy"
        store = SqlGoalStore(h.db)
        with h.db.write():
            store.counts(WATCHED, 1, quiet=False)
        assert (await row())[0] == "failing"
        h.silas.pause(WATCHED, why="It failed 5 times in a row.")
        assert await row() == ("paused", "It is paused. It failed 5 times in a row.")


async def test_what_was_repaired_is_listed_as_that_until_it_is_checked_again() -> None:
    clock, watched = MockClock(START), Watched()
    async with house(ScriptedChannel(yes), clock, watched) as h:
        await h.silas.run(goal_text())
        watched.good = False
        (fixed,) = await after(watched, clock, HALF_AN_HOUR, 1)
        assert fixed.outcome is Outcome.fixed
        again = "repaired what it watches, and checks it again on Tuesday 24 November 2026, 10:00"
        for said in (f"how does goal {WATCHED} stand?", f"wie steht es um {WATCHED}?"):
            assert (await h.silas.ask(said)).text.startswith(f"{NAME} {again}"), said
        assert watched.goals.get(WATCHED).standing == "repaired"
        watched.repairs = watched.good = False
        await after(watched, clock, HALF_AN_HOUR, 2)
        assert watched.goals.get(WATCHED).standing == "failing"
        assert "repaired" not in (await h.silas.ask(f"how does goal {WATCHED} stand?")).text
        watched.good = True
        await after(watched, clock, 2 * HALF_AN_HOUR, 3)
        assert watched.goals.get(WATCHED).standing == "active"


async def test_the_pages_and_the_commands_say_what_was_repaired(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    plan.write_text(GOAL.format(place=place, hour=7))
    approved = run(silas("plan", "check", plan), env).out.split()[-1]
    assert run(silas("run", plan, "--approve", approved), env).code == 0
    (database,) = (tmp_path / "home").rglob("silas.db")
    async with open_goals(SilasConfig(data_dir=database.parent)) as service:
        _ends(service.goals, "goal-there", Outcome.fixed)
    again = "It repaired what it watches, and checks it again on "
    assert f"  {again}" in run(silas("goals", "list"), env).out
    assert f"why: {again}" in run(silas("goals", "show", "goal-there"), env).out
    assert run(silas("status"), env).out.startswith("repaired   goal-there  ")
    shown = run(silas("show", "goal-there"), env).out.splitlines()
    assert shown[0].startswith("repaired  goal-there")
    assert shown[1].startswith(again)
    async with a_house(ScriptedChannel(yes)) as cockpit:
        h = cockpit.harness
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        _ends(cockpit.parts.goals(), WATCHED, Outcome.fixed)
        (row,) = await cockpit.get("/work")
        assert (row["status"], row["summary"].startswith(again)) == ("repaired", True)
        one = await cockpit.get(f"/work/{WATCHED}")
        assert (one["status"], one["summary"]) == (row["status"], row["summary"])
        speak("de")
        german = "hat in Ordnung gebracht, was es beobachtet, und prüft es wieder am "
        assert (await cockpit.get("/work"))[0]["summary"].startswith(f"Es {german}")
        told = (await h.silas.ask(f"wie steht es um {WATCHED}?")).text
        assert told.startswith(f"„Watch the state“ {german}")
        speak("en")


def _ends(goals: Goals, goal_id: str, outcome: Outcome) -> None:
    """A cycle of a goal begins and ends so."""
    (due,) = goals.coming(goal_id)
    cycle = goals.begin(goal_id, "a-slot", due)
    assert cycle is not None
    goals.end_cycle(cycle, outcome, "", {})


async def test_a_goal_whose_yes_was_taken_back_is_paused_and_asks_nothing() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        await watched.parts.ahead_service().take_back(WATCHED)
        found = await _look(watched)
        assert found.asking == ()
        (one,) = found.paused
        assert one.why == "Its approval was taken back, so it pauses at its next cycle."
        assert not one.resumes
        await after(watched, clock, HALF_AN_HOUR, 1)
        found = await _look(watched)
        assert (found.asking, [one.resumes for one in found.paused]) == ((), [True])
        assert len(channel.cards) == 1


async def test_a_goal_whose_yes_was_taken_back_is_not_among_what_is_to_come() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        assert [one.id for one in (await _look(watched)).coming] == [WATCHED]
        await watched.parts.ahead_service().take_back(WATCHED)
        found = await _look(watched)
        assert (found.coming, [one.id for one in found.paused]) == ((), [WATCHED])


async def test_a_title_hides_nothing_in_what_is_to_come() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text(title="Watch the p\u0430ge"))
        told = await agenda_words(watched.parts.ahead_service(), 0, 7)
    assert "Watch the p<U+0430>ge" in told
