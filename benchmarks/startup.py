"""What a command costs before it does anything, against the smallest click program."""

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


def measure(rounds: int = 15) -> dict[str, float]:
    """Medians in milliseconds, and the ratio (aim 1.15)."""
    with tempfile.TemporaryDirectory() as folder:
        hello = Path(folder) / "hello.py"
        hello.write_text(HELLO)
        ours = [sys.executable, "-m", "silas", "--help"]
        theirs = [sys.executable, str(hello), "--help"]
        for argv in (ours, theirs):
            _seconds(argv)
        pairs = [(_seconds(ours), _seconds(theirs)) for _ in range(rounds)]
    return {
        "silas --help, ms": statistics.median(a for a, _ in pairs) * 1000,
        "click hello, ms": statistics.median(b for _, b in pairs) * 1000,
        "ratio (aim 1.15)": statistics.median(a / b for a, b in pairs),
    }
