"""A cycle of a goal, and a project, killed at any point: paid for once, begun once, and gone on."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from silas.approval import NonceStore
from silas.goals.models import Outcome
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.types import new_id
from tests.chaos.faults import Faults
from tests.chaos.kit import sample
from tests.goals.kit import START, WATCHED, Watched, after, cycles, goal_text, house, until, yes
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import entries_of, saying_yes

WANTED = 6  # points of each in the suite; `make chaos` goes through all of them

Work = Callable[[], Coroutine[Any, Any, None]]


def killed(work: Work, at: int) -> Faults:
    """Run it until a point; 0 for to its end."""
    faults = Faults(at, kinds=frozenset({"db", "committed", "journal", "file"}))
    with faults.installed():
        faults.run(work)
    return faults


def points_of(first: Work, second: Work) -> int:
    """How many a run has; what is loaded once a process has points in its first run alone."""
    killed(first, 0)
    return len(killed(second, 0).seen)


class GoalLife:
    """A goal that is approved, fails, and is repaired, in a home of its own."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.home, self.clock, self.watched = home, MockClock(START), Watched()
        self.channel = ScriptedChannel(yes)
        asyncio.run(self._approved())
        self.watched.good = False
        self.clock.advance(20 * 60)

    def opened(self) -> Harness:
        return house(self.channel, self.clock, self.watched, self.home)

    async def _approved(self) -> None:
        async with self.opened() as h:
            await h.silas.run(goal_text())

    async def cycle(self) -> None:
        """One process in which the cycle that is due runs."""
        async with self.opened():
            await until(lambda: len(cycles(self.watched)) == 1)

    async def judged(self) -> None:
        """The process after it, in which nothing goes wrong."""
        async with self.opened() as h:
            (cycle,) = await after(self.watched, self.clock, 0, 1)
            await h.silas.wait_for_work()
            nonces: NonceStore = self.watched.parts.nonces
            goal = await h.store.get(WATCHED)
            assert goal is not None
            assert goal.approval_token is not None
            tasks = await h.store.list_by_parent(WATCHED)
            assert await nonces.uses(goal.approval_token.token_id) == len(tasks) == 1
            assert cycle.task_id == tasks[0].id
            # a command in a copy that died with its process is run again in a fresh one, on record
            attempts = len(await entries_of(h, "work_item_attempt"))
            assert self.watched.repaired <= attempts <= 2
            assert cycle.outcome in {Outcome.fixed, Outcome.not_fixed}
            assert cycle.outcome is Outcome.fixed or tasks[0].status is not WorkItemStatus.done
            assert len(self.channel.cards) == 1
            assert (await h.audit.verify_chain()).valid


def test_a_cycle_that_is_killed_anywhere_pays_once_and_starts_one_task(tmp_path: Path) -> None:
    first, second = GoalLife(tmp_path / "first"), GoalLife(tmp_path / "second")
    points = points_of(first.cycle, second.cycle)
    assert points > 20
    for at in sample(points, WANTED):
        life = GoalLife(tmp_path / new_id("home"))
        assert killed(life.cycle, at).dead
        asyncio.run(life.judged())


class ProjectLife:
    """Two tasks, the second of which waits for the first, in a home of their own."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.home, self.clock, self.ran = home, MockClock(), Ran()
        self.channel = ScriptedChannel(saying_yes)

    def opened(self) -> Harness:
        return Harness(self.channel, sandbox=self.ran.sandbox, home=self.home, clock=self.clock)

    async def project(self) -> None:
        async with self.opened() as h:
            await h.silas.run(project_text(chain("a", "b")))

    async def judged(self) -> None:
        async with self.opened() as h:
            await h.silas.wait(PROJECT)
            await h.silas.wait_for_work()
            used = [one["work_item_id"] for one in await entries_of(h, "approval.used")]
            assert len(used) == len(set(used))
            assert all(self.ran.done.count(name) <= 1 for name in ("a", "b"))
            items = [await h.store.get(name) for name in (PROJECT, "a", "b")]
            found = [one.status for one in items if one is not None]
            if WorkItemStatus.done in found[:1]:
                assert self.ran.done == ["a", "b"]
            assert not {WorkItemStatus.running, WorkItemStatus.pending} & set(found)
            assert (await h.audit.verify_chain()).valid


def test_a_project_that_is_killed_anywhere_does_each_task_once_at_most(tmp_path: Path) -> None:
    first, second = ProjectLife(tmp_path / "first"), ProjectLife(tmp_path / "second")
    points = points_of(first.project, second.project)
    assert points > 20
    for at in sample(points, WANTED):
        life = ProjectLife(tmp_path / new_id("home"))
        assert killed(life.project, at).dead
        asyncio.run(life.judged())


@pytest.mark.parametrize("at", [0])
def test_unharmed_both_come_to_their_ends(at: int, tmp_path: Path) -> None:
    goal, project = GoalLife(tmp_path / "goal"), ProjectLife(tmp_path / "project")
    assert not killed(goal.cycle, at).dead
    assert not killed(project.project, at).dead
    assert (goal.watched.repaired, project.ran.done) == (1, ["a", "b"])
