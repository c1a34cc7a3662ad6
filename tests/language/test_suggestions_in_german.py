"""What Silas suggests to who reads German: its own words in German, and only what a yes can do."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from silas.cards import Card
from silas.goals.models import GoalState
from silas.plans import WorkItemResult, WorkItemStatus, WorkItemType
from silas.stream.session import Session
from silas.testing import Harness, ScriptedChannel, ScriptedModel, a_plan
from silas.wiring.parts import Parts
from tests.stream.kit import soon

pytestmark = pytest.mark.usefixtures("german")


class _Beside(ScriptedChannel):
    asks_beside = True


class _House:
    """A Silas in German that looks for something to suggest."""

    def __init__(self, *, model: bool) -> None:
        self.channel = _Beside()
        roles = ("proxy", "planner", "executor") if model else ()
        self.harness = Harness(
            self.channel,
            models={role: ScriptedModel([]) for role in roles},
            settings={"language": "de"},
            beside=self._beside,
        )

    @asynccontextmanager
    async def _beside(self, parts: Parts, session: Session) -> AsyncGenerator[None]:
        del session
        self.parts, self.queue = parts, parts.context_services.review
        yield

    async def suggested(self) -> list[Card[Any]]:
        """What is suggested now."""
        await self.queue.heartbeat()
        await soon(self.queue.wait_until_shown())
        return self.channel.cards


async def test_what_ended_badly_is_suggested_in_german_and_nobody_called_a_model_wrote_it() -> None:
    house = _House(model=True)
    async with house.harness as h:
        now = h.clock.now()
        await h.store.save(a_plan(title="Bericht", status=WorkItemStatus.blocked, created_at=now))
        (card,) = await house.suggested()
    assert card.intent == "Dies als Nächstes planen: Sieh dir „Bericht“ noch einmal an"
    assert card.rationale == (
        "Es endete als blockiert, und nichts ist gefolgt. "
        "Ein Ja führt nichts aus: du siehst zuerst den Plan."
    )


async def test_a_next_step_in_a_models_words_is_called_that() -> None:
    house = _House(model=True)
    async with house.harness:
        result = WorkItemResult(
            work_item_id="task-example",
            status=WorkItemStatus.done,
            summary="Fertig.",
            next_steps=["Veröffentliche es"],
        )
        await house.queue.after_result(a_plan(title="Bericht"), result)
        (card,) = await house.suggested()
    assert card.rationale.startswith("Als nächster Schritt von „Bericht“ genannt.")
    assert card.rationale.endswith("Die Worte sind die eines Modells, nicht deine.")


async def test_a_goal_that_gave_up_is_told_with_its_reason_in_german() -> None:
    house = _House(model=True)
    async with house.harness as h:
        await h.store.save(a_plan(id="goal-a", title="Wache", type=WorkItemType.goal))
        goals = house.parts.goals()
        goals.store.save_approved("goal-a", "0 7 * * *", h.clock.now())
        goals.store.stands("goal-a", GoalState.paused, "It failed 5 times in a row.")
        (card,) = await house.suggested()
    assert "Finde heraus, warum „Wache“ immer wieder scheitert" in card.intent
    assert "Es ist angehalten: Es ist 5-mal nacheinander gescheitert." in card.rationale


async def test_of_a_failed_project_the_whole_is_suggested_and_no_task_that_never_began() -> None:
    house = _House(model=True)
    async with house.harness as h:
        blocked, now = WorkItemStatus.blocked, h.clock.now()
        task = a_plan(id="task-c", title="Dritte", status=blocked, created_at=now, parent="project")
        await h.store.save(task)
        failed = WorkItemStatus.failed
        await h.store.save(a_plan(id="project", title="Umzug", status=failed, created_at=now))
        cards = await house.suggested()
    assert ["Umzug" in card.intent for card in cards] == [True]


async def test_without_a_language_model_nothing_is_suggested_that_a_yes_could_not_plan() -> None:
    house = _House(model=False)
    async with house.harness as h:
        stuck, now = WorkItemStatus.stuck, h.clock.now()
        await h.store.save(a_plan(title="Bericht", status=stuck, created_at=now))
        assert await house.suggested() == []
        result = WorkItemResult(
            work_item_id="task-example",
            status=WorkItemStatus.done,
            summary="Done.",
            next_steps=["Publish it", "show the newest files in /tmp"],
        )
        await house.queue.after_result(a_plan(), result)
        cards = await house.suggested()
    assert ["/tmp" in card.intent for card in cards] == [True]


@pytest.mark.parametrize(
    ("title", "folder", "said"),
    [
        ("Run the project's tests and report", "/work/a", "führe die Tests aus in /work/a"),
        (
            "Die neuesten Dateien zeigen",
            "/work/a b",
            'zeig mir die neuesten Dateien in "/work/a b"',
        ),
        ("Eine Textdatei zeigen", "/work/a", ""),
        ("Etwas ohne Plan", "/work/a", ""),
    ],
)
async def test_what_was_asked_for_on_three_days_is_suggested_in_words_that_a_yes_can_plan(
    title: str, folder: str, said: str
) -> None:
    house = _House(model=False)
    async with house.harness as h:
        for days in (1, 2, 3):
            at = h.clock.now() - timedelta(days=days)
            done = WorkItemStatus.done
            item = a_plan(
                id=f"task-{days}", title=title, status=done, created_at=at, workspace=folder
            )
            await h.store.save(item)
        cards = await house.suggested()
        assert [said in card.intent for card in cards] == [True] * bool(said)
        assert all("Jeden Tag um " in card.intent for card in cards)
