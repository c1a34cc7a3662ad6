"""The items of one scope, each with the block that is shown of it, made once."""

from collections.abc import Iterator, Sequence, Set

from silas.context.conversation import BETWEEN, RenderedContext
from silas.context.models import ContextItem, ContextZone
from silas.context.zone_items import ViewItem, ZoneItems
from silas.types import TaintLevel

_NAMED = ("memory:", "persona:")
"""Sources that name one thing: an item of such a source takes the place of the former one."""

LAST = "persona:directives"
"""Rendered after everything else, because it changes from turn to turn."""


class ScopeItems:
    """What is in view of one scope. Every change keeps the sums; nothing is ever counted again."""

    __slots__ = ("_came_from", "_last", "_named", "_shelves", "_zone_of")

    def __init__(self) -> None:
        self._shelves = {zone: ZoneItems() for zone in ContextZone}
        self._zone_of: dict[str, ContextZone] = {}
        self._named: dict[tuple[ContextZone, str], str] = {}
        self._last: dict[str, None] = {}
        self._came_from: dict[tuple[tuple[str, ...], TaintLevel], int] = {}

    def former(self, item: ContextItem) -> ViewItem | None:
        """The slot whose place an item would take."""
        named = self._named.get((item.zone, item.source))
        return self.get(named or item.ctx_id)

    def get(self, ctx_id: str) -> ViewItem | None:
        """The slot of this id."""
        zone = self._zone_of.get(ctx_id)
        return None if zone is None else self._shelves[zone].get(ctx_id)

    def put(self, slot: ViewItem) -> None:
        """Add, or take the place of the slot of the same id."""
        item = slot.item
        if self._zone_of.get(item.ctx_id, item.zone) is not item.zone:
            self.take(item.ctx_id)
        former = self._shelves[item.zone].put(slot)
        self._came(item, 1)
        if former is not None:
            self._came(former.item, -1)
        self._zone_of[item.ctx_id] = item.zone
        if _names_one(item):
            self._named[item.zone, item.source] = item.ctx_id
        if item.source == LAST:
            self._last[item.ctx_id] = None
        elif item.ctx_id in self._last:
            del self._last[item.ctx_id]

    def take(self, ctx_id: str) -> ViewItem | None:
        """Remove the slot of this id, if it is there."""
        zone = self._zone_of.pop(ctx_id, None)
        if zone is None:
            return None
        slot = self._shelves[zone].take(ctx_id)
        self._came(slot.item, -1)
        self._last.pop(ctx_id, None)
        if self._named.get((zone, slot.item.source)) == ctx_id:
            del self._named[zone, slot.item.source]
        return slot

    def swap(self, slot: ViewItem, item: ContextItem) -> None:
        """Let a slot hold another item that is shown as its own: of its id, zone and source."""
        self._came(item, 1)
        self._came(slot.item, -1)
        slot.item = item

    def ways(self) -> Sequence[tuple[str, ...]]:
        """What the items came from, each way once; most came by the same few."""
        return list(dict.fromkeys(sources for sources, _ in self._came_from))

    def taints(self) -> Set[TaintLevel]:
        """How far what is in view is trusted, each level that any item has."""
        return {taint for _, taint in self._came_from}

    def _came(self, item: ContextItem, many: int) -> None:
        way = (item.sources, item.taint)
        left = self._came_from.get(way, 0) + many
        if left:
            self._came_from[way] = left
        else:
            del self._came_from[way]

    def zone(self, zone: ContextZone) -> Iterator[ViewItem]:
        """The slots of a zone, the oldest first."""
        return iter(self._shelves[zone])

    def last_message(self) -> ContextItem | None:
        """What was said last."""
        newest = reversed(self._shelves[ContextZone.chronicle])
        return next((slot.item for slot in newest if slot.item.kind == "message"), None)

    def view_items(self) -> list[ViewItem]:
        """Every slot in the order in which it is shown."""
        last, shown = list[ViewItem](), list[ViewItem]()
        for zone, zone_items in self._shelves.items():
            if any(self._zone_of[ctx_id] is zone for ctx_id in self._last):
                last += [slot for slot in zone_items if slot.item.ctx_id in self._last]
                shown += [slot for slot in zone_items if slot.item.ctx_id not in self._last]
            else:
                shown += zone_items
        return shown + last

    def render_without(self, leave_out: Set[str]) -> RenderedContext:
        """What is shown, in that order, but for the items of these ids."""
        out = leave_out | self._last.keys()
        lasting, chronicle, *others = [
            zone_items.sides_without(out) for zone_items in self._shelves.values()
        ]
        last = [slot for i in self._last if i not in leave_out and (slot := self.get(i))]
        ends = [piece.text for slot in last for piece in slot.pieces]
        present = [one.text for said in others for one in said]
        return RenderedContext(
            BETWEEN.join([one.text for one in lasting]),
            tuple(chronicle),
            BETWEEN.join(present + ends),
        )

    def tokens(self, zone: ContextZone) -> int:
        """What a zone takes."""
        return self._shelves[zone].tokens

    @property
    def used(self) -> int:
        """What all zones take."""
        return sum([zone_items.tokens for zone_items in self._shelves.values()])

    def __len__(self) -> int:
        return len(self._zone_of)


def _names_one(item: ContextItem) -> bool:
    named = item.zone in (ContextZone.system, ContextZone.memory)
    return named and item.source.startswith(_NAMED)
