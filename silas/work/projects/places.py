"""The places of a project's tasks: so many run at once, and who waits for a person has none."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

MOST_AT_ONCE: Final = 4
"""Tasks of one project that run at the same time."""


class ProjectPlaces:
    """The places of one project.

    Attributes:
        changed: Set where a place became free.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self._held: set[str] = set()
        self._coming_back: dict[str, asyncio.Future[None]] = {}  # in the order of their answers

    @property
    def free(self) -> bool:
        """Whether a task may begin: who comes back from its owner's answer goes before."""
        return len(self._held) < MOST_AT_ONCE and not self._coming_back

    def take(self, task_id: str) -> None:
        """A task begins."""
        self._held.add(task_id)

    def give_back(self, task_id: str) -> None:
        """A task has ended, or waits for its owner."""
        self._held.discard(task_id)
        while self._coming_back and len(self._held) < MOST_AT_ONCE:
            first = next(iter(self._coming_back))
            self._held.add(first)
            self._coming_back.pop(first).set_result(None)
        self.changed.set()

    async def take_again(self, task_id: str) -> None:
        """A task goes on once there is a place for it."""
        if self.free:
            self.take(task_id)
            return
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._coming_back[task_id] = place
        try:
            await place
        except asyncio.CancelledError:
            self._coming_back.pop(task_id, None)
            raise


class TaskPlaces:
    """The places of every project under way in this process."""

    def __init__(self) -> None:
        self._of: dict[str, ProjectPlaces] = {}

    @contextmanager
    def of_project(self, task_ids: list[str]) -> Generator[ProjectPlaces]:
        """The places of a project with these tasks, for as long as it runs."""
        places = ProjectPlaces()
        self._of.update(dict.fromkeys(task_ids, places))
        try:
            yield places
        finally:
            for one in task_ids:
                self._of.pop(one, None)

    @asynccontextmanager
    async def without(self, work_item_id: str) -> AsyncGenerator[None]:
        """Work waits for a person: its place is another task's meanwhile, and it goes on once it
        has one again. What is no task of a project has none to give.
        """
        places = self._of.get(work_item_id)
        if places is None:
            yield
            return
        places.give_back(work_item_id)
        ended = False
        try:
            yield
        except asyncio.CancelledError:
            ended = True
            raise
        finally:
            if not ended:
                await places.take_again(work_item_id)
