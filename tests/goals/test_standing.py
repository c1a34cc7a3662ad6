"""`standing` in a goal's plan: how far its yes goes, hashed, shown, signed and never widened."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from silas.agents.plan_fields import plan_text as text_of_fields
from silas.cards import Card, PlanCard
from silas.errors import ApprovalError
from silas.plans import PlanError, PlanParser, WorkItemStatus, plan_hash, recurring_task, subject_of
from silas.plans.draft import read_draft
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import START, WATCHED, Watched, house, yes
from tests.goals.test_recurring import work_text
from tests.stream.kit import entries_of

UNTIL = "2026-12-04T23:59+01:00"
END = datetime(2026, 12, 4, 22, 59, tzinfo=UTC)


async def test_a_yes_to_a_plan_is_one_to_the_uses_and_the_end_that_it_says() -> None:
    channel, clock = ScriptedChannel(yes), MockClock(START)
    async with house(channel, clock, Watched()) as h:
        await h.silas.run(work_text(standing={"uses": 30, "until": UNTIL}))
        goal = await h.store.get(WATCHED)
        assert goal is not None
        token = goal.approval_token
        assert token is not None
        assert (token.max_executions, token.expires_at) == (30, END)
        (card,) = channel.cards
        assert isinstance(card, PlanCard)
        said = "30 times until Friday 4 December 2026, 23:59 (UTC+01:00) at most"
        assert said in "\n".join(line for one in card.details for line in one.lines)
        for uses, until in ((31, None), (None, END + timedelta(seconds=1))):
            with pytest.raises(ApprovalError, match="narrowing"):
                await h.silas.narrow(WATCHED, uses=uses, until=until)


@pytest.mark.parametrize(
    ("standing", "why"),
    [
        ({"uses": 101}, "One yes to a goal counts 100 uses at most (`autonomy.max_standing_"),
        ({"until": "2027-02-23T09:10+01:00"}, "lasts longer than 90 days (`autonomy.max_standing_"),
        ({"uses": 3, "until": "2026-11-24T09:10+01:00"}, "Tuesday 24 November 2026, 09:10"),
    ],
)
async def test_a_plan_that_asks_for_more_than_the_caps_is_refused_before_its_card(
    standing: dict[str, Any], why: str
) -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(START), Watched()) as h:
        result = await h.silas.run(work_text(standing=standing))
        assert result.status is WorkItemStatus.blocked
        assert why in result.summary, result.summary
        assert channel.cards == []
        assert await entries_of(h, "approval.issued") == []


async def test_a_yes_after_the_end_that_the_plan_says_signs_nothing() -> None:
    clock = MockClock(START)

    def late(card: Card[Any]) -> Any:
        clock.advance(60)
        return yes(card)

    async with house(ScriptedChannel(late), clock, Watched()) as h:
        soon = (START + timedelta(seconds=30)).isoformat()
        result = await h.silas.run(work_text(standing={"until": soon}))
        assert result.status is WorkItemStatus.blocked
        assert "cannot end before it begins" in result.summary
        assert await entries_of(h, "approval.issued") == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"standing": {"uses": 0}}, "`standing.uses` must be at least 1"),
        ({"standing": {"uses": -3}}, "`standing.uses` must be at least 1"),
        ({"standing": {"until": "Friday"}}, "`standing.until`: must be a moment with its offset"),
        ({"standing": {"until": "2026-12-04T23:59"}}, "must be a moment with its offset"),
        ({"standing": {}}, "`standing` must say `uses`, `until` or both"),
        ({"standing": {"times": 3}}, "unknown key `times`"),
        (
            {"standing": {"uses": 3}, "type": "task", "cycle": None, "schedule": None},
            "a task has no `standing`; only a goal has",
        ),
        ({"standing": {"uses": 3}, "cycle": None}, "this goal only reports"),
        ({"standing": {"until": UNTIL}, "cycle": None}, "this goal only reports"),
    ],
)
def test_what_it_cannot_be_is_told_with_its_place(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(PlanError) as refused:
        PlanParser().parse(work_text(**changes))
    assert why in refused.value.message


async def test_a_yes_to_a_goal_that_starts_nothing_is_asked_for_no_number_of_times() -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(START), Watched()) as h:
        with pytest.raises(PlanError, match="this goal only reports"):
            await h.silas.run(work_text(cycle=None, standing={"uses": 3}))
        draft = read_draft(work_text(cycle=None, standing={"uses": 3}))
        assert any("this goal only reports" in str(one) for one in draft.mistakes)
        assert channel.cards == []
    spawning = {"cycle": None, "on_failure": "spawn_task", "failure_context": "$failed_checks"}
    assert PlanParser().parse(work_text(standing={"uses": 3}, **spawning)).standing is not None


def test_it_is_hashed_where_it_is_said_and_no_task_of_the_goal_has_it() -> None:
    plain, limited = (
        PlanParser().parse(work_text(**one)) for one in ({}, {"standing": {"uses": 3}})
    )
    assert plan_hash(plain) != plan_hash(limited)
    assert b"standing" not in subject_of(plain).canonical
    task = recurring_task(limited, "slot", START)
    assert task.standing is None
    assert subject_of(task).policy == subject_of(limited).policy
    widened = task.model_copy(update={"standing": limited.standing})
    assert subject_of(widened).policy == ""


def test_a_model_says_it_in_the_fields_of_its_plan() -> None:
    fields = {
        "id": "goal-x",
        "type": "goal",
        "title": "Tidy up",
        "cycle": "work",
        "schedule": "0 7 * * *",
        "standing": {"uses": 30, "until": UNTIL},
        "workspace": "/srv/x",
        "briefing": "Tidy up.",
    }
    item = read_draft(text_of_fields(fields)).item
    assert item is not None
    assert item.standing is not None
    assert (item.standing.uses, item.standing.until) == (30, UNTIL)
