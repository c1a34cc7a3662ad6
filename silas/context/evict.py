"""Which items leave first, and which never leave (spec 5.7)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from silas.context.models import ContextItem, ContextZone
from silas.context.scope_items import ScopeItems
from silas.context.scoring import ScorerGroups
from silas.context.zone_items import ViewItem

LOW_WATER: Final = 0.75
"""How far a zone is emptied once it is too full: room for many turns, so that the beginning of the
prompt changes seldom and providers can keep it."""


def stays(slot: ViewItem, turn_number: int) -> bool:
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


_Place = tuple[float, float, int]
"""Where an item stands in the order: what has the least goes first."""


def _by_age(slot: ViewItem, turn_number: int) -> _Place:
    return (0.0, 0.0, slot.item.turn_number)


def _by_relevance(slot: ViewItem, turn_number: int) -> _Place:
    # relevance is to the message it was recalled for: of former messages it says nothing now
    now = float(_recalled_now(slot, turn_number))
    return (now, slot.item.relevance, slot.item.turn_number)


def _completed_first(slot: ViewItem, turn_number: int) -> _Place:
    return (float(not _over(slot)), 0.0, slot.item.turn_number)


def _over(slot: ViewItem) -> bool:
    return slot.done or slot.item.kind == "execution_result"


_FIRST: Mapping[ContextZone, Callable[[ViewItem, int], _Place]] = {
    ContextZone.chronicle: _by_age,
    ContextZone.memory: _by_relevance,
    ContextZone.workspace: _completed_first,
}


def in_order(slots: ScopeItems, zone: ContextZone, turn_number: int) -> list[ViewItem]:
    """What may leave a zone, what goes first at the front; ties in order of arrival."""
    leaving = (slot for slot in slots.zone(zone) if not stays(slot, turn_number))
    first = _FIRST[zone]
    return sorted(leaving, key=lambda slot: first(slot, turn_number))


def shrink(
    slots: ScopeItems, zone: ContextZone, budget: int, turn_number: int
) -> list[ContextItem]:
    """Empty a zone that is over its budget down to the low-water mark.

    What was recalled for the very message that is answered leaves for the budget alone, and not
    to make room beforehand.
    """
    if slots.tokens(zone) <= budget:
        return []
    order = in_order(slots, zone, turn_number)
    fresh = [slot for slot in order if _recalled_now(slot, turn_number)]
    gone = remove(
        slots, order[: len(order) - len(fresh)], _at_most(slots, zone, budget * LOW_WATER)
    )
    return gone + remove(slots, fresh, _at_most(slots, zone, budget))


def _recalled_now(slot: ViewItem, turn_number: int) -> bool:
    return slot.item.zone is ContextZone.memory and slot.item.turn_number >= turn_number


def _at_most(slots: ScopeItems, zone: ContextZone, tokens: float) -> Callable[[], bool]:
    return lambda: slots.tokens(zone) <= tokens


def remove(
    slots: ScopeItems, order: Iterable[ViewItem], enough: Callable[[], bool]
) -> list[ContextItem]:
    """Remove one after the other until it is enough; returns what left."""
    gone = list[ContextItem]()
    for slot in order:
        if enough():
            break
        if slots.take(slot.item.ctx_id) is not None:
            gone.append(slot.item)
    return gone


def aggressively(
    slots: ScopeItems, turn_number: int, enough: Callable[[], bool]
) -> list[ContextItem]:
    """Without any model: oldest chronicle, lowest relevance, completed work, then what is left."""
    gone = list[ContextItem]()
    chronicle, memory, workspace = (
        in_order(slots, zone, turn_number)
        for zone in (ContextZone.chronicle, ContextZone.memory, ContextZone.workspace)
    )
    over = [slot for slot in workspace if _over(slot)]
    for order in (_in_turn(chronicle, memory, over), workspace):
        gone += remove(slots, order, enough)
    return gone


def _in_turn(*queues: list[ViewItem]) -> list[ViewItem]:
    """One of each in turn, so that no zone is emptied for the sake of another."""
    longest = max(map(len, queues), default=0)
    return [queue[i] for i in range(longest) for queue in queues if i < len(queue)]


def as_advised(
    slots: ScopeItems, advice: ScorerGroups, turn_number: int, enough: Callable[[], bool]
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
