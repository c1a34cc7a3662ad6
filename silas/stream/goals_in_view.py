"""The owner's goals in view of a model: how often each ran, and when it runs next (spec 5.2.3)."""

from collections.abc import Callable
from typing import Final

from silas.context import ContextZone
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import LooksAhead, ModelView
from silas.stream.scope_work import ScopeWork
from silas.stream.state import ScopeState
from silas.types import OWNER, TaintLevel

_NAME: Final = "silas:goals"
_MOST: Final = 4
"""Goals that have a line, the newest."""


class GoalsInView:
    """Keeps one block in the owner's conversations, and none where no goal runs or is paused.

    Args:
        ahead: Tells how goals stand; nothing is loaded where there is none.
        work: Whose goals are whose.
        context: What is in view.
        items: Makes items of the context.
    """

    def __init__(
        self,
        ahead: Callable[[], LooksAhead],
        work: ScopeWork,
        context: ModelView,
        items: ItemFactory,
    ) -> None:
        self._ahead = ahead
        self._work = work
        self._context = context
        self._items = items

    async def show(self, scope: ScopeState) -> None:
        """Say of each goal how it stands now; nobody but the owner's models see it."""
        if scope.id != OWNER:
            return
        goals = await self._work.goals()
        lines = await self._ahead().goal_lines(goals, _MOST + 1) if goals else ()
        if not lines:
            self._context.drop(scope.address, _NAME)
            return
        more = ["and more; `silas goals list` shows them"] if len(lines) > _MOST else []
        text = "\n".join((*lines[:_MOST], *more))
        origin = ItemOrigin(TaintLevel.owner, _NAME)
        zone = ContextZone.workspace
        made = self._items.make(scope, zone, "goals", text, origin, ctx_id=_NAME)
        self._context.add(scope.address, made)
