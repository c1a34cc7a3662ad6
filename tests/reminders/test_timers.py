"""Timers and alarms are reminders, whichever word asks for one; what names no time makes none."""

from datetime import UTC, datetime

import pytest

from silas.testing import Harness, MockClock, ScriptedChannel
from tests.stream.kit import saying_yes, soon

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)  # a Friday, 13:00 in Vienna
MADE = {
    "set a timer for 10 minutes": "timer 10 minutes. Friday 27 November 2026, 13:10",
    "timer 5 min": "timer 5 min. Friday 27 November 2026, 13:05",
    "please start a 90 minute timer": "timer 90 minute. Friday 27 November 2026, 14:30",
    "stell einen Timer auf 10 Minuten": "timer 10 Minuten. Friday 27 November 2026, 13:10",
    "20-Minuten-Timer": "timer 20 Minuten. Friday 27 November 2026, 13:20",
    "set an alarm for 7 am tomorrow": "alarm. Saturday 28 November 2026, 07:00",
    "wake me up at 6:30": "wake up. Saturday 28 November 2026, 06:30",
    "weck mich morgen um 6": "aufstehen. Saturday 28 November 2026, 06:00",
    "stelle den Wecker auf 7 Uhr": "Wecker. Saturday 28 November 2026, 07:00",
    "don't let me forget the dentist on Monday at 3pm": (
        "the dentist. Monday 30 November 2026, 15:00"
    ),
}
NOT_MADE = (
    "set a timer for the eggs",
    "what is a timer",
    "add a timer to app.py",
    "the alarm rang at 7",
    "write a timer in Python",
)


@pytest.mark.parametrize("text", MADE)
async def test_it_is_shown_with_its_moment_before_it_counts(text: str) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, clock=MockClock(NOW)) as h:
        made = (await soon(h.silas.ask(text))).text
        waiting = (await soon(h.silas.ask("what reminders do I have?"))).text
    assert f"I will remind you: {MADE[text]}" in made
    assert waiting.startswith("1 waiting")
    assert len(channel.cards) == 1


@pytest.mark.parametrize("text", NOT_MADE)
async def test_what_says_no_time_or_means_another_thing_makes_none(text: str) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, clock=MockClock(NOW)) as h:
        await soon(h.silas.ask(text))
        waiting = (await soon(h.silas.ask("what reminders do I have?"))).text
    assert "waiting" not in waiting.splitlines()[0]
    assert channel.cards == []


async def test_a_timer_is_stopped_by_its_name() -> None:
    async with Harness(ScriptedChannel(saying_yes), clock=MockClock(NOW)) as h:
        await soon(h.silas.ask("set a timer for 10 minutes"))
        stopped = (await soon(h.silas.ask("stop the timer"))).text
    assert "Cancelled: timer 10 minutes" in stopped
