"""Work that the built-in model is asked to do again and again becomes a goal, or is declined."""

import os
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.agents.runbook.by_the_clock import RecurringRequest, goal_of, recurring_request
from silas.errors import PlanFamilyError
from silas.goals.models import Outcome
from silas.plans import PlanParser, WorkItemType
from silas.testing import Harness, MockClock, ScriptedChannel
from tests.goals.kit import Watched, cycles, until

NOW = datetime(2026, 11, 25, 10, 30, tzinfo=UTC)
VIENNA = ZoneInfo("Europe/Vienna")  # an hour ahead
WHEN = "When it runs, and what it may start"
DAILY = RecurringRequest("list the files", "0 7 * * *")


@pytest.mark.parametrize(
    ("said", "request_", "cron"),
    [
        ("every morning at seven, tell me what changed", "what changed", "0 7 * * *"),
        ("list the files every day at 18:05", "list the files", "5 18 * * *"),
        ("every weekday at 9 run the tests", "run the tests", "0 9 * * 1,2,3,4,5"),
        ("every weekend list the files", "list the files", "0 9 * * 0,6"),
        ("jeden Montag um 9 Uhr list the files", "list the files", "0 9 * * 1"),
        ("run the tests every hour", "run the tests", "30 * * * *"),
        ("every six hours run the tests", "run the tests", "30 */6 * * *"),
        ("every 15 minutes count the files", "count the files", "*/15 * * * *"),
        ("on the 5th of every month at noon count the files", "count the files", "0 12 5 * *"),
        ("every second Friday list the files", "list the files", ""),
        ("every 7 minutes list the files", "list the files", ""),
        ("on the 31st of every month list the files", "list the files", ""),
    ],
)
def test_the_words_that_say_when_are_told_from_the_work(
    said: str, request_: str, cron: str
) -> None:
    assert recurring_request(said, NOW, VIENNA) == RecurringRequest(request_, cron)


def test_the_end_of_the_words_that_say_when_is_told_besides() -> None:
    found = recurring_request("every day until Friday list the files", NOW, VIENNA)
    assert found is not None
    assert (found.request, found.cron) == ("list the files", "0 9 * * *")
    assert found.until is not None
    assert f"{found.until:%A %H:%M}" == "Friday 23:59"


@pytest.mark.parametrize(
    "said",
    ["run the tests", "count the words of every file", "list the files tomorrow", "every day"],
)
def test_what_does_not_recur_is_none(said: str) -> None:
    assert recurring_request(said, NOW, VIENNA) is None


def test_what_is_no_task_is_never_run_once_instead() -> None:
    with pytest.raises(PlanFamilyError, match="by the clock"):
        goal_of("---\ntype: project\nid: p\n---\n", "goal-1", DAILY, "/w")


@pytest.mark.parametrize(
    "said",
    [
        "every morning at seven, tell me what changed in this folder",
        "jeden Morgen um sieben sag mir, was sich in diesem Ordner geändert hat",
        "sag mir jeden Tag um 7, was sich in diesem Ordner geändert hat",
        "jeden Morgen um sieben: zeige die neuesten Dateien",
        "jeden Tag um 7, was hat sich geändert, nur wenn sich etwas geändert hat",
    ],
)
async def test_a_goal_is_proposed_and_stands_once_it_is_approved(said: str, tmp_path: Path) -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    async with Harness(channel) as h:
        reply = await h.silas.ask(said, workspace=tmp_path)
        assert ", by the clock." in reply.text
        assert "I leave out" not in reply.text  # it is what was asked for
        assert reply.plan is not None
        cycle = "when" if "nur wenn" in said else "work"
        assert (reply.plan.type, reply.plan.cycle) == (WorkItemType.goal, cycle)
        assert reply.plan.schedule == "0 7 * * *"
        assert reply.plan.id.startswith("goal-")
        assert len(channel.cards) == 1


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ("every second Friday list the files", "such a time"),
        ("remember that every morning at seven I run the tests", "I keep this"),
        ("every morning at seven sing a song", "I do not understand"),
        ("every Friday tidy up the report", "I do not understand"),
    ],
)
async def test_what_is_none_makes_no_goal(said: str, has: str, tmp_path: Path) -> None:
    channel = ScriptedChannel(lambda card: card.safe)
    async with Harness(channel) as h:
        reply = await h.silas.ask(said, workspace=tmp_path)
        assert has in reply.text
        assert channel.cards == []


def test_the_plan_of_the_goal_is_one_that_the_parser_reads() -> None:
    text = '---\nid: "task-1"\ntype: "task"\ntitle: "T"\n---\n\nDo it.\n'
    item = PlanParser().parse(goal_of(text, "goal-1", DAILY, "/w"))
    assert (item.id, item.type, item.cycle) == ("goal-1", WorkItemType.goal, "work")


CHANGED = "every morning at seven, tell me what changed in this folder, but only if "


@pytest.mark.parametrize(
    ("said", "name", "run", "expect"),
    [
        (
            CHANGED + "something changed",
            "something changed within 24 hours",
            "find . -path ./.git -prune -o -type f -mmin -1440 -print",
            {"not_empty": True},
        ),
        (
            "every hour, only tell me if app.log contains ERROR",
            "app.log contains ERROR",
            "grep -q -F -e ERROR -- app.log",
            {"exit_code": 0},
        ),
        (
            "every day at 9 list the files only if notes/a.md mentions \u201cit's me\u201d",
            "notes/a.md contains it's me",
            "grep -q -F -e 'it'\"'\"'s me' -- notes/a.md",
            {"exit_code": 0},
        ),
        (
            "every monday at 9 only tell me if app.log is larger than 1.5 MB",
            "app.log is larger than 1,500,000 bytes",
            "wc -c < app.log",
            {"output_gt": 1_500_000},
        ),
        (
            "count the files every weekday at 9, only if there are more than 20 files",
            "there are more than 20 files",
            "find . -path ./.git -prune -o -type f -print | wc -l",
            {"output_gt": 20},
        ),
        (
            "every day at 9 only tell me if the file report.pdf exists",
            "report.pdf is there",
            "ls -d -- report.pdf",
            {"exit_code": 0},
        ),
        (
            "jeden Tag um 9 Uhr list the files, aber nur, wenn sich etwas ge\u00e4ndert hat",
            "something changed within 24 hours",
            "find . -path ./.git -prune -o -type f -mmin -1440 -print",
            {"not_empty": True},
        ),
        (
            "jede Stunde nur wenn in app.log das Wort FEHLER steht",
            "app.log contains FEHLER",
            "grep -q -F -e FEHLER -- app.log",
            {"exit_code": 0},
        ),
    ],
)
def test_a_condition_becomes_a_check(
    said: str, name: str, run: str, expect: dict[str, object]
) -> None:
    wanted = recurring_request(said, NOW, VIENNA)
    assert wanted is not None
    assert (wanted.fault, wanted.condition is None) == ("", False)
    assert wanted.condition is not None
    run = f"cd '/my w' && {run}"
    assert wanted.condition.check("/my w") == {"name": name, "run": run, "expect": expect}
    assert wanted.request


@pytest.mark.parametrize(
    ("said", "has"),
    [
        (CHANGED + "it is interesting", "\u201cit is interesting\u201d is no condition"),
        (CHANGED + "/etc/passwd contains root", "is no condition that is checked here"),
        (CHANGED + "../a.txt contains root", "is no condition that is checked here"),
        (CHANGED + "app.log is larger than 5 parsecs", "is no condition that is checked here"),
        ("every day list the files unless it rains", "is no condition that is checked here"),
        ("every day run the tests, only if something changed", "goes with what only looks"),
    ],
)
async def test_what_cannot_be_checked_is_said_and_nothing_is_asked(
    said: str, has: str, tmp_path: Path
) -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    async with Harness(channel) as h:
        reply = await h.silas.ask(said, workspace=tmp_path)
        assert has in reply.text
        assert channel.cards == []


async def test_a_condition_stands_on_the_card_as_a_check(tmp_path: Path) -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    async with Harness(channel) as h:
        reply = await h.silas.ask(CHANGED + "something changed", workspace=tmp_path)
        assert reply.plan is not None
        assert (reply.plan.cycle, reply.plan.verify[0].name) == (
            "when",
            "something changed within 24 hours",
        )
        (card,) = channel.cards
        parts = {one.heading: " ".join(one.lines) for one in card.details}
        assert "only where `something changed within 24 hours`" in parts[WHEN]
        assert "check `something changed within 24 hours`" in parts["What verifies it"]


async def test_the_check_of_a_condition_sees_the_folder_as_it_is(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("old")
    os.utime(old, (0, 0))
    channel, watched = ScriptedChannel(lambda card: card.actions[0].value), Watched()
    clock = MockClock(NOW)
    async with Harness(channel, clock=clock, beside=watched.beside) as h:
        reply = await h.silas.ask(CHANGED + "something changed", workspace=tmp_path)
        assert reply.plan is not None
        goal = reply.plan.id
        await h.silas.wait_for_work()
        for number, (name, outcome) in enumerate(
            (("", Outcome.healthy), ("new.txt", Outcome.done)), 1
        ):
            if name:
                (tmp_path / name).write_text("new")
            clock.advance(60)  # a slot of its own
            watched.goals.run_now(goal)
            await until(lambda: len(cycles(watched, goal)) == number)  # noqa: B023
            assert cycles(watched, goal)[0].outcome is outcome
        assert sum("new.txt" in text for text in channel.texts) == 1
