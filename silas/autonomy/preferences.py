"""What the owner usually does becomes a preference, and by his yes a standing rule (spec 6.6)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from silas.audit import Audit
from silas.autonomy.models import BehaviorPreferencesConfig
from silas.autonomy.signals import (
    LAPSED_FAMILY,
    NARROWED_FAMILY,
    STANDING_FAMILY,
    USED_UP_FAMILY,
    Decision,
    Signal,
    is_family,
)
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import Clock
from silas.memory import MemoryItem, MemoryStore, MemoryType, TrustLevel
from silas.types import OWNER, TaintLevel, new_id

REPEATED = 5
"""So many decisions about a family, one like the other, are a pattern."""

_WINDOW_DAYS = 30

_SENTENCES: Mapping[Decision, str] = {
    "approved": "The owner usually approves {what} as proposed.",
    "declined": "The owner usually declines {what}: propose another way first.",
    "edit_selection": "The owner usually wants {what} changed: name the alternatives at once.",
    "undo": "The owner usually takes back {what}: say beforehand exactly what would change.",
    "dismissed": "The owner usually dismisses {what}: leave them out.",
}

_KINDS: Mapping[str, str] = {
    "plan": "plans of the kind {name}",
    "tool": "calls of {name}",
    "suggestion": "suggestions of the kind {name}",
    "batch": "batches of {name}",
}

PreferencesFit = Callable[[Sequence[MemoryItem]], bool]
"""Whether these standing rules have room in every prompt together."""


class Promotion(NamedTuple):
    """A preference that the owner may make a standing rule, as it is shown to him."""

    pattern: str
    memory_id: str
    content: str


class Preferences:
    """Learns from the owner's decisions; what it learns is working until he says otherwise."""

    def __init__(
        self,
        config: BehaviorPreferencesConfig,
        store: SqlAutonomyStore,
        memory: MemoryStore,
        rules_fit: PreferencesFit,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._config = config
        self._store = store
        self._memory = memory
        self._rules_fit = rules_fit
        self._audit = audit
        self._clock = clock

    async def observe(self, signal: Signal) -> str | None:
        """Look whether this decision, already on record, completes a pattern.

        Returns:
            The id of the memory that was made; None where nothing is to be learned.
        """
        if not self._config.enabled or signal.scope_id != OWNER or not is_family(signal.family):
            return None
        if signal.family in (STANDING_FAMILY, USED_UP_FAMILY, LAPSED_FAMILY, NARROWED_FAMILY):
            return None  # nobody was asked: that is no preference
        now = self._clock.now()
        since = now - timedelta(days=_WINDOW_DAYS)
        last = self._store.list_decided(signal.scope_id, signal.family, since, REPEATED)
        if len(last) < REPEATED or {one.outcome for one in last} != {signal.outcome}:
            return None
        pattern = f"{signal.family}:{signal.outcome}"
        known = {one.pattern for one in self._store.list_preferences(signal.scope_id)}
        today = self._store.count_learned(signal.scope_id, now - timedelta(days=1))
        if pattern in known or today >= self._config.max_new_inferences_per_day:
            return None
        return await self._learn(signal, pattern)

    async def promotions(self, scope_id: str) -> list[Promotion]:
        """Preferences about which the owner was not asked yet."""
        if not (self._config.enabled and self._config.promotion_requires_confirmation):
            return []  # nobody is asked, so nothing ever becomes a rule
        if scope_id != OWNER:
            return []
        open_ones = [one for one in self._store.list_preferences(scope_id) if one.decision is None]
        found = [(one, await self._memory.get(one.memory_id, scope_id)) for one in open_ones]
        return [
            Promotion(one.pattern, one.memory_id, item.content)
            for one, item in found
            if item is not None and item.trust_level is TrustLevel.working
        ]

    async def apply_decision(self, scope_id: str, promotion: Promotion, confirmed: bool) -> bool:
        """What the owner said: a rule from now on, or never asked again.

        Returns:
            Whether it is a standing rule now. Not where its words changed since they were shown,
            nor where it would not fit beside the others.

        Raises:
            Stopped: He confirmed it while the record was found changed; he is asked again later.
        """
        if confirmed:
            self._audit.require_whole()
        item = await self._memory.get(promotion.memory_id, scope_id)
        unchanged = item is not None and item.content == promotion.content
        verified = False
        if confirmed and item is not None and unchanged and await self._fits(scope_id, item):
            await self._memory.update(
                item.memory_id,
                scope_id=scope_id,
                trust_level=TrustLevel.verified,
                taint=TaintLevel.owner,
            )
            verified = True
        if unchanged or not confirmed:
            decision = "verified" if verified else "dismissed"
            self._store.settle(scope_id, promotion.pattern, decision)
        await self._audit.log("preference_decided", pattern=promotion.pattern, rule=verified)
        return verified

    async def _learn(self, signal: Signal, pattern: str) -> str:
        now = self._clock.now()
        kind, _, name = signal.family.partition(":")
        what = _KINDS.get(kind, "{name}").format(name=name)
        item = MemoryItem(
            memory_id=new_id("mem"),
            content=_SENTENCES[signal.outcome].format(what=what),
            memory_type=MemoryType.preference,
            trust_level=TrustLevel.working,
            created_at=now,
            updated_at=now,
            semantic_tags=(f"behavior:{pattern}",),
            source_kind="behavior",
            scope_id=signal.scope_id,
            sources=(f"behavior:{signal.family}",),
        )
        await self._memory.store(item)
        self._store.learn(signal.scope_id, pattern, item.memory_id, now)
        await self._audit.log("preference_inferred", pattern=pattern, memory_id=item.memory_id)
        return item.memory_id

    async def _fits(self, scope_id: str, item: MemoryItem) -> bool:
        return self._rules_fit([*await self._memory.rules(scope_id), item])
