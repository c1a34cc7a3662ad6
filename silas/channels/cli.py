"""The terminal channel: lines in, text out, questions as numbered options (spec 8.4)."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import TextIO, TypeVar

from silas.cards import Card, ChannelMessage
from silas.channels.text import parse_reply, render_card
from silas.clock import Clock
from silas.plans.characters import first_hidden, show_lines

Answer = TypeVar("Answer")

_CONNECTION = "owner"  # one terminal, one owner
_TRIES = 3  # an unclear reply is asked again twice; then the safe answer stands


class CLIChannel:
    """Reads lines beside the event loop, so that a waiting person never stops running work.

    A question is answered by the next line. No line, the end of the input, a timeout or three
    unclear replies mean the card's safe answer.
    """

    channel_name = "cli"

    def __init__(self, source: TextIO, output: TextIO, clock: Clock) -> None:
        self._source = source
        self._output = output
        self._clock = clock
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._reading = False

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        """Every line as a message, until the input ends."""
        while (line := await self._line()) is not None:
            if line.strip():
                message = ChannelMessage(
                    channel=self.channel_name,
                    sender_id=_CONNECTION,
                    text=line.strip(),
                    timestamp=self._clock.now(),
                )
                yield message, _CONNECTION

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        """Print; hidden characters become visible."""
        del recipient_id, reply_to
        for line in text.split("\n"):
            self._print(line if first_hidden(line, "\t") == -1 else show_lines(line)[0])

    async def ask(self, to: str, card: Card[Answer]) -> Answer:
        """Show the card and read a reply; see the class for what silence means."""
        del to
        self._print(render_card(card))
        deadline = self._clock.monotonic() + card.timeout_seconds
        for _ in range(_TRIES):
            self._print(f"Your choice, 1 to {len(card.actions)}:")
            reply = await self._line_before(deadline)
            if reply is None:
                self._print("No answer: taken as the safe one.")
                return card.safe
            answer = parse_reply(card, reply)
            if answer is not None:
                return answer
        self._print("Not understood: taken as the safe one.")
        return card.safe

    async def _line_before(self, deadline: float) -> str | None:
        line = asyncio.ensure_future(self._line())
        timer = asyncio.ensure_future(
            self._clock.sleep(max(deadline - self._clock.monotonic(), 0.001))
        )
        try:
            await asyncio.wait({line, timer}, return_when=asyncio.FIRST_COMPLETED)
            return line.result() if line.done() else None
        finally:
            line.cancel()
            timer.cancel()

    async def _line(self) -> str | None:
        """The next line, or None at the end of the input, for good."""
        if not self._reading:
            self._reading = True
            loop = asyncio.get_running_loop()
            threading.Thread(target=self._read, args=(loop,), daemon=True).start()
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        while line := self._source.readline():
            if not self._hand_over(loop, line):
                return
        self._hand_over(loop, None)

    def _hand_over(self, loop: asyncio.AbstractEventLoop, line: str | None) -> bool:
        try:
            loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except RuntimeError:  # the loop has ended; nobody is listening any more
            return False
        return True

    def _print(self, text: str) -> None:
        self._output.write(text + "\n")
        self._output.flush()
