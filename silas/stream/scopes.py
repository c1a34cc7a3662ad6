"""What a conversation was before this sitting, brought back with its first message (5.1.3)."""

from silas.context import ContextZone
from silas.memory import MemoryType, Ranked
from silas.stream.following import Following
from silas.stream.items import Origin
from silas.stream.recall import Recall
from silas.stream.rooms import TurnRooms
from silas.stream.state import Scope
from silas.stream.workview import named_plan, plan_name
from silas.types import TaintLevel

REHYDRATED = "[SYSTEM] Session rehydrated after restart."
_PROFILE = "user profile preferences"  # what profiles are looked for with (spec 5.1.3 step 3)
_PROFILES = 5


class Waking:
    """Wakes conversations: chronicle, profile and recent work back into view, once a sitting."""

    def __init__(self, rooms: TurnRooms, recall: Recall, following: Following) -> None:
        self._rooms = rooms
        self._recall = recall
        self._following = following
        self._to_change = set[str]()

    async def wake(self, scope: Scope, folder: str) -> None:
        """Bring back what was, where it was not brought back before, and what shall be changed.

        What was said about another folder is not in view; it is remembered and can be searched.
        """
        moved, scope.folder = scope.folder != folder, folder
        if not scope.awake:
            await self._wake(scope)
        elif moved:
            await self._move(scope)
        await self._shown_to_change(scope)

    async def _move(self, scope: Scope) -> None:
        context = self._rooms.context
        for item in context.get_zone(scope.id, ContextZone.chronicle):
            context.drop(scope.id, item.ctx_id)
        await self._bring_back(scope)

    async def _shown_to_change(self, scope: Scope) -> None:
        """The plans that the owner wants changed: whoever changes one has to see it."""
        rooms = self._rooms
        wanted = {plan_name(item.id) for item in await rooms.proposer.to_change()}
        names = [name for name in sorted(wanted - self._to_change) if _of(rooms, name) == scope.id]
        self._to_change = {name for name in self._to_change if name in wanted} | set(names)
        for plan in await rooms.chronicle.named(scope.id, names) if names else ():
            rooms.context.add(scope.id, plan)

    async def _wake(self, scope: Scope) -> None:
        rooms = self._rooms
        before = await rooms.chronicle.get_recent(scope.id, 1)
        if before:
            scope.turn_number = before[-1].turn_number + 1
        await self._bring_back(scope)
        await self._profile(scope)
        await rooms.work_view.recent(scope)
        self._following.again(scope)
        if before:
            origin = Origin(TaintLevel.owner, "silas")
            zone, name = ContextZone.chronicle, "silas:rehydrated"
            note = rooms.items.make(scope, zone, "system", REHYDRATED, origin, ctx_id=name)
            rooms.context.add(scope.id, note)
        scope.awake = True

    async def _bring_back(self, scope: Scope) -> None:
        rooms, most = self._rooms, self._rooms.rehydrated_entries
        for item in await rooms.chronicle.get_recent(scope.id, most, scope.folder):
            if item.kind != "plan":  # it comes back with its work, and not where that is long over
                rooms.context.add(scope.id, item)

    async def _profile(self, scope: Scope) -> None:
        found = await self._rooms.memory.search_keyword(_PROFILE, _PROFILES, scope.id)
        profile = (i for i in found if i.memory_type is MemoryType.profile)
        self._recall.into_view(
            scope, (Ranked(item, 1.0) for item in profile), scope.turn_number, pinned=True
        )


def _of(rooms: TurnRooms, name: str) -> str:
    """The conversation that the plan of this name came from."""
    return rooms.work.scope_of(named_plan(name))
