"""What was told last is told again after a while: "snooze", "remind me again in 10 minutes"."""

import asyncio
from datetime import UTC, datetime

import pytest

from silas.testing import Harness, MockClock, ScriptedChannel
from tests.stream.kit import entries_of, saying_yes, soon
from tests.support.waits import SECONDS

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)  # a Friday, 13:00 in Vienna
AGAIN = {
    "snooze": "13:11",
    "snooze this reminder 10 minutes": "13:11",
    "snooze for 20 min": "13:21",
    "Remind me again in 10 minutes, please": "13:11",
    "remind me in half an hour again": "13:31",
    "erinnere mich in 10 Minuten nochmal": "13:11",
    "erinnere mich in 10 Minuten noch einmal daran": "13:11",
    "Erinnere mich bitte nochmal in 5 Minuten": "13:06",
}


@pytest.mark.parametrize("text", AGAIN)
async def test_what_was_told_last_has_a_card_with_its_words_and_the_new_time(text: str) -> None:
    clock, channel = MockClock(NOW), ScriptedChannel(saying_yes)
    async with Harness(channel, clock=clock) as h:
        await soon(h.silas.ask("remind me in 1 minute to call Tom"))
        clock.advance(60)
        async with asyncio.timeout(SECONDS):
            while not await entries_of(h, "reminder.told"):
                await asyncio.sleep(0)
        made = (await soon(h.silas.ask(text))).text
    assert f"I will remind you: call Tom. Friday 27 November 2026, {AGAIN[text]}" in made
    assert len(channel.cards) == 2


async def test_where_nothing_was_told_it_says_what_to_say_instead() -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, clock=MockClock(NOW)) as h:
        said = (await soon(h.silas.ask("snooze this reminder 10 minutes"))).text
    assert said.startswith("No reminder was told that could be told again. Say what of, for ")
    assert "“remind me in 10 minutes to call the dentist”" in said
    assert channel.cards == []


async def test_another_wish_is_none_of_this() -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, clock=MockClock(NOW)) as h:
        made = (await soon(h.silas.ask("remind me again in 10 minutes to call Anna"))).text
        other = (await soon(h.silas.ask("what does snooze mean?"))).text
    assert "call Anna" in made
    assert "reminder" not in other
