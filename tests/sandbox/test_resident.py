"""A program that stays: the same walls, a line in and a line out, and an end that is sure."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SandboxError, Stopped
from silas.sandbox import SandboxConfig, SandboxFiles, SandboxLimits, default
from silas.sandbox.bubblewrap.resident import Conversation, Residents
from silas.stop import RunRegister, Sentinel
from tests.sandbox.conftest import PYTHON, PYTHON_MOUNTS
from tests.support.command import processes_saying
from tests.support.waits import SECONDS


@asynccontextmanager
async def resident(*argv: str, register: Any = None, **limits: Any) -> AsyncGenerator[Conversation]:
    given = {} if register is None else {"register": register}
    sandbox = default(SandboxConfig(), forbidden=(), **given)
    assert isinstance(sandbox, Residents)
    given_limits: dict[str, Any] = {"wall_seconds": math.inf, **limits}
    bounds = SandboxLimits(**given_limits)
    files = SandboxFiles(cwd=Path("/work"), mounts=PYTHON_MOUNTS)
    async with asyncio.timeout(SECONDS), sandbox.resident(argv, bounds, files) as talk:
        yield talk


async def test_what_is_said_comes_back_line_by_line_however_long_it_is() -> None:
    async with resident("cat") as talk:
        for line in (b"", b"one", b"x" * 3_000_000, b"\xff\x00 no text"):
            await talk.say(line)
            assert await talk.next_line() == line


async def test_its_end_is_told_once_all_it_said_was_heard() -> None:
    async with resident("sh", "-c", "echo last; echo why >&2; exit 3") as talk:
        assert await talk.next_line() == b"last"
        assert await talk.next_line() is None
        assert await talk.next_line() is None
        result = await talk.wait_for_end()
    assert (result.exit_code, result.ended_by, result.stderr) == (3, "exit", "why\n")


async def test_nobody_waits_for_a_program_that_has_ended() -> None:
    async with resident("true") as talk:
        await talk.wait_for_end()
        with pytest.raises(SandboxError):
            await talk.say(b"x" * 1_000_000)


async def test_what_talks_faster_than_anybody_listens_is_ended() -> None:
    flood = "import sys; sys.stdout.write('x' * 20_000_000); sys.stdout.flush(); input()"
    async with resident(PYTHON, "-c", flood) as talk:
        result = await talk.wait_for_end()
    assert result.ended_by == "output"


async def test_nothing_of_it_is_left_whatever_it_started() -> None:
    nap = "3333.8125"  # nothing else sleeps like this
    async with resident("sh", "-c", f"setsid sleep {nap} & echo up; sleep {nap}") as talk:
        assert await talk.next_line() == b"up"
        assert processes_saying(nap)
    assert not processes_saying(f"sleep\0{nap}")


async def test_its_limits_hold_as_those_of_any_run() -> None:
    eat = "x = bytearray(200_000_000)"
    async with resident(PYTHON, "-c", eat, memory_mb=64) as talk:
        result = await talk.wait_for_end()
    assert result.exit_code != 0


async def test_nothing_stays_while_silas_is_stopped(tmp_path: Path) -> None:
    Sentinel(tmp_path).place()
    with pytest.raises(Stopped):
        async with resident("cat", register=RunRegister(Sentinel(tmp_path))):
            pass
