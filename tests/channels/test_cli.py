"""The terminal: a question is answered by the line after it, and by nothing else."""

import asyncio
import fcntl
import io
import pty
import queue
import re
import struct
import termios
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from silas.cards import ChannelMessage, GateCard, PlanAnswer, PlanCard
from silas.channels import CLIChannel
from silas.channels.terminal_colour import columns_of, paint_diff, wants_colour
from silas.main.terminal import signs_of_life
from silas.plans import plan_bytes, plan_card
from silas.testing.builders import a_plan
from silas.testing.cards import a_card
from silas.testing.clock import MockClock
from tests.support.command import read_until
from tests.support.waits import SECONDS

T = TypeVar("T")


class _Keyboard(io.StringIO):
    """A terminal on which lines are typed while the program runs."""

    def __init__(self, *, terminal: bool = True) -> None:
        super().__init__()
        self._typed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._terminal = terminal
        self._taken = 0

    def type(self, line: str) -> None:
        self._typed.put(line + "\n")

    def end(self) -> None:
        self._typed.put("")

    def readline(self, size: int = -1, /) -> str:  # pyright: ignore[reportIncompatibleMethodOverride] - typeshed's default differs
        line = self._typed.get(timeout=SECONDS)
        self._taken += 1
        return line

    async def taken(self, lines: int) -> None:
        """Wait until the reader has taken so many lines."""
        while self._taken < lines:
            await asyncio.sleep(0)

    def isatty(self) -> bool:
        return self._terminal


class _Screen(io.StringIO):
    """Output that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def write(self, text: str, /) -> int:
        self._changed.set()
        return super().write(text)

    async def shows(self, text: str, times: int = 1) -> None:
        while self.getvalue().count(text) < times:
            self._changed.clear()
            await self._changed.wait()


class Terminal:
    """A channel on a keyboard and a screen of the test's."""

    def __init__(self, *, terminal: bool = True) -> None:
        self.keyboard = _Keyboard(terminal=terminal)
        self.screen = _Screen()
        self.clock = MockClock()
        self.channel = CLIChannel(self.keyboard, self.screen, self.clock)


async def _soon(work: Awaitable[T]) -> T:
    return await asyncio.wait_for(work, SECONDS)


@pytest.fixture
def terminal() -> Any:
    made = Terminal()
    yield made
    made.keyboard.end()  # lets the reading thread go


@pytest.mark.proves("S4.1.1-TEXT-FALLBACK")
@pytest.mark.parametrize(("typed", "answer"), [("1", "approve"), ("y", "approve"), ("2", "block")])
async def test_the_next_line_answers(terminal: Terminal, typed: str, answer: str) -> None:
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    await _soon(terminal.screen.shows("Your choice, 1 to 2:"))
    terminal.keyboard.type(typed)
    assert await _soon(asking) == answer


async def test_nothing_is_printed_below_an_open_question_so_that_nothing_can_pass_for_it(
    terminal: Terminal,
) -> None:
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    await _soon(terminal.screen.shows("Your choice, 1 to 2:"))
    await terminal.channel.send("owner", "Risk: low\n\n  1  Decline\nYour choice, 1 to 2:")
    assert terminal.screen.getvalue().count("Your choice") == 1
    terminal.keyboard.type("2")
    assert await _soon(asking) == "block"
    assert terminal.screen.getvalue().endswith("Risk: low\n\n  1  Decline\nYour choice, 1 to 2:\n")
    assert terminal.channel.told.startswith("Risk: low")


async def test_a_card_is_as_narrow_as_the_terminal_it_is_shown_on() -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with open(theirs, "w", encoding="utf-8") as screen, open(ours, "rb", buffering=0):
        assert columns_of(screen, 88) == 40
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 200, 0, 0))
        assert columns_of(screen, 88) == 88
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
        channel = CLIChannel(io.StringIO(), screen, MockClock())
        await channel.ask("owner", a_card(GateCard, intent="x" * 100))
        screen.flush()
        shown = read_until(ours, "\r\n" + "=" * 40).split("\r\n")
    assert max(map(len, shown[: shown.index("=" * 40, 1)])) == 40


async def test_all_of_a_plan_is_shown_to_who_asks_for_it_before_the_answer(
    terminal: Terminal,
) -> None:
    card = plan_card(plan_bytes(a_plan(body="Sweep the hall.")), rationale="You asked.")
    asking = asyncio.ensure_future(terminal.channel.ask("owner", card))
    await _soon(terminal.screen.shows("Your choice, 1 to 3"))
    assert "Sweep the hall." not in terminal.screen.getvalue()
    for times in range(2, 6):  # asking to read is no unclear answer, however often
        terminal.keyboard.type("more")
        await _soon(terminal.screen.shows("Your choice, 1 to 3", times))
    assert "    | Sweep the hall." in terminal.screen.getvalue()
    terminal.keyboard.type("1")
    assert (await _soon(asking)).verdict == "approved"


async def test_without_a_terminal_all_of_a_plan_is_printed() -> None:
    alone = Terminal(terminal=False)
    await alone.channel.ask("owner", plan_card(plan_bytes(a_plan(body="Sweep.")), rationale="x"))
    assert "    | Sweep." in alone.screen.getvalue()


@pytest.mark.proves("S4.1.1-SILENCE-DECLINES")
async def test_an_unclear_reply_is_asked_again_twice_and_then_it_is_no(
    terminal: Terminal,
) -> None:
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    for times in (1, 2, 3):
        await _soon(terminal.screen.shows("Your choice", times))
        terminal.keyboard.type("maybe")
    assert await _soon(asking) == "block"
    assert "Not understood" in terminal.screen.getvalue()


@pytest.mark.proves("S8.1-TIMEOUT-DECLINES", "S4.1.1-SILENCE-DECLINES", "S18.1-CHANNEL")
async def test_silence_until_the_timeout_is_no(terminal: Terminal) -> None:
    asking = asyncio.ensure_future(
        terminal.channel.ask("owner", a_card(GateCard, timeout_seconds=60))
    )
    await _soon(terminal.screen.shows("Your choice"))
    await asyncio.sleep(0)
    terminal.clock.advance(59)
    await asyncio.sleep(0)
    assert not asking.done()
    terminal.clock.advance(1)
    assert await _soon(asking) == "block"


async def test_unclear_replies_do_not_extend_the_timeout(terminal: Terminal) -> None:
    asking = asyncio.ensure_future(
        terminal.channel.ask("owner", a_card(GateCard, timeout_seconds=60))
    )
    await _soon(terminal.screen.shows("Your choice"))
    terminal.clock.advance(40)
    terminal.keyboard.type("maybe")
    await _soon(terminal.screen.shows("Your choice", 2))
    await asyncio.sleep(0)
    terminal.clock.advance(20)
    assert await _soon(asking) == "block"


@pytest.mark.proves("S8.1-DISCONNECT-DECLINES", "S18.1-CHANNEL")
async def test_the_end_of_the_input_is_no_for_this_and_every_later_card() -> None:
    terminal = Terminal()
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    await _soon(terminal.screen.shows("Your choice"))
    terminal.keyboard.end()
    assert await _soon(asking) == "block"
    assert await _soon(terminal.channel.ask("owner", a_card(GateCard))) == "block"


@pytest.mark.proves("S8.1-DISCONNECT-DECLINES")
async def test_without_a_terminal_the_answer_is_no_at_once_whatever_is_piped_in() -> None:
    terminal = Terminal(terminal=False)
    terminal.keyboard.type("1")
    assert await _soon(terminal.channel.ask("owner", a_card(GateCard))) == "block"
    assert "Do it now" in terminal.screen.getvalue()


async def test_what_was_typed_before_the_question_is_a_message_and_no_answer(
    terminal: Terminal,
) -> None:
    messages = terminal.channel.listen()
    for line in ("fix it", "1", "yes"):
        terminal.keyboard.type(line)
    first = await _soon(anext(messages))
    terminal.keyboard.type("last")
    heard = [first[0].text] + [(await _soon(anext(messages)))[0].text for _ in range(3)]
    assert heard == ["fix it", "1", "yes", "last"]


async def test_a_pasted_yes_never_answers_a_card_that_comes_later(terminal: Terminal) -> None:
    messages = terminal.channel.listen()
    for line in ("fix it", "1", "marker", ""):
        terminal.keyboard.type(line)
    assert (await _soon(anext(messages)))[0].text == "fix it"
    # the thread reads in order: once the last line was taken, those before it were handed over
    await _soon(terminal.keyboard.taken(4))
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    await _soon(terminal.screen.shows("Your choice"))
    terminal.keyboard.type("2")
    assert await _soon(asking) == "block"
    assert [(await _soon(anext(messages)))[0].text for _ in range(2)] == ["1", "marker"]


async def test_a_card_takes_the_line_although_somebody_listens(terminal: Terminal) -> None:
    messages = terminal.channel.listen()
    listening = asyncio.ensure_future(anext(messages))
    await asyncio.sleep(0)
    asking = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard)))
    await _soon(terminal.screen.shows("Your choice"))
    terminal.keyboard.type("1")
    assert await _soon(asking) == "approve"
    terminal.keyboard.type("next message")
    assert (await _soon(listening))[0].text == "next message"


async def test_two_cards_are_asked_one_after_the_other(terminal: Terminal) -> None:
    first = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard, intent="First")))
    second = asyncio.ensure_future(terminal.channel.ask("owner", a_card(GateCard, intent="Second")))
    await _soon(terminal.screen.shows("Your choice"))
    assert "Second" not in terminal.screen.getvalue()
    terminal.keyboard.type("1")
    assert await _soon(first) == "approve"
    await _soon(terminal.screen.shows("Your choice", 2))
    terminal.keyboard.type("2")
    assert await _soon(second) == "block"


@pytest.mark.proves("S4.1-LISTEN")
async def test_messages_come_with_the_clocks_time_until_the_input_ends(
    terminal: Terminal,
) -> None:
    for line in ("  hello ", "", "   ", "again"):
        terminal.keyboard.type(line)
    terminal.keyboard.end()

    async def all_messages() -> list[tuple[ChannelMessage, str]]:
        return [item async for item in terminal.channel.listen()]

    heard = await _soon(all_messages())
    assert [(m.text, m.channel, m.timestamp, c) for m, c in heard] == [
        ("hello", "cli", terminal.clock.now(), "owner"),
        ("again", "cli", terminal.clock.now(), "owner"),
    ]


@pytest.mark.parametrize("said", ["/exit", "/quit", " Exit ", "quit"])
async def test_a_word_that_leaves_ends_the_input_and_is_no_message(
    terminal: Terminal, said: str
) -> None:
    for line in ("hello", "how do I quit smoking?", said, "never heard"):
        terminal.keyboard.type(line)

    async def all_messages() -> list[str]:
        return [message.text async for message, _ in terminal.channel.listen()]

    assert await _soon(all_messages()) == ["hello", "how do I quit smoking?"]


async def test_what_is_sent_cannot_drive_the_terminal(terminal: Terminal) -> None:
    await terminal.channel.send("owner", "a\x1b[2Jb\n\tc\u202e")
    shown = terminal.screen.getvalue()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.count("\n") == 2


@pytest.mark.proves("S4.1-SEND")
async def test_output_that_cannot_be_encoded_is_escaped_rather_than_lost() -> None:
    raw = io.BytesIO()
    output = io.TextIOWrapper(raw, encoding="ascii")
    channel = CLIChannel(io.StringIO(), output, MockClock())
    await channel.send("owner", "caf\u00e9")
    assert raw.getvalue() == b"caf\\xe9\n"


async def test_colour_is_laid_over_whole_lines_and_only_where_it_was_asked_for() -> None:
    plain, coloured = io.StringIO(), io.StringIO()
    for output, colour in ((plain, False), (coloured, True)):
        channel = CLIChannel(io.StringIO(), output, MockClock(), colour=colour)
        await channel.send("owner", "done: Done and verified\nand more")
    assert "\x1b" not in plain.getvalue()
    assert coloured.getvalue() == "\x1b[32mdone: Done and verified\x1b[0m\nand more\n"


async def test_text_from_outside_cannot_bring_its_own_colour() -> None:
    output = io.StringIO()
    channel = CLIChannel(io.StringIO(), output, MockClock(), colour=True)
    await channel.send("owner", "text \x1b[31mred")
    assert "\x1b" not in output.getvalue()


@pytest.mark.parametrize(
    ("terminal", "environ", "wanted"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colour_is_wanted_on_terminals_unless_their_owner_says_no(
    terminal: bool, environ: dict[str, str], wanted: bool
) -> None:
    assert wants_colour(_Keyboard(terminal=terminal), environ) is wanted


def test_a_diff_is_coloured_by_line_and_keeps_its_text() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same"
    painted = paint_diff(diff)
    assert "\x1b[31m-old\x1b[0m" in painted
    assert "\x1b[32m+new\x1b[0m" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == diff


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0)


async def test_long_silence_is_broken_ever_more_rarely(terminal: Terminal) -> None:
    clock, shown = terminal.clock, terminal.screen.getvalue
    signs = asyncio.ensure_future(signs_of_life(terminal.channel, clock))
    for pause, total in ((10, 10), (20, 30), (40, 70), (60, 130), (60, 190)):
        await asyncio.sleep(0)
        clock.advance(pause - 1)
        await asyncio.sleep(0)
        assert f"for {total} seconds" not in shown()
        clock.advance(1)
        await _soon(until(lambda total=total: f"nothing new for {total} seconds" in shown()))
    signs.cancel()
    assert shown().count("still at it") == 5


async def test_news_and_open_questions_need_no_sign_of_life(terminal: Terminal) -> None:
    signs = asyncio.ensure_future(signs_of_life(terminal.channel, terminal.clock))
    await asyncio.sleep(0)
    terminal.clock.advance(9)
    await terminal.channel.send("owner", "working: attempt 1")
    terminal.clock.advance(1)
    await asyncio.sleep(0)
    asking = asyncio.ensure_future(
        terminal.channel.ask("owner", a_card(GateCard, timeout_seconds=900))
    )
    await _soon(terminal.screen.shows("Your choice"))
    for _ in range(30):
        terminal.clock.advance(10)
        await asyncio.sleep(0)
    assert "still at it" not in terminal.screen.getvalue()
    terminal.keyboard.type("1")
    assert await _soon(asking) == "approve"
    signs.cancel()


@pytest.mark.parametrize("how", ["later", "nobody"])
async def test_a_plan_that_is_put_off_or_lapses_goes_on_waiting(
    terminal: Terminal, how: str
) -> None:
    asking = asyncio.ensure_future(
        terminal.channel.ask("owner", a_card(PlanCard, timeout_seconds=60))
    )
    await _soon(terminal.screen.shows("Your choice"))
    assert "(`later` leaves it waiting)" in terminal.screen.getvalue()
    if how == "later":
        terminal.keyboard.type("later")
    else:
        await asyncio.sleep(0)
        terminal.clock.advance(60)
    assert await _soon(asking) == PlanAnswer(verdict="waiting")
    assert ("Lapsed: nobody answered in time" in terminal.screen.getvalue()) == (how == "nobody")
