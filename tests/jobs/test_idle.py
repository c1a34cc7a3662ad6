"""While nothing is due a whole Silas with goals and reminders does nothing at all."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from silas.db import Database
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import START, Watched, cycles, goal_text, house, until, yes

QUIET = {"enabled": False}


class Counting:
    """How often something was called."""

    def __init__(self) -> None:
        self.calls = 0

    def wrapped(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **more: Any) -> Any:
            self.calls += 1
            return real(*args, **more)

        return called


@pytest.mark.proves("B11-IDLE-CALLS-NOTHING")
async def test_nothing_due_means_no_look_no_write_no_timer_and_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched, suggestions=QUIET) as h:
        for number in range(3):
            await h.silas.run(goal_text(id=f"goal-{number}", schedule=f"{number} 9 * * *"))
        await h.silas.ask("remind me tomorrow at nine to call the dentist")
        await h.silas.wait_for_work()
        for _ in range(200):
            await asyncio.sleep(0)
        looks, writes, timers = Counting(), Counting(), Counting()
        monkeypatch.setattr(Database, "read", looks.wrapped(Database.read))
        monkeypatch.setattr(Database, "write", writes.wrapped(Database.write))
        monkeypatch.setattr(MockClock, "sleep", timers.wrapped(MockClock.sleep))
        threads, waits = threading.active_count(), clock.waited_for
        assert len(waits) == 1  # one timer, to the next moment of whatever comes
        for _ in range(500):
            await asyncio.sleep(0)
        left = (waits[0] - clock.now()).total_seconds()
        clock.advance(left - 1)
        for _ in range(500):
            await asyncio.sleep(0)
        assert (looks.calls, writes.calls, timers.calls) == (0, 0, 0)
        assert (threading.active_count(), clock.waited_for) == (threads, waits)
        assert (watched.looks, len(channel.cards)) == (0, 4)
        monkeypatch.undo()
        clock.advance(2 * 24 * 3600)
        await until(lambda: len(cycles(watched, "goal-2")) == 1)
        assert watched.looks == 3
