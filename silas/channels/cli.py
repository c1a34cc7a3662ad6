"""The terminal channel: lines in, text out, questions as numbered options (spec 8.4)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import TextIO, TypeVar, cast

from silas.cards import Card, ChannelMessage
from silas.cards.models import PLAN_WAITS
from silas.cards.unseen import left_answer
from silas.channels.terminal_colour import columns_of, dim, paint
from silas.channels.text import (
    LATER,
    MORE,
    TRIES,
    WIDTH,
    first_screen,
    is_plan,
    is_word_typed,
    parse_reply,
    question_words,
    render_card,
)
from silas.clock import Clock
from silas.language import tr
from silas.plans.characters import first_hidden, show_lines

AnswerT = TypeVar("AnswerT")

_CONNECTION = "owner"  # one terminal, one owner
_LEAVES = frozenset({"/exit", "/quit", "exit", "quit"})  # as the end of the input

"""The answer to a plan that nobody has answered: it stays among the open questions."""


class CLIChannel:
    """Reads lines beside the event loop, so that a waiting person never stops running work.

    A question is answered by a line that comes after it was shown; what was typed before is a
    message, and never an answer to a question nobody had read. No line, the end of the input, a
    timeout, three unclear replies, or an input that is no terminal mean the card's safe answer; but
    a plan waits on where its time is over, where its owner ends the input of his terminal, or where
    he says `later` and goes on talking.

    Args:
        source: Where lines come from; `isatty` says whether a person is there.
        output: Where text goes; what it cannot encode is written as an escape.
        clock: For timestamps and timeouts.
        colour: Whether the output shows it; see `silas.channels.terminal_colour.wants_colour`.

    Attributes:
        told: The last text that was sent.
        put_off: Whether the last plan that was shown was left waiting.
        talks: Whether its owner talks here, and work is one of many things that are said.
    """

    channel_name = "cli"

    def __init__(
        self, source: TextIO, output: TextIO, clock: Clock, *, colour: bool = False
    ) -> None:
        self._source = source
        self._output = output
        self._clock = clock
        self._colour = colour
        self._last_words = clock.monotonic()
        self.told = ""
        self.put_off = False
        self.talks = False
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()
        self._reply: asyncio.Future[str | None] | None = None
        self._one_card = asyncio.Lock()
        self._held: list[str] = []
        self._reading = False
        self._ended = False

    @property
    def heard_in_turn(self) -> bool:
        """Lines of a pipe are there all at once, and each of them is to be answered."""
        return not self._source.isatty()

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        """Every line that answers no question, as a message, until the input ends."""
        self._start_reading()
        self.talks = True
        while (line := await self._messages.get()) is not None:
            if line.strip():
                message = ChannelMessage(
                    channel=self.channel_name,
                    sender_id=_CONNECTION,
                    text=line.strip(),
                    timestamp=self._clock.now(),
                )
                yield message, _CONNECTION
        self._messages.put_nowait(None)

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Print; hidden characters become visible.

        While a question is open it waits: what is printed below a question could look like
        another one, and the answer would go to the first.
        """
        del recipient_id, reply_to
        if self._one_card.locked():
            self._held.append(text)
        else:
            self._tell(text)

    def _tell(self, text: str) -> None:
        self.told = text
        for line in text.split("\n"):
            self._print(line if first_hidden(line, "\t") == -1 else show_lines(line)[0])

    def say(self, text: str) -> None:
        """Print what the command itself has to say."""
        self._tell(text)

    @property
    def silent_seconds(self) -> float | None:
        """How long nothing was printed; None while a question is open, which must stay last."""
        if self._one_card.locked():
            return None
        return self._clock.monotonic() - self._last_words

    def murmur(self, text: str) -> None:
        """Print in passing; it does not count as having said something."""
        words = f"... {text}"
        self._write(dim(words) if self._colour else words)

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """Show the card and read a reply; one card at a time. See the class for what silence means.

        The plain-text fallback of spec 4.1.1: numbered options, and anything unclear asked again.
        """
        del to
        async with self._one_card:
            try:
                return await self._ask_card(card)
            finally:
                held, self._held = self._held, []
                for text in held:
                    self._tell(text)

    async def hear(self, question: str, seconds: float) -> str:
        """The line that answers a question in words; empty without a terminal, a line or time."""
        if not self._source.isatty():
            return ""
        async with self._one_card:
            self._print(question)
            return (await self._reply_before(self._clock.monotonic() + seconds) or "").strip()

    async def _ask_card(self, card: Card[AnswerT]) -> AnswerT:
        plan = is_plan(card)
        self.put_off = False
        if plan and self._ended and self._source.isatty():  # nobody is there to read it
            self.put_off = True
            return cast(AnswerT, PLAN_WAITS)
        width = columns_of(self._output, WIDTH)
        whole = render_card(card, width)
        shown = first_screen(card, width) if self._source.isatty() else whole
        self._print(shown)
        if not self._source.isatty():
            self._print(tr("There is no terminal to answer on: taken as the safe answer."))
            return left_answer(card)
        deadline = self._clock.monotonic() + card.timeout_seconds
        tries = TRIES
        while tries:
            self._print(question_words(card))
            reply = await self._reply_before(deadline)
            if plan and self._puts_off(reply):
                self.put_off = True
                return cast(AnswerT, PLAN_WAITS)
            if reply is None:
                self._print(tr("No answer: taken as the safe one."))
                return card.safe
            if shown != whole and is_word_typed(MORE, reply):  # reading is no unclear answer
                self._print(whole)
                continue
            tries -= 1
            answer = parse_reply(card, reply)
            if answer is not None:
                return answer
        self._print(tr("Not understood: taken as the safe answer."))
        return card.safe

    def _puts_off(self, reply: str | None) -> bool:
        """Whether a plan goes on waiting: its owner says so, has left, or its time is over."""
        if reply is None:
            why = tr("The input ended") if self._ended else tr("Lapsed: nobody answered in time")
            self._print(tr("{why}, and nothing was run.", why=why))
            return True
        return is_word_typed(LATER, reply)

    async def _reply_before(self, deadline: float) -> str | None:
        """The first line that arrives from now on; None at the deadline or the end of the input."""
        if self._ended:
            return None
        reply: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._reply = reply
        self._start_reading()
        wait = max(deadline - self._clock.monotonic(), 0.001)
        timer = asyncio.ensure_future(self._clock.sleep(wait))
        try:
            await asyncio.wait({reply, timer}, return_when=asyncio.FIRST_COMPLETED)
            return reply.result() if reply.done() else None
        finally:
            self._reply = None
            timer.cancel()

    def _start_reading(self) -> None:
        if not self._reading:
            self._reading = True
            loop = asyncio.get_running_loop()
            # a daemon: nothing can interrupt a blocked read, and it must not keep Silas alive
            threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            while line := self._source.readline():
                loop.call_soon_threadsafe(self._receive_line, line)
            loop.call_soon_threadsafe(self._receive_line, None)
        except (RuntimeError, ValueError):  # the loop has ended, or the stream was closed
            return

    def _receive_line(self, line: str | None) -> None:
        self._ended = line is None
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(line)
            if line is not None:
                return
        if line is not None and line.strip().lower() in _LEAVES:
            self._ended, line = True, None
        self._messages.put_nowait(line)

    def _encodable_text(self, text: str) -> str:
        encoding = getattr(self._output, "encoding", None) or "utf-8"
        return text.encode(encoding, "backslashreplace").decode(encoding)

    def _print(self, text: str) -> None:
        safe = self._encodable_text(text)
        self._write(paint(safe) if self._colour else safe)
        self._last_words = self._clock.monotonic()

    def _write(self, text: str) -> None:
        self._output.write(text + "\n")
        self._output.flush()
