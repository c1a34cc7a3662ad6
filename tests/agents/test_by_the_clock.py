"""Work that the built-in model is asked to do again and again becomes a goal, or is declined."""

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.agents.runbook.by_the_clock import goal_of, recurring_request
from silas.errors import PlanFamilyError
from silas.plans import PlanParser, WorkItemType
from silas.testing import Harness, ScriptedChannel

NOW = datetime(2026, 11, 25, 10, 30, tzinfo=UTC)
VIENNA = ZoneInfo("Europe/Vienna")  # an hour ahead


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
        ("every day until Friday list the files", "list the files", ""),
        ("on the 31st of every month list the files", "list the files", ""),
    ],
)
def test_the_words_that_say_when_are_told_from_the_work(
    said: str, request_: str, cron: str
) -> None:
    assert recurring_request(said, NOW, VIENNA) == (request_, cron)


@pytest.mark.parametrize(
    "said",
    ["run the tests", "count the words of every file", "list the files tomorrow", "every day"],
)
def test_what_does_not_recur_is_none(said: str) -> None:
    assert recurring_request(said, NOW, VIENNA) is None


def test_what_is_no_task_is_never_run_once_instead() -> None:
    with pytest.raises(PlanFamilyError, match="by the clock"):
        goal_of("---\ntype: project\nid: p\n---\n", "goal-1", "0 7 * * *")


async def test_a_goal_is_proposed_and_stands_once_it_is_approved(tmp_path: Path) -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    async with Harness(channel) as h:
        said = "every morning at seven, tell me what changed in this folder"
        reply = await h.silas.ask(said, workspace=tmp_path)
        assert ", by the clock." in reply.text
        assert reply.plan is not None
        assert (reply.plan.type, reply.plan.cycle) == (WorkItemType.goal, "work")
        assert reply.plan.schedule == "0 7 * * *"
        assert reply.plan.id.startswith("goal-")
        assert len(channel.cards) == 1


@pytest.mark.parametrize(
    ("said", "has"),
    [
        ("every second Friday list the files", "such a time"),
        ("remember that every morning at seven I run the tests", "I keep this"),
        ("every morning at seven sing a song", "I do not understand"),
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
    item = PlanParser().parse(goal_of(text, "goal-1", "0 7 * * *"))
    assert (item.id, item.type, item.cycle) == ("goal-1", WorkItemType.goal, "work")
