"""Work that only waits for its owner when Silas ends: it is left as a crash leaves it (5.2.2)."""

from collections.abc import Iterable, Sequence
from typing import Final

from silas.errors import SilasError
from silas.plans import WorkItem, WorkItemStatus, WorkItemType
from silas.plans.projects.questions import WorkQuestions
from silas.stop.sentinel import RequireRunning
from silas.work.projects.places import TaskPlaces

_WELL: Final = frozenset({WorkItemStatus.pending, WorkItemStatus.running, WorkItemStatus.done})


class LeftWaiting:
    """Which work an orderly end leaves: the next start goes on with it under the same approval.

    Attributes:
        questions: What running work asks. It makes one call at a time: while it asks nothing runs.
        places: Of tasks of projects: one that asks has none among those that run at once.

    Args:
        questions: The same.
        require_running: Raises where Silas is stopped, which ends all work.
    """

    def __init__(self, questions: WorkQuestions, require_running: RequireRunning) -> None:
        self.questions = questions
        self.places = TaskPlaces()
        self._require_running = require_running
        self._left: frozenset[str] = frozenset()

    def leave(self, running: Sequence[WorkItem]) -> None:
        """Silas ends in an orderly way: of what runs, note what only waits for an answer.

        A project waits where each of its tasks under way does; else all of it is stopped. The cycle
        of a goal whose work is left goes on with it, as after a crash.
        """
        self._left = self._waiting(running)

    def asked_later(self, running: Sequence[WorkItem]) -> tuple[str, ...]:
        """The ids of what an orderly end would leave now; of a task that of its project or goal."""
        left = self._waiting(running)
        return tuple(dict.fromkeys(one.parent or one.id for one in running if one.id in left))

    def _waiting(self, running: Sequence[WorkItem]) -> frozenset[str]:
        try:
            self._require_running()
        except SilasError:
            return frozenset()
        waits = {item.id for item in running if self.questions.cut_off(item)}
        projects = {item.id: item for item in running if item.type is WorkItemType.project}
        alone = {one.id for one in running if one.parent not in projects and one.id in waits}
        for project in projects.values():
            tasks = {item.id for item in running if item.parent == project.id}
            if tasks and tasks <= waits:
                alone |= {project.id, *tasks}
        return frozenset(alone)

    def has_task(self, item: WorkItem) -> bool:
        """Whether this task is left, and waits still."""
        return item.id in self._left and self.questions.cut_off(item)

    def has_project(self, item: WorkItem, tasks: Iterable[WorkItem]) -> bool:
        """Whether this project is left, and nothing of it was stopped or failed."""
        return item.id in self._left and all(task.status in _WELL for task in tasks)
