"""A program of the owner's outside the sandbox: no shell, no secrets, no leftovers, no waiting."""

import asyncio
import sys
from pathlib import Path

import pytest

from silas.errors import SandboxError
from silas.sandbox.owner_command import run_owner_command
from tests.support.command import processes_saying
from tests.support.home import soon

SH = "/bin/sh"


async def test_it_gets_its_input_and_its_arguments_as_they_are(tmp_path: Path) -> None:
    target = tmp_path / "told $(id); *"
    await run_owner_command(["/usr/bin/tee", str(target)], b"line\n", 30)
    assert target.read_bytes() == b"line\n"


async def test_it_sees_no_secret_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "canary-in-the-environment")
    target = tmp_path / "environment"
    await run_owner_command([SH, "-c", f"env > '{target}'; pwd >> '{target}'"], b"", 30)
    text = target.read_text()
    assert "PATH=" in text
    assert "canary" not in text
    assert text.endswith("\n/\n")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/no/such/program"], "cannot be started"),
        (["/"], "cannot be started"),
        ([SH, "-c", "echo what went wrong >&2; exit 3"], "ended with 3: what went wrong."),
        ([SH, "-c", "kill -9 $$"], "ended with -9."),
        ([SH, "-c", "printf 'a\\nb\\033[31m' >&2; exit 1"], "ended with 1: a b"),
    ],
)
async def test_what_goes_wrong_is_one_sentence(argv: list[str], words: str) -> None:
    with pytest.raises(SandboxError, match="The command /") as raised:
        await run_owner_command(argv, b"x" * 300_000, 30)
    assert words in raised.value.message
    assert len(raised.value.message) < 400
    assert raised.value.code == "E_SANDBOX_OWNER_COMMAND"


async def test_one_that_takes_too_long_is_killed_with_everything_it_started(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    script = f"(trap '' TERM; sleep 60; touch '{mark}') & trap '' TERM; sleep 60; touch '{mark}'"
    with pytest.raises(SandboxError, match=r"did not end within 0\.2 seconds"):
        await run_owner_command([SH, "-c", script], b"", 0.2)
    await asyncio.to_thread(soon, lambda: not processes_saying(str(mark)), "the end of both")
    script = f"(sleep 60; touch '{mark}') & exit 0"
    await run_owner_command([SH, "-c", script], b"", 30)
    await asyncio.to_thread(soon, lambda: not processes_saying(str(mark)), "the end of the second")
    assert not mark.exists()


async def test_a_flood_of_complaints_is_not_kept() -> None:
    flood = "import sys\nfor _ in range(300): sys.stderr.write('x' * 100_000)\nsys.exit(1)"
    with pytest.raises(SandboxError) as raised:
        await run_owner_command([sys.executable, "-c", flood], b"", 30)
    assert len(raised.value.message) < 400
