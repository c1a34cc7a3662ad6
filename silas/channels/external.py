"""A channel of somebody else's making, and the little that it may do (spec 4.1, decision D490).

What it brings is external text. It may carry a no; a yes counts only with the signature of a
device of the owner's over the card. It is told things and never waited for.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from contextlib import aclosing, contextmanager, suppress
from typing import Any, Final, NamedTuple, TypeGuard, cast

from silas.audit import Audit
from silas.audit.refusals import RefusalRecord
from silas.cards import (
    Arrived,
    Card,
    CardChannel,
    CardChoice,
    Channel,
    ChannelMessage,
    ChoiceChannel,
    ChoiceProof,
    ShownCard,
    SignedMessage,
    choice_bytes,
)
from silas.channels.text import TRIES, parse_reply, render_card
from silas.clock import Clock, TimeLimitReached, time_limit
from silas.token_buckets import TokenBuckets
from silas.types import OWNER, TaintLevel

SEND_SECONDS: Final = 30.0
"""How long one message may take; then it is given up, and the next one is tried."""

MOST_WAITING: Final = 200
"""Texts that wait to be sent; what comes beyond them is dropped, and the owner is told."""

MOST_CHARACTERS: Final = 20_000
"""The longest message that is taken, as from a page of the cockpit."""

_LONGEST_NAME: Final = 200  # characters of a connection
_HOW: Final = (
    "A no counts here. A yes needs the signature of a device of yours: give it in the cockpit."
)
_CONFIRM: Final = (
    "This does not count as a yes, because no device of yours has signed it. The question is "
    "still open: say yes in the cockpit, or to a plan with `silas approve` in a terminal. A no "
    "counts here, too."
)
_UNCLEAR: Final = "Please answer with the number of an option."
_LEFT_OPEN: Final = "I do not understand. The question stays open in the cockpit."
_NOT_SIGNED: Final = "it was not signed by a device"

HearMessage = Callable[[Arrived, str], Awaitable[None]]
"""Takes a message with the conversation it belongs to."""

Report = Callable[[str, str], Awaitable[None]]
"""Told the name of a channel and what is wrong with it."""

Objection = Callable[[bytes, ChoiceProof], Awaitable[str]]
"""Why a proof does not count; empty where it does, and then it is spent."""


class ChannelFault(Exception):
    """Somebody else's code failed; the words name no value that it was given."""


class ExternalAnswer(NamedTuple):
    """An answer that counts.

    Attributes:
        answer: The card's own.
        words: Its label.
        signed: Whether a device signed it; a no needs none.
    """

    answer: Any
    words: str
    signed: bool


class Admission(NamedTuple):
    """Who may talk on a channel.

    Attributes:
        owner: The connection that is the owner's there, as the channel names it; empty for none.
        strangers: Whether others are heard, each in a conversation of its own without tools.
        per_minute: Messages a minute of the owner, and as many of all strangers together.
    """

    owner: str
    strangers: bool
    per_minute: int


class ExternalChannel:
    """One channel of somebody else's: messages, texts, and cards as far as it may answer them.

    Args:
        name: Its name in the configuration, which its messages carry whatever it says itself.
        channel: Its code. Cards are buttons on a `ChoiceChannel`, its own affair on a
            `CardChannel`, and numbered text on any other.
        admission: Who is heard.
        objection: Checks and spends a device's signature.
        report: Where its faults go.
        audit: Where refusals and answers are recorded.
        clock: For times.
    """

    def __init__(
        self,
        name: str,
        channel: Channel,
        admission: Admission,
        objection: Objection,
        report: Report,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self.name = name
        self._channel = channel
        self._admission = admission
        self._objection = objection
        self._report = report
        self._audit = audit
        self._clock = clock
        self._refusals = RefusalRecord(audit, clock)
        self._buckets = TokenBuckets(admission.per_minute, clock)
        self._outgoing: asyncio.Queue[tuple[str, str]] = asyncio.Queue(MOST_WAITING)
        self._one_card = asyncio.Lock()
        self._reply: asyncio.Future[str] | None = None
        self._seen: set[str] = set()
        self._ended = False

    @property
    def has_owner(self) -> bool:
        """Whether the owner can be reached here."""
        return bool(self._admission.owner) and not self._ended

    # Messages

    async def listen(self, hear: HearMessage) -> None:
        """Hand on what may be heard, until the channel ends; then it answers nothing any more."""
        try:
            await self._listen(hear)
            await self._report(self.name, "has ended")
        except ChannelFault as fault:
            await self._report(self.name, f"cannot be listened to ({fault})")
        finally:
            self._ended = True
            if self._reply is not None and not self._reply.done():
                self._reply.set_exception(ChannelFault("it has ended"))

    async def _listen(self, hear: HearMessage) -> None:
        async with aclosing(self._messages()) as messages:
            async for arrived, connection in messages:
                conversation = await self._admit_message(arrived, connection)
                if not conversation:
                    continue
                message = self._add_channel_name(arrived, conversation)
                reply = self._reply
                if conversation == OWNER and reply is not None and not reply.done():
                    reply.set_result(message.text)
                else:
                    await hear(message, conversation)

    async def _messages(self) -> AsyncGenerator[tuple[Arrived, str]]:
        """What its code brings; whatever goes wrong there is a fault."""
        with self._theirs():
            async with aclosing(cast("AsyncGenerator[object]", self._channel.listen())) as messages:
                async for one in messages:
                    if not _is_message(one):
                        raise ChannelFault("it brought something that is no message")
                    yield one

    async def _admit_message(self, arrived: Arrived, connection: str) -> str:
        """The conversation of a message; empty where it is not heard, which is recorded."""
        mine = bool(self._admission.owner) and connection == self._admission.owner
        why = ""
        if not mine and not self._admission.strangers:
            why = "nobody but the owner may talk here"
        elif len(arrived.text) > MOST_CHARACTERS or len(connection) > _LONGEST_NAME:
            why = "the message or its sender's name is too long"
        elif not self._buckets.take("owner" if mine else "strangers"):
            why = "too many messages"
        if why:
            who = f"{self.name}:{connection[:64]}"
            await self._refusals.note("channel.refused", why, who)
            return ""
        return OWNER if mine else f"{self.name}:{connection}"

    def _add_channel_name(self, arrived: Arrived, conversation: str) -> Arrived:
        """The message under this channel's name; only its words, time and signature are its own."""
        signed = arrived if isinstance(arrived, SignedMessage) else None
        said = arrived.message if isinstance(arrived, SignedMessage) else arrived
        message = ChannelMessage(
            channel=self.name,
            sender_id=self.name if conversation == OWNER else conversation,
            text=said.text,
            timestamp=self._clock.now() if signed is None else said.timestamp,
        )
        if signed is None:
            return message
        return SignedMessage(
            message=message,
            signature=signed.signature,
            nonce=signed.nonce,
            taint=TaintLevel.external,  # what it is worth, the turn finds out
        )

    def tell(self, text: str, connection: str = "") -> None:
        """Have a text sent, to the owner by default; nobody waits for it."""
        to = connection or self._admission.owner
        if self._ended or not to:
            return
        with suppress(asyncio.QueueFull):  # `deliver` reports what holds it up
            self._outgoing.put_nowait((to, text))

    async def deliver(self) -> None:
        """Send what waits, one text after the other, until cancelled."""
        while True:
            to, text = await self._outgoing.get()
            try:
                with self._theirs():
                    async with time_limit(self._clock, SEND_SECONDS):
                        await self._channel.send(to, text)
            except TimeLimitReached:
                words = f"did not take a message within {SEND_SECONDS:.0f} seconds"
                await self._report(self.name, words)
            except ChannelFault as fault:
                await self._report(self.name, f"did not take a message ({fault})")
            finally:
                self._outgoing.task_done()

    async def wait_until_delivered(self) -> None:
        """Wait until nothing waits to be sent."""
        await self._outgoing.join()

    # Cards

    async def ask(self, shown: ShownCard) -> ExternalAnswer | None:
        """Show a card until an answer counts; None where none comes from here in its time."""
        try:
            async with time_limit(self._clock, shown.card.timeout_seconds):
                return await self._ask_card(shown)
        except TimeLimitReached:
            return None
        except ChannelFault as fault:
            await self._report(self.name, f"could not show a question ({fault})")
            return None

    def close_card(self, shown: ShownCard, words: str) -> None:
        """Say that a card that was shown here waits no more."""
        if shown.digest in self._seen:
            self._seen.discard(shown.digest)
            self.tell(words)

    async def _ask_card(self, shown: ShownCard) -> ExternalAnswer | None:
        channel = self._channel
        if isinstance(channel, ChoiceChannel):
            return await self._choices(shown, lambda: channel.choose(self._admission.owner, shown))
        if isinstance(channel, CardChannel):
            return await self._choices(shown, lambda: self._ask_typed(channel, shown.card))
        async with self._one_card:
            return await self._texts(shown)

    async def _ask_typed(self, channel: CardChannel, card: Card[Any]) -> CardChoice:
        answer = await channel.ask(self._admission.owner, card)
        values = [action.value for action in card.actions]
        if answer == card.safe and answer not in values:
            return CardChoice(number=_SAFE)
        return CardChoice(number=values.index(answer) + 1 if answer in values else _NOT_OFFERED)

    async def _choices(
        self, shown: ShownCard, choose: Callable[[], Coroutine[Any, Any, CardChoice]]
    ) -> ExternalAnswer | None:
        self._seen.add(shown.digest)
        for _ in range(TRIES):
            with self._theirs():
                choice = CardChoice.model_validate(await choose())
            card, number = shown.card, choice.number
            if number == _SAFE or (1 <= number <= len(card.actions) and _is_no(card, number)):
                return _no(card)
            why = await self._why_refused(shown, choice)
            if not why:
                action = card.actions[number - 1]
                return ExternalAnswer(action.value, action.label, signed=True)
            await self._refusals.note("channel.refused", why, self.name)
            self.tell(_CONFIRM)
        return None

    async def _why_refused(self, shown: ShownCard, choice: CardChoice) -> str:
        """Why a yes does not count; empty where it does, and then its signature is spent."""
        if not 1 <= choice.number <= len(shown.card.actions):
            return "the card does not offer that answer"
        if choice.proof is None:
            return _NOT_SIGNED
        data = choice_bytes(shown.digest, choice.number, choice.proof)
        return await self._objection(data, choice.proof)

    async def _texts(self, shown: ShownCard) -> ExternalAnswer | None:
        card, unclear = shown.card, 0
        self._seen.add(shown.digest)
        self.tell(f"{render_card(card)}\n{_HOW}")
        while unclear < TRIES:
            answer = parse_reply(card, await self._wait_for_reply())
            if answer is None:
                unclear += 1
                self.tell(_UNCLEAR if unclear < TRIES else _LEFT_OPEN)
                continue
            values = [action.value for action in card.actions]
            if answer in values and _is_no(card, values.index(answer) + 1):
                return _no(card)
            await self._refusals.note("channel.refused", _NOT_SIGNED, self.name)
            self.tell(_CONFIRM)
        return None

    async def _wait_for_reply(self) -> str:
        if self._ended:
            raise ChannelFault("it has ended")
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reply = reply
        try:
            return await reply
        finally:
            self._reply = None

    def record(self, answered: ExternalAnswer) -> None:
        """Put an answer that is about to count on record. Raises `DatabaseError`; then it must not.

        At once, so that no other answer can come between.
        """
        self._audit.log_now(
            "channel.answered", channel=self.name, answer=answered.words, signed=answered.signed
        )

    @contextmanager
    def _theirs(self) -> Generator[None]:
        """Around their code. Raises `ChannelFault` for whatever it raises but our own ending."""
        try:
            yield
        except (ChannelFault, TimeLimitReached, GeneratorExit):
            raise
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ChannelFault("CancelledError") from None
        except (Exception, SystemExit) as error:  # anybody's code, and it may repeat a secret
            raise ChannelFault(type(error).__name__) from None


_SAFE: Final = 0  # the number of the safe answer where no action gives it
_NOT_OFFERED: Final = -1


def _no(card: Card[Any]) -> ExternalAnswer:
    label = next((a.label for a in card.actions if a.value == card.safe), "no")
    return ExternalAnswer(card.safe, label, signed=False)


def _is_no(card: Card[Any], number: int) -> bool:
    """Whether an action declines: it is the safe answer, or stands for a no on the card."""
    action = card.actions[number - 1]
    return action.role == "decline" or bool(action.value == card.safe)


def _is_message(brought: object) -> TypeGuard[tuple[Arrived, str]]:
    """Whether this is a message with its connection; their code may bring anything."""
    if not isinstance(brought, tuple):
        return False
    pair = cast("tuple[object, ...]", brought)
    if len(pair) != 2:
        return False
    return isinstance(pair[0], ChannelMessage | SignedMessage) and isinstance(pair[1], str)
