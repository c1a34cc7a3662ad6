"""Killing a run at one point, starting again on what is left, and what must hold then."""

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import silas.wiring.tools
from silas.errors import SilasError
from silas.plans import WorkItemStatus
from silas.services.tools.registry import built_in_tools
from silas.testing import Harness, ScriptedChannel
from tests.chaos.faults import Faults, crash
from tests.chaos.scenario import ITEM, Found, Run, World
from tests.work.kit import state_of

EVERY = frozenset[str]()
ENDED = {WorkItemStatus.done, WorkItemStatus.blocked, WorkItemStatus.failed, WorkItemStatus.stuck}
ALL_POINTS = os.environ.get("SILAS_CHAOS") == "all"
"""`make chaos` goes through every point; the suite through a sample that differs per kind."""


class Aftermath(NamedTuple):
    """What a fault left, and what the next start made of it."""

    world: World
    kind: str
    seen: tuple[str, ...]
    noted: Counter[str]
    ended: bool
    error: Exception | None
    found: Found


def process(world: World, faults: Faults, *, sends: bool) -> tuple[bool, Exception | None]:
    """One process that proposes, is approved and runs; whether it survived, and what it raised."""
    run = Run(world, faults, sends=sends)
    with pytest.MonkeyPatch.context() as patch, faults.installed():
        patch.setattr(silas.wiring.tools, "built_in_tools", run.tools(built_in_tools))
        try:
            return faults.run(run.first), None
        except Exception as error:  # judged by the caller
            return True, error


def next_process(world: World, *, sends: bool) -> Found:
    """The process after it, in which nothing goes wrong."""
    run = Run(world, Faults(), sends=sends)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silas.wiring.tools, "built_in_tools", run.tools(built_in_tools))
        return asyncio.run(run.again())


def broken_at(
    at: int,
    *,
    sends: bool,
    what: Callable[[], BaseException] = crash,
    kinds: frozenset[str] = EVERY,
) -> Aftermath:
    """A whole life: a fault at one point, a restart, and everything that must hold after it."""
    with tempfile.TemporaryDirectory(prefix="silas-chaos-") as base:
        world = World.made(Path(base))
        faults = Faults(at, what, kinds)
        ended, error = process(world, faults, sends=sends)
        kind = faults.seen[-1] if faults.dead else ""
        found = next_process(world, sends=sends)
        after = Aftermath(world, kind, tuple(faults.seen), world.noted(), ended, error, found)
        holds(after)
        return after


def holds(after: Aftermath) -> None:
    """What must be true after the restart, wherever the fault was."""
    world, item, result = after.world, after.found.item, after.found.result
    assert after.error is None or isinstance(after.error, SilasError), after.error
    stands = state_of(world.project)
    if item is None:  # it ended before the plan was put to the owner
        assert after.noted["approved"] == after.noted["effect"] == 0
        assert stands == world.before
    else:
        assert item.status in ENDED
        assert result is not None
        assert result.status is item.status
        assert result.summary  # the reason, or what was verified
        done = item.status is WorkItemStatus.done
        assert stands == (world.after if done else world.before)
        assert bool(result.diff) is done
    assert after.noted["effect"] <= min(after.noted["approved"], after.noted["call-approved"])
    assert leftovers(world.home / "data") == []
    assert after.found.waiting == []
    if item is not None and item.status is WorkItemStatus.done:
        assert asyncio.run(undone(world)) == world.before


def leftovers(data: Path) -> list[str]:
    """Private copies and registered runs that nobody needs any more."""
    folders = [folder for name in ("scratch", "runs") if (folder := data / name).exists()]
    return [str(path) for folder in folders for path in folder.iterdir()]


async def undone(world: World) -> object:
    """The directory after the owner took the work back."""
    async with Harness(ScriptedChannel(), home=world.home, clock=world.clock) as h:
        await h.silas.undo(ITEM)
    return state_of(world.project)


def sample(points: int, wanted: int) -> list[int]:
    """Every point, or that many spread over all of them."""
    if ALL_POINTS:
        return list(range(1, points + 1))
    return sorted({1 + (n * points) // wanted for n in range(wanted)})
