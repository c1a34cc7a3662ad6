"""Cards over a channel that only carries text: the next message of that person is the answer."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import TypeVar

import pytest

from silas.cards import CardChannel, Channel, ChannelMessage, GateCard, PlanCard
from silas.channels import TextCards
from silas.testing.cards import a_card
from silas.testing.clock import MockClock
from tests.support.waits import SECONDS

T = TypeVar("T")


async def _soon(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, SECONDS)


class _Wire:
    """A channel of text only, whose messages a test puts in."""

    channel_name = "telegram"

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[tuple[ChannelMessage, str] | None] = asyncio.Queue()
        self.sent: asyncio.Queue[tuple[str, str]] = asyncio.Queue()

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        while (said := await self.incoming.get()) is not None:
            yield said

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        self.sent.put_nowait((recipient_id, text))

    def say(self, who: str, text: str) -> None:
        message = ChannelMessage(
            channel="telegram", sender_id=who, text=text, timestamp=MockClock().now()
        )
        self.incoming.put_nowait((message, who))

    def end(self) -> None:
        self.incoming.put_nowait(None)


async def _all(messages: AsyncIterator[T]) -> list[T]:
    return [message async for message in messages]


@pytest.mark.proves("S4.1.1-TEXT-FALLBACK", "S4.1-LISTEN")
async def test_a_reply_on_the_same_connection_answers_and_others_pass() -> None:
    wire = _Wire()
    cards = TextCards(wire, MockClock())
    assert isinstance(wire, Channel)
    assert isinstance(cards, CardChannel)
    messages = cards.listen()
    heard = asyncio.ensure_future(anext(messages))
    asking = asyncio.ensure_future(cards.ask("a", a_card(GateCard)))
    await _soon(wire.sent.get())
    wire.say("b", "1")
    assert (await _soon(heard))[1] == "b"
    heard = asyncio.ensure_future(anext(messages))
    wire.say("a", "what?")
    assert "number" in (await _soon(wire.sent.get()))[1]
    wire.say("a", "1")
    assert await _soon(asking) == "approve"
    wire.say("a", "hello")
    assert (await _soon(heard))[0].text == "hello"


@pytest.mark.proves("S4.1-SEND", "S4.1.1-TEXT-FALLBACK")
async def test_text_is_sent_to_the_one_it_is_for() -> None:
    wire = _Wire()
    cards = TextCards(wire, MockClock())
    await cards.send("a", "done")
    asking = asyncio.ensure_future(cards.ask("b", a_card(GateCard)))
    assert await _soon(wire.sent.get()) == ("a", "done")
    to, question = await _soon(wire.sent.get())
    assert to == "b"
    assert "  1  Do it now" in question
    asking.cancel()


@pytest.mark.proves("S4.1.1-SILENCE-DECLINES")
async def test_an_unclear_reply_is_asked_again_twice_and_then_it_is_no() -> None:
    wire = _Wire()
    cards = TextCards(wire, MockClock())
    listening = asyncio.ensure_future(anext(cards.listen()))
    asking = asyncio.ensure_future(cards.ask("a", a_card(PlanCard)))
    for _ in range(3):
        await _soon(wire.sent.get())
        wire.say("a", "hm")
    assert (await _soon(asking)).verdict == "declined"
    listening.cancel()


@pytest.mark.proves("S4.1.1-SILENCE-DECLINES")
async def test_silence_is_no() -> None:
    wire, clock = _Wire(), MockClock()
    asking = asyncio.ensure_future(
        TextCards(wire, clock).ask("a", a_card(GateCard, timeout_seconds=9))
    )
    await _soon(wire.sent.get())
    await asyncio.sleep(0)
    clock.advance(9)
    assert await _soon(asking) == "block"


@pytest.mark.proves("S8.1-DISCONNECT-DECLINES")
async def test_a_channel_that_ends_answers_no_at_once_and_from_then_on() -> None:
    wire = _Wire()
    cards = TextCards(wire, MockClock())
    listening = asyncio.ensure_future(_all(cards.listen()))
    asking = asyncio.ensure_future(cards.ask("a", a_card(PlanCard)))
    await _soon(wire.sent.get())
    wire.end()
    assert (await _soon(asking)).verdict == "declined"
    assert await _soon(listening) == []
    assert await _soon(cards.ask("b", a_card(GateCard))) == "block"


async def test_two_cards_for_one_person_wait_for_each_other() -> None:
    wire = _Wire()
    cards = TextCards(wire, MockClock())
    listening = asyncio.ensure_future(anext(cards.listen()))
    first = asyncio.ensure_future(cards.ask("a", a_card(GateCard, intent="First")))
    second = asyncio.ensure_future(cards.ask("a", a_card(GateCard, intent="Second")))
    assert "First" in (await _soon(wire.sent.get()))[1]
    assert wire.sent.empty()
    wire.say("a", "1")
    assert await _soon(first) == "approve"
    assert "Second" in (await _soon(wire.sent.get()))[1]
    wire.say("a", "2")
    assert await _soon(second) == "block"
    listening.cancel()


async def test_the_deadline_is_the_cards_and_not_each_replys() -> None:
    wire, clock = _Wire(), MockClock()
    cards = TextCards(wire, clock)
    listening = asyncio.ensure_future(anext(cards.listen()))
    asking = asyncio.ensure_future(cards.ask("a", a_card(GateCard, timeout_seconds=60)))
    await _soon(wire.sent.get())
    clock.advance(40)
    wire.say("a", "perhaps")
    await _soon(wire.sent.get())
    await asyncio.sleep(0)
    clock.advance(20)
    assert await _soon(asking) == "block"
    listening.cancel()


async def test_what_was_said_before_the_question_is_a_message_and_no_answer() -> None:
    wire, clock = _Wire(), MockClock()
    cards = TextCards(wire, clock)
    messages = cards.listen()
    wire.say("a", "1")
    assert (await _soon(anext(messages)))[0].text == "1"
    asking = asyncio.ensure_future(cards.ask("a", a_card(GateCard, timeout_seconds=9)))
    await _soon(wire.sent.get())
    await asyncio.sleep(0)
    clock.advance(9)
    assert await _soon(asking) == "block"
