"""A process is killed between any two steps: what a job did is done once, or known to be unsure."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.jobs.models import Finish, Job, JobKind, nothing
from silas.testing.clock import MockClock
from silas.types import new_id
from tests.jobs.kit import Bench, settle

HOUR = timedelta(hours=1)


class Killed(BaseException):
    """The process ends here: no handler of it runs."""


class Knife:
    """Counts the boundaries between steps, and ends the process at one of them.

    Attributes:
        left: Boundaries until then; a negative number never comes to an end.
    """

    def __init__(self, left: int) -> None:
        self.left = left
        self.dead = False

    def boundary(self) -> None:
        if self.dead:
            raise Killed
        self.left -= 1
        if self.left == 0:
            self.dead = True
            raise Killed

    @contextmanager
    def around(self, target: Any, *names: str) -> Generator[None]:
        """Make boundaries before and after each of these methods."""
        with pytest.MonkeyPatch.context() as patch:
            for name in names:
                patch.setattr(target, name, self._cut(getattr(target, name)))
            yield

    def _cut(self, method: Any) -> Any:
        def cut(*args: Any, **more: Any) -> Any:
            self.boundary()
            result = method(*args, **more)
            self.boundary()
            return result

        return cut


class Effects:
    """An effect outside the database, with the journal that every effect has (decision B4).

    Attributes:
        done: What happened in the world, as often as it did.
        journal: What was begun, and what is known to have ended; kept as a database keeps it.
    """

    def __init__(self) -> None:
        self.done: list[str] = []
        self.journal: dict[str, str] = {}
        self.unsure: set[str] = set()

    def kind(self, knife: Knife, following: Any) -> JobKind:
        async def run(job: Job) -> Finish:
            knife.boundary()
            state = self.journal.get(job.id)
            if state == "begun":  # a crash came between: nobody knows, and it is not repeated
                self.unsure.add(job.id)
                return nothing
            if state == "ended":
                return nothing
            self.journal[job.id] = "begun"
            knife.boundary()
            await asyncio.sleep(0)
            self.done.append(job.id)
            knife.boundary()
            self.journal[job.id] = "ended"
            knife.boundary()
            return nothing

        return JobKind("note", run, following)


async def lived(
    path: Path, effects: Effects, clock: MockClock, knife: Knife, until: datetime
) -> None:
    """One process, until it is killed or the time has come."""
    bench = Bench(path, clock)
    try:
        with knife.around(bench.store, "begin", "end", "put", "prune"):
            kind = effects.kind(knife, hourly)
            async with bench.serving(kind):
                while clock.now() < until and not knife.dead:
                    await settle()
                    if not knife.dead:
                        clock.advance(600)
    finally:
        bench.db.close()


def hourly(job: Job, now: datetime) -> datetime | None:
    del now
    following = job.due + HOUR
    return following if following <= LAST else None


START = MockClock().now()
LAST = START + 4 * HOUR


def made(path: Path, clock: MockClock) -> list[str]:
    bench = Bench(path, clock)
    bench.jobs.at(START + HOUR, "note", "a")
    bench.jobs.at(START + HOUR, "note", "b")
    bench.db.close()
    return [
        f"note:{ref}:{(START + number * HOUR):%Y%m%dT%H%M%S}Z"
        for ref in ("a", "b")
        for number in range(1, 5)
    ]


def one_life(folder: Path, deaths: list[int]) -> tuple[Effects, list[str]]:
    """Processes one after the other, each killed after so many boundaries, the last one not."""
    path, effects, clock = folder / f"{new_id('home')}.db", Effects(), MockClock()
    expected = made(path, clock)
    for left in [*deaths, -1]:
        asyncio.run(lived(path, effects, clock, Knife(left), LAST + 2 * HOUR))
    return effects, expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_killed_at_every_boundary_in_turn_no_effect_is_repeated_and_no_slot_lost(
    tmp_path: Path,
) -> None:
    unsure = 0
    for boundary in range(1, 60):
        effects, expected = one_life(tmp_path, [boundary])
        check(effects, expected)
        unsure += len(effects.unsure)
    assert unsure > 0  # it was killed between an effect and its record, too


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@settings(max_examples=10, deadline=None)
@given(deaths=st.lists(st.integers(1, 40), min_size=2, max_size=6))
def test_killed_again_and_again_it_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, deaths: list[int]
) -> None:
    effects, expected = one_life(tmp_path_factory.mktemp("jobs"), deaths)
    check(effects, expected)


def check(effects: Effects, expected: list[str]) -> None:
    assert len(effects.done) == len(set(effects.done))
    known = set(effects.done) | effects.unsure
    assert known == set(expected)  # each slot ran, or is known to be unsure
