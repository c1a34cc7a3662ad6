"""The owner's own channel and any number of others beside it, as one channel (spec 4.1, 5.1, 8.1).

Everything said to the owner stands on his own channel, the cockpit; it is said where he was last
heard, too, and on every channel of his as long as he was heard nowhere. A card is shown on all of
them: the first answer that counts closes it on the others.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol, TypeVar

from silas.audit import Audit
from silas.cards import Arrived, Card, CardChannel, Channel, SignedMessage
from silas.cards.answers import show_card
from silas.channels.external import ExternalAnswer, ExternalChannel
from silas.clock import Clock
from silas.errors import ChannelError, SilasError
from silas.language import said_at, tr, tr_later
from silas.plans import WorkItem
from silas.types import OWNER, whose
from silas.work.models import ENDED, FindResult, Notify, ProgressEvent
from silas.work.report import result_texts

AnswerT = TypeVar("AnswerT")

CLOSING_SECONDS: Final = 2.0
"""How long channels may take at the end to send what waits, and then to end."""

_MOST_UNHEARD: Final = 100  # messages of others that wait to be heard; then their channels wait
_EXPIRED: Final = tr_later("Nobody answered in time; nothing was agreed to.")
_ANSWERED: Final = tr_later("Answered on {channel}: {answer}.")
_GONE: Final = tr_later("Silas closed this question; the safe answer stands.")


class OwnChannel(CardChannel, Protocol):
    """The owner's own channel, which checks every yes itself: the cockpit (spec 8.1)."""

    @property
    def asks_beside(self) -> bool:
        """Whether cards have a place of their own beside the conversation."""
        ...

    @property
    def somebody_looks(self) -> bool:
        """Whether somebody would see a card now."""
        ...

    @property
    def closed(self) -> bool:
        """Whether no more questions are taken, because Silas ends."""
        ...

    async def hold(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """As `ask`; where nobody is there the card is kept for whoever comes in its time."""
        ...

    def close_card(self, card: Card[Any], words: str) -> None:
        """Words for when the question about this card is cancelled, which comes next."""
        ...

    def shows_drafts_to(self, recipient_id: str) -> bool:
        """See `silas.stream.drafts.ShowsDrafts`."""
        ...

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        """See `silas.stream.drafts.ShowsDrafts`."""
        ...

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        """See `silas.stream.drafts.ShowsDrafts`."""
        ...

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """See `silas.stream.drafts.ShowsWaiting`."""
        ...

    def showing(self, item: WorkItem, result: FindResult) -> Notify:
        """Where the progress of a work item goes, for as long as it runs."""
        ...

    def announce_undo(self, work_item_id: str) -> None:
        """What an item changed was taken back."""
        ...

    def announce_stop(self, words: str) -> None:
        """The emergency stop began, or with no words: ended."""
        ...

    def secret_stored(self, ref_id: str) -> None:
        """The vault has the secret that a card asked for."""
        ...

    def other_models(self, *, runbook: bool) -> None:
        """Others answer from now on."""
        ...


class ChannelFaults:
    """Tells the owner of a channel that fails, on his own one, once; the record has it once, too.

    Args:
        own: Where he is told.
        audit: The record.
    """

    def __init__(self, own: Channel, audit: Audit) -> None:
        self._own = own
        self._audit = audit
        self._told: set[str] = set()

    async def note(self, name: str, why: str) -> None:
        """Tell of the first fault of a channel."""
        if name in self._told:
            return
        self._told.add(name)
        await self._audit.log("channel.failed", channel=name, why=why)
        await self._own.send(
            OWNER,
            said_at(
                self._own.channel_name,
                f"The channel {name} {why}. Everything else goes on; see `silas doctor`, and start "
                "Silas again when it works.",
            ),
        )


class ChannelHub:
    """One channel made of several. Decides nothing: each brings answers as far as it may.

    Args:
        own: The owner's own channel.
        others: Channels of others.
        faults: Told what goes wrong with one of them.
        clock: For how long the end may take.
    """

    def __init__(
        self,
        own: OwnChannel,
        others: Sequence[ExternalChannel],
        faults: ChannelFaults,
        clock: Clock,
    ) -> None:
        self._own = own
        self._others = {one.name: one for one in others}
        self._faults = faults
        self._clock = clock
        self._heard: asyncio.Queue[tuple[Arrived, str]] = asyncio.Queue(_MOST_UNHEARD)
        self._last: str | None = None
        self._ending: set[asyncio.Future[ExternalAnswer | None]] = set()

    @property
    def channel_name(self) -> str:
        """The own channel's name."""
        return self._own.channel_name

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[None]:
        """Listen and send on the other channels; at the end what waits is sent, for a moment."""
        tasks = [
            asyncio.create_task(self._guard_channel(one, work))
            for one in self._others.values()
            for work in (one.listen(self._hear), one.deliver())
        ]
        try:
            yield
        finally:
            waiting = [
                asyncio.create_task(one.wait_until_delivered()) for one in self._others.values()
            ]
            await self._wait_for_tasks(waiting)
            for task in (*waiting, *tasks):
                task.cancel()
            await self._wait_for_tasks([*waiting, *tasks])

    async def _guard_channel(self, one: ExternalChannel, work: Coroutine[Any, Any, None]) -> None:
        """A mistake of ours with one channel ends that channel and nothing else."""
        try:
            await work
        except Exception as error:  # noqa: BLE001, RUF100 - whatever it is, the others go on
            await self._faults.note(one.name, f"was given up ({type(error).__name__})")

    async def _wait_for_tasks(self, tasks: Sequence["asyncio.Task[None]"]) -> None:
        """Wait for tasks, but no longer than the end may take."""
        if not tasks:
            return
        timer = asyncio.ensure_future(self._clock.sleep(CLOSING_SECONDS))
        ended = asyncio.ensure_future(asyncio.wait(tasks))
        await asyncio.wait({timer, ended}, return_when=asyncio.FIRST_COMPLETED)
        timer.cancel()
        ended.cancel()

    # Messages

    async def listen(self) -> AsyncIterator[tuple[Arrived, str]]:
        """What is said on any channel, until the own one is closed.

        A message of the own channel is taken from it only when it is asked for here, so that the
        own channel knows what was heard.
        """
        own = self._own.listen()
        mine = asyncio.ensure_future(_next(own))
        theirs = asyncio.ensure_future(self._heard.get())
        try:
            while True:
                await asyncio.wait({mine, theirs}, return_when=asyncio.FIRST_COMPLETED)
                if mine.done():
                    arrived = mine.result()
                    if arrived is None:
                        return
                    self._last = self.channel_name
                    yield arrived
                    mine = asyncio.ensure_future(_next(own))
                if theirs.done():
                    yield theirs.result()
                    theirs = asyncio.ensure_future(self._heard.get())
        finally:
            mine.cancel()
            theirs.cancel()

    async def _hear(self, arrived: Arrived, conversation: str) -> None:
        if conversation == OWNER:
            said = arrived.message if isinstance(arrived, SignedMessage) else arrived
            self._last = said.channel
        await self._heard.put((arrived, conversation))

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Say something in a conversation. Raises `ChannelError` where there is none of that name.

        No channel but the own one is waited for.
        """
        if whose(recipient_id) == OWNER:
            await self._own.send(recipient_id, text, reply_to)
            self._also(text)
            return
        name, _, connection = recipient_id.partition(":")
        other = self._others.get(name)
        if other is None or not connection:
            raise ChannelError(
                f"Nobody called {recipient_id!r} is on any channel.", code="E_CHANNEL_RECIPIENT"
            )
        other.tell(text, connection)

    def _also(self, text: str) -> None:
        """Say something to the owner where else he is."""
        for name, other in self._others.items():
            if self._last in (None, name):
                other.tell(text)

    def shows_drafts_to(self, recipient_id: str) -> bool:
        """As the own channel."""
        return self._own.shows_drafts_to(recipient_id)

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        """On the own channel; others are told whole answers."""
        self._own.draft(recipient_id, turn_id, text, begins=begins)

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        """As `send`; on the own channel it takes the place of what a turn has shown of it."""
        await self._own.answer(recipient_id, text, turn_id, reply_to)
        self._also(text)

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """On the own channel."""
        self._own.waits(recipient_id, source, words)

    def showing(self, item: WorkItem, result: FindResult) -> Notify:
        """Progress on the own channel; others are told how the work ended."""
        show = self._own.showing(item, result)

        async def notify(event: ProgressEvent) -> None:
            await show(event)
            if event.status in ENDED:
                ended = await result(item.id)
                for text in () if ended is None else result_texts(ended):
                    self._also(text)
                self._also(f"{item.title}: {event.status}: {event.message}")

        return notify

    # Cards

    @property
    def asks_beside(self) -> bool:
        """As the own channel."""
        return self._own.asks_beside

    @property
    def somebody_looks(self) -> bool:
        """Whether a page is connected, or another channel has the owner; nobody, once Silas ends
        and what is asked has its safe answer.
        """
        elsewhere = any(one.has_owner for one in self._others.values())
        return not self._own.closed and (self._own.somebody_looks or elsewhere)

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Show a card on every channel of the owner; the first answer that counts closes it.

        Where no other channel has the owner, as the own channel does. Else the own one keeps the
        card for whoever comes in its time, because what is asked elsewhere may need a yes there.
        """
        others = [one for one in self._others.values() if one.has_owner]
        if whose(to) != OWNER or not others:
            return await self._own.ask(to, card)
        showing = show_card(card)
        mine = asyncio.ensure_future(self._own.hold(to, card))
        asked = {asyncio.ensure_future(one.ask(showing)): one for one in others}
        words, began = tr(_GONE), self._clock.monotonic()
        try:
            while not mine.done():
                await asyncio.wait({mine, *asked}, return_when=asyncio.FIRST_COMPLETED)
                for task in [task for task in asked if task.done() and not mine.done()]:
                    one = asked.pop(task)
                    answered = await self._take_answer(one, task, mine)
                    if answered is not None:
                        words = tr(_ANSWERED, channel=one.name, answer=answered.words)
                        self._own.close_card(card, words)
                        answer: AnswerT = answered.answer
                        return answer
            answer = mine.result()
            late = self._clock.monotonic() - began >= card.timeout_seconds
            label = _label(card, answer)
            words = tr(_ANSWERED, channel=self.channel_name, answer=label)
            if late and not _is_yes(card, answer):
                words = tr(_EXPIRED)
            return answer
        finally:
            mine.cancel()
            await asyncio.wait({mine})
            for task in asked:  # nobody waits for what others' code does about it
                task.cancel()
                self._ending.add(task)
                task.add_done_callback(self._drop_task)
            for one in others:
                one.close_card(showing, words)

    def _drop_task(self, task: "asyncio.Future[ExternalAnswer | None]") -> None:
        self._ending.discard(task)
        if not task.cancelled():
            task.exception()  # an answer that came too late counts for nothing

    async def _take_answer(
        self,
        one: ExternalChannel,
        task: "asyncio.Future[ExternalAnswer | None]",
        mine: "asyncio.Future[Any]",
    ) -> ExternalAnswer | None:
        """An answer that counts, on record; None where none came or the own channel was quicker."""
        try:
            answered = task.result()
            if answered is None or mine.done():
                return None
            one.record(answered)
            return answered
        except SilasError as error:  # ours: what cannot be recorded does not count
            await self._faults.note(one.name, f"was given no answer ({error.code})")
            return None

    # News

    def announce_undo(self, work_item_id: str) -> None:
        """On the own channel."""
        self._own.announce_undo(work_item_id)

    def announce_stop(self, words: str) -> None:
        """On every channel, wherever the owner was last heard."""
        self._own.announce_stop(words)
        for other in self._others.values() if words else ():
            other.tell(words)

    def secret_stored(self, ref_id: str) -> None:
        """On the own channel, which alone takes secrets."""
        self._own.secret_stored(ref_id)

    def other_models(self, *, runbook: bool) -> None:
        """On the own channel."""
        self._own.other_models(runbook=runbook)


async def _next(messages: AsyncIterator[tuple[Arrived, str]]) -> tuple[Arrived, str] | None:
    return await anext(messages, None)


def _is_yes(card: Card[AnswerT], answer: AnswerT) -> bool:
    """Whether an answer is one of the card's own and not the safe one."""
    return answer != card.safe and any(action.value == answer for action in card.actions)


def _label(card: Card[AnswerT], answer: AnswerT) -> str:
    """An answer in the words of its button."""
    if answer == card.safe:
        return next((a.label for a in card.actions if a.role == "decline"), tr("no"))
    return next((a.label for a in card.actions if a.value == answer), tr("in own words"))
