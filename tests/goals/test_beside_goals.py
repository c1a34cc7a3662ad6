"""A goal that waits for its owner, or whose work runs, keeps no reminder and no other goal back."""

import asyncio
from typing import Any

import pytest

from silas.cards import Card, PlanCard
from silas.goals.models import Outcome
from silas.plans.goals.standing import StandingLimit
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult
from silas.testing import FakeSandbox, Harness, ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import (
    HALF_AN_HOUR,
    START,
    Watched,
    after,
    cycles,
    goal_text,
    house,
    until,
    yes,
)

ONE_PLACE: dict[str, Any] = {"scheduler": {"jobs_at_once": 1, "timezone": "UTC"}}
OTHER = "goal-other"


def once(*_: Any) -> StandingLimit:
    return StandingLimit(1, 30)


class Silent(ScriptedChannel):
    """Whose owner answers no card about the work that a goal would start."""

    def __init__(self) -> None:
        super().__init__(yes)
        self.asked = asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard) and not card.work_item_id.startswith("goal-"):
            self.asked.set()
            await asyncio.Event().wait()
        return await super().ask(to, card)


class SlowRepair(FakeSandbox):
    """A sandbox in which a repair never ends."""

    def __init__(self, watched: Watched) -> None:
        super().__init__(watched.sandbox._answer)
        self.begun = asyncio.Event()

    async def run(self, argv: Any, limits: SandboxLimits, files: SandboxFiles) -> SandboxResult:
        if any("repair" in word for word in argv):
            self.begun.set()
            await asyncio.Event().wait()
        return await super().run(argv, limits, files)


def told(channel: ScriptedChannel) -> list[str]:
    return [text.split("\n")[0] for text in channel.texts if text.startswith("Reminder: ")]


async def two_goals_and_a_reminder(h: Harness) -> None:
    await h.silas.run(goal_text())
    other = goal_text(
        id=OTHER, title="Other", schedule="2 * * * *", on_failure="report", failure_context=None
    )
    await h.silas.run(other)
    await h.silas.ask("remind me in 52 minutes to drink tea")


async def others_go_on(channel: ScriptedChannel, clock: MockClock, watched: Watched) -> None:
    clock.advance(4 * 60)
    await until(lambda: told(channel) == ["Reminder: drink tea"])
    await until(lambda: len(cycles(watched, OTHER)) >= 1)


async def test_while_the_card_of_a_goal_waits_reminders_and_other_goals_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("silas.wiring.session.standing_limit", once)
    channel, clock, watched = Silent(), MockClock(START), Watched()
    async with house(channel, clock, watched, **ONE_PLACE) as h:
        await two_goals_and_a_reminder(h)
        watched.good = False
        (first,) = await after(watched, clock, 20 * 60, 1)
        assert first.outcome is Outcome.fixed
        watched.good = False
        clock.advance(HALF_AN_HOUR)
        await until(channel.asked.is_set)
        await others_go_on(channel, clock, watched)


async def test_while_the_work_of_a_goal_runs_reminders_and_other_goals_go_on() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    watched.sandbox = slow = SlowRepair(watched)
    async with house(channel, clock, watched, **ONE_PLACE) as h:
        await two_goals_and_a_reminder(h)
        watched.good = False
        clock.advance(HALF_AN_HOUR + 20 * 60)
        await until(slow.begun.is_set)
        await others_go_on(channel, clock, watched)
