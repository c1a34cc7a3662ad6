"""The tasks of a project, begun as what they wait for is done (spec 5.2.2 steps 1 to 4).

A task that waits for its owner's answer has no place among those that run at once. Two run at once
only where neither works where the other works or reads. Once one has failed no
other begins; what runs comes to its end.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from silas.language import tr
from silas.plans import Budget, WorkItem, WorkItemResult, WorkItemStatus
from silas.plans.projects.graph import may_begin
from silas.work.executor import RunItem
from silas.work.models import Notify, ProgressEvent
from silas.work.projects.allowances import Allowances, room_for, short_of
from silas.work.projects.places import ProjectPlaces, TaskPlaces

_DONE: Final = WorkItemStatus.done
_OPEN: Final = frozenset({WorkItemStatus.pending, WorkItemStatus.running})
_Running = dict[str, asyncio.Task[WorkItemResult]]

Refuse = Callable[[WorkItem, WorkItem], Awaitable[str]]
"""Why of a project this task may not begin; nothing where it may."""


ChangesWait = Callable[[str], bool]
"""Whether changes of a task wait for the owner's yes."""


class ProjectTasks:
    """Runs the tasks of projects.

    Args:
        run_task: Runs one task as any other work.
        allowances: Where what a task may use of its project's budget is noted.
        refuse: Asked before each task.
        waits: Whether changes of a task wait. Such a task has not failed: what does not wait for
            it, and keeps out of its way, goes on.
        places: How many run at once.
    """

    def __init__(
        self,
        run_task: RunItem,
        allowances: Allowances,
        refuse: Refuse,
        waits: ChangesWait,
        places: TaskPlaces,
    ) -> None:
        self._run_task = run_task
        self._allowances = allowances
        self._refuse = refuse
        self._waits = waits
        self._places = places
        self._short: dict[str, str] = {}

    def short(self, task: WorkItem) -> str:
        """How much less than its own budget the last run of a task had, in words; or nothing."""
        return self._short.get(task.id, "")

    async def run(self, project: WorkItem, notify: Notify) -> str:
        """Run all that can be begun, to their ends.

        Args:
            project: With its tasks in `children`, whose status says how each stands.
            notify: Told how it goes, as progress of the project.

        Returns:
            Why no further one was begun, where the project itself is refused.
        """
        running: _Running = {}
        with self._places.of_project(project.tasks) as places:
            try:
                while True:
                    places.changed.clear()
                    refusal = await self._begin(project, running, notify, places)
                    if not running:
                        return refusal
                    await _wait_for_one(running, places)
                    await self._collect(project, running, notify, places)
            finally:  # whatever broke this off ends them, too
                for task in running.values():
                    task.cancel()
                if running:
                    await asyncio.wait(running.values())

    async def _begin(
        self, project: WorkItem, running: _Running, notify: Notify, places: ProjectPlaces
    ) -> str:
        """Begin what may begin now; why nothing may, where that is about the project."""
        children = project.children
        while places.free and not any(map(self._ended_badly, children)):
            done = {child.id for child in children if child.status is _DONE}
            ended = {child.id for child in children if child.status not in _OPEN}
            found = may_begin(children, done, ended | running.keys())
            task = found[0] if found else None
            room = None if task is None else self._room(project, task, running)
            if task is None or room is None:
                return ""
            short = short_of(task, room)
            if running and short:
                return ""  # what runs may give back enough for it
            if refusal := await self._refuse(project, task):
                return refusal
            self._allowances.limit(task, room)
            self._short[task.id] = short
            places.take(task.id)
            work = self._run_task(task, _as_progress_of(project, task, notify))
            running[task.id] = asyncio.create_task(_await_work(work), name=f"task:{task.id}")
        return ""

    def _room(self, project: WorkItem, task: WorkItem, running: _Running) -> Budget | None:
        used = [one.budget_used for one in project.children if one.id not in running]
        held = [self._allowances.of(one) for one in project.children if one.id in running]
        return room_for(task, project.budget, used, held)

    def _ended_badly(self, task: WorkItem) -> bool:
        ended = task.status not in _OPEN and task.status is not _DONE
        return ended and not self._waits(task.id)

    async def _collect(
        self, project: WorkItem, running: _Running, notify: Notify, places: ProjectPlaces
    ) -> None:
        """Take note of those that ended."""
        for child in project.children:
            task = running.get(child.id)
            if task is None or not task.done():
                continue
            del running[child.id]
            places.give_back(child.id)
            self._allowances.release(child)
            result = task.result()
            done = sum(one.status is _DONE for one in project.children)
            words = tr(
                "{task} is {status} ({done:,} of {many:,} done)",
                task=child.id,
                status=tr(result.status.value),
                done=done,
                many=len(project.children),
            )
            await notify(_progress(project, words))


async def _wait_for_one(running: _Running, places: ProjectPlaces) -> None:
    """Until a task has ended or its place is free."""
    freed = asyncio.ensure_future(places.changed.wait())
    try:
        await asyncio.wait({freed, *running.values()}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        freed.cancel()


async def _await_work(work: Awaitable[WorkItemResult]) -> WorkItemResult:
    return await work


def _as_progress_of(project: WorkItem, task: WorkItem, notify: Notify) -> Notify:
    """What a task tells, as progress of its project, which has not ended."""

    async def tell(event: ProgressEvent) -> None:
        await notify(_progress(project, f"{task.id}: {event.message}"))

    return tell


def _progress(project: WorkItem, words: str) -> ProgressEvent:
    return ProgressEvent(project.id, WorkItemStatus.running.value, words, project.attempts)
