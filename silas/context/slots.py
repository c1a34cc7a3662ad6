"""The items of one scope, each with the block that is shown of it, made once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from silas.context.framing import Fence
from silas.context.models import ContextItem, ContextZone

_NAMED = ("memory:", "persona:")
"""Sources that name one thing: an item of such a source takes the place of the former one."""

LAST = "persona:directives"
"""Rendered after everything else, because it changes from turn to turn."""


@dataclass(slots=True)
class Slot:
    """One item in view.

    Attributes:
        item: What it is.
        fence: The lines around its text.
        body: Its text as it is shown; nearly always the very string of the item.
        cost: Tokens of the whole block.
        done: A plan or a result of work that is over.
    """

    item: ContextItem
    fence: Fence
    body: str
    cost: int
    done: bool = False


@dataclass(slots=True)
class Shelf:
    """One zone of one scope, in the order of arrival."""

    slots: dict[str, Slot] = field(default_factory=dict[str, Slot])
    tokens: int = 0


class Slots:
    """What is in view of one scope. Every change keeps the sums; nothing is ever counted again."""

    __slots__ = ("_last", "_named", "_shelves", "_ways", "_zone_of")

    def __init__(self) -> None:
        self._shelves = {zone: Shelf() for zone in ContextZone}
        self._zone_of: dict[str, ContextZone] = {}
        self._named: dict[tuple[ContextZone, str], str] = {}
        self._last: dict[str, None] = {}
        self._ways: dict[tuple[str, ...], int] = {}

    def former(self, item: ContextItem) -> Slot | None:
        """The slot whose place an item would take."""
        named = self._named.get((item.zone, item.source))
        return self.get(named or item.ctx_id)

    def get(self, ctx_id: str) -> Slot | None:
        """The slot of this id."""
        zone = self._zone_of.get(ctx_id)
        return None if zone is None else self._shelves[zone].slots[ctx_id]

    def put(self, slot: Slot) -> None:
        """Add, or take the place of the slot of the same id."""
        item = slot.item
        if self._zone_of.get(item.ctx_id, item.zone) is not item.zone:
            self.take(item.ctx_id)
        shelf = self._shelves[item.zone]
        former = shelf.slots.get(item.ctx_id)
        shelf.tokens += slot.cost - (former.cost if former else 0)
        shelf.slots[item.ctx_id] = slot
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

    def take(self, ctx_id: str) -> Slot | None:
        """Remove the slot of this id, if it is there."""
        zone = self._zone_of.pop(ctx_id, None)
        if zone is None:
            return None
        shelf = self._shelves[zone]
        slot = shelf.slots.pop(ctx_id)
        shelf.tokens -= slot.cost
        self._came(slot.item, -1)
        self._last.pop(ctx_id, None)
        if self._named.get((zone, slot.item.source)) == ctx_id:
            del self._named[zone, slot.item.source]
        return slot

    def swap(self, slot: Slot, item: ContextItem) -> None:
        """Let a slot hold another item that is shown as its own: of its id, zone and source."""
        self._came(item, 1)
        self._came(slot.item, -1)
        slot.item = item

    def ways(self) -> Sequence[tuple[str, ...]]:
        """What the items came from, each way once; most came by the same few."""
        return list(self._ways)

    def _came(self, item: ContextItem, many: int) -> None:
        left = self._ways.get(item.sources, 0) + many
        if left:
            self._ways[item.sources] = left
        else:
            del self._ways[item.sources]

    def zone(self, zone: ContextZone) -> Iterator[Slot]:
        """The slots of a zone, the oldest first."""
        return iter(self._shelves[zone].slots.values())

    def rendered(self) -> list[Slot]:
        """Every slot in the order in which it is shown."""
        last, shown = list[Slot](), list[Slot]()
        for zone, shelf in self._shelves.items():
            ends = [ctx_id for ctx_id in self._last if self._zone_of[ctx_id] is zone]
            if ends:
                last += [slot for key, slot in shelf.slots.items() if key in self._last]
                shown += [slot for key, slot in shelf.slots.items() if key not in self._last]
            else:
                shown += shelf.slots.values()
        return shown + last

    def tokens(self, zone: ContextZone) -> int:
        """What a zone takes."""
        return self._shelves[zone].tokens

    def __len__(self) -> int:
        return len(self._zone_of)


def _names_one(item: ContextItem) -> bool:
    named = item.zone in (ContextZone.system, ContextZone.memory)
    return named and item.source.startswith(_NAMED)
