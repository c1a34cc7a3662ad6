"""Projects for commands: which there are, how each stands, and how its tasks do (spec 5.2.2)."""

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import PlanFamilyError
from silas.home.database import open_existing_database
from silas.home.keyless import NoKey
from silas.language import tr, tr_later
from silas.plans import WorkItem, WorkItemStatus, WorkItemStore, WorkItemType
from silas.plans.projects.graph import steps
from silas.plans.projects.kept import with_tasks
from silas.plans.store import SqlWorkItemStore
from silas.work.changes.held_store import HeldStore
from silas.work.changes.undo import Undo
from silas.work.end_words import tell_end
from silas.work.projects.rest import ProjectRests, RestOfProject
from silas.work.projects.undo import state_now, taken_back_words

_STATES: Final = {
    WorkItemStatus.pending.value: tr_later("not begun"),
    WorkItemStatus.running.value: tr_later("runs"),
    WorkItemStatus.done.value: tr_later("done"),
    WorkItemStatus.failed.value: tr_later("failed"),
    WorkItemStatus.stuck.value: tr_later("stuck"),
    WorkItemStatus.blocked.value: tr_later("blocked"),
    WorkItemStatus.paused.value: tr_later("paused"),
}


class TaskRow(NamedTuple):
    """How one task of a project stands.

    Attributes:
        id: Its id.
        title: Of its plan.
        status: How it stands.
        depends_on: What it waits for.
        words: How it ended, in one sentence; empty where it has not.
        undone: Whether all that it changed was taken back.
        never: Whether nothing of it was begun, and nothing of it will be.
        asks: Whether it waits for the owner's answer to a question.
    """

    id: str
    title: str
    status: str
    depends_on: list[str]
    words: str
    undone: bool
    never: bool
    asks: bool


class ProjectOverview(NamedTuple):
    """A project as a graph.

    Attributes:
        id: Its id.
        title: Of its plan.
        waits: The tasks whose changes wait for the owner's yes.
        steps: Its tasks as a graph: each in the first step after all that it waits for.
    """

    id: str
    title: str
    waits: tuple[str, ...]
    steps: tuple[tuple[TaskRow, ...], ...]


async def task_rows(project: WorkItem, store: WorkItemStore, undoing: Undo) -> list[TaskRow]:
    """How the tasks of a project stand, in the order in which it names them."""
    rows: list[TaskRow] = []
    asking = store.asking()
    for child in project.children:
        result = await store.get_result(child.id)
        words = "" if result is None else tell_end(result.summary.split("\n")[0])
        state, undone = child.status.value, undoing.is_undone(child.id)
        never = child.status is WorkItemStatus.blocked and child.attempts == 0
        asks = child.id in asking and child.status is WorkItemStatus.running
        after = list(child.depends_on)
        rows.append(TaskRow(child.id, child.title, state, after, words, undone, never, asks))
    return rows


async def project_shown(
    project: WorkItem, store: WorkItemStore, undoing: Undo, waits: Collection[str]
) -> ProjectOverview:
    """A project as a graph, whether it runs or has ended.

    Args:
        project: With its tasks in `children`.
        store: Where the results of the tasks are.
        undoing: Knows what was taken back.
        waits: The ids of work whose changes wait for the owner's yes.
    """
    rows = {row.id: row for row in await task_rows(project, store, undoing)}
    shown = tuple(tuple(rows[one.id] for one in step) for step in steps(project.children))
    waiting = tuple(one.id for one in project.children if one.id in waits)
    return ProjectOverview(project.id, project.title, waiting, shown)


async def under_way(
    store: WorkItemStore, held: HeldStore, undoing: Undo
) -> tuple[ProjectOverview, ...]:
    """Projects that run, or that wait for the owner's yes to changes of a task."""
    found = list[ProjectOverview]()
    for status in (WorkItemStatus.running, WorkItemStatus.blocked):
        for item in await store.list_by_status(status):
            if item.type is not WorkItemType.project:
                continue
            project = await with_tasks(item, store)
            waits = [one.id for one in project.children if held.find(one.id) is not None]
            if waits or status is WorkItemStatus.running:
                found.append(await project_shown(project, store, undoing, waits))
    return tuple(found)


def state_words(task: TaskRow, waits: Collection[str]) -> str:
    """How a task stands, as a person says it."""
    if task.id in waits:
        return tr("waits for your yes")
    if task.asks:
        return tr("waits for your answer")
    if task.undone:
        return tr("taken back")
    if task.never:
        return tr("never begun")
    return tr(_STATES.get(task.status, task.status))


def asks_words(tasks: Collection[str]) -> list[str]:
    """Which tasks wait for an answer, each in a sentence."""
    return [tr("The task {task} waits for your answer to its question.", task=one) for one in tasks]


class ProjectService(NamedTuple):
    """Projects; nothing is changed.

    Attributes:
        store: Where they are kept.
        undoing: Knows what was taken back.
        zone: The owner's.
        held: Changes that wait for his yes.
    """

    store: SqlWorkItemStore
    undoing: Undo
    zone: ZoneInfo
    held: HeldStore

    async def rest(self, project_id: str) -> RestOfProject:
        """What a project did not come to, as a plan; see `ProjectRests.of`."""
        return await ProjectRests(self.store, self.undoing, self.held).of(project_id)

    async def all(self) -> list[WorkItem]:
        """Every approved project with its tasks, the newest last."""
        items = [one for one in await self.store.every() if one.type is WorkItemType.project]
        return [await with_tasks(item, self.store) for item in items]

    async def get(self, project_id: str) -> WorkItem:
        """One project with its tasks.

        Raises:
            PlanFamilyError: There is none of this id.
        """
        item = await self.store.get(project_id)
        if item is None or item.type is not WorkItemType.project:
            raise PlanFamilyError(
                f"There is no project {project_id!r}; `silas projects list` has the ids.",
                code="E_PLAN_NO_PROJECT",
                work_item_id=project_id,
            )
        return await with_tasks(item, self.store)

    async def tasks(self, project: WorkItem) -> list[TaskRow]:
        """How its tasks stand, in the order in which it names them."""
        return await task_rows(project, self.store, self.undoing)

    async def words(self, project: WorkItem) -> str:
        """How it ended; empty where it has not."""
        result = await self.store.get_result(project.id)
        return "" if result is None else result.summary

    def asks(self, project: WorkItem) -> list[str]:
        """The ids of its tasks that wait for the owner's answer to a question."""
        asking = self.store.asking()
        running = WorkItemStatus.running
        return [one.id for one in project.children if one.id in asking and one.status is running]

    def taken_back(self, project: WorkItem) -> str:
        """That it was taken back, whole or in part, in one sentence; empty where it was not."""
        return taken_back_words(project, self.undoing, self.zone)

    def state(self, project: WorkItem) -> str:
        """How it stands: its status, or `undone`; see `state_now`."""
        return state_now(project, self.undoing)


@asynccontextmanager
async def open_projects(config: SilasConfig) -> "AsyncGenerator[ProjectService]":
    """The projects of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        undoing = Undo(config.data_dir / "undo", AuditLog(db, clock, NoKey()))
        held = HeldStore(config.data_dir / "held")
        yield ProjectService(SqlWorkItemStore(db, clock), undoing, config.scheduler.zone, held)
