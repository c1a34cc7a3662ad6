"""What the clock says of goals, for rooms that seldom ask: nothing of it is loaded before."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from silas.plans import WorkItem, WorkItemType

if TYPE_CHECKING:
    from silas.goals.service import Goals


class GoalsWhenNeeded:
    """See `Goals`.

    Args:
        service: Makes the service; asked each time.
    """

    def __init__(self, service: "Callable[[], Goals]") -> None:
        self._service = service

    def unable(self, item: WorkItem) -> str:
        """Why a goal could not run now; nothing is loaded for what is none."""
        return self._service().unable(item) if item.type is WorkItemType.goal else ""

    def begin_approved(self, goal: WorkItem) -> None:
        """A goal was approved: it runs from now on."""
        self._service().begin_approved(goal)

    def coming_words(self, goal_id: str) -> str:
        """When a goal runs next as a person says it; empty where it does not."""
        return self._service().coming_words(goal_id)
