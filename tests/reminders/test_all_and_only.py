"""A reminder that is not named, all of them at once, and a time without its day."""

from pathlib import Path

import pytest

from silas.cards.models import DecisionCard
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.reminders.test_in_silas import NINE, house, yes
from tests.support.command import environment, run, silas

DENTIST = "remind me on thursday at nine to call the dentist"
PLANTS = "remind me every second Friday at 9 am to water the plants"


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("move the dentist reminder to 5 pm", "Thursday 26 November 2026, 17:00"),
        ("move the reminder to 5 pm", "Thursday 26 November 2026, 17:00"),
        ("verschiebe die Erinnerung auf 17 Uhr", "Thursday 26 November 2026, 17:00"),
        ("move the reminder to at seven", "Thursday 26 November 2026, 07:00"),
        ("move the reminder to today at 5 pm", "Tuesday 24 November 2026, 17:00"),
    ],
)
async def test_a_time_without_a_day_is_of_the_day_that_the_reminder_has(
    said: str, due: str
) -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(NINE)) as h:
        await h.silas.ask(DENTIST)
        reply = await h.silas.ask(said)
    card = channel.cards[-1]
    assert isinstance(card, DecisionCard)
    assert due in card.rationale
    assert due in reply.text


async def test_a_time_that_its_day_is_past_is_the_next_one() -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(NINE)) as h:
        await h.silas.ask("remind me today at 5 pm to call the dentist")
        reply = await h.silas.ask("move the reminder to 8 am")
    assert "Wednesday 25 November 2026, 08:00" in reply.text


async def test_which_of_several_is_asked_and_none_is_changed() -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(NINE)) as h:
        await h.silas.ask(DENTIST)
        await h.silas.ask(PLANTS)
        before = (await h.silas.ask("list my reminders")).text
        for said in ("move the reminder to 5 pm", "cancel the reminder"):
            reply = await h.silas.ask(said)
            assert reply.text.startswith("2 reminders wait; say which one")
            assert "1 “call the dentist”, 2 “water the plants”" in reply.text
        assert (await h.silas.ask("list my reminders")).text == before
        assert len(channel.cards) == len(("dentist", "plants"))


@pytest.mark.parametrize(
    "said",
    [
        "cancel all reminders",
        "delete my reminders",
        "cancel every reminder",
        "lösche alle Erinnerungen",
        "lösche jede Erinnerung",
    ],
)
async def test_all_are_cancelled_on_a_yes_to_a_card_that_names_each(said: str) -> None:
    channel = ScriptedChannel(yes)
    async with house(channel, MockClock(NINE)) as h:
        await h.silas.ask(DENTIST)
        await h.silas.ask(PLANTS)
        reply = await h.silas.ask(said)
        card = channel.cards[-1]
        assert isinstance(card, DecisionCard)
        assert card.intent == "Cancel 2 reminders"
        assert [line.split(":")[0] for line in card.details[0].lines] == [
            "1. call the dentist",
            "2. water the plants",
        ]
        assert not card.safe.approved
        assert reply.text.startswith("2 reminders cancelled:\n1. call the dentist")
        assert (await h.silas.ask("list my reminders")).text == "No reminder waits."
        assert (await h.silas.ask(said)).text == "No reminder waits."


async def test_silence_cancels_none_of_them() -> None:
    channel = ScriptedChannel(lambda card: card.safe if "Cancel" in card.intent else yes(card))
    async with house(channel, MockClock(NINE)) as h:
        await h.silas.ask(DENTIST)
        reply = await h.silas.ask("cancel all reminders")
        assert (reply.text, reply.outcome) == ("All reminders stay.", "declined")
        assert "call the dentist" in (await h.silas.ask("list my reminders")).text


def test_the_command_moves_a_time_alone_on_the_day_of_the_reminder(tmp_path: Path) -> None:
    env = environment(tmp_path, SILAS_SCHEDULER__TIMEZONE="Europe/Vienna")
    assert run(silas("init"), env).code == 0
    assert run(silas("remind", "--yes", "on 3 May 2060 at nine to call Anna"), env).code == 0
    moved = run(silas("remind", "move", "1", "5 pm", "--yes"), env)
    assert "3 May 2060, 17:00" in moved.out
