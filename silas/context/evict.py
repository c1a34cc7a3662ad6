"""Which items leave first, and which never leave (spec 5.7)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from silas.context.models import ContextItem, ContextZone
from silas.context.scoring import ScorerGroups
from silas.context.slots import Slot, Slots

LOW_WATER: Final = 0.75
"""How far a zone is emptied once it is too full: room for many turns, so that the beginning of the
prompt changes seldom and providers can keep it."""


def stays(slot: Slot, turn_number: int) -> bool:
    """Whether an item can never be evicted, whoever asks for it.

    What Silas pinned, the system zone with the standing rules, a plan whose work is not over, and
    the message that is being answered.
    """
    item = slot.item
    return (
        item.pinned
        or item.zone is ContextZone.system
        or (item.kind == "plan" and not slot.done)
        or (item.kind == "message" and item.turn_number >= turn_number)
    )


def _by_age(slot: Slot) -> tuple[float, int]:
    return (0.0, slot.item.turn_number)


def _by_relevance(slot: Slot) -> tuple[float, int]:
    return (slot.item.relevance, slot.item.turn_number)


def _completed_first(slot: Slot) -> tuple[float, int]:
    return (
        0.0 if slot.done or slot.item.kind == "execution_result" else 1.0,
        slot.item.turn_number,
    )


_FIRST: Mapping[ContextZone, Callable[[Slot], tuple[float, int]]] = {
    ContextZone.chronicle: _by_age,
    ContextZone.memory: _by_relevance,
    ContextZone.workspace: _completed_first,
}


def in_order(slots: Slots, zone: ContextZone, turn_number: int) -> list[Slot]:
    """What may leave a zone, what goes first at the front; ties in order of arrival."""
    leaving = (slot for slot in slots.zone(zone) if not stays(slot, turn_number))
    return sorted(leaving, key=_FIRST[zone])


def shrink(slots: Slots, zone: ContextZone, budget: int, turn_number: int) -> list[ContextItem]:
    """Empty a zone that is over its budget down to the low-water mark."""
    if slots.tokens(zone) <= budget:
        return []
    order = in_order(slots, zone, turn_number)
    return remove(slots, order, lambda: slots.tokens(zone) <= budget * LOW_WATER)


def remove(slots: Slots, order: Iterable[Slot], enough: Callable[[], bool]) -> list[ContextItem]:
    """Remove one after the other until it is enough; returns what left."""
    gone = list[ContextItem]()
    for slot in order:
        if enough():
            break
        if slots.take(slot.item.ctx_id) is not None:
            gone.append(slot.item)
    return gone


def aggressively(slots: Slots, turn_number: int, enough: Callable[[], bool]) -> list[ContextItem]:
    """Without any model: oldest chronicle, lowest relevance, completed work, then what is left."""
    gone = list[ContextItem]()
    chronicle, memory, workspace = (
        in_order(slots, zone, turn_number)
        for zone in (ContextZone.chronicle, ContextZone.memory, ContextZone.workspace)
    )
    over = [slot for slot in workspace if _completed_first(slot)[0] == 0.0]
    for order in (_in_turn(chronicle, memory, over), workspace):
        gone += remove(slots, order, enough)
    return gone


def _in_turn(*queues: list[Slot]) -> list[Slot]:
    """One of each in turn, so that no zone is emptied for the sake of another."""
    longest = max(map(len, queues), default=0)
    return [queue[i] for i in range(longest) for queue in queues if i < len(queue)]


def as_advised(
    slots: Slots, advice: ScorerGroups, turn_number: int, enough: Callable[[], bool]
) -> list[ContextItem]:
    """Whole groups as a scorer would have them leave, until it is enough.

    Ids that nobody knows, that must stay, or that it would also keep count for nothing.
    """
    kept = {ctx_id for group in advice.keep for ctx_id in group}
    gone = list[ContextItem]()
    for group in advice.evict:
        if enough():
            break
        for ctx_id in group:
            slot = slots.get(ctx_id)
            if slot is not None and ctx_id not in kept and not stays(slot, turn_number):
                gone += remove(slots, (slot,), lambda: False)
    return gone
