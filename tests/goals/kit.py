"""A Silas with a goal, a mock clock and a sandbox whose one check fails until it is repaired."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from silas.cards import Card
from silas.goals.models import Cycle
from silas.goals.service import Goals
from silas.sandbox import SandboxResult
from silas.stream.session import Session
from silas.testing import FakeSandbox, Harness, ScriptedChannel, plan_text
from silas.testing.clock import MockClock
from silas.testing.tools import SandboxRun, exit_result
from silas.wiring.parts import Parts
from tests.support.waits import SECONDS

START = datetime(2026, 11, 24, 8, 10, tzinfo=UTC)
HALF_AN_HOUR = 30 * 60
WATCHED = "goal-watched"
TITLE = "Watch the state"
NAME = f"“{TITLE}”"
"""What its owner is told that it is called."""

TEMPLATE = """The check failed.

$failed_checks

```sh
repair
```
"""


def goal_text(**changes: Any) -> str:
    """A goal as a plan."""
    fields: dict[str, Any] = {
        "id": WATCHED,
        "type": "goal",
        "title": TITLE,
        "schedule": "*/30 * * * *",
        "verify": [{"name": "state", "run": "look", "expect": {"equals": "good"}}],
        "on_failure": "spawn_task",
        "failure_context": TEMPLATE,
    }
    return plan_text(**{**fields, **changes})


def yes(card: Card[Any]) -> Any:
    """The recommended answer of every card."""
    return card.actions[0].value


class Watched:
    """What the check looks at.

    Attributes:
        good: Whether the check passes.
        repairs: Whether a repair helps.
        looks: How often the check ran.
        repaired: How often a repair ran.
    """

    def __init__(self) -> None:
        self.good, self.repairs = True, True
        self.looks: int = 0
        self.repaired: int = 0
        self.says = "bad"
        self.sandbox = FakeSandbox(self._ran)
        self.parts: Parts

    @property
    def goals(self) -> Goals:
        """The desk."""
        return self.parts.goals()

    @asynccontextmanager
    async def beside(self, parts: Parts, session: Session) -> AsyncGenerator[None]:
        """Note what is wired."""
        del session
        self.parts = parts
        yield

    def _ran(self, run: SandboxRun) -> SandboxResult:
        if "look" in run.argv[-1]:
            self.looks += 1
            return exit_result(0, "good" if self.good else self.says)
        if any("repair" in word for word in run.argv):
            self.repaired += 1
            self.good = self.good or self.repairs
        return exit_result(0, "")


def house(
    channel: ScriptedChannel,
    clock: MockClock,
    watched: Watched,
    home: Path | None = None,
    **settings: Any,
) -> Harness:
    """A Silas; nobody but its executor, which is the built-in one, is ever asked."""
    return Harness(
        channel,
        clock=clock,
        sandbox=watched.sandbox,
        home=home,
        settings=settings or None,
        beside=watched.beside,
    )


async def until(done: Callable[[], bool]) -> None:
    """Wait for what other tasks do, not for time."""
    async with asyncio.timeout(SECONDS):
        while not done():
            await asyncio.sleep(0)


def cycles(watched: Watched, goal_id: str = WATCHED) -> list[Cycle]:
    """The cycles of a goal that ended, the newest first."""
    found = watched.goals.store.history(goal_id, 10_000)
    return [cycle for cycle in found if cycle.ended_at is not None]


async def after(watched: Watched, clock: MockClock, seconds: float, ended: int) -> list[Cycle]:
    """Let time pass, and wait until so many cycles ended altogether."""
    clock.advance(seconds)
    await until(lambda: len(cycles(watched)) >= ended)
    return cycles(watched)
