"""The context of every scope: what a model sees, and what leaves to make room (spec 4.3, 5.7).

Silas alone decides what enters, stays and leaves; no model has a call for it.
"""

import re
from collections.abc import Callable, Sequence, Set
from datetime import tzinfo

from silas.audit import Audit
from silas.clock import Clock
from silas.context import evict, mask
from silas.context.breaker import CircuitBreaker
from silas.context.conversation import RenderedContext
from silas.context.errors import ContextError
from silas.context.models import (
    ContextConfig,
    ContextItem,
    ContextProfile,
    ContextSubscription,
    ContextZone,
    copy_sharing_fields,
)
from silas.context.origin import comes_from
from silas.context.render import answer_moment, render_block, render_entering, same_block
from silas.context.scope_items import ScopeItems
from silas.context.scoring import Scorer, ScorerGroups
from silas.context.subscribe import ReadFile, SearchMemories, Subscriptions
from silas.context.view import ContextPressure, ScopeView
from silas.context.zone_items import ViewItem
from silas.context.zones import ZoneBudget, divide
from silas.types import TaintLevel

_SPARE = 0.9
"""Share of the threshold that is used once it was passed: the next turn does not pass it again."""

_RECENT = 6  # messages a scorer is told: the last two or three turns
_ZONES = (ContextZone.chronicle, ContextZone.memory, ContextZone.workspace)


class ContextManager:
    """Keeps the context of each scope; nothing is shared between them.

    Args:
        config: Sizes and profiles.
        count: Tokens of a text.
        clock: Dates of what subscriptions bring.
        scorer: Advice on what to evict; `no_scorer` for none.
        read_file: A file's bytes, or a refusal; it knows where a scope may look.
        search: Memories for a subscription.
        audit: Where unusual things are recorded.
        zone: The owner's, for the day and time of messages.
    """

    def __init__(
        self,
        config: ContextConfig,
        count: Callable[[str], int],
        clock: Clock,
        scorer: Scorer,
        read_file: ReadFile,
        search: SearchMemories,
        audit: Audit,
        zone: tzinfo,
    ) -> None:
        self._config = config
        self._count = count
        self._clock = clock
        self._scorer = scorer
        self._read_file = read_file
        self._search = search
        self._audit = audit
        self._zone = zone
        self._trivial = re.compile(config.trivial_messages, re.IGNORECASE)
        self._reserved = 0
        self._views: dict[str, ScopeView] = {}

    # what is in view

    def add(self, scope_id: str, item: ContextItem) -> str:
        """Take an item into view; external text is made harmless first, and it is counted here.

        An item of the id of another takes its place, and so does one of the system or memory zone
        whose source names one thing (`memory:ID`, `persona:directives`).

        Returns:
            The id under which it is in view: that of the item whose place it took, if any.
        """
        view = self._view(scope_id)
        item = self._enter_item(view, item)
        former = view.slots.get(item.ctx_id)
        if former is not None and same_block(former.item, item):
            since = {"created_at": former.item.created_at}
            view.slots.swap(former, item.model_copy(update=since))
            return item.ctx_id
        self._put(view, item)
        if item.kind == "tool_result" and not item.masked:
            view.results.append(item.ctx_id)
        if item.kind == "message" and item.zone is ContextZone.chronicle:
            if mask.is_acknowledgement(item, self._trivial) and not view.asked:
                view.trifles.append(item.ctx_id)
            view.asked = mask.asks(item)
            view.subscriptions.note_mentions(item)
        return item.ctx_id

    def renew(self, scope_id: str, ctx_id: str, relevance: float, turn_number: int) -> None:
        """Take note that an item in view is what this turn was looking for, and how well it fits.

        It stays where it stands, so that the beginning of the prompt stays the same.
        """
        slot = self._view(scope_id).slots.get(ctx_id)
        if slot is not None:
            changed = {"relevance": relevance, "turn_number": turn_number}
            self._view(scope_id).slots.swap(slot, slot.item.model_copy(update=changed))

    def drop(self, scope_id: str, ctx_id: str) -> None:
        """Remove an item, whatever it is; Silas's own call, never a model's."""
        self._view(scope_id).slots.take(ctx_id)

    def complete(self, scope_id: str, ctx_id: str, *, succeeded: bool = False) -> None:
        """The work of a plan or result is over, or was declined: from now on it may be evicted.

        A plan becomes one line once it is old, as results of tools do; at the next turn where its
        work succeeded.
        """
        view = self._view(scope_id)
        slot = view.slots.get(ctx_id)
        if slot is not None and not slot.done:
            item = slot.item
            if item.kind == "plan":
                item = item.model_copy(update={"pinned": False, "succeeded": succeeded})
                view.results.append(ctx_id)
            self._put(view, item, done=True)

    def get_zone(self, scope_id: str, zone: ContextZone) -> list[ContextItem]:
        """The items of a zone, the oldest first."""
        return [slot.item for slot in self._view(scope_id).slots.zone(zone)]

    def in_view(self, scope_id: str) -> Sequence[ContextItem]:
        """Every item in the order in which it is rendered."""
        return [slot.item for slot in self._view(scope_id).slots.view_items()]

    def ways(self, scope_id: str) -> Sequence[tuple[str, ...]]:
        """What the items in view came from, each way that any of them came once."""
        return self._view(scope_id).slots.ways()

    def taints(self, scope_id: str) -> Set[TaintLevel]:
        """How far the items in view are trusted, each level that any of them has."""
        return self._view(scope_id).slots.taints()

    def forget(self, scope_id: str, source: str) -> int:
        """Remove everything that came from a source, derived items included; returns how many."""
        view = self._view(scope_id)
        doomed = [s.item for s in view.slots.view_items() if comes_from(s.item, source)]
        for item in doomed:
            view.slots.take(item.ctx_id)
        view.subscriptions.forget(source)
        left = [item for item in view.left if not comes_from(item, source)]
        gone = len(doomed) + len(view.left) - len(left)
        view.left = left
        return gone

    # subscriptions

    def subscribe(self, scope_id: str, sub: ContextSubscription) -> str:
        """Follow a file, some of its lines, or a question to memory.

        Returns:
            The id that follows it: an earlier one's, where that covers it or was widened.

        Raises:
            ContextError: The target of a line range is not `path:start-end`.
        """
        return self._view(scope_id).subscriptions.add(sub)

    def unsubscribe(self, scope_id: str, sub_id: str) -> None:
        """Follow it no more; it costs nothing from now on."""
        self._view(scope_id).subscriptions.deactivate(sub_id, "it was given up")

    async def refresh(self, scope_id: str, turn_number: int) -> None:
        """Bring what is subscribed to up to date; memories are asked for again each time."""
        await self._view(scope_id).subscriptions.refresh(turn_number)

    # size

    def reserve(self, tokens: int) -> None:
        """Tokens of the prompts' fixed parts; they count as use of every system zone."""
        self._reserved = tokens

    def set_profile(self, scope_id: str, profile_name: str) -> None:
        """Divide the window of a scope as this profile says from now on.

        Raises:
            ContextError: There is no such profile.
        """
        if profile_name not in self._config.profiles:
            raise ContextError(
                f"There is no context profile {profile_name!r}; there are "
                f"{', '.join(self._config.profiles)}.",
                code="E_CTX_PROFILE",
                scope_id=scope_id,
            )
        self._view(scope_id).profile = profile_name

    def token_usage(self, scope_id: str) -> dict[str, int]:
        """Tokens in use by zone, blocks with their framing; `system` with the reserve."""
        slots = self._view(scope_id).slots
        return {zone.value: self._zone_tokens(slots, zone) for zone in ContextZone}

    def division(self, scope_id: str) -> ZoneBudget:
        """What each zone of a scope may hold now."""
        view = self._view(scope_id)
        profile: ContextProfile = self._config.profiles[view.profile]
        system = self._zone_tokens(view.slots, ContextZone.system)
        return divide(self._config, profile, system)

    def pressure(self, scope_id: str, turn_number: int) -> ContextPressure:
        """How full a scope's context is in a turn, and how much of it can never leave."""
        slots = self._view(scope_id).slots
        held = sum(s.cost for s in slots.view_items() if evict.stays(s, turn_number))
        return ContextPressure(self._count_tokens(slots), self._limit, self._reserved + held)

    async def enforce_budget(
        self, scope_id: str, turn_number: int, current_goal: str | None = None
    ) -> list[ContextItem]:
        """Make room where the context is too full (spec 5.7).

        What comes back has left, or was shortened: each item as it stood there, to be remembered
        by the caller (decision A12). If the budget cannot be kept because only what must stay is
        left, that is recorded as `context_over_budget`, and `pressure` says so.
        """
        view = self._view(scope_id)
        await view.subscriptions.refresh(turn_number)
        began_with = self._count_tokens(view.slots)
        gone = view.left
        view.left = []
        try:
            gone += self._mask(view, turn_number)
            gone += self._drop_trifles(view, turn_number)
            view.subscriptions.expire(turn_number)
            division = self.division(scope_id)
            for zone in _ZONES:
                gone += evict.shrink(view.slots, zone, division.of(zone), turn_number)
            if self._count_tokens(view.slots) > self._limit:
                gone += await self._second_tier(view, turn_number, current_goal or "", began_with)
        except BaseException:
            view.left = gone  # nothing is lost: the next call hands it out
            raise
        await self._tell_if_over(scope_id, view, turn_number)
        view.subscriptions.deactivate_evicted(gone)
        # a file is where it was, and what a shortened result said was handed out before
        return [item for item in gone if item.kind != "subscription" and not item.masked]

    def render(
        self, scope_id: str, turn_number: int, leave_out: frozenset[str] = frozenset()
    ) -> RenderedContext:
        """The context as it is shown: system, chronicle, memory, workspace; the manner last.

        Args:
            scope_id: Whose.
            turn_number: The turn that it is rendered for.
            leave_out: Ids of items that the prompt shows by itself.
        """
        view = self._view(scope_id)
        view.subscriptions.refresh_files(turn_number)
        view.left += self._mask(view, turn_number)
        return view.slots.render_without(leave_out)

    # inside

    def _view(self, scope_id: str) -> ScopeView:
        view = self._views.get(scope_id)
        if view is None:
            slots = ScopeItems()

            def put(item: ContextItem, notes: tuple[str, ...]) -> None:
                self._put(made, self._enter_item(made, item), notes)

            subscriptions = Subscriptions(
                scope_id, slots, put, self._config, self._clock, self._read_file, self._search,
                self._count, self._audit,
            )  # fmt: skip
            breaker = CircuitBreaker(self._clock)
            made = ScopeView(self._config.default_profile, subscriptions, breaker, slots)
            view = self._views[scope_id] = made
        return view

    def _enter_item(self, view: ScopeView, item: ContextItem) -> ContextItem:
        former, text = view.slots.former(item), render_entering(item)
        # who takes a pinned item's place is pinned, too; only `drop` and `complete` let go
        pinned = item.pinned or item.zone is ContextZone.system
        entered = {
            "ctx_id": former.item.ctx_id if former else item.ctx_id,
            "content": text,
            "token_count": max(item.token_count, self._count(text)),
            "pinned": pinned or (former is not None and former.item.pinned),
        }
        return copy_sharing_fields(item, entered)

    def _put(
        self, view: ScopeView, item: ContextItem, notes: tuple[str, ...] = (), *, done: bool = False
    ) -> None:
        if not notes:
            notes = ("live" if item.kind != "plan" else "over" if done else "active",)
        block = render_block(item, notes, self._zone)
        around = self._count(f"{block.fence.head}\n\n{block.fence.end}")
        escaped = 0 if block.body == item.content else self._count(block.body)
        cost = around + max(item.token_count, escaped)
        former, last = view.slots.get(item.ctx_id), view.slots.last_message()
        when = former.when if former else answer_moment(item, last, self._zone)
        view.slots.put(ViewItem(item, block.fence, block.body, cost, done, when=when))

    @property
    def _limit(self) -> int:
        return int(self._config.total_tokens * self._config.eviction_threshold_pct)

    def _zone_tokens(self, slots: ScopeItems, zone: ContextZone) -> int:
        return slots.tokens(zone) + (self._reserved if zone is ContextZone.system else 0)

    def _count_tokens(self, slots: ScopeItems) -> int:
        return self._reserved + slots.used

    def _mask(self, view: ScopeView, turn_number: int) -> list[ContextItem]:
        """Shorten old results, and those that a later one repeats; returns the old as they were."""
        oldest_shown = turn_number - self._config.observation_mask_after_turns
        originals, still = list[ContextItem](), list[str]()
        shown = [slot for one in view.results if (slot := view.slots.get(one)) is not None]
        shown = [slot for slot in shown if not slot.item.masked]
        again = mask.repeated_results([slot.item for slot in shown])
        for slot in shown:
            item, repeated = slot.item, slot.item.ctx_id in again
            if item.pinned or not (repeated or mask.is_spent(item, oldest_shown)):
                still.append(item.ctx_id)
                continue
            if not repeated:  # else its text is still there, and is handed out in its time
                originals.append(item)
            words = mask.repeated_note(item) if repeated else mask.placeholder(item)
            update = {"content": words, "token_count": self._count(words), "masked": True}
            self._put(view, item.model_copy(update=update), done=slot.done)
        view.results = still
        return originals

    def _drop_trifles(self, view: ScopeView, turn_number: int) -> list[ContextItem]:
        old = [slot for i in view.trifles if (slot := view.slots.get(i)) is not None]
        over = [slot for slot in old if not evict.stays(slot, turn_number)]
        view.trifles = [s.item.ctx_id for s in old if evict.stays(s, turn_number)]
        return evict.remove(view.slots, over, lambda: False)

    async def _second_tier(
        self, view: ScopeView, turn_number: int, goal: str, began_with: int
    ) -> list[ContextItem]:
        """Advice where the context filled up at once, and rules alone for all that is left."""
        slots, gone = view.slots, list[ContextItem]()

        def enough() -> bool:
            return self._count_tokens(slots) <= self._limit * _SPARE

        scorer_from = self._config.total_tokens * self._config.scorer_threshold_pct
        may_leave = [s.item for s in slots.view_items() if not evict.stays(s, turn_number)]
        if began_with > scorer_from and may_leave:
            advice = await self._advice(view, goal, may_leave)
            gone += evict.as_advised(slots, advice, turn_number, enough)
        gone += evict.aggressively(slots, turn_number, enough)
        return gone

    async def _advice(
        self, view: ScopeView, goal: str, items: Sequence[ContextItem]
    ) -> ScorerGroups:
        """What the scorer says; a scope whose scorer fails again and again goes without it."""
        if view.breaker.open:
            return ScorerGroups()
        spoken = [
            slot.item.content
            for slot in view.slots.zone(ContextZone.chronicle)
            if slot.item.kind == "message"
        ]
        advice = await self._scorer(goal, "\n".join(spoken[-_RECENT:]), items)
        if not advice.missing:
            view.breaker.record_success()
            return advice
        view.breaker.record_failure()
        left_alone = " It is left alone for five minutes." if view.breaker.open else ""
        await self._audit.log("context_scorer_missing", reason=f"{advice.missing}.{left_alone}")
        return advice

    async def _tell_if_over(self, scope_id: str, view: ScopeView, turn_number: int) -> None:
        over = self._count_tokens(view.slots) > self._limit
        if over and not view.over:
            pressure = self.pressure(scope_id, turn_number)
            await self._audit.log(
                "context_over_budget",
                scope_id=scope_id,
                used=pressure.used,
                limit=pressure.limit,
                held=pressure.held,
            )
        view.over = over
