"""Tidying memories in the background (spec 4.2.2, 6.4): merge, promote, prune, re-embed."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from silas.audit import Audit
from silas.clock import Clock
from silas.damage import readable_rows
from silas.db import Database, Tx
from silas.errors import SilasError
from silas.memory import records
from silas.memory.models import (
    MemoryConfig,
    MemoryItem,
    MemoryType,
    ReingestionTier,
    TrustLevel,
)
from silas.memory.operations import RulesFit
from silas.memory.replacing import drop_what_went, is_beside
from silas.memory.rows import COLUMNS, TABLE, item_of, moment_text
from silas.types import TaintLevel, join_taint

_WINDOW = 500  # memories that one look at the database goes through: others wait for its end
_AT_ONCE = 50  # changes of one transaction
_QUESTIONS = 1  # that the owner is asked in one round: tidying is no reason to be disturbed
_MOST_MERGED = 200  # of one memory, at once: what is said more often is merged in the next round

ConfirmMemory = Callable[[MemoryItem], Awaitable[bool]]
"""Asks the owner beside the work whether a memory is true; silence means no."""

Reembed = Callable[[], Awaitable[int]]
"""Makes the vectors that are missing; returns how many."""

_SELECT = f"SELECT place, {COLUMNS} FROM memory_items"
_ITEMS = f"{_SELECT} WHERE place > :after ORDER BY place LIMIT :limit"
_AT_PLACES = f"{_SELECT} WHERE place IN :places"
_RULES = f"""
SELECT {COLUMNS} FROM memory_items WHERE scope_id = :scope_id
AND memory_type = 'preference' AND trust_level <> 'working' AND reingestion_tier = 'active'
"""
_ASKED = "SELECT place FROM memory_asked"
_NOTE_ASKED = """
INSERT INTO memory_asked (place, asked_at, answer) VALUES (:place, :asked_at, :answer)
ON CONFLICT DO NOTHING
"""


class ConsolidationRules(NamedTuple):
    """How memories are tidied: see `MemoryConfig`."""

    promote_after_uses: int
    prune_after: timedelta | None

    @classmethod
    def of(cls, config: MemoryConfig) -> "ConsolidationRules":
        """As it is configured."""
        days = config.prune_after_days
        return cls(config.promote_after_uses, None if days is None else timedelta(days=days))


class Consolidator:
    """One at a time, in small steps beside the event loop; whatever breaks off can begin again."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        tidying: ConsolidationRules,
        confirm: ConfirmMemory,
        rules_fit: RulesFit,
        reembed: Reembed,
        audit: Audit,
    ) -> None:
        self._db = db
        self._clock = clock
        self._tidying = tidying
        self._confirm = confirm
        self._rules_fit = rules_fit
        self._reembed = reembed
        self._audit = audit
        self._one_at_a_time = asyncio.Lock()

    async def run_once(self) -> dict[str, int]:
        """One round.

        Returns:
            How many memories were `merged` into another, `promoted`, `pruned` and `reembedded`.

        Raises:
            Stopped: The record was changed outside Silas; nothing is tidied until it was looked at.
        """
        self._audit.require_whole()
        async with self._one_at_a_time:
            await asyncio.to_thread(drop_what_went, self._db)
            merged = await asyncio.to_thread(self._merge)
            pruned = await asyncio.to_thread(self._prune)
            done = {
                "merged": merged,
                "promoted": await self._promote(),
                "pruned": pruned,
                "reembedded": await self._reembed(),
            }
            if any(done.values()):
                await self._audit.log("memory.consolidated", **done)
            return done

    # merge ----------------------------------------------------------------------------------------
    def _merge(self) -> int:
        """Make one of working memories that say the same; the oldest one stays."""
        merged = 0
        for places in self._said_twice():
            with self._db.write() as tx:
                merged += _merge_same(tx, places)
        return merged

    def _said_twice(self) -> list[list[int]]:
        """The places of working memories that seem to say the same, by a hash of what they say."""
        once: set[int] = set()
        twice: dict[int, list[int]] = {}
        for _, item in self._all():
            mark = _mark(item)
            if mark in once:
                twice[mark] = []
            once.add(mark)
        if twice:
            for place, item in self._all():
                if (mark := _mark(item)) in twice and _may_merge(item):
                    twice[mark].append(place)
        return [places[:_MOST_MERGED] for places in twice.values() if len(places) > 1]

    # prune ----------------------------------------------------------------------------------------
    def _prune(self) -> int:
        """Forget what nobody confirmed and nobody used for long; off unless configured."""
        if self._tidying.prune_after is None:
            return 0
        before = self._clock.now() - self._tidying.prune_after
        stale = [place for place, item in self._all() if _is_stale(item, before)]
        pruned = 0
        for start in range(0, len(stale), _AT_ONCE):
            with self._db.write() as tx:
                for record in _records(tx, stale[start : start + _AT_ONCE]):
                    if _is_stale(record.item, before):
                        records.remove(tx, record)
                        facts = {"scope_id": record.item.scope_id, "count": 1}
                        name = record.item.memory_id
                        self._audit.log_now("memory.forgotten", source=name, **facts)
                        pruned += 1
        return pruned

    # promote --------------------------------------------------------------------------------------
    async def _promote(self) -> int:
        """Ask the owner about memories that are used often; only his yes makes them verified."""
        if not self._tidying.promote_after_uses:
            return 0
        candidates = await asyncio.to_thread(self._candidates)
        promoted = 0
        for record in candidates:
            if not self._note(record.place, "asked"):
                continue  # another Silas asks
            yes = await self._confirm(record.item)
            promoted += yes and await self._mark_verified(record)
        return promoted

    def _candidates(self) -> list[records.MemoryRecord]:
        found = [
            records.MemoryRecord(place, item)
            for place, item in self._all()
            if may_be_promoted(item, self._tidying.promote_after_uses)
        ]
        found.sort(key=lambda record: (-record.item.access_count, record.place))
        with self._db.read() as tx:
            asked = {place for (place,) in tx.run(_ASKED)}
        return [record for record in found if record.place not in asked][:_QUESTIONS]

    def _note(self, place: int, answer: str) -> bool:
        """Record that the owner is asked; False where he was already."""
        with self._db.write() as tx:
            now = moment_text(self._clock.now())
            return tx.run(_NOTE_ASKED, place=place, asked_at=now, answer=answer).rowcount == 1

    async def _mark_verified(self, asked: records.MemoryRecord) -> bool:
        """Promote a memory to verified, unless it changed after the owner's yes."""
        self._audit.require_whole()  # it may have been found changed while the card was open
        with self._db.write() as tx:
            now = records.find(tx, asked.item.memory_id, asked.item.scope_id)
            if now is None or now.item.content != asked.item.content:
                return False
            if not may_be_promoted(now.item, 0) or not self._fits(tx, now.item):
                return False
            records.replace(
                tx, now, {"trust_level": TrustLevel.verified, "updated_at": self._clock.now()}
            )
            self._audit.log_now("memory.promoted", memory_id=now.item.memory_id)
        return True

    def _fits(self, tx: Tx, item: MemoryItem) -> bool:
        if item.memory_type is not MemoryType.preference:
            return True
        rows = tx.run(_RULES, scope_id=item.scope_id).fetchall()
        return self._rules_fit([*map(item_of, rows), item])

    def _all(self) -> Iterable[tuple[int, MemoryItem]]:
        """Every memory of the active lane, a page at a time."""
        last = 0
        while True:
            with self._db.read() as tx:
                rows = tx.run(_ITEMS, after=last, limit=_WINDOW).fetchall()
            for place, item, _ in readable_rows(self._db, TABLE, rows, _row_id, _record_of):
                active = item.reingestion_tier is ReingestionTier.active
                if active and not is_beside(item.scope_id):
                    yield place, item
            if len(rows) < _WINDOW:
                return
            last = rows[-1][0]


def _row_id(row: Sequence[Any]) -> object:
    return row[1]


def _record_of(row: Sequence[Any]) -> records.MemoryRecord:
    return records.MemoryRecord(row[0], item_of(row[1:]))


def may_be_promoted(item: MemoryItem, after_uses: int) -> bool:
    """Whether the owner may be asked to confirm a memory; what is external never becomes more.

    Preferences that were inferred from behaviour have cards of their own (spec 6.6).
    """
    if item.trust_level is not TrustLevel.working or item.taint is TaintLevel.external:
        return False
    if item.reingestion_tier is not ReingestionTier.active:
        return False
    inferred = any(tag.startswith("behavior:") for tag in item.semantic_tags)
    return not inferred and item.access_count >= after_uses


def _may_merge(item: MemoryItem) -> bool:
    active = item.reingestion_tier is ReingestionTier.active
    return active and item.trust_level is TrustLevel.working


def _is_stale(item: MemoryItem, before: datetime) -> bool:
    used = max(item.last_accessed or item.created_at, item.updated_at)
    return item.trust_level is TrustLevel.working and used < before


def _mark(item: MemoryItem) -> int:
    return hash(_says(item))


def _merge_same(tx: Tx, places: list[int]) -> int:
    """Merge those of these memories that say exactly the same; returns how many went."""
    here = sorted(
        (record for record in _records(tx, places) if _may_merge(record.item)),
        key=lambda record: (record.item.created_at, record.place),
    )
    if len(here) < 2:
        return 0
    first, *others = here
    same = [record for record in others if _says(record.item) == _says(first.item)]
    for record in same:
        records.remove(tx, record)
    if same:
        items = [record.item for record in (first, *same)]
        records.replace(tx, first, merged_fields(items))
    return len(same)


def _says(item: MemoryItem) -> tuple[str, MemoryType, str]:
    return item.scope_id, item.memory_type, item.content


def merged_fields(same: list[MemoryItem]) -> dict[str, object]:
    """What one memory has of several that say the same: every source, the least trusted taint."""
    used = [item.last_accessed for item in same if item.last_accessed is not None]
    gone = {item.memory_id for item in same}
    refs = _each_once(ref for item in same for ref in item.causal_refs)
    return {
        "sources": _each_once(source for item in same for source in item.sources),
        "taint": join_taint(item.taint for item in same),
        "semantic_tags": _each_once(tag for item in same for tag in item.semantic_tags),
        "entity_refs": _each_once(ref for item in same for ref in item.entity_refs),
        "causal_refs": tuple(ref for ref in refs if ref not in gone),
        "access_count": sum(item.access_count for item in same),
        "last_accessed": max(used, default=None),
        "updated_at": max(item.updated_at for item in same),
    }


def _each_once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _records(tx: Tx, places: list[int]) -> list[records.MemoryRecord]:
    rows = tx.run(_AT_PLACES, places=places).fetchall()
    return [records.MemoryRecord(row[0], item_of(row[1:])) for row in rows]


async def consolidate(consolidator: Consolidator, audit: Audit) -> None:
    """Tidy once; a failure is recorded, and the next time tries again."""
    try:
        await consolidator.run_once()
    except SilasError as error:
        await audit.log("memory.consolidation_failed", code=error.code)
