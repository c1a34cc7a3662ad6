"""What a conversation was before this sitting, brought back with its first message (5.1.3)."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from silas.context import ChronicleStore, ContextZone
from silas.errors import DatabaseError
from silas.memory import MemoryStore, MemoryType, RankedMemory
from silas.plans import WaitingPlan
from silas.stream.file_follower import FileFollower
from silas.stream.forgetting import Forgetting
from silas.stream.goals_in_view import GoalsInView
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView
from silas.stream.recall import Recall
from silas.stream.scope_work import ScopeWork
from silas.stream.state import ScopeState
from silas.stream.work_context import WorkContext, named_plan, plan_name
from silas.types import TaintLevel

REHYDRATED = "[SYSTEM] Session rehydrated after restart."
_PROFILE = "user profile preferences"  # what profiles are looked for with (spec 5.1.3 step 3)
_PROFILES = 5


ToChange = Callable[[], Awaitable[list[WaitingPlan]]]
"""The plans that the owner wants changed."""


class ConversationRestorer:
    """Wakes conversations: chronicle, profile and recent work back into view, once a sitting.

    Args:
        forgetting: Takes out of view what was forgotten elsewhere.
        recall: Brings what is known of the owner into view.
        following: Follows again what was followed.
        work_view: Brings recent work into view.
        goals: Says how goals stand.
        to_change: Plans that the owner wants changed.
        work: Whose work is whose.
        context: What is in view.
        chronicle: What was said.
        memory: Where profiles are looked for.
        items: Makes items of the context.
        entries: How much of what was said comes back at most, in entries.
    """

    def __init__(
        self,
        forgetting: Forgetting,
        recall: Recall,
        following: FileFollower,
        work_view: WorkContext,
        goals: GoalsInView,
        to_change: ToChange,
        work: ScopeWork,
        context: ModelView,
        chronicle: ChronicleStore,
        memory: MemoryStore,
        items: ItemFactory,
        entries: int,
    ) -> None:
        self._forgetting = forgetting
        self._recall = recall
        self._following = following
        self._work_view = work_view
        self._goals = goals
        self._to_change = to_change
        self._work = work
        self._context = context
        self._chronicle = chronicle
        self._memory = memory
        self._items = items
        self._entries = entries
        self._shown = set[str]()

    async def wake(self, scope: ScopeState, folder: str) -> None:
        """Bring back what was, where it was not brought back before, and what shall be changed.

        What was forgotten meanwhile is not among it. What was said about another folder is not in
        view; it is remembered and can be searched.
        """
        await self._forgetting.before(scope.address)
        moved, scope.folder = scope.folder != folder, folder
        if not scope.awake:
            await self._wake(scope)
        elif moved:
            await self._move(scope)
        await self._work_view.show_taken_back(scope)
        await self._goals.show(scope)
        await self._show_to_change(scope)

    async def rest(self, scope: ScopeState) -> None:
        """A turn is over: what was forgotten while it ran goes, with all that it made of it."""
        with suppress(DatabaseError):  # what fails here is done before the next turn
            await self._forgetting.after(scope.address)

    async def _move(self, scope: ScopeState) -> None:
        context = self._context
        for item in context.get_zone(scope.address, ContextZone.chronicle):
            context.drop(scope.address, item.ctx_id)
        await self._bring_back(scope)

    async def _show_to_change(self, scope: ScopeState) -> None:
        """The plans that the owner wants changed: whoever changes one has to see it."""
        found = [one.item.id for one in await self._to_change()]
        scope.to_change = tuple(i for i in found if self._work.address_of(i) == scope.address)
        wanted = set(map(plan_name, found))
        new = sorted(wanted - self._shown)
        names = [name for name in new if self._work.address_of(named_plan(name)) == scope.address]
        self._shown = {name for name in self._shown if name in wanted} | set(names)
        for plan in await self._chronicle.list_by_ids(scope.id, names) if names else ():
            self._context.add(scope.address, plan)

    async def _wake(self, scope: ScopeState) -> None:
        before = await self._chronicle.get_recent(scope.id, 1, conversation=scope.conversation)
        if before:
            scope.turn_number = before[-1].turn_number + 1
        await self._bring_back(scope)
        await self._profile(scope)
        await self._work_view.recent(scope)
        self._following.again(scope)
        if before:
            origin = ItemOrigin(TaintLevel.owner, "silas")
            zone, name = ContextZone.chronicle, "silas:rehydrated"
            note = self._items.make(scope, zone, "system", REHYDRATED, origin, ctx_id=name)
            self._context.add(scope.address, note)
        scope.awake = True

    async def _bring_back(self, scope: ScopeState) -> None:
        recent = self._chronicle.get_recent(
            scope.id, self._entries, scope.folder, scope.conversation
        )
        for item in await recent:
            if item.kind != "plan":  # it comes back with its work, and not where that is long over
                self._context.add(scope.address, item)

    async def _profile(self, scope: ScopeState) -> None:
        found = await self._memory.search_keyword(_PROFILE, _PROFILES, scope.id)
        profile = (i for i in found if i.memory_type is MemoryType.profile)
        self._recall.into_view(
            scope, (RankedMemory(item, 1.0) for item in profile), scope.turn_number, pinned=True
        )
