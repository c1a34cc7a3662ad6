"""The cockpit as a channel: every device sees the same, and only the owner's hand says yes."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import pytest
from pydantic import ValidationError

from silas.cards import Card, ChannelMessage, PlanAnswer, PlanCard, SignedMessage, message_bytes
from silas.cards.models import (
    ALL_CARDS,
    BatchAnswer,
    BatchReviewCard,
    DecisionAnswer,
    DecisionCard,
    DraftAnswer,
    DraftReviewCard,
    GateCard,
    SecureInputAnswer,
    SecureInputCard,
)
from silas.channels.web.card_events import CardAsked, card_event, digest_of
from silas.channels.web.channel import WebChannel
from silas.channels.web.conversations import ConversationPlaces
from silas.channels.web.events import MessageEvent
from silas.channels.web.fatigue import FatigueWatch
from silas.channels.web.pages import MOST_WAITING, TRY_LATER, ConnectedPage
from silas.channels.web.session import WebSession
from silas.channels.web.transcript import Transcript
from silas.channels.web.wire import Message, Proof, Response, decision_bytes, inbound
from silas.context.conversation_store import ConversationStore
from silas.db import Database
from silas.errors import ChannelError
from silas.home.database import migrate
from silas.keys.signer import Ed25519Signer
from silas.language import speak
from silas.plans import NO_MESSAGE
from silas.testing.cards import a_card
from silas.testing.clock import MockClock
from silas.testing.stores import MemoryAudit
from silas.types import OWNER
from tests.support.pages import NothingForgotten
from tests.support.waits import SECONDS

T = TypeVar("T")

_DEVICE = Ed25519Signer.from_seed(b"d" * 32)
_NONCE = "ab" * 32


async def _soon(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, SECONDS)


class _House(NamedTuple):
    channel: WebChannel
    clock: MockClock
    audit: MemoryAudit
    db: Database

    def page(self, level: Any = "owner") -> ConnectedPage:
        session = WebSession(id="s-1", device_id="d-1", device="phone", level=level)
        page = ConnectedPage(session)
        self.channel.pages.enter(page)
        return page

    def proof(self, data: Callable[[Proof], bytes]) -> Proof:
        """A proof over what `data(proof)` gives for it."""
        empty = Proof(timestamp=self.clock.now(), nonce=_NONCE, signature=b"")
        return empty.model_copy(update={"signature": _DEVICE.sign(data(empty))})

    def signed(self, event: dict[str, Any], **fields: Any) -> Response:
        """An answer to an event, signed for exactly that event."""
        bare = _answer(request_id=event["request_id"], **fields)
        proof = self.proof(
            lambda empty: decision_bytes(bare.model_copy(update={"proof": empty}), event["digest"])
        )
        return bare.model_copy(update={"proof": proof})


def _answer(**fields: Any) -> Response:
    read: Any = inbound.validate_python(fields)
    return read


@asynccontextmanager
async def house(tmp_path: Path) -> AsyncGenerator[_House]:
    clock, audit = MockClock(), MemoryAudit()
    db = Database(tmp_path / "silas.db", clock)
    migrate(db, ("silas.channels.web", "silas.context"))

    async def prove(session: WebSession, data: bytes, proof: Proof) -> str:
        del session
        return "" if _DEVICE.verify(data, proof.signature) else "not this device's"

    attention = FatigueWatch(audit)
    channel = WebChannel(
        Transcript(db, NothingForgotten()),
        prove,
        _DEVICE.verify,
        audit,
        attention,
        clock,
        ConversationPlaces(ConversationStore(db, clock), lambda _: NO_MESSAGE),
    )
    yield _House(channel, clock, audit, db)
    db.close()


async def _next(page: ConnectedPage) -> dict[str, Any]:
    frame = await _soon(page.next())
    assert frame is not None
    return json.loads(frame)


async def _of(page: ConnectedPage, kind: str) -> dict[str, Any]:
    while (event := await _next(page))["type"] != kind:
        pass
    return event


_YES: dict[str, dict[str, Any]] = {
    "PlanCard": {"type": "approval_response", "verdict": "approved"},
    "GateCard": {"type": "gate_response", "verdict": "approve"},
    "ToolCallCard": {"type": "tool_call_response", "verdict": "approve"},
    "HeldCard": {"type": "held_response", "verdict": "apply"},
    "CheckpointCard": {"type": "checkpoint", "verdict": "go on"},
    "BatchReviewCard": {"type": "batch_review_response", "verdict": "approve"},
    "DraftReviewCard": {"type": "draft_review_response", "verdict": "approve"},
    "DecisionCard": {"type": "decision_response", "selected_value": "yes"},
    "SuggestionCard": {"type": "suggestion_response", "selected_value": "yes"},
    "AutonomyThresholdCard": {"type": "autonomy_threshold_response", "verdict": "approve"},
    "ConnectionSetupCard": {
        "type": "connection_setup_response",
        "step_type": "device_code",
        "action": "done",
    },
    "PermissionEscalationCard": {"type": "permission_escalation_response", "verdict": "approve"},
    "ConnectionFailureCard": {"type": "connection_failure_response", "selected_action": "yes"},
}
_NO: dict[str, dict[str, Any]] = {
    "PlanCard": {"verdict": "declined"},
    "GateCard": {"verdict": "block"},
    "ToolCallCard": {"verdict": "decline"},
    "HeldCard": {"verdict": "keep"},
    "CheckpointCard": {"verdict": "stop here"},
    "BatchReviewCard": {"verdict": "decline"},
    "DraftReviewCard": {"verdict": "reject"},
    "DecisionCard": {"selected_value": None},
    "SuggestionCard": {"selected_value": None},
    "AutonomyThresholdCard": {"verdict": "decline"},
    "ConnectionSetupCard": {"action": "cancel"},
    "PermissionEscalationCard": {"verdict": "deny"},
    "ConnectionFailureCard": {"selected_action": "skip"},
}
_BY_RESPONSE = [kind for kind in ALL_CARDS if kind is not SecureInputCard]


@pytest.mark.parametrize("kind", _BY_RESPONSE)
async def test_each_card_goes_to_a_page_and_its_signed_answer_comes_back(
    kind: type[Card[Any]], tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        page, other = h.page(), h.page()
        card = a_card(kind)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        assert event["card"]["intent"] == card.intent
        assert event == await _next(other)
        await h.channel.take_answer(page, h.signed(event, **_YES[kind.__name__]))
        assert await _soon(asking) == card.actions[0].value
        assert (await _of(other, "card_closed"))["outcome"] == "answered"
        assert h.channel.cards == ()


@pytest.mark.parametrize("kind", _BY_RESPONSE)
async def test_a_browser_without_a_key_may_say_no_and_never_yes(
    kind: type[Card[Any]], tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        page, card = h.page("auth"), a_card(kind)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        name = kind.__name__
        await h.channel.take_answer(page, _answer(request_id=event["request_id"], **_YES[name]))
        assert (await _next(page))["code"] == "E_CHANNEL_PROOF"
        assert not asking.done()
        refused = {**_YES[name], **_NO[name]}
        await h.channel.take_answer(page, _answer(request_id=event["request_id"], **refused))
        assert await _soon(asking) == card.safe


async def test_a_signature_for_another_card_or_another_answer_does_not_count(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        first = asyncio.ensure_future(h.channel.ask(OWNER, a_card(PlanCard)))
        shown = await _next(page)
        second = asyncio.ensure_future(h.channel.ask(OWNER, a_card(PlanCard, intent="Another")))
        other = await _next(page)
        yes = h.signed(shown, **_YES["PlanCard"])
        moved = yes.model_copy(update={"request_id": other["request_id"]})
        no = h.signed(shown, type="approval_response", verdict="declined")
        turned = no.model_copy(update={"verdict": "approved"})
        tampered = h.signed({**shown, "digest": other["digest"]}, **_YES["PlanCard"])
        for forged in (moved, turned, tampered):
            await h.channel.take_answer(page, forged)
            assert (await _next(page))["code"] == "E_CHANNEL_PROOF"
        assert not first.done()
        assert not second.done()
        first.cancel()
        second.cancel()


async def test_an_answer_that_the_card_does_not_offer_counts_for_nothing(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        asking = asyncio.ensure_future(h.channel.ask(OWNER, a_card(PlanCard)))
        event = await _next(page)
        foreign = [
            {"type": "approval_response", "verdict": "edit_requested"},  # not on this card
            {"type": "gate_response", "verdict": "approve"},
            {"type": "tool_call_response", "verdict": "approve"},
            {"type": "decision_response", "selected_value": "approved"},
            {"type": "checkpoint", "verdict": "approved"},
        ]
        for fields in foreign:
            await h.channel.take_answer(page, h.signed(event, **fields))
            assert (await _next(page))["code"] == "E_CHANNEL_NOT_OFFERED"
        assert not asking.done()
        asking.cancel()


async def test_the_first_answer_stands_and_a_later_one_is_told_so(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        asking = asyncio.ensure_future(h.channel.ask(OWNER, a_card(PlanCard)))
        event = await _next(page)
        no = h.signed(event, type="approval_response", verdict="declined")
        await h.channel.take_answer(page, no)
        await h.channel.take_answer(page, h.signed(event, **_YES["PlanCard"]))
        assert await _soon(asking) == PlanAnswer(verdict="declined")
        assert (await _of(page, "error"))["code"] == "E_CHANNEL_CARD_CLOSED"


@pytest.mark.parametrize("kind", ALL_CARDS)
async def test_with_no_page_nobody_is_asked_and_a_plan_waits(
    kind: type[Card[Any]], tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        card = a_card(kind)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        await asyncio.sleep(0)
        assert not h.channel.cards
        answer = await _soon(asking)
        assert answer == (PlanAnswer(verdict="waiting") if kind is PlanCard else card.safe)
        h.page()
        assert await _soon(h.channel.ask("somebody else", card)) == card.safe


async def test_a_question_of_work_waits_for_whoever_comes_though_no_page_is_there(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        card = a_card(DecisionCard, work_item_id="paint", timeout_seconds=3600.0)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        await asyncio.sleep(0)
        assert not asking.done()
        page, (event,) = h.page(), h.channel.cards
        yes = h.signed(event.model_dump(mode="json"), **_YES["DecisionCard"])
        await h.channel.take_answer(page, yes)
        answer = await _soon(asking)
        assert isinstance(answer, DecisionAnswer)
        assert answer.approved


@pytest.mark.parametrize("kind", [PlanCard, GateCard])
async def test_a_card_outlives_its_page_and_ends_safely_when_its_time_is_over(
    kind: type[Card[Any]], tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        page, card = h.page(), a_card(kind, timeout_seconds=300.0)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        for _ in range(9):  # its time runs once it is asked and on record, a few steps later
            await asyncio.sleep(0)
        h.channel.pages.leave(page)
        h.clock.advance(299)
        assert [waiting.request_id for waiting in h.channel.cards] == [event["request_id"]]
        back = h.page()
        h.clock.advance(2)
        lapsed = PlanAnswer(verdict="waiting") if kind is PlanCard else card.safe
        assert await _soon(asking) == lapsed  # a plan that nobody answered was not declined
        closed = await _of(back, "card_closed")
        assert closed["outcome"] == "expired"
        assert closed["words"].startswith("Lapsed: nobody answered in time")


async def test_a_closing_cockpit_answers_every_open_card_safely(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page, plan, card = h.page(), a_card(PlanCard), a_card(GateCard)
        asking = [asyncio.ensure_future(h.channel.ask(OWNER, one)) for one in (plan, card)]
        for _ in asking:
            await _next(page)
        assert h.channel.somebody_looks
        h.channel.close()
        assert not h.channel.somebody_looks  # a page is there, and can answer nothing any more
        waits, safe = [await _soon(one) for one in asking]
        assert (waits.verdict, safe) == ("waiting", card.safe)
        for ask in (h.channel.ask, h.channel.hold):
            assert (await _soon(ask(OWNER, plan))).verdict == "waiting"
            assert await _soon(ask(OWNER, card)) == card.safe
            assert await _soon(ask("somebody", plan)) == plan.safe


async def test_silas_ends_only_once_each_page_was_told_so(tmp_path: Path) -> None:
    """Else the server's own end comes first, and its pages take it for another one's restart."""
    async with house(tmp_path) as h:
        page = h.page()
        leaving = asyncio.ensure_future(h.channel.leave())
        assert await _soon(page.next()) is None
        assert page.closing == 1001
        assert not leaving.done()
        page.told.set()
        await _soon(leaving)


async def test_a_message_is_kept_once_acknowledged_each_time_and_heard_once(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        page, other = h.page(), h.page()
        message = Message(type="message", id="m-1", text="hello")
        await h.channel.take_message(page, message)
        await h.channel.take_message(page, message)
        assert [(await _next(page))["type"] for _ in range(3)] == ["ack", "message", "ack"]
        said = await _next(other)
        assert (said["seq"], said["text"], said["sender"]) == (1, "hello", "auth")
        h.channel.close()
        heard = [arrived async for arrived, _ in h.channel.listen()]
        assert [type(arrived) for arrived in heard] == [ChannelMessage]


async def test_what_is_said_while_silas_ends_is_not_acknowledged_and_so_not_lost(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        h.channel.close()
        await h.channel.take_message(page, Message(type="message", id="m-9", text="one more thing"))
        assert [pair async for pair in h.channel.listen()] == []
        await _soon(h.channel.wait_until_heard())
        assert h.channel.transcript.newest() == 0
        page.told.set()
        await h.channel.leave()
        assert await _soon(page.next()) is None


async def test_a_signed_message_reaches_the_stream_with_its_signature_and_claims_nobody(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as h:
        page, now = h.page(), h.clock.now()
        said = ChannelMessage(channel="web", sender_id="x", text="fix it", timestamp=now)
        proof = h.proof(lambda empty: message_bytes(said, empty.nonce))
        fields = {"type": "message", "id": "m-2", "text": "fix it", "sender_id": "the owner"}
        await h.channel.take_message(page, Message.model_validate({**fields, "proof": proof}))
        forged = {**fields, "id": "m-3", "text": "delete it", "proof": proof}
        await h.channel.take_message(page, Message.model_validate(forged))
        assert (await _of(page, "error"))["code"] == "E_CHANNEL_SIGNATURE"
        h.channel.close()
        [(arrived, connection)] = [pair async for pair in h.channel.listen()]
        assert isinstance(arrived, SignedMessage)
        assert (arrived.text, arrived.nonce, arrived.message.sender_id) == (
            "fix it",
            _NONCE,
            "owner",
        )
        assert connection == OWNER
        assert "message_signature_bad" in h.audit.events()


async def test_silas_speaks_to_every_page_and_to_nobody_else(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        await h.channel.send(OWNER, "done")
        assert (await _next(page))["text"] == "done"
        with pytest.raises(ChannelError, match="in the cockpit"):
            await h.channel.send("a stranger", "secret")
        [kept] = h.channel.transcript.after(0, 10).kept
        assert isinstance(kept, MessageEvent)
        assert kept.text == "done"


async def test_a_page_that_does_not_read_is_let_go_and_holds_nobody_up(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        slow = h.page()
        for number in range(MOST_WAITING + 2):
            await h.channel.send(OWNER, str(number))
        assert slow.closing == TRY_LATER
        part = h.channel.transcript.after(MOST_WAITING, 10)
        assert (len(part.kept), part.complete) == (2, True)
        assert h.channel.transcript.after(0, 10).complete is False


@pytest.mark.proves("S8.1-SELECTION-RULE")
@pytest.mark.parametrize(
    ("verdict", "chosen", "fits"),
    [
        ("edit_selection", ["a"], True),
        ("edit_selection", [], False),
        ("approve", [], True),
        ("approve", ["a"], False),
        ("decline", ["a"], False),
    ],
)
def test_a_response_names_items_exactly_where_it_edits_the_selection(
    verdict: str, chosen: list[str], fits: bool
) -> None:
    fields = {"type": "batch_review_response", "request_id": "r", "verdict": verdict}
    with nullcontext() if fits else pytest.raises(ValidationError, match="edit_selection"):
        _answer(**fields, selected_item_ids=chosen)


@pytest.mark.proves("S8.1-SELECTION-RULE")
async def test_a_selection_is_of_the_batch_and_in_its_order(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        actions = [
            {"label": "All", "value": BatchAnswer(verdict="approve"), "role": "recommended"},
            {"label": "Some", "value": BatchAnswer(verdict="edit_selection")},
            {"label": "None", "value": BatchAnswer(verdict="decline"), "role": "decline"},
        ]
        card = a_card(BatchReviewCard, item_ids=("a", "b", "c"), actions=actions)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        assert [row["item_id"] for row in event["batch"]["items"]] == ["a", "b", "c"]
        some = {"type": "batch_review_response", "verdict": "edit_selection"}
        await h.channel.take_answer(page, h.signed(event, **some, selected_item_ids=("z",)))
        assert (await _next(page))["code"] == "E_CHANNEL_NOT_OFFERED"
        await h.channel.take_answer(page, h.signed(event, **some, selected_item_ids=("c", "a")))
        chosen = BatchAnswer(verdict="edit_selection", selected_item_ids=("a", "c"))
        assert await _soon(asking) == chosen


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"verdict": "edit", "edited_text": "Hi"}, DraftAnswer(verdict="edit", edited_text="Hi")),
        ({"verdict": "edit"}, None),
        ({"verdict": "approve", "edited_text": "Hi"}, None),
    ],
)
async def test_words_of_the_owners_own_come_with_an_edit_and_nothing_else(
    fields: dict[str, Any], answer: Any, tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        actions = [
            {"label": "Send", "value": DraftAnswer(verdict="approve"), "role": "recommended"},
            {"label": "Edit", "value": DraftAnswer(verdict="edit")},
            {"label": "Drop", "value": DraftAnswer(verdict="reject"), "role": "decline"},
        ]
        card = a_card(DraftReviewCard, actions=actions)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        await h.channel.take_answer(page, h.signed(event, type="draft_review_response", **fields))
        if answer is None:
            assert (await _next(page))["code"] == "E_CHANNEL_NOT_OFFERED"
            asking.cancel()
        else:
            assert await _soon(asking) == answer


@pytest.mark.parametrize("allowed", [True, False])
async def test_free_words_answer_only_a_question_that_allows_them(
    allowed: bool, tmp_path: Path
) -> None:
    async with house(tmp_path) as h:
        page = h.page()
        card = a_card(DecisionCard, allow_freetext=allowed)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        event = await _next(page)
        own = {"type": "decision_response", "selected_value": None, "freetext": "neither"}
        await h.channel.take_answer(page, h.signed(event, **own))
        if allowed:
            assert await _soon(asking) == DecisionAnswer(
                freetext="neither", approved=True, signed=True
            )
        else:
            assert (await _next(page))["code"] == "E_CHANNEL_NOT_OFFERED"
            asking.cancel()


async def test_only_the_vault_says_that_a_secret_was_stored(tmp_path: Path) -> None:
    async with house(tmp_path) as h:
        page, card = h.page(), a_card(SecureInputCard)
        asking = asyncio.ensure_future(h.channel.ask(OWNER, card))
        await _next(page)
        assert h.channel.secret_wanted("ref")
        h.channel.secret_form_closed("ref", stored=True)
        assert h.channel.secret_wanted("ref")
        h.channel.secret_stored("ref")
        assert await _soon(asking) == SecureInputAnswer(ref_id="ref", success=True)
        assert not h.channel.secret_wanted("ref")
        assert (await _next(page))["words"] == "Stored."
        speak("de")
        try:
            again = asyncio.ensure_future(h.channel.ask(OWNER, a_card(SecureInputCard)))
            await _next(page)
            h.channel.secret_form_closed("ref", stored=False)
            assert not (await _soon(again)).success
            assert (await _next(page))["words"] == "Nicht gespeichert."
        finally:
            speak("en")


@pytest.mark.parametrize("kind", ALL_CARDS)
def test_the_digest_covers_everything_that_is_shown(kind: type[Card[Any]]) -> None:
    now = MockClock().now()
    event = card_event(a_card(kind), CardAsked("ask-1", now, now))
    assert event.digest == digest_of(event)
    shown = event.model_dump(mode="json", exclude={"digest", "asked_at", "expires_at"})
    for path in _leaves(shown):
        changed = type(event).model_validate(
            {**event.model_dump(mode="json"), **_with(shown, path)}
        )
        assert digest_of(changed) != event.digest, path


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where a text of a document stands that may be any text."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        for name, inner in cast(dict[str, Any], value).items():
            if name not in {"type", "risk_level", "role"}:
                found += _leaves(inner, (*path, name))
    elif isinstance(value, list):
        for at, inner in enumerate(cast(list[Any], value)):
            found += _leaves(inner, (*path, at))
    elif isinstance(value, str):
        found.append(path)
    return found


def _with(document: Any, path: tuple[Any, ...]) -> Any:
    """The same document with one text changed."""
    copied = json.loads(json.dumps(document))
    place = copied
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] += "!"
    return copied
