"""What a project did not come to, as the plan of a new project (spec 5.2.2).

Nothing of the old approval carries over: the plan has ids of its own, so it is asked about, signed
and counted anew. What is done is left out; to wait for it is to wait for nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from silas.agents.plan_fields import plan_text
from silas.errors import PlanFamilyError
from silas.language import tr
from silas.plans import PlanParser, WorkItem, WorkItemStatus, WorkItemStore, WorkItemType
from silas.plans.projects.kept import with_tasks
from silas.plans.projects.rest_names import rest_name, rest_number
from silas.plans.subject import WRITTEN, plan_alone
from silas.work.changes.held_store import HeldStore
from silas.work.changes.undo import Undo

_DONE: Final = WorkItemStatus.done


class _Place(NamedTuple):
    """The number in the new ids; `known` is the id of the rest where that was approved before."""

    number: int
    known: str


class RestOfProject(NamedTuple):
    """The rest of a project.

    Attributes:
        text: The plan, with those of its tasks.
        item: The same, as it is read.
        words: Of which project it is the rest, and what of that was done before.
    """

    text: str
    item: WorkItem
    words: str


@dataclass(frozen=True)
class ProjectRests:
    """Makes plans of what projects did not come to; asks nobody and keeps nothing.

    Attributes:
        store: Where projects are.
        undoing: Knows what was taken back.
        held: Changes that wait for the owner's yes.
    """

    store: WorkItemStore
    undoing: Undo
    held: HeldStore

    async def has_rest(self, project: WorkItem) -> bool:
        """Whether a project has a rest that can be asked for now."""
        return not await self._refusal(project, self._open_tasks(project))

    async def approved_as(self, project: WorkItem) -> str:
        """The id of the rest of a project that was approved; empty where none was."""
        return (await self._place(project)).known if self._open_tasks(project) else ""

    async def find(self, project_id: str) -> WorkItem | None:
        """The project of this id, with its tasks; None where there is none."""
        item = await self.store.get(project_id)
        if item is None or item.type is not WorkItemType.project:
            return None
        return await with_tasks(item, self.store)

    async def of(self, project_id: str) -> RestOfProject:
        """The rest of a project.

        Raises:
            PlanFamilyError: There is no such project, or nothing of it can be asked for now.
        """
        project = await self.find(project_id)
        if project is None:
            raise PlanFamilyError(
                f"There is no project {project_id!r}; `silas projects list` has the ids.",
                code="E_PLAN_NO_PROJECT",
                work_item_id=project_id,
            )
        left = self._open_tasks(project)
        if refusal := await self._refusal(project, left):
            raise PlanFamilyError(refusal, code="E_PLAN_NO_REST", work_item_id=project_id)
        number = (await self._place(project)).number
        words = self._words(project, left)
        item = _as_new(project, left, number)
        item.title = tr("{title} (the rest)", title=_plain_title(project.title))
        item.body = f"{project.body.strip()}\n\n{words}".strip()
        text = plan_text({**_fields(item), "tasks": [_fields(one) for one in item.children]})
        return RestOfProject(text, PlanParser().parse(text), words)

    def _open_tasks(self, project: WorkItem) -> list[WorkItem]:
        """What is not done, or is done no more because it was taken back."""
        return [
            one
            for one in project.children
            if one.status is not _DONE or self.undoing.is_undone(one.id)
        ]

    async def _refusal(self, project: WorkItem, left: Sequence[WorkItem]) -> str:
        """Why the rest of a project cannot be asked for now; nothing where it can."""
        name = project.id
        waits = next((one.id for one in project.children if self.held.find(one.id)), "")
        if waits:
            return tr(
                "The changes of the task {task} of {project} wait for your yes; answer that first "
                "(`silas approvals approve {task}`).",
                task=waits,
                project=name,
            )
        if project.status in (WorkItemStatus.pending, WorkItemStatus.running):
            return tr("{project} has not ended, so there is no rest of it.", project=name)
        if not left:
            return tr("Every task of {project} is done, so there is no rest of it.", project=name)
        if known := (await self._place(project)).known:
            return tr(
                "The rest of {project} was approved as {rest}; what of that is not done, `silas "
                "projects rest {rest}` asks for.",
                project=name,
                rest=known,
            )
        return ""

    async def _place(self, project: WorkItem) -> _Place:
        """Under which number the rest of a project is, or would be."""
        names = [project.id, *(one.id for one in project.children)]
        number = max(map(rest_number, names))
        while True:
            wanted = [rest_name(one, number) for one in names]
            first, *others = [await self.store.get(one) for one in wanted]
            if first is not None and first.tasks and set(first.tasks) <= set(wanted):
                return _Place(number, first.id)
            if first is None and not any(others):
                return _Place(number, "")
            number += 1

    def _words(self, project: WorkItem, left: Sequence[WorkItem]) -> str:
        names = {one.id for one in left}
        lines = [tr("This is the rest of the project {project}.", project=project.id)]
        done = [one.id for one in project.children if one.id not in names]
        back = [one.id for one in left if one.status is _DONE]
        begun = [one.id for one in left if one.attempts and one.status is not _DONE]
        if done:
            lines.append(tr("Done before: {tasks}.", tasks=", ".join(done)))
        if back:
            lines.append(tr("Done before, and taken back: {tasks}.", tasks=", ".join(back)))
        if begun:
            lines.append(
                tr("Begun before, and not brought to an end: {tasks}.", tasks=", ".join(begun))
            )
        return " ".join(lines)


def _as_new(project: WorkItem, left: Sequence[WorkItem], number: int) -> WorkItem:
    """The plan alone, under other ids; of what is done nothing waits any more."""
    names = {one.id: rest_name(one.id, number) for one in left}
    own = plan_alone(project, id=rest_name(project.id, number), tasks=list(names.values()))
    own.children = [
        plan_alone(
            one,
            id=names[one.id],
            depends_on=[names[before] for before in one.depends_on if before in names],
            follow_up_of=names.get(one.follow_up_of or "", one.follow_up_of),
        )
        for one in left
    ]
    return own


def _fields(item: WorkItem) -> dict[str, Any]:
    """What is written of a plan; what a task has of its project is written as well."""
    fields = item.model_dump(mode="json", include=set(WRITTEN), exclude_defaults=True)
    its = {"type": item.type.value, "skills": list(item.skills), "workspace": item.workspace}
    return {**fields, **its}


def _plain_title(title: str) -> str:
    """A title without the words that say that it is a rest."""
    end = tr("{title} (the rest)", title="")
    return title.removesuffix(end) if title != end else title
