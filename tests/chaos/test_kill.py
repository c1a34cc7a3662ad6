"""The same with processes of their own and the real SIGKILL."""

import asyncio
import os
import random
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from tests.chaos.kit import ALL_POINTS, Aftermath, broken_at, holds, next_process, sample
from tests.chaos.scenario import World
from tests.support.waits import SECONDS

ROOT = Path(__file__).parents[2]
TIMES = 200 if ALL_POINTS else 5


class Victims:
    """Where processes come from that are killed."""

    def __init__(self, made_by: asyncio.subprocess.Process) -> None:
        assert made_by.stdin is not None
        assert made_by.stdout is not None
        self._ask, self._answer = made_by.stdin, made_by.stdout

    async def said(self) -> bytes:
        """The next line."""
        return await asyncio.wait_for(self._answer.readline(), SECONDS)

    async def killed(self, base: Path, point: int, after_seconds: float) -> int:
        """The exit code of one that kills itself at a point, or is killed after a while."""
        World.made(base)
        self._ask.write(f"{base} {point} {after_seconds}\n".encode())
        return int(await self.said())


@asynccontextmanager
async def victims() -> "AsyncGenerator[Victims]":
    """The process that makes them."""
    pipe = asyncio.subprocess.PIPE
    maker = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.chaos.victim",
        stdin=pipe, stdout=pipe, cwd=ROOT, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    made = Victims(maker)
    try:
        assert await made.said() == b"ready\n"
        yield made
    finally:
        maker.kill()
        await asyncio.wait_for(maker.wait(), SECONDS)


def judge(base: Path) -> None:
    """What the next process makes of it, here."""
    world = World(base)
    found = next_process(world, sends=True)
    holds(Aftermath(world, "killed", (), world.noted(), False, None, found))


def test_a_process_killed_at_a_point_leaves_what_the_next_one_puts_right(tmp_path: Path) -> None:
    points = sample(len(broken_at(0, sends=True).seen) - 10, TIMES)

    async def kill_all() -> list[int]:
        async with victims() as made:
            return [await made.killed(tmp_path / str(point), point, 0) for point in points]

    assert set(asyncio.run(kill_all())) == {-signal.SIGKILL}
    for point in points:
        judge(tmp_path / str(point))


def test_a_process_killed_at_any_moment_leaves_what_the_next_one_puts_right(tmp_path: Path) -> None:
    chance = random.Random(20260102)

    async def kill_all() -> list[int]:
        async with victims() as made:
            return [
                await made.killed(tmp_path / str(number), 0, chance.uniform(0.02, 0.8))
                for number in range(TIMES)
            ]

    assert -signal.SIGKILL in asyncio.run(kill_all())
    for number in range(TIMES):
        judge(tmp_path / str(number))
