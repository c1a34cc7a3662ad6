"""A terminal that shows an answer while it comes, and in one line what is waited for."""

import asyncio
import contextlib
import os
import unicodedata
from collections.abc import AsyncGenerator
from typing import Final, TextIO, TypeVar

from silas.cards import Card
from silas.channels.cli import CLIChannel
from silas.channels.terminal_colour import columns_of, dim
from silas.clock import Clock
from silas.language import tr, tr_later
from silas.plans.characters import first_hidden, show_lines
from silas.types import OWNER, whose

AnswerT = TypeVar("AnswerT")

SECONDS_A_FRAME: Final = 0.25
"""How often the status line is drawn; what takes less than one frame shows none."""

WITHDRAWN: Final = tr_later("(The words above are withdrawn.)")
"""Closes a draft that cannot be erased, because it is longer than the screen or was typed into."""

_FRAMES: Final = "|/-\\"
_WIDEST: Final = 1000  # columns
_USUAL_ROWS: Final = 24  # of a screen that does not say
_NARROW: Final = frozenset({"N", "Na", "H"})  # characters that take one column on every terminal
_AMBIGUOUS: Final = "A"  # one column on most terminals, two on some
_ERASE_LINE: Final = "\r\x1b[2K"


class LiveTerminal(CLIChannel):
    """A `CLIChannel` on a real terminal; what it shows in passing is gone when Silas speaks.

    At the end of the screen stands either a draft, which is the beginning of an answer, or one
    status line. A draft is masked like the answer by whoever gives it, and hidden characters in it
    become visible as in every text. While a question is open nothing stands below it.
    """

    def __init__(
        self, source: TextIO, output: TextIO, clock: Clock, *, colour: bool = False
    ) -> None:
        super().__init__(source, output, clock, colour=colour)
        self._draft = ""
        self._drawn = ""
        self._drawn_columns = 0
        self._typed_into = False
        self._waiting: dict[str, str] = {}
        self._status_drawn = False
        self._status_since = 0.0
        self._frame = 0

    # Drafts

    def shows_drafts_to(self, recipient_id: str) -> bool:
        """The owner of this terminal."""
        return whose(recipient_id) == OWNER

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        """Show a further piece; with `begins` what was shown is withdrawn first."""
        del recipient_id, turn_id
        self._draft = text if begins else self._draft + text
        if self._one_card.locked():
            return  # it would stand below a question
        shown = self._as_printed(self._draft)
        if self._drawn and shown.startswith(self._drawn):
            self._write_out(shown[len(self._drawn) :])
        else:
            self._hide()
            self._typed_into = False
            self._drawn_columns = self._columns()
            self._write_out(shown)
        self._drawn = shown

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        """Say what takes the place of a draft: the rest of it where it is the same text."""
        del turn_id, reply_to
        self._draft = ""
        shown = self._as_printed(text)
        if self._drawn and shown.startswith(self._drawn):
            rest, self._drawn = shown[len(self._drawn) :], ""
            self.told = text
            self._write_out(f"{rest}\n")
            self._last_words = self._clock.monotonic()
            return
        self._hide()
        await self.send(recipient_id, text)

    # What is waited for

    def waits(self, recipient_id: str, source: str, words: str) -> None:
        """Say in the status line what a source waits for; empty for nothing. The newest is said."""
        if whose(recipient_id) != OWNER or words == self._waiting.get(source, ""):
            return
        self._erase_status()
        self._waiting.pop(source, None)
        if words:
            self._waiting[source] = words
        self._status_since = self._clock.monotonic()

    @property
    def _status(self) -> str:
        return next(reversed(self._waiting.values()), "")

    def murmur(self, text: str) -> None:
        """Nothing where the status line counts the seconds."""
        if not self._status:
            super().murmur(text)

    @contextlib.asynccontextmanager
    async def ticking(self) -> AsyncGenerator[None]:
        """Draw the status line again and again; in the end nothing of it is left."""
        ticks = asyncio.create_task(self._tick())
        try:
            yield
        finally:
            ticks.cancel()
            await asyncio.wait([ticks])
            self._waiting.clear()
            self._hide()

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(SECONDS_A_FRAME)
            self.show_status()

    def show_status(self) -> None:
        """Draw the status line once, if there is something to wait for and room to say it."""
        if not self._status or self._drawn or self._one_card.locked():
            return
        self._frame = (self._frame + 1) % len(_FRAMES)
        seconds = self._clock.monotonic() - self._status_since
        end = f" {seconds:.0f} s"
        words = _cut(
            f"{_FRAMES[self._frame]} {self._as_printed(self._status)}",
            self._columns() - 1 - len(end),
        )
        line = f"{words}{end}"
        self._write_out(_ERASE_LINE + (dim(line) if self._colour else line))
        self._status_drawn = True

    # The end of the screen

    def _write(self, text: str) -> None:
        self._hide()
        super()._write(text)

    def _receive_line(self, line: str | None) -> None:
        self._typed_into = True  # the terminal has gone to another line
        super()._receive_line(line)

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        """As `CLIChannel.ask`; whatever was said in passing is gone before the card."""
        self._hide()
        return await super().ask(to, card)

    def _hide(self) -> None:
        """Erase the draft or the status line; a draft that cannot be erased is closed."""
        self._erase_status()
        drawn, self._drawn = self._drawn, ""
        if not drawn:
            return
        columns = self._columns()
        rows = _rows(drawn, columns)
        same = columns == self._drawn_columns and not self._typed_into
        if rows is None or not same or rows >= self._screen_rows():
            self._write_out(f"\n{tr(WITHDRAWN)}\n")
            return
        up = f"\x1b[{rows - 1}A" if rows > 1 else ""
        self._write_out(f"{up}\r\x1b[J")

    def _erase_status(self) -> None:
        if self._status_drawn:
            self._status_drawn = False
            self._write_out(_ERASE_LINE)

    def _as_printed(self, text: str) -> str:
        lines = text.split("\n")
        safe = (one if first_hidden(one, "\t") == -1 else show_lines(one)[0] for one in lines)
        return self._encodable_text("\n".join(safe))

    def _columns(self) -> int:
        return columns_of(self._output, _WIDEST)

    def _screen_rows(self) -> int:
        try:
            return os.get_terminal_size(self._output.fileno()).lines
        except (AttributeError, OSError, ValueError):
            return _USUAL_ROWS

    def _write_out(self, text: str) -> None:
        self._output.write(text)
        self._output.flush()


def _rows(text: str, columns: int) -> int | None:
    """How many rows of a screen a text takes; None where terminals differ about its width.

    Letters such as `ü` take one column, and on some terminals two: what comes to the same rows
    either way is known.
    """
    if "\t" in text or any(unicodedata.combining(one) for one in text):
        return None
    kinds = [[unicodedata.east_asian_width(one) for one in line] for line in text.split("\n")]
    if any(kind not in _NARROW and kind != _AMBIGUOUS for line in kinds for kind in line):
        return None
    least = sum(max(1, -(-len(line) // columns)) for line in kinds)
    most = sum(max(1, -(-(len(line) + line.count(_AMBIGUOUS)) // columns)) for line in kinds)
    return least if least == most else None


def _cut(text: str, columns: int) -> str:
    """The beginning of one line that fits, with every doubtful character counted as two."""
    width, fitting = 0, ""
    for one in " ".join(text.split()):
        width += 1 if unicodedata.east_asian_width(one) in _NARROW else 2
        if width > max(columns, 1):
            break
        fitting += one
    return fitting
