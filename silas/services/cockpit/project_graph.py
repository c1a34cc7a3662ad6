"""A project as a graph for the cockpit: its tasks in steps, each with how it stands."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from silas.channels.web.views_ahead import ProjectRow, ProjectTaskView

if TYPE_CHECKING:
    from silas.services.projects import ProjectOverview, TaskRow

_STATES: Final = {
    "done": "done",
    "running": "running",
    "pending": "pending",
    "failed": "failed",
    "stuck": "failed",
    "blocked": "failed",
}


def project_row(one: "ProjectOverview", redact: Callable[[str], str]) -> ProjectRow:
    """What a page draws of a project.

    Args:
        one: The project with how its tasks stand.
        redact: Takes secrets out of titles.
    """
    from silas.services.projects import state_words  # noqa: PLC0415 - few pages ask

    titles = {task.id: redact(task.title) for step in one.steps for task in step}
    steps = tuple(
        tuple(
            ProjectTaskView(
                id=task.id,
                title=titles[task.id],
                state=_state(task, one.waits),
                words=state_words(task, one.waits),
                after=tuple(titles[name] for name in task.depends_on if name in titles),
            )
            for task in step
        )
        for step in one.steps
    )
    done = sum(task.state == "done" for step in steps for task in step)
    return ProjectRow(id=one.id, title=redact(one.title), done=done, steps=steps)


def _state(task: "TaskRow", waits: Collection[str]) -> str:
    if task.id in waits or task.asks:
        return "waiting"
    if task.undone:
        return "undone"
    return "never" if task.never else _STATES.get(task.status, "over")
