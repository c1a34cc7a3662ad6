"""A terminal that shows answers while they come: what its screen shows at the end, and before."""

import asyncio
import fcntl
import io
import os
import pty
import re
import struct
import termios
from collections.abc import Iterator

import pytest

from silas.cards import PlanCard
from silas.channels.live_terminal import SECONDS_A_FRAME, WITHDRAWN, LiveTerminal
from silas.testing.cards import a_card
from silas.testing.clock import MockClock
from silas.types import OWNER
from tests.support.waits import SECONDS

COLUMNS, ROWS = 20, 6
_PART = re.compile(r"\x1b\[(\d*)([A-Za-z])|(.)", re.DOTALL)


class Glass(io.StringIO):
    """A screen of 20 columns and 6 rows that does what a terminal does with what is written."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size = size

    def fileno(self) -> int:
        return self._size

    def isatty(self) -> bool:
        return True

    @property
    def lines(self) -> list[str]:
        """All rows, those that have left the screen at its top as well; the last is not empty."""
        rows, row, column = [""], 0, 0
        for count, code, one in _PART.findall(self.getvalue()):
            if code == "A":
                row = max(row - int(count or 1), len(rows) - ROWS, 0)
            elif code == "K":
                rows[row] = ""
            elif code == "J":
                rows[row] = rows[row][:column]
                del rows[row + 1 :]
            elif one == "\r":
                column = 0
            elif one == "\n" or (one and column == COLUMNS):
                row, column = row + 1, 0
                if row == len(rows):
                    rows.append("")
            if one and one not in "\r\n":
                rows[row] = rows[row][:column].ljust(column) + one + rows[row][column + 1 :]
                column += 1
        while len(rows) > 1 and not rows[-1]:
            rows.pop()
        return rows


class Keys(io.StringIO):
    """A terminal on which nobody types."""

    def isatty(self) -> bool:
        return True


class Live:
    """A live terminal and its screen."""

    def __init__(self, size: int) -> None:
        self.glass = Glass(size)
        self.clock = MockClock()
        self.terminal = LiveTerminal(Keys(), self.glass, self.clock)

    def more(self, text: str, *, begins: bool = False) -> None:
        self.terminal.draft(OWNER, "turn-1", text, begins=begins)

    async def passes(self, seconds: float) -> None:
        """Time passes, and whoever waited for it has had a turn."""
        await asyncio.sleep(0)
        self.clock.advance(seconds)
        for _ in range(3):
            await asyncio.sleep(0)

    async def answer(self, text: str) -> list[str]:
        await self.terminal.answer(OWNER, text, "turn-1")
        return self.glass.lines


@pytest.fixture
def live() -> Iterator[Live]:
    outside, inside = pty.openpty()
    fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    yield Live(inside)
    os.close(inside)
    os.close(outside)


async def test_a_draft_grows_into_the_answer(live: Live) -> None:
    live.more("Good ", begins=True)
    assert live.glass.lines == ["Good "]
    live.more("morning.")
    assert live.glass.lines == ["Good morning."]
    assert await live.answer("Good morning. Nine.") == ["Good morning. Nine."]
    assert live.glass.getvalue().endswith("\n")
    assert live.terminal.told == "Good morning. Nine."
    assert "\x1b" not in live.glass.getvalue()


@pytest.mark.parametrize(
    "draft", ["Good", "two\nlines", "a line that is longer than the screen is", "x" * 20, "a\n\nb"]
)
async def test_a_draft_that_something_else_takes_the_place_of_is_gone(
    live: Live, draft: str
) -> None:
    await live.terminal.send(OWNER, "before")
    live.more(draft, begins=True)
    live.more("", begins=True)
    assert live.glass.lines == ["before"]
    live.more(draft, begins=True)
    assert await live.answer("Refused.") == ["before", "Refused."]


@pytest.mark.parametrize("draft", ["row\n" * 8, "x" * 20 * 7, "\u6771\u4eac", "tab\t"])
async def test_a_draft_that_cannot_be_erased_is_closed_by_a_line(live: Live, draft: str) -> None:
    live.more(draft, begins=True)
    shown = await live.answer("No.")
    assert shown[-1] == "No."
    assert WITHDRAWN in "".join(shown)


async def test_a_draft_with_umlauts_is_erased_where_its_rows_are_known(live: Live) -> None:
    live.more("Ich l\u00f6sche f\u00fcnf", begins=True)
    assert await live.answer("Nein.") == ["Nein."]
    live.more("\u00fc" * 15, begins=True)  # one row of 20 columns, or two
    assert WITHDRAWN in "".join(await live.answer("Nein."))


async def test_what_was_typed_into_is_closed_and_not_erased(live: Live) -> None:
    live.more("Good", begins=True)
    live.terminal._receive_line("hm\n")  # pyright: ignore[reportPrivateUsage]
    assert WITHDRAWN in "".join(await live.answer("No."))


async def test_a_draft_cannot_drive_the_terminal(live: Live) -> None:
    live.more("a\x1b[2Jb\rc\u202ed", begins=True)
    assert "\x1b" not in live.glass.getvalue()
    assert "\r" not in live.glass.getvalue()
    assert "<U+001B>" in live.glass.getvalue().replace("\n", "")
    assert "<U+202E>" in live.glass.getvalue().replace("\n", "")


async def test_words_between_leave_the_draft_below_them(live: Live) -> None:
    live.more("Good ", begins=True)
    await live.terminal.send(OWNER, "working: attempt 1")
    assert live.glass.lines == ["working: attempt 1"]
    live.more("day")
    assert live.glass.lines == ["working: attempt 1", "Good day"]
    assert await live.answer("Good day") == ["working: attempt 1", "Good day"]


async def test_nothing_stands_below_a_question(live: Live) -> None:
    live.more("Good", begins=True)
    live.terminal.waits(OWNER, "turn", "waiting for the model (proxy)")
    asked = asyncio.create_task(live.terminal.ask(OWNER, a_card(PlanCard)))
    async with asyncio.timeout(SECONDS):
        while "Your choice" not in live.glass.getvalue():
            await asyncio.sleep(0)
    live.more(" morning")
    live.terminal.show_status()
    assert "Good" not in "".join(live.glass.lines)
    assert "".join(live.glass.lines[-3:]).startswith("Your choice")  # three rows of this screen
    asked.cancel()
    await asyncio.wait([asked])


async def test_the_status_line_counts_and_goes(live: Live) -> None:
    terminal = live.terminal
    async with terminal.ticking():
        terminal.waits(OWNER, "turn", "thinking")
        assert live.glass.lines == [""]
        await live.passes(SECONDS_A_FRAME)
        assert live.glass.lines[0][2:] == "thinking 0 s"
        await live.passes(3.0)
        assert live.glass.lines[0][2:] == "thinking 3 s"
        terminal.murmur("still at it")
        await terminal.send(OWNER, "working: attempt 1")
        assert live.glass.lines == ["working: attempt 1"]
        terminal.waits(OWNER, "task-1", "Run pytest -q on everything there is")
        await live.passes(SECONDS_A_FRAME)
        assert live.glass.lines[0] == "working: attempt 1"
        assert live.glass.lines[1][2:] == "Run pytest -q 0 s"
        assert len(live.glass.lines) == 2
        terminal.waits(OWNER, "task-1", "")
        assert live.glass.lines == ["working: attempt 1"]
        await live.passes(SECONDS_A_FRAME)
        assert live.glass.lines[1][2:] == "thinking 0 s"
    assert live.glass.lines == ["working: attempt 1"]


async def test_a_draft_takes_the_place_of_the_status_line(live: Live) -> None:
    live.terminal.waits(OWNER, "turn", "thinking")
    live.terminal.show_status()
    live.more("Good", begins=True)
    assert live.glass.lines == ["Good"]
    live.terminal.show_status()
    assert live.glass.lines == ["Good"]


async def test_somebody_else_is_shown_nothing(live: Live) -> None:
    live.terminal.waits("desk-7", "turn", "thinking")
    live.terminal.show_status()
    assert live.glass.getvalue() == ""
    assert not live.terminal.shows_drafts_to("desk-7")
