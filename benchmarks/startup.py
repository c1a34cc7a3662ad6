"""What a command costs before it does anything, against the smallest click program."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HELLO = """
import click

@click.group()
def cli():
    "Hello."

@cli.command()
def hello():
    "Say hello."

cli()
"""


def _seconds(argv: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(argv, capture_output=True, check=True)
    elapsed = time.perf_counter() - started
    assert b"Usage" in done.stdout
    return elapsed


READY = """
import asyncio, sys, time
from pathlib import Path
started = time.perf_counter()
from silas import Silas, load_config
from silas.services.setup.initialise import initialise

class Nobody:
    channel_name = "cli"
    async def listen(self):
        return
        yield
    async def send(self, recipient_id, text, reply_to=None): ...
    async def ask(self, to, card):
        return card.safe

async def main():
    config = load_config()
    await initialise(config)
    async with Silas.open(config, channel=Nobody()):
        print(time.perf_counter() - started)

asyncio.run(main())
"""


def _ready(folder: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", READY],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "SILAS_HOME": folder},
    )
    return float(done.stdout)


def measure(rounds: int = 15, opened: int = 3) -> dict[str, float]:
    """Medians in milliseconds, and the ratio (aim 1.15)."""
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        ours = [sys.executable, "-I", "-m", "silas", "--help"]
        theirs = [sys.executable, str(hello), "--help"]
        for argv in (ours, theirs):
            _seconds(argv)
        pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(rounds)]
        ready = statistics.median(_ready(folder) for _ in range(opened))
    return {
        "silas --help, ms": statistics.median(a for a, _ in pairs) * 1000,
        "click hello, ms": statistics.median(b for _, b in pairs) * 1000,
        "a ready Stream, s": ready,
        "ratio (aim 1.15)": statistics.median(a / b for a, b in pairs),
    }
