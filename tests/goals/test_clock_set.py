"""The machine's clock is set while a goal waits: what was spent stays spent, a jump voids."""

from datetime import timedelta

import pytest

from silas.goals.models import Outcome
from silas.plans.goals.standing import StandingLimit
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import HALF_AN_HOUR, START, Watched, goal_text, house, until, yes
from tests.goals.kit import cycles as ended
from tests.stop.test_in_the_house import events

HOUR = timedelta(hours=1)


async def test_work_by_the_clock_asks_where_a_jump_voided_its_standing_approval() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        clock.advance(HALF_AN_HOUR)
        await until(lambda: len(ended(watched)) == 1)
        assert len(channel.cards) == 1
        watched.good = False
        clock.set_to(clock.now() + 27 * HOUR)
        await until(lambda: len(ended(watched)) == 2)
        assert ended(watched)[0].outcome is Outcome.fixed
        assert len(channel.cards) == 2  # not under the yes of before
        assert "clock.jumped" in await events(h)


async def test_a_used_up_approval_starts_no_work_where_the_clock_went_forward_and_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def once(*_: object) -> StandingLimit:
        return StandingLimit(uses=1)

    monkeypatch.setattr("silas.wiring.session.standing_limit", once)
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        watched.good = False
        clock.advance(HALF_AN_HOUR)
        await until(lambda: len(ended(watched)) == 1)
        assert (len(channel.cards), watched.repaired) == (1, 1)
        clock.set_to(clock.now() + 2 * HOUR)
        await until(lambda: len(ended(watched)) == 2)
        clock.set_to(clock.now() - 2 * HOUR)
        watched.good = False
        clock.advance(3 * HALF_AN_HOUR)
        await until(lambda: watched.repaired == 2 or len(channel.cards) > 1)
        assert len(channel.cards) == 2
