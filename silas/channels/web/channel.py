"""The cockpit as a channel: messages, cards and running work on every page of the owner (8.1)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar, cast

from silas.audit import Audit
from silas.cards import Arrived, Card, SignedMessage
from silas.cards.messages import message_bytes
from silas.cards.models import SecureInputAnswer
from silas.cards.unseen import unseen_answer
from silas.channels.proofs import DeviceSigned
from silas.channels.web.answer_stream import AnswerStream
from silas.channels.web.card_events import CardAsked, answer_of, card_event, mark_proved
from silas.channels.web.conversations import ConversationPlaces, arrived_of, kept_of
from silas.channels.web.events import (
    Ack,
    AskedIn,
    CardClosed,
    MessageEvent,
    ModelsEvent,
    Outbound,
    Progress,
    RefusedEvent,
    StopEvent,
    Undone,
)
from silas.channels.web.fatigue import FatigueWatch
from silas.channels.web.open_cards import TAPS, OpenCard, label, lapse_words, waiting_for_secret
from silas.channels.web.pages import GOING_AWAY, ConnectedPage, Pages
from silas.channels.web.questions import CardEvent
from silas.channels.web.refusal import BAD_SIGNATURE, CLOSED_ALREADY, NOT_OFFERED, proof_words
from silas.channels.web.reports import progress_of, result_of
from silas.channels.web.session import WebSession
from silas.channels.web.transcript import Transcript
from silas.channels.web.wire import Message, Proof, Response, decision_bytes
from silas.clock import Clock
from silas.errors import ChannelError, SilasError
from silas.language import COCKPIT, refusal_words, said_at, tr
from silas.plans import WorkItem
from silas.types import OWNER, conversation_at, new_id, whose
from silas.work.models import SETTLED, FindResult, Notify, ProgressEvent

AnswerT = TypeVar("AnswerT")

Prove = Callable[[WebSession, bytes, Proof], Awaitable[str]]
"""Whether a device signed these bytes, now and for the first time; else why it does not count."""


class WebChannel:
    """What pages see and say. Decides nothing: an answer is the card's own, or it does not count.

    Args:
        transcript: Where the conversation is kept.
        prove, signed: What the door says of signatures.
        audit: Where what is refused is recorded.
        attention: Records answers, and notices what tires their owner (0.5.4).
        clock: For time stamps and time-outs.
        places: In which conversation something is said, asked or shown.

    Attributes:
        coming: Answers under way.
        places: As it was given.
    """

    channel_name = "web"
    asks_beside = True  # cards have a place of their own beside the conversation

    def __init__(
        self,
        transcript: Transcript,
        prove: Prove,
        signed: DeviceSigned,
        audit: Audit,
        attention: FatigueWatch,
        clock: Clock,
        places: ConversationPlaces,
    ) -> None:
        self._transcript = transcript
        self._prove = prove
        self._signed = signed
        self._audit = audit
        self._attention = attention
        self._clock = clock
        self.places = places
        self._pages = Pages()
        self._open: dict[str, OpenCard] = {}
        self._running: dict[str, Progress] = {}
        self.coming = AnswerStream()
        self._arrived: asyncio.Queue[tuple[Arrived, str] | None] = asyncio.Queue()
        self._heard_out = asyncio.Event()
        self.closed = False

    # The Stream's side

    async def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """What the owner says on any page, until the channel is closed."""
        while (arrived := await self._arrived.get()) is not None:
            yield arrived
        self._heard_out.set()

    async def wait_until_heard(self) -> None:
        """Wait until everything was heard that came before the channel was closed."""
        await self._heard_out.wait()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Say something on every page; kept for later ones. `ChannelError` for anybody else."""
        await self.answer(recipient_id, text, "", reply_to)

    @property
    def somebody_looks(self) -> bool:
        """Whether a page is connected; nobody, once no more questions are taken."""
        return not self.closed and len(self._pages) > 0

    def shows_drafts_to(self, recipient_id: str) -> bool:
        """The owner, while a page is there to see it."""
        return whose(recipient_id) == OWNER and len(self._pages) > 0

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        """Show a piece of an answer on the pages that are there now."""
        if whose(recipient_id) == OWNER:
            where = conversation_at(recipient_id)
            piece = self.coming.add(turn_id, text, begins=begins, conversation=where)
            self._pages.draft(piece)

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """Say in passing what a source waits for, on the pages that are there now."""
        if whose(recipient_id) == OWNER:
            news = self.places.waits(conversation_at(recipient_id), source, words)
            if news is not None:
                self._tell(news)

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        """As `send`; it takes the place of what a turn has shown of it. Raises as `send`."""
        if whose(recipient_id) != OWNER:
            raise ChannelError(
                f"Nobody called {recipient_id!r} is in the cockpit.", code="E_CHANNEL_RECIPIENT"
            )
        self._keep(
            MessageEvent(
                seq=0,
                id=new_id("said"),
                text=text,
                sender="silas",
                timestamp=self._clock.now(),
                turn_id=turn_id,
                reply_to=reply_to or "",
                conversation=conversation_at(recipient_id),
            )
        )
        self.coming.end(turn_id)
        self.coming.forget_message(reply_to or "")

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Show a card on every page and wait for the first answer that counts.

        Where no page is connected nobody is asked: a plan and a card that is kept wait, everything
        else has its safe answer at once (8.1). A page that goes may come back to an open card.
        """
        if whose(to) != OWNER:
            return card.safe
        return await self.hold(to, card) if card.kept or len(self._pages) else unseen_answer(card)

    async def hold(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """As `ask`; where no page is connected the card is kept for one that comes in its time."""
        if whose(to) != OWNER or self.closed:
            return unseen_answer(card) if whose(to) == OWNER else card.safe
        return await self._ask_card(to, card)

    async def _ask_card(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """The first answer that counts; after its time what it means that nobody gave one."""
        name, now = new_id("ask"), self._clock.now()
        asked = CardAsked(name, now, now + timedelta(seconds=card.timeout_seconds))
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        event = card_event(card, asked)
        where = conversation_at(to) or self.places.of_work(getattr(card, "work_item_id", ""))
        self._open[name] = OpenCard(card, event, answer, self._clock.monotonic(), where)
        if where:
            self._tell(AskedIn(request_id=name, conversation=where))
        self._tell(event)
        await self._notice()
        timer = asyncio.ensure_future(self._clock.sleep(card.timeout_seconds))
        try:
            await asyncio.wait({answer, timer}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return cast(AnswerT, answer.result())
            self._tell(CardClosed(request_id=name, outcome="expired", words=lapse_words(card)))
            return unseen_answer(card)
        except asyncio.CancelledError:
            closing = self._open[name].closing
            self._tell(CardClosed(request_id=name, outcome="closed", words=tr(closing)))
            raise
        finally:
            timer.cancel()
            answer.cancel()  # whoever is still being checked came too late
            del self._open[name]

    def close_card(self, card: Card[Any], words: str) -> None:
        """Words for the pages when the question about this card is cancelled, which comes next."""
        for waiting in self._open.values():
            if waiting.card is card:
                waiting.closing = words

    def showing(self, item: WorkItem, result: FindResult) -> Notify:
        """Where the progress of a work item goes, for as long as it runs."""

        async def notify(event: ProgressEvent) -> None:
            where = self.places.of_work(item.id)
            report = progress_of(item, event, where)
            if event.status not in SETTLED:
                self._running[item.id] = report
                self._tell(report)
                return
            self._running.pop(item.id, None)
            ended = result_of(item, event, await result(item.id), self._clock.now())
            self._tell(report)
            self._tell(self._transcript.add_result(self.places.place(ended)))

        return notify

    # The pages' side

    async def take_message(self, page: ConnectedPage, message: Message) -> None:
        """Take a message once, acknowledge it, and hand it to the Stream.

        A signature that does not fit is refused here; whether it is fresh, the turn says. While
        Silas ends nothing is acknowledged, so the page sends it again to the next Silas.
        """
        if self.closed:
            return
        try:
            where = self.places.conversations.open(message.conversation).id
        except SilasError as error:  # archived elsewhere meanwhile
            words = said_at(COCKPIT, refusal_words(error.message))
            self.refuse(page, message.id, error.code, words)
            return
        arrived = arrived_of(message, self.channel_name, where, now := self._clock.now())
        if isinstance(arrived, SignedMessage):
            data = message_bytes(arrived.message, arrived.nonce)
            if not self._signed(data, arrived.signature):
                await self._audit.log("message_signature_bad", connection_id=page.session.id)
                self.refuse(page, message.id, "E_CHANNEL_SIGNATURE", BAD_SIGNATURE)
                return
        kept = self._transcript.add(kept_of(message, where, now))
        page.give(Ack(id=message.id).model_dump_json())
        if kept is not None:
            self._tell(kept)
            self.coming.note_message(message.id, where)
            self._arrived.put_nowait((arrived, OWNER))

    async def take_answer(self, page: ConnectedPage, response: Response) -> None:
        """Take an answer to a card, if it is one and is the owner's."""
        waiting = self._open.get(response.request_id)
        if waiting is None:
            self.refuse(page, response.request_id, "E_CHANNEL_CARD_CLOSED", CLOSED_ALREADY)
            return
        answer = answer_of(waiting.card, response)
        if answer is None:
            self.refuse(page, response.request_id, "E_CHANNEL_NOT_OFFERED", NOT_OFFERED)
            return
        if answer != waiting.card.safe:
            if why := await self._objection(page.session, waiting.event, response):
                self.refuse(page, response.request_id, "E_CHANNEL_PROOF", why)
                return
            answer = mark_proved(answer)
        if waiting.answer.done():  # another page was quicker
            self.refuse(page, response.request_id, "E_CHANNEL_CARD_CLOSED", CLOSED_ALREADY)
        else:
            waiting.answer.set_result(answer)
            words = label(waiting.card, answer)
            closed = CardClosed(request_id=response.request_id, outcome="answered", words=words)
            page.give(Ack(id=response.request_id).model_dump_json())
            self._tell(closed)
            await self._record(page, waiting, response, answer)

    async def _objection(self, session: WebSession, event: CardEvent, response: Response) -> str:
        if response.proof is None:
            return proof_words(None)
        why = await self._prove(session, decision_bytes(response, event.digest), response.proof)
        return proof_words(why) if why else ""

    async def _record(
        self, page: ConnectedPage, waiting: OpenCard, response: Response, answer: Any
    ) -> None:
        """Put an answer on record; nobody is held up by what it shows."""
        card = waiting.card
        action = next((one for one in card.actions if one.value == answer), None)
        cue = await self._attention.record_answer(
            kind=waiting.event.type,
            risk=card.risk,
            seconds=self._clock.monotonic() - waiting.began,
            answer=label(card, answer),
            role="" if action is None else action.role,
            verdict=str(getattr(response, "verdict", "") or label(card, answer)),
            device=page.session.device,
            taps=1 if answer == card.safe else TAPS[card.risk],
            freetext=bool(getattr(response, "freetext", None)),
            work_item_id=getattr(card, "work_item_id", ""),
            waiting=[one.card.risk for one in self._open.values() if one is not waiting],
        )
        if cue is not None:
            self._tell(cue)

    async def _notice(self) -> None:
        cue = await self._attention.find_cue([one.card.risk for one in self._open.values()])
        if cue is not None:
            self._tell(cue)

    def secret_form_closed(self, ref_id: str, *, stored: bool) -> None:
        """A form for a secret was left; that one was stored is believed of nobody but the vault."""
        if not stored:
            self._secret(ref_id, stored=False)

    def secret_stored(self, ref_id: str) -> None:
        """The vault has the secret that a card asked for."""
        self._secret(ref_id, stored=True)

    def _secret(self, ref_id: str, *, stored: bool) -> None:
        for name, waiting in waiting_for_secret(self._open, ref_id):
            waiting.answer.set_result(SecureInputAnswer(ref_id=ref_id, success=stored))
            words = tr("Stored.") if stored else tr("Not stored.")
            self._tell(CardClosed(request_id=name, outcome="answered", words=words))

    def secret_wanted(self, ref_id: str) -> bool:
        """Whether a card asks for this secret now."""
        return bool(waiting_for_secret(self._open, ref_id))

    def refuse(self, page: ConnectedPage, what: str, code: str, words: str) -> None:
        """Tell one page that what it sent did not count, and why."""
        page.give(RefusedEvent(id=what, code=code, message=tr(words)).model_dump_json())

    def announce_undo(self, work_item_id: str) -> None:
        """What an item changed was taken back."""
        self._transcript.mark_undone(work_item_id)
        self._tell(Undone(work_item_id=work_item_id))

    def announce_stop(self, words: str) -> None:
        """The emergency stop began, or with no words: ended."""
        self._tell(StopEvent(words=words))

    def other_models(self, *, runbook: bool) -> None:
        """Others answer from now on."""
        self._tell(ModelsEvent(runbook=runbook))

    # What is there to see

    @property
    def pages(self) -> Pages:
        """Who is connected."""
        return self._pages

    @property
    def cards(self) -> tuple[CardEvent, ...]:
        """Open questions, the oldest first."""
        return tuple(waiting.event for waiting in self._open.values())

    @property
    def asked_in(self) -> dict[str, str]:
        """Which conversation each open question belongs to, where that is not the first one."""
        return {name: one.conversation for name, one in self._open.items() if one.conversation}

    @property
    def running(self) -> tuple[Progress, ...]:
        """Work under way."""
        return tuple(self._running.values())

    @property
    def transcript(self) -> Transcript:
        """What was said."""
        return self._transcript

    def close(self) -> None:
        """No more messages and no more questions (18.2); pages stay until `leave`."""
        if not self.closed:
            self.closed = True
            self._arrived.put_nowait(None)
            for waiting in self._open.values():
                if not waiting.answer.done() and not waiting.card.outlives:
                    waiting.answer.set_result(unseen_answer(waiting.card))

    async def leave(self) -> None:
        """Let every page go (close code 1001): Silas ends, and only then the server."""
        await self._pages.end(GOING_AWAY)

    def _keep(self, said: MessageEvent) -> None:
        kept = self._transcript.add(said)
        if kept is not None:
            self._tell(kept)

    def _tell(self, event: Outbound) -> None:
        if len(self._pages):
            self._pages.all(event.model_dump_json())
