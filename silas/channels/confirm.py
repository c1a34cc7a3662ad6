"""The owner at the signer's own terminal: one question, one code, a yes or nothing."""

import asyncio
import contextlib
import os
import termios
from typing import TextIO

from silas.channels.terminal_colour import columns_of
from silas.channels.text import WIDTH, wrap_lines
from silas.clock import Clock
from silas.language import tr
from silas.types import new_nonce

_SECONDS = 300.0  # how long a question waits, as a plan's card does (spec 8.1)
_CODE_DIGITS = 6  # 24 bits; there is one try
_MOST_HELD = 20  # lines that wait for a question to end; whoever sends more wants to hide one
_BYTES = 4096  # what a terminal keeps of one line at most


class SigningTerminal:
    """Asks for a word and a code that is printed with the question.

    What was typed before a question, for another question, or by a program that can only send keys
    does not have the code of this one. There is one try; anything else, the end of the input and
    silence are a no.

    Args:
        source: The descriptor of a terminal.
        output: Where text goes; what it cannot encode is written as an escape.
        clock: For the time a question waits.
    """

    def __init__(self, source: int, output: TextIO, clock: Clock) -> None:
        self._source = source
        self._output = output
        self._clock = clock
        self._one_question = asyncio.Lock()
        self._reply: asyncio.Future[str] | None = None
        self._ended = asyncio.Event()
        self._held: list[str] = []

    async def until_the_end(self) -> None:
        """Read the terminal until its input ends."""
        loop = asyncio.get_running_loop()
        loop.add_reader(self._source, self._readable)
        try:
            await self._ended.wait()
        finally:
            loop.remove_reader(self._source)

    async def confirm(self, question: str) -> bool:
        """Whether the owner said yes to exactly this text; one question at a time."""
        async with self._one_question:
            try:
                return await self._ask_question(question)
            finally:
                for text in self._held:
                    self.tell(text)
                self._held.clear()

    async def _ask_question(self, question: str) -> bool:
        code = new_nonce()[:_CODE_DIGITS]
        with contextlib.suppress(termios.error):
            termios.tcflush(self._source, termios.TCIFLUSH)  # typed before it was shown
        self.tell(wrap_lines(question, columns_of(self._output, WIDTH)))
        self.tell(tr("To sign exactly this, type: {yes} {code}", yes=tr("yes"), code=code))
        self.tell(
            tr(
                "Anything else, and silence for {seconds} seconds, is a no:",
                seconds=round(_SECONDS),
            )
        )
        try:
            said = await self._line()
        except asyncio.CancelledError:
            self.tell(tr("Withdrawn by whoever asked; nothing was signed."))
            raise
        yes = said.split() in (["yes", code], [tr("yes"), code])
        self.tell(tr("Signed.") if yes else tr("Not signed."))
        return yes

    def note(self, text: str) -> None:
        """Print in passing; an open question stays the last thing that is to be seen."""
        if not self._one_question.locked():
            self.tell(text)
        elif len(self._held) < _MOST_HELD:
            self._held.append(text)

    def tell(self, text: str) -> None:
        """Print."""
        encoding = getattr(self._output, "encoding", None) or "utf-8"
        self._output.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
        self._output.flush()

    async def _line(self) -> str:
        """The next line; empty when the input ended or nobody typed in time."""
        if self._ended.is_set():
            return ""
        reply: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._reply = reply
        timer = asyncio.ensure_future(self._clock.sleep(_SECONDS))
        try:
            await asyncio.wait({reply, timer}, return_when=asyncio.FIRST_COMPLETED)
            return reply.result() if reply.done() else ""
        finally:
            self._reply = None
            timer.cancel()

    def _readable(self) -> None:
        try:
            typed = os.read(self._source, _BYTES)
        except OSError:  # the terminal is gone
            typed = b""
        if not typed:
            self._ended.set()
        if self._reply is not None and not self._reply.done():
            self._reply.set_result(typed.decode(errors="replace"))
