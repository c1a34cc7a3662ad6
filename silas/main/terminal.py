"""The owner's terminal as one command sees it: where lines come from, and signs of life."""

import asyncio
import contextlib
import io
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, NamedTuple

from silas.channels.terminal_colour import wants_colour
from silas.language import tr_many

if TYPE_CHECKING:
    from silas.cards import CardChannel
    from silas.channels import CLIChannel
    from silas.clock import Clock

_FIRST_SIGN = 10.0  # seconds of silence before Silas says that it is still there
_LONGEST_SILENCE = 60.0  # seconds; the pauses double until this


class Terminal(NamedTuple):
    """A terminal, and what stands before it to answer cards.

    Attributes:
        screen: Where text goes.
        cards: What is asked; the screen itself, or an approval given beforehand.
        clock: The machine's.
        attended: Whether a person can type.
    """

    screen: "CLIChannel"
    cards: "CardChannel"
    clock: "Clock"
    attended: bool


def terminal(*, to_stderr: bool, approve: str | None, live: bool = False) -> Terminal:
    """The owner's terminal; with `--json` it speaks on stderr so that stdout is one document.

    With `live` it shows answers while they come and what is waited for, if it is a real terminal.
    """
    from silas.channels import CLIChannel, LiveTerminal, PreApproved
    from silas.clock import SystemClock

    source = sys.stdin or io.StringIO()  # a process may be started without any input
    output, clock = sys.stderr if to_stderr else sys.stdout, SystemClock()
    can_erase = output.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    kind = LiveTerminal if live and can_erase and not to_stderr else CLIChannel
    screen = kind(source, output, clock, colour=wants_colour(output, os.environ))
    cards = screen if approve is None else PreApproved(screen, approve)
    return Terminal(screen, cards, clock, source.isatty())


@contextlib.asynccontextmanager
async def show_progress(terminal: Terminal) -> AsyncGenerator[None]:
    """Signs of life while work runs: a line after ten silent seconds, then ever more rarely."""
    signs = asyncio.create_task(signs_of_life(terminal.screen, terminal.clock))
    try:
        async with run_status_line(terminal):
            yield
    finally:
        signs.cancel()
        await asyncio.wait([signs])


def run_status_line(terminal: Terminal) -> AbstractAsyncContextManager[None]:
    """The status line of a terminal that has one."""
    from silas.channels import LiveTerminal

    screen = terminal.screen
    return screen.ticking() if isinstance(screen, LiveTerminal) else contextlib.nullcontext()


async def signs_of_life(screen: "CLIChannel", clock: "Clock") -> None:
    """Say how long nothing has been said, unless a question is open; never returns."""
    pause = _FIRST_SIGN
    while True:
        await clock.sleep(pause)
        silent = screen.silent_seconds
        if silent is None or silent < _FIRST_SIGN:
            pause = _FIRST_SIGN
            continue
        screen.murmur(
            tr_many(
                round(silent),
                "still at it, nothing new for {count} second",
                "still at it, nothing new for {count} seconds",
            )
        )
        pause = min(pause * 2, _LONGEST_SILENCE)
