"""Suggestions are made by fixed rules, seldom, for the owner alone, and run nothing."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from silas.plans import WorkItemStatus
from silas.testing import a_plan
from silas.types import OWNER, Risk
from tests.autonomy.kit import Rooms, ended


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    made = Rooms(tmp_path)
    yield made
    made.db.close()


async def test_next_steps_of_a_result_become_suggestions_in_one_line_each(rooms: Rooms) -> None:
    made = await rooms.suggestions.generate_post_execution(
        OWNER, ended("Publish\nit", "  ", "Tell\tthe team", "x" * 500, "never reached"), "Release"
    )
    assert [one.intent for one in made[:2]] == ["Publish it", "Tell the team"]
    assert len(made) == 2
    assert all(one.risk_level is Risk.medium and one.source == "post_execution" for one in made)
    assert rooms.suggestions.waiting(OWNER) == made
    long = await rooms.suggestions.generate_post_execution(OWNER, ended("y" * 500))
    assert len(long[0].intent) == 300


@pytest.mark.proves("S5.1.6-DEDUPED")
async def test_the_same_is_not_suggested_again_until_its_cooldown_is_over(rooms: Rooms) -> None:
    assert len(await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))) == 1
    assert await rooms.suggestions.generate_post_execution(OWNER, ended("publish  IT")) == []
    rooms.clock.advance(179 * 60)
    assert await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it")) == []
    rooms.clock.advance(2 * 60)
    assert len(await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))) == 1


@pytest.mark.proves("S4.22-SUGGESTION-OUTCOMES")
async def test_what_became_of_one_is_kept_and_starts_its_cooldown_anew(rooms: Rooms) -> None:
    (made,) = await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))
    rooms.clock.advance(170 * 60)
    assert await rooms.suggestions.mark_handled(OWNER, made.suggestion_id, "accepted")
    assert rooms.suggestions.waiting(OWNER) == []
    assert not await rooms.suggestions.mark_handled(OWNER, made.suggestion_id, "dismissed")
    rooms.clock.advance(60 * 60)
    assert await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it")) == []
    rooms.clock.advance(121 * 60)
    assert len(await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))) == 1


async def test_what_the_owner_did_not_want_is_never_suggested_again(rooms: Rooms) -> None:
    (made,) = await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))
    assert await rooms.suggestions.mark_handled(OWNER, made.suggestion_id, "dismissed")
    rooms.clock.advance(400 * 24 * 3600)
    again = await rooms.suggestions.generate_post_execution(OWNER, ended("publish IT", "Tell"))
    assert [one.intent for one in again] == ["Tell"]


async def test_in_quiet_hours_nothing_is_shown_and_nothing_lost(rooms: Rooms) -> None:
    rooms.quiet = True
    rooms.items = [a_plan(status=WorkItemStatus.failed, created_at=rooms.clock.now())]
    made = await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))
    assert await rooms.suggestions.generate_idle(OWNER, rooms.clock.now()) == []
    assert rooms.suggestions.waiting(OWNER) == []
    rooms.quiet = False
    assert rooms.suggestions.waiting(OWNER) == made


async def test_one_that_nobody_answered_comes_back_after_a_while_and_goes_after_a_week(
    rooms: Rooms,
) -> None:
    (made,) = await rooms.suggestions.generate_post_execution(OWNER, ended("Publish it"))
    await rooms.suggestions.mark_handled(OWNER, made.suggestion_id, "deferred")
    assert rooms.suggestions.waiting(OWNER) == []
    rooms.clock.advance(121 * 60)
    assert rooms.suggestions.waiting(OWNER) == [made]
    rooms.clock.advance(8 * 24 * 3600)
    assert rooms.suggestions.waiting(OWNER) == []
    assert rooms.store.waiting(OWNER) == []


@pytest.mark.proves("S18.5-SUGGESTIONS")
async def test_no_more_wait_than_may_and_no_more_are_made_in_an_hour_than_may(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path, per_hour=2, suggestions={"max_pending_per_scope": 3})
    steps = ("one", "two", "three")
    assert len(await rooms.suggestions.generate_post_execution(OWNER, ended(*steps))) == 2
    rooms.clock.advance(3601)
    more = await rooms.suggestions.generate_post_execution(OWNER, ended("four", "five"))
    assert [one.intent for one in more] == ["four"]
    off = Rooms(tmp_path / "off", suggestions={"enabled": False})
    assert await off.suggestions.generate_post_execution(OWNER, ended("one")) == []


@pytest.mark.proves("S18.5-LEFT-OUT-ON-RECORD")
async def test_what_an_hour_has_no_room_for_is_on_record_once_an_hour(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path, per_hour=2, suggestions={"max_pending_per_scope": 9})
    suggest = rooms.suggestions.generate_post_execution
    await suggest(OWNER, ended("one", "two"))
    assert await suggest(OWNER, ended("one", "two")) == []  # known already: nothing is left out
    assert await rooms.left_out() == []
    for step in ("three", "four", "five"):
        assert await suggest(OWNER, ended(step)) == []
        assert await rooms.left_out() == [("suggestions", OWNER)]
    rooms.clock.advance(3601)
    await suggest(OWNER, ended("six", "seven", "eight"))
    assert await rooms.left_out() == [("suggestions", OWNER)] * 2
    assert await rooms.suggestions.generate_idle(OWNER, rooms.clock.now()) == []
    assert len(await rooms.left_out()) == 2  # nothing was due: nothing is written
    rooms.db.close()


async def test_only_the_owner_is_suggested_anything(rooms: Rooms) -> None:
    rooms.items = [a_plan(status=WorkItemStatus.failed, created_at=rooms.clock.now())]
    assert await rooms.suggestions.generate_post_execution("customer-1", ended("Publish")) == []
    assert await rooms.suggestions.generate_idle("customer-1", rooms.clock.now()) == []
    assert rooms.store.waiting("customer-1") == rooms.store.waiting(OWNER) == []


async def test_work_that_ended_badly_and_was_left_is_suggested_once(rooms: Rooms) -> None:
    now = rooms.clock.now()
    rooms.items = [
        a_plan(id="task-a", title="Fix it", status=WorkItemStatus.failed, created_at=now),
        a_plan(id="task-b", title="Done", status=WorkItemStatus.done, created_at=now),
        a_plan(id="task-c", title="Old", status=WorkItemStatus.stuck)
        .model_copy(update={"created_at": now - timedelta(days=8)}),
        a_plan(id="task-d", title="Went on", status=WorkItemStatus.stuck, created_at=now),
    ]  # fmt: skip
    rooms.followed = {"task-d"}
    made = await rooms.suggestions.generate_idle(OWNER, now)
    assert [(one.intent, one.proposed_work_item_id) for one in made] == [
        ("Look again at 'Fix it'", "task-a")
    ]
    assert await rooms.suggestions.generate_idle(OWNER, now) == []
