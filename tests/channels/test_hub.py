"""Several channels at once: where words and cards go, and what counts of what comes back."""

import ast
import asyncio
import inspect
import io
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import AsyncMock

import pytest

from silas.approval import NonceConfig
from silas.approval.nonces import SqlNonceStore
from silas.cards import (
    Arrived,
    Card,
    CardChannel,
    CardChoice,
    Channel,
    ChannelMessage,
    ChoiceProof,
    GateCard,
    PlanAnswer,
    PlanCard,
    ShownCard,
    SignedMessage,
    choice_bytes,
)
from silas.cards.answers import show_card
from silas.cards.models import ALL_CARDS
from silas.channels import hub
from silas.channels.cli import CLIChannel
from silas.channels.external import SEND_SECONDS, Admission, ExternalChannel
from silas.channels.hub import ChannelFaults, ChannelHub, OwnChannel
from silas.channels.proofs import ChoiceProofs
from silas.channels.web.channel import WebChannel
from silas.channels.web.conversations import ConversationPlaces
from silas.channels.web.fatigue import FatigueWatch
from silas.channels.web.pages import ConnectedPage
from silas.channels.web.session import WebSession
from silas.channels.web.transcript import Transcript
from silas.channels.web.wire import inbound
from silas.context.conversation_store import ConversationStore
from silas.db import Database
from silas.errors import ChannelError, DatabaseError
from silas.home.database import migrate
from silas.keys.signer import Ed25519Signer
from silas.plans import NO_MESSAGE
from silas.stream.closing import ClosingChannel
from silas.testing import ScriptedChannel
from silas.testing.cards import a_card
from silas.testing.clock import MockClock
from silas.testing.stores import MemoryAudit
from silas.types import OWNER, TaintLevel, new_nonce
from tests.support.pages import NothingForgotten
from tests.support.waits import SECONDS

T = TypeVar("T")

DEVICE = Ed25519Signer.from_seed(b"d" * 32)
ME = "4711"


async def soon(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, SECONDS)


class Wire:
    """A channel of text only; a test puts messages in and takes out what was sent."""

    channel_name = "web"  # what it calls itself does not matter

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[Any] = asyncio.Queue()
        self.sent: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
        self.broken: BaseException | None = None
        self.hangs = False

    async def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        while (said := await self.incoming.get()) is not None:
            if isinstance(said, BaseException):
                raise said
            yield said

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        if self.hangs:
            await asyncio.Event().wait()
        if self.broken is not None:
            raise self.broken
        self.sent.put_nowait((recipient_id, text))

    def say(self, text: str, who: str = ME) -> None:
        at = MockClock().now()
        message = ChannelMessage(channel="cli", sender_id="owner", text=text, timestamp=at)
        self.incoming.put_nowait((message, who))

    async def told(self) -> str:
        return (await soon(self.sent.get()))[1]


class Buttons(Wire):
    """A channel whose person chooses what a test says; `None` is a wait."""

    def __init__(self) -> None:
        super().__init__()
        self.choices: asyncio.Queue[CardChoice] = asyncio.Queue()
        self.shown: asyncio.Queue[ShownCard] = asyncio.Queue()

    async def choose(self, to: str, shown: ShownCard) -> CardChoice:
        assert to == ME
        self.shown.put_nowait(shown)
        return await self.choices.get()


class Typed(Wire):
    """A channel that answers cards itself."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.asked = 0

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.asked += 1
        return card.actions[self.answer].value if isinstance(self.answer, int) else self.answer


class House:
    """A hub over a real cockpit's channel and channels of others."""

    def __init__(
        self,
        db: Database,
        clock: MockClock,
        strangers: bool,
        wires: Sequence[Channel],
        me: tuple[str, str] = (ME, ME),
    ) -> None:
        self.clock, self.audit, self.wires = clock, MemoryAudit(), wires

        async def prove(session: WebSession, data: bytes, proof: Any) -> str:
            del session
            return "" if DEVICE.verify(data, proof.signature) else "not this device's"

        self.web = WebChannel(
            Transcript(db, NothingForgotten()),
            prove,
            DEVICE.verify,
            self.audit,
            FatigueWatch(self.audit),
            clock,
            ConversationPlaces(ConversationStore(db, clock), lambda _: NO_MESSAGE),
        )
        proofs = ChoiceProofs(DEVICE.verify, SqlNonceStore(db, clock, NonceConfig()), clock)
        faults = ChannelFaults(self.web, self.audit)
        others = [
            ExternalChannel(
                name,
                wire,
                Admission(owner, strangers, per_minute=5),
                proofs.objection,
                faults.note,
                self.audit,
                clock,
            )
            for name, wire, owner in zip(("pigeon", "raven"), wires, me, strict=False)
        ]
        self.hub = ChannelHub(self.web, others, faults, clock)
        self.asked: list[asyncio.Task[Any]] = []

    def page(self) -> ConnectedPage:
        page = ConnectedPage(WebSession(id="s-1", device_id="d-1", device="phone", level="owner"))
        self.web.pages.enter(page)
        return page

    def asking(self, card: Card[Any]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(self.hub.ask("owner", card))
        self.asked.append(task)
        return task

    def cockpit_said(self) -> list[str]:
        return [
            one.text for one in self.web.transcript.after(0, 1000).kept if one.type == "message"
        ]

    def reasons(self, event: str) -> list[str]:
        return [str(data["reason"]) for name, data in self.audit.entries if name == event]

    def proof(self, shown: ShownCard, number: int, **other: Any) -> ChoiceProof:
        """A device's signature; `other` is what it says differently."""
        at, nonce = other.get("at", self.clock.now()), other.get("nonce", new_nonce())
        bare = ChoiceProof(timestamp=at, nonce=nonce, signature=b"")
        data = choice_bytes(other.get("digest", shown.digest), other.get("chosen", number), bare)
        key: Ed25519Signer = other.get("key", DEVICE)
        return bare.model_copy(update={"signature": key.sign(data)})


@asynccontextmanager
async def a_hub(
    tmp_path: Path, *wires: Channel, strangers: bool = False, me: tuple[str, str] = (ME, ME)
) -> AsyncGenerator[House]:
    clock = MockClock()
    db = Database(tmp_path / "silas.db", clock)
    migrate(db, ("silas.approval", "silas.channels.web", "silas.context"))
    house = House(db, clock, strangers, wires, me)
    async with house.hub.serving():
        yield house
        for one in house.asked:
            one.cancel()
        await asyncio.gather(*house.asked, return_exceptions=True)
    db.close()


async def frame(page: ConnectedPage, kind: str) -> dict[str, Any]:
    import json

    while True:
        text = await soon(page.next())
        assert text is not None
        event: dict[str, Any] = json.loads(text)
        if event["type"] == kind:
            return event


# Messages


@pytest.mark.proves("S4.1-LISTEN")
async def test_messages_of_all_channels_come_in_under_their_own_names(tmp_path: Path) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven) as house:
        assert isinstance(house.hub, CardChannel)
        own: OwnChannel = house.web  # for the type checker
        assert own.channel_name == house.hub.channel_name == "web"
        pigeon.say("hello")
        messages = house.hub.listen()
        arrived, conversation = await soon(anext(messages))
        assert isinstance(arrived, ChannelMessage)
        said = (arrived.channel, arrived.sender_id, arrived.text)
        assert (said, conversation) == (("pigeon", "pigeon", "hello"), "owner")
        raven.say("and I")
        arrived, _ = await soon(anext(messages))
        assert isinstance(arrived, ChannelMessage)
        assert arrived.channel == "raven"
        house.web.close()
        assert [one async for one in messages] == []


async def test_a_signature_travels_with_its_message_and_is_worth_nothing_here(
    tmp_path: Path,
) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        at = house.clock.now() - timedelta(seconds=7)
        message = ChannelMessage(channel="web", sender_id="x", text="hi", timestamp=at)
        signed = SignedMessage(message=message, signature=b"s", nonce="n", taint=TaintLevel.owner)
        pigeon.incoming.put_nowait((signed, ME))
        arrived, _ = await soon(anext(house.hub.listen()))
    assert isinstance(arrived, SignedMessage)
    assert (arrived.signature, arrived.nonce, arrived.taint) == (b"s", "n", "external")
    assert (arrived.message.channel, arrived.message.timestamp) == ("pigeon", at)


async def test_nobody_but_the_owner_is_heard_unless_strangers_may_talk(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        pigeon.say("let me in", who="4712")
        pigeon.say("it is me")
        arrived, _ = await soon(anext(house.hub.listen()))
        assert isinstance(arrived, ChannelMessage)
        assert arrived.text == "it is me"
        assert house.reasons("channel.refused") == ["nobody but the owner may talk here"]


async def test_a_stranger_has_a_conversation_of_his_own_and_is_answered_there(
    tmp_path: Path,
) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven, strangers=True) as house:
        pigeon.say("hello", who="owner")
        arrived, conversation = await soon(anext(house.hub.listen()))
        assert isinstance(arrived, ChannelMessage)
        assert (arrived.sender_id, conversation) == ("pigeon:owner", "pigeon:owner")
        await house.hub.send(conversation, "good day")
        assert await soon(pigeon.sent.get()) == ("owner", "good day")
        for nobody in ("owl:1", "raven:", "somebody"):
            with pytest.raises(ChannelError, match="Nobody called"):
                await house.hub.send(nobody, "x")
        assert house.cockpit_said() == []
        assert raven.sent.empty()
        assert await house.hub.ask("pigeon:owner", a_card(GateCard)) == "block"


async def test_a_flood_and_a_giant_are_not_heard(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        pigeon.say("x" * 20_001)
        for number in range(9):
            pigeon.say(str(number))
        pigeon.incoming.put_nowait(None)
        messages = house.hub.listen()
        heard = [(await soon(anext(messages)))[0] for _ in range(5)]
        assert [getattr(one, "text", "") for one in heard] == list("01234")
        while "channel.failed" not in house.audit.events():
            await asyncio.sleep(0)
        why = house.reasons("channel.refused")
    assert why == ["the message or its sender's name is too long", "too many messages"]


@pytest.mark.proves("S18.5-MESSAGES")
async def test_strangers_share_their_messages_a_minute_and_take_none_from_the_owner(
    tmp_path: Path,
) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon, strangers=True) as house:
        for number in range(9):
            pigeon.say(str(number), who=f"stranger {number}")
        pigeon.say("it is me")
        messages = house.hub.listen()
        heard = [await soon(anext(messages)) for _ in range(6)]
    assert [getattr(one, "text", "") for one, _ in heard] == [*"01234", "it is me"]
    assert heard[-1][1] == "owner"


async def test_the_owner_is_told_where_he_was_last_heard_and_always_in_the_cockpit(
    tmp_path: Path,
) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven) as house:
        await house.hub.send("owner", "to all")
        assert (await pigeon.told(), await raven.told()) == ("to all", "to all")
        messages = house.hub.listen()
        raven.say("I am here")
        await soon(anext(messages))
        await house.hub.send("owner", "to the raven")
        assert await raven.told() == "to the raven"
        page = house.page()
        frame_of = inbound.validate_python({"type": "message", "id": "m-1", "text": "now here"})
        await house.web.take_message(page, frame_of)  # pyright: ignore[reportArgumentType]
        await soon(anext(messages))
        await house.hub.send("owner", "to the cockpit")
        house.hub.announce_stop("Silas is stopped.")
        assert (await pigeon.told(), await raven.told()) == ("Silas is stopped.",) * 2
        said = house.cockpit_said()
    assert said == ["to all", "to the raven", "now here", "to the cockpit"]


async def test_a_terminal_the_cockpit_and_a_third_are_heard_and_told_at_once(
    tmp_path: Path,
) -> None:
    """Three kinds of channels: pages, lines of a terminal, and text of others."""
    typed, shown_there = os.pipe(), io.StringIO()
    pigeon = Wire()
    with os.fdopen(typed[0]) as source, os.fdopen(typed[1], "w") as keyboard:
        terminal = CLIChannel(source, shown_there, MockClock())
        async with a_hub(tmp_path, pigeon, terminal, me=("4711", "owner")) as house:
            page = house.page()
            messages = house.hub.listen()
            keyboard.write("from the terminal\n")
            keyboard.flush()
            first = await soon(anext(messages))
            pigeon.say("from the pigeon")
            second = await soon(anext(messages))
            said = inbound.validate_python({"type": "message", "id": "m-1", "text": "from a page"})
            await house.web.take_message(page, said)  # pyright: ignore[reportArgumentType]
            third = await soon(anext(messages))
            house.hub.announce_stop("Silas is stopped.")
            assert await pigeon.told() == "Silas is stopped."
        assert "Silas is stopped." in shown_there.getvalue()
    heard = [(one.text, one.channel) for one in map(_message, (first, second, third))]
    assert heard == [
        ("from the terminal", "raven"),
        ("from the pigeon", "pigeon"),
        ("from a page", "web"),
    ]
    assert {conversation for _, conversation in (first, second, third)} == {OWNER}


def _message(arrived: tuple[Arrived, str]) -> ChannelMessage:
    said = arrived[0]
    return said.message if isinstance(said, SignedMessage) else said


def test_the_hub_knows_no_channel_by_name() -> None:
    tree = ast.parse(inspect.getsource(hub))
    imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    concrete = ("silas.channels.web", "silas.channels.cli", "silas.channels.live_terminal")
    assert not [name for name in imported if name.startswith(concrete)]


# Cards


async def test_a_no_from_another_channel_counts_and_closes_the_card_everywhere(
    tmp_path: Path,
) -> None:
    pigeon, raven = Wire(), Buttons()
    async with a_hub(tmp_path, pigeon, raven) as house:
        page = house.page()
        asking = house.asking(a_card(PlanCard))
        event = await frame(page, "approval_request")
        assert "  1  Do it now" in await pigeon.told()
        await soon(raven.shown.get())
        pigeon.say("no")
        assert await soon(asking) == PlanAnswer(verdict="declined")
        closed = await frame(page, "card_closed")
        assert closed["request_id"] == event["request_id"]
        assert closed["words"] == "Answered on pigeon: Leave it."
        assert await raven.told() == "Answered on pigeon: Leave it."
        assert await pigeon.told() == "Answered on pigeon: Leave it."
        [answered] = [data for name, data in house.audit.entries if name == "channel.answered"]
        assert answered == {"channel": "pigeon", "answer": "Leave it", "signed": False}


@pytest.mark.parametrize("kind", ALL_CARDS)
async def test_no_yes_of_another_channel_counts_without_a_devices_signature(
    tmp_path: Path, kind: type[Card[Any]]
) -> None:
    pigeon, raven = Wire(), Typed(0)
    async with a_hub(tmp_path, pigeon, raven) as house:
        card = a_card(kind)
        asking = house.asking(card)
        await pigeon.told()
        for _ in range(2):
            pigeon.say("yes")
            assert "say yes in the cockpit" in await pigeon.told()
        for _ in range(3):
            assert "say yes in the cockpit" in await raven.told()
        assert not asking.done()
        assert len(house.web.cards) == 1
        pigeon.say("2")
        assert await soon(asking) == card.safe
        assert set(house.reasons("channel.refused")) == {"it was not signed by a device"}


async def test_a_yes_in_words_leaves_the_card_open(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        asking = house.asking(a_card(PlanCard))
        await pigeon.told()
        for yes in ("1", "yes", "Y!"):
            pigeon.say(yes)
            assert "say yes in the cockpit" in await pigeon.told()
        assert not asking.done()


@pytest.mark.parametrize("answer", ["approved", PlanAnswer(verdict="edit_requested"), None, 7.5])
async def test_what_a_card_does_not_offer_is_no_answer(tmp_path: Path, answer: object) -> None:
    raven = Typed(answer)
    async with a_hub(tmp_path, raven) as house:
        asking = house.asking(a_card(PlanCard))
        for _ in range(3):
            await raven.told()
        assert not asking.done()
        assert raven.asked == 3
        assert house.reasons("channel.refused") == ["the card does not offer that answer"]


async def test_a_yes_that_a_device_signed_for_this_card_counts_once(tmp_path: Path) -> None:
    raven = Buttons()
    async with a_hub(tmp_path, raven) as house:
        page = house.page()
        asking = house.asking(a_card(PlanCard))
        showing = await soon(raven.shown.get())
        proof = house.proof(showing, 1)
        raven.choices.put_nowait(CardChoice(number=1, proof=proof))
        assert await soon(asking) == PlanAnswer(verdict="approved")
        assert (await frame(page, "card_closed"))["words"] == "Answered on pigeon: Do it now."
        assert house.audit.entries[-1][1]["signed"] is True
        again = house.asking(a_card(PlanCard))
        await soon(raven.shown.get())
        raven.choices.put_nowait(CardChoice(number=1, proof=proof))
        await soon(raven.shown.get())
        assert not again.done()


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"digest": "0" * 64}, "no device of yours signed this choice on this card"),
        ({"chosen": 2}, "no device of yours signed this choice on this card"),
        ({"key": Ed25519Signer.from_seed(b"e" * 32)}, "no device of yours signed"),
        ({"at": MockClock().now() - timedelta(minutes=6)}, "it is stale"),
        ({"at": MockClock().now() + timedelta(minutes=6)}, "it is stale"),
    ],
)
async def test_a_signature_that_is_about_something_else_does_not_count(
    tmp_path: Path, other: dict[str, Any], why: str
) -> None:
    raven = Buttons()
    async with a_hub(tmp_path, raven) as house:
        asking = house.asking(a_card(GateCard))
        showing = await soon(raven.shown.get())
        raven.choices.put_nowait(CardChoice(number=1, proof=house.proof(showing, 1, **other)))
        await soon(raven.shown.get())  # it is asked again
        assert not asking.done()
        [reason] = house.reasons("channel.refused")
        assert reason.startswith(why)


async def test_a_nonce_is_spent_by_a_choice_that_counts_and_by_no_other(tmp_path: Path) -> None:
    raven, nonce = Buttons(), "ab" * 32
    async with a_hub(tmp_path, raven) as house:
        asking = house.asking(a_card(GateCard))
        showing = await soon(raven.shown.get())
        wrong = house.proof(showing, 1, nonce=nonce, chosen=2)
        raven.choices.put_nowait(CardChoice(number=1, proof=wrong))
        assert (await soon(raven.shown.get())).digest == showing.digest
        right = house.proof(showing, 1, nonce=nonce)
        raven.choices.put_nowait(CardChoice(number=1, proof=right))
        assert await soon(asking) == "approve"
        house.asking(a_card(GateCard))
        other = await soon(raven.shown.get())
        raven.choices.put_nowait(CardChoice(number=1, proof=house.proof(other, 1, nonce=nonce)))
        await soon(raven.shown.get())
        assert house.reasons("channel.refused")[-1] == "it was used before"


def test_each_showing_of_a_card_has_a_digest_of_its_own() -> None:
    card = a_card(PlanCard)
    assert show_card(card).digest != show_card(card).digest
    assert len(show_card(card).digest) == 64


async def test_an_answer_after_the_close_is_a_message_and_answers_nothing(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        messages = house.hub.listen()
        asking = house.asking(a_card(GateCard))
        await pigeon.told()
        asking.cancel()
        assert await pigeon.told() == "Silas closed this question; the safe answer stands."
        pigeon.say("no")
        arrived, _ = await soon(anext(messages))
        assert getattr(arrived, "text", "") == "no"


async def test_the_cockpits_answer_closes_the_card_elsewhere(tmp_path: Path) -> None:
    pigeon, raven = Wire(), Buttons()
    async with a_hub(tmp_path, pigeon, raven) as house:
        page = house.page()
        asking = house.asking(a_card(GateCard))
        event = await frame(page, "gate_approval")
        await pigeon.told()
        await soon(raven.shown.get())
        fields = {"type": "gate_response", "request_id": event["request_id"], "verdict": "block"}
        await house.web.take_answer(page, inbound.validate_python(fields))  # pyright: ignore[reportArgumentType]
        assert await soon(asking) == "block"
        assert await pigeon.told() == await raven.told() == "Answered on web: Leave it."


async def test_a_card_waits_in_the_cockpit_for_whoever_comes(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        asking = house.asking(a_card(PlanCard, timeout_seconds=9))
        await pigeon.told()
        assert [one.type for one in house.web.cards] == ["approval_request"]
        house.clock.advance(9)
        assert await soon(asking) == PlanAnswer(verdict="waiting")
        assert "Nobody answered in time" in await pigeon.told()
        gate = house.asking(a_card(GateCard, timeout_seconds=9))
        assert "Intent" in await pigeon.told()
        house.clock.advance(9)
        assert await soon(gate) == "block"
        assert "Nobody answered in time" in await pigeon.told()


async def test_nobody_looks_at_a_card_any_more_once_silas_ends(tmp_path: Path) -> None:
    pigeon = Buttons()
    async with a_hub(tmp_path, pigeon) as house:
        closing = ClosingChannel(house.hub)
        assert house.hub.somebody_looks  # no page is there, and the owner reads the other channel
        assert closing.somebody_looks
        card = a_card(GateCard)
        asking = house.asking(card)
        await soon(pigeon.shown.get())
        house.web.close()
        assert await soon(asking) == card.safe
        assert not house.hub.somebody_looks  # else this would be an answer of the owner's
    terminal = ClosingChannel(ScriptedChannel())
    assert terminal.somebody_looks
    terminal.close()
    assert not terminal.somebody_looks


async def test_an_answer_that_cannot_be_recorded_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        asking = house.asking(a_card(GateCard))
        await pigeon.told()

        def full(event: str, **data: Any) -> str:
            raise DatabaseError("The disk is full.", code="E_DB_FULL")

        monkeypatch.setattr(house.audit, "log_now", full)
        monkeypatch.setattr(house.audit, "log", AsyncMock())
        pigeon.say("no")
        while not house.cockpit_said():
            await asyncio.sleep(0)
        assert not asking.done()
        assert "was given no answer (E_DB_FULL)" in house.cockpit_said()[0]


async def test_the_cockpits_answer_wins_where_two_come_at_once(tmp_path: Path) -> None:
    raven = Buttons()
    async with a_hub(tmp_path, raven) as house:
        page = house.page()
        asking = house.asking(a_card(GateCard))
        event = await frame(page, "gate_approval")
        await soon(raven.shown.get())
        raven.choices.put_nowait(CardChoice(number=2))
        house.web.close()
        assert await soon(asking) == "block"
        assert event["type"] == "gate_approval"
        assert "channel.answered" not in house.audit.events()


async def test_nonsense_leaves_the_card_open_elsewhere(tmp_path: Path) -> None:
    pigeon = Wire()
    async with a_hub(tmp_path, pigeon) as house:
        asking = house.asking(a_card(GateCard))
        await pigeon.told()
        words: list[str] = []
        for _ in range(3):
            pigeon.say("hm")
            words.append(await pigeon.told())
        assert "stays open in the cockpit" in words[-1]
        assert not asking.done()
        assert len(house.web.cards) == 1


# Faults


@pytest.mark.parametrize(
    "error", [OSError("secret"), SystemExit(3), ChannelError("secret"), asyncio.CancelledError()]
)
async def test_a_channel_that_fails_is_told_once_and_the_others_go_on(
    tmp_path: Path, error: BaseException
) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven) as house:
        pigeon.broken = error
        asking = house.asking(a_card(GateCard))
        await raven.told()
        for number in range(2):
            await house.hub.send("owner", str(number))
            assert await raven.told() == str(number)
        pigeon.incoming.put_nowait(error)
        raven.say("no")
        assert await soon(asking) == "block"
        told = [one for one in house.cockpit_said() if "pigeon" in one]
        assert len(told) == 1
        assert type(error).__name__ in told[0]
        assert "secret" not in told[0]
        assert house.audit.events().count("channel.failed") == 1


async def test_a_channel_that_hangs_holds_nobody_up(tmp_path: Path) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven) as house:
        pigeon.hangs = True
        await house.hub.send("owner", "one")
        await house.hub.send("owner", "two")
        assert [await raven.told(), await raven.told()] == ["one", "two"]
        pigeon.hangs = False  # the next message finds it well
        house.clock.advance(SEND_SECONDS)
        assert await pigeon.told() == "two"
        assert "within 30 seconds" in house.cockpit_said()[-1]


async def test_what_is_no_message_ends_its_channel_alone(tmp_path: Path) -> None:
    pigeon, raven = Wire(), Wire()
    async with a_hub(tmp_path, pigeon, raven) as house:
        pigeon.incoming.put_nowait(("hello", ME))
        while "channel.failed" not in house.audit.events():
            await asyncio.sleep(0)
        raven.say("I can")
        arrived, _ = await soon(anext(house.hub.listen()))
        assert getattr(arrived, "text", "") == "I can"
        asking = house.asking(a_card(GateCard))
        assert "Intent" in await raven.told()
        asking.cancel()
        assert pigeon.sent.empty()
