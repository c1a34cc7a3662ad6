"""What `silas start` does with its process, beside opening the cockpit."""

import asyncio
import gc
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from silas.home.garbage_collection import EVERY_SECONDS, collect_by_clock
from silas.testing import MockClock
from tests.support.command import ROOT, environment
from tests.support.waits import SECONDS

_TELLS = """
import gc, click
say = click.echo
def echo(text):
    say(text)
    say(f"{gc.get_freeze_count()} objects are not searched", nl=True)
click.echo = echo
from silas.main import cli
cli(["start", "--port", "0"])
"""


def test_what_a_start_made_is_searched_never_again(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _TELLS],
        env=environment(tmp_path),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first, counted = process.stdout.readline(), process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS)
    assert first.startswith("Silas is ready.")
    assert int(counted.split()[0]) > 10_000


@contextmanager
def full_searches() -> Generator[list[int]]:
    """How many there were, one entry each."""
    seen: list[int] = []

    def note(phase: str, about: dict[str, Any]) -> None:
        if phase == "stop" and about["generation"] == 2:
            seen.append(about["collected"])

    gc.callbacks.append(note)
    try:
        yield seen
    finally:
        gc.callbacks.remove(note)


def make_cycles(count: int) -> None:
    kept = list[list[Any]]()
    for _ in range(count):
        one: list[Any] = []
        one.append(one)
        kept.append(one)


async def passes(clock: MockClock, seconds: float) -> None:
    for _ in range(3):
        await asyncio.sleep(0)
    clock.advance(seconds)
    for _ in range(3):
        await asyncio.sleep(0)


async def test_everything_is_searched_by_the_clock_and_not_at_all_where_nothing_was_made() -> None:
    clock, before = MockClock(), gc.get_threshold()
    with full_searches() as seen:
        async with collect_by_clock(clock):
            seen.clear()
            for _ in range(5):
                make_cycles(100_000)
            await passes(clock, EVERY_SECONDS - 1)
            assert seen == []
            await passes(clock, 1)
            assert len(seen) == 1
            assert seen[0] > 0
            await passes(clock, EVERY_SECONDS)
            assert len(seen) == 1
    assert (gc.get_threshold(), gc.get_freeze_count()) == (before, 0)
    gc.freeze()  # as `tests/conftest.py` left it
