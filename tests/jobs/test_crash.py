"""A process is killed between any two steps: what a job did is done once, or known to be unsure."""

import asyncio
from collections.abc import Generator
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.db import Database, Tx
from silas.jobs.models import Finish, Job, JobKind
from silas.testing.clock import MockClock
from silas.testing.tools import a_context
from silas.tools import (
    CallFacts,
    OutcomeStatus,
    OutcomeUnknown,
    SqlOutcomeStore,
    ToolResult,
    validated_call,
)
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
    def at_commits_of(self, db: Database) -> Generator[None]:
        """Make boundaries before each transaction begins, before its commit and after it."""
        write = db.write

        def cut(*, durable: bool = False) -> _Cut:
            return _Cut(self, write(durable=durable))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(db, "write", cut)
            yield


class _Cut:
    """A transaction that a kill takes back where it was not committed."""

    def __init__(self, knife: Knife, inner: AbstractContextManager[Tx]) -> None:
        self._knife = knife
        self._inner = inner

    def __enter__(self) -> Tx:
        self._knife.boundary()
        return self._inner.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: Any
    ) -> None:
        if error is None:
            try:
                self._knife.boundary()
            except Killed as killed:
                kind, error = Killed, killed
        self._inner.__exit__(kind, error, trace)  # lets an error out
        self._knife.boundary()


CALL = validated_call("mail", "send", {"to": "a@example.org"})


class Effects:
    """An effect outside the database, with the journal that every effect has (decision B4).

    The journal is the tool door's own, in the database of the engine.

    Attributes:
        done: What happened in the world, as often as it did.
    """

    def __init__(self) -> None:
        self.done: list[str] = []
        self.unsure: set[str] = set()

    def kind(self, bench: Bench, knife: Knife, following: Any) -> JobKind:
        """Jobs with one effect each, which end with a row that is written with their end."""
        journal = SqlOutcomeStore(bench.db, bench.clock)

        async def run(job: Job) -> Finish:
            knife.boundary()

            def told() -> None:
                with bench.db.write() as tx:
                    tx.run("INSERT INTO told (id) VALUES (:id)", id=job.id)

            try:
                known = journal.begin(job.id, CALL, a_context(), CallFacts(), idempotent=False)
            except OutcomeUnknown:  # a crash came between: nobody knows, and it is not repeated
                self.unsure.add(job.id)
                return told
            if known is not None:
                return told
            knife.boundary()
            await asyncio.sleep(0)
            self.done.append(job.id)
            knife.boundary()
            journal.finish(job.id, OutcomeStatus.succeeded, ToolResult(ok=True))
            return told

        return JobKind("note", run, following)


def opened(path: Path, clock: MockClock) -> Bench:
    """The database of the engine, with the journal of effects."""
    bench = Bench(path, clock)
    bench.db.migrate("silas.tools")
    with bench.db.write() as tx:
        tx.run("CREATE TABLE IF NOT EXISTS told (id TEXT NOT NULL)")
    return bench


async def lived(
    path: Path, effects: Effects, clock: MockClock, knife: Knife, until: datetime
) -> None:
    """One process, until it is killed or the time has come."""
    bench = opened(path, clock)
    try:
        with knife.at_commits_of(bench.db):
            kind = effects.kind(bench, knife, hourly)
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


EXPECTED = sorted(
    f"note:{ref}:{(START + number * HOUR):%Y%m%dT%H%M%S}Z"
    for ref in ("a", "b")
    for number in range(1, 5)
)


class Life(NamedTuple):
    """What processes did one after the other.

    Attributes:
        done: Effects in the world.
        unsure: Effects of which nobody knows.
        told: What was written with the end of each job.
        killed: Whether each process but the last was killed.
    """

    done: list[str]
    unsure: set[str]
    told: list[str]
    killed: bool


def one_life(folder: Path, deaths: list[int]) -> Life:
    """Processes one after the other, each killed after so many boundaries, the last one not."""
    path, effects, clock = folder / f"{new_id('home')}.db", Effects(), MockClock()
    bench = opened(path, clock)
    bench.jobs.at(START + HOUR, "note", "a")
    bench.jobs.at(START + HOUR, "note", "b")
    bench.db.close()
    knives = [Knife(left) for left in deaths]
    for knife in [*knives, Knife(-1)]:
        asyncio.run(lived(path, effects, clock, knife, LAST + 2 * HOUR))
    with closing(Database(path, clock)) as db, db.read() as tx:
        told = [row[0] for row in tx.run("SELECT id FROM told").fetchall()]
    return Life(effects.done, effects.unsure, told, all(knife.dead for knife in knives))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_killed_at_every_boundary_in_turn_no_effect_is_repeated_and_no_slot_lost(
    tmp_path: Path,
) -> None:
    unsure, boundaries, killed = 0, 0, True
    while killed:  # until there is no such boundary any more
        boundaries += 1
        life = one_life(tmp_path, [boundaries])
        check(life)
        unsure, killed = unsure + len(life.unsure), life.killed
    assert boundaries > len(EXPECTED) * 20  # a slot has over twenty
    assert unsure > len(EXPECTED)  # between an effect's attempt, itself, and its record


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@settings(max_examples=60, deadline=None)
@given(deaths=st.lists(st.integers(1, 60), min_size=2, max_size=8))
def test_killed_again_and_again_it_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, deaths: list[int]
) -> None:
    check(one_life(tmp_path_factory.mktemp("jobs"), deaths))


def check(life: Life) -> None:
    """No effect twice; each slot ran or is known to be unsure; each job ended once."""
    assert len(life.done) == len(set(life.done))
    assert set(life.done) | life.unsure == set(EXPECTED)
    assert sorted(life.told) == EXPECTED
