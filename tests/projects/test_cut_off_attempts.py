"""A kill at each step between a question and what follows it: nothing is lost, nothing doubled."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from silas.plans import WorkItem, WorkItemStatus
from silas.plans.store import SqlWorkItemStore
from silas.testing import MockClock
from silas.work.projects.places import ProjectPlaces
from tests.projects.kit import PROJECT, project_text
from tests.projects.test_questions import ASKS, BLUE, PIPES, SHORT, TASKS, WORKS, Asleep, house
from tests.stream.kit import soon
from tests.work.kit import DONE


class Kill:
    """Keeps, once, what a process that is killed at this moment leaves.

    Args:
        home: Of the process.
        left: Where it is kept.
    """

    def __init__(self, home: Path, left: Path) -> None:
        self.home, self.left = home, left

    def now(self) -> None:
        if not self.left.exists():
            shutil.copytree(self.home, self.left, ignore=PIPES)


async def _asked_and_left(home: Path, clock: MockClock, left: Path) -> None:
    """The only attempt of the first task asks; its process is killed meanwhile."""
    channel = Asleep()
    async with house(channel, ASKS, home=home, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        Kill(home, left).now()
        running.cancel()
        await asyncio.wait([running])


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_kill_around_the_record_of_the_new_attempt_loses_no_question(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, second, third = (tmp_path / name for name in ("home", "second", "third"))
    home.mkdir()
    clock, kill, save = MockClock(), Kill(second, third), SqlWorkItemStore.save
    await _asked_and_left(home, clock, second)

    async def watched(self: SqlWorkItemStore, item: WorkItem) -> None:
        begins = item.id == "paint" and item.attempts == 1
        if begins and when == "before":
            kill.now()
        await save(self, item)
        if begins and when == "after":
            kill.now()

    channel = Asleep()
    with monkeypatch.context() as patched:
        patched.setattr(SqlWorkItemStore, "save", watched)
        async with house(channel, ASKS, home=second, clock=clock) as h:
            ending = asyncio.create_task(h.silas.wait(PROJECT))
            await channel.asked_or(ending)
            ending.cancel()
    assert third.exists()
    await _goes_on(third, clock, (ASKS, DONE, WORKS, DONE), asks=True)


async def test_a_kill_between_an_answer_and_the_place_of_its_task_loses_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, left = tmp_path / "home", tmp_path / "left"
    home.mkdir()
    clock, kill, again = MockClock(), Kill(home, left), ProjectPlaces.take_again
    asking = list[Any]()

    async def watched(self: ProjectPlaces, task_id: str) -> None:
        kill.now()
        asking.append(h.store.asking())
        await again(self, task_id)

    monkeypatch.setattr(ProjectPlaces, "take_again", watched)
    channel = Asleep()
    async with house(channel, ASKS, DONE, WORKS, DONE, home=home, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        channel.answer.set_result(BLUE)
        result = await soon(running)
        assert result.status is WorkItemStatus.done, result
    assert asking == [frozenset()]  # it waits for its place, and for no answer
    monkeypatch.undo()
    await _goes_on(left, clock, (ASKS, DONE, WORKS, DONE), asks=False)


async def _goes_on(home: Path, clock: MockClock, steps: tuple[Any, ...], *, asks: bool) -> None:
    """The only attempt is made again; it is asked again only where nothing was answered."""
    after = Asleep()
    async with house(after, *steps, home=home, clock=clock) as h:
        ending = asyncio.create_task(h.silas.wait(PROJECT))
        await after.asked_or(ending)
        assert after.asked.is_set() is asks, ending.result()
        if asks:
            after.answer.set_result(BLUE)
        result = await soon(ending)
        assert result is not None
        assert result.status is WorkItemStatus.done, result
        item = await h.store.get("paint")
        assert item is not None
        assert item.attempts == 1
        assert h.store.asking() == frozenset()
