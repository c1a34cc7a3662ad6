"""Memories in the database (spec 4.2, 6.1). Statements are tiny and run inline (decision A23)."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, LiteralString

from silas.clock import Clock
from silas.db import Database, Tx
from silas.errors import MemoryRefused
from silas.memory import forgotten, records
from silas.memory.forgotten import ForgottenEntry
from silas.memory.models import MemoryItem, ReingestionTier
from silas.memory.neighbours import Neighbours, neighbours_of
from silas.memory.partitions import Partition, partition_of, scope_in
from silas.memory.rank import TextMatches, best_of
from silas.memory.rows import FIELDS, moment_text, readable_items
from silas.memory.sqlite_statements import (
    NEWEST_OF_SESSION,
    OF_SESSION,
    SAID_IN,
    STANDING_RULES,
    WITHIN,
)
from silas.types import OWNER

_FIXED = frozenset({"memory_id", "scope_id", "created_at"})
"""What a memory is known by; a change of it would be another memory."""

_ACTIVE, _RAW = partition_of(ReingestionTier.active), partition_of(ReingestionTier.low_reingestion)

_ACCESSED = """
UPDATE memory_items SET access_count = access_count + 1, last_accessed = :now
WHERE scope_id = :scope_id AND memory_id IN :memory_ids
"""

_AT_ONCE = 500  # memories forgotten in one transaction: a few ms, then others have their turn


class SqlMemoryStore:
    """`MemoryStore` over the database; `db.migrate("silas.memory")` makes its tables.

    Whoever writes here is trusted to say how far a memory is trusted, except that what is external
    is never more than `working`, and that what is `constitutional` is never changed or deleted.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def store(self, item: MemoryItem) -> str:
        """See `MemoryStore.store`."""
        await self.store_many([item])
        return item.memory_id

    async def store_raw(self, item: MemoryItem) -> str:
        """See `MemoryStore.store_raw`."""
        raw = {"reingestion_tier": ReingestionTier.low_reingestion}
        return await self.store(item.model_copy(update=raw))

    async def store_many(self, items: Sequence[MemoryItem]) -> None:
        """Keep several memories, each in its own lane, all of them or none.

        Raises:
            MemoryRefused: One is there under its id, or is external and more than `working`.
        """
        if not items:
            return
        with self._db.write() as tx:
            records.insert(tx, items)

    async def get(self, memory_id: str, scope_id: str = OWNER) -> MemoryItem | None:
        """See `MemoryStore.get`."""
        with self._db.read() as tx:
            found = records.find(tx, memory_id, scope_id)
        return None if found is None else found.item

    async def update(self, memory_id: str, *, scope_id: str = OWNER, **changes: Any) -> None:
        """See `MemoryStore.update`.

        Raises:
            MemoryRefused: There is no such memory or field, the value does not fit it, or the rules
                of trust forbid it.
        """
        if unknown := sorted(changes.keys() - (set(FIELDS) - _FIXED)):
            raise MemoryRefused(
                f"A memory's {unknown[0]!r} cannot be changed; see spec 3.8 for its fields.",
                code="E_MEM_FIELD",
            )
        with self._db.write() as tx:
            old = records.require_changeable(tx, memory_id, scope_id)
            records.replace(tx, old, {"updated_at": self._clock.now(), **changes})

    async def delete(self, memory_id: str, scope_id: str = OWNER) -> None:
        """See `MemoryStore.delete`.

        Raises:
            MemoryRefused: There is no such memory, or it is constitutional.
        """
        with self._db.write() as tx:
            records.remove(tx, records.to_forget(tx, memory_id, scope_id))
            forgotten.note(tx, scope_id, forgotten.one_memory(memory_id))

    async def search_keyword(
        self, query: str, limit: int, scope_id: str = OWNER
    ) -> list[MemoryItem]:
        """See `MemoryStore.search_keyword`."""
        return self._find_items(query, limit, scope_id, _ACTIVE)

    def list_said(self, ending: str, scope_id: str = OWNER) -> list[str]:
        """The ids of what was kept of the sittings whose names end so, as it was said and as it
        left their view; what a scope was told to remember is not among it.
        """
        with self._db.read() as tx:
            rows = tx.run(SAID_IN, scope_id=scope_id, ending=f"%{ending}").fetchall()
        return [str(name) for (name,) in rows]

    async def search_raw(self, query: str, limit: int, scope_id: str = OWNER) -> list[MemoryItem]:
        """See `MemoryStore.search_raw`."""
        return self._find_items(query, limit, scope_id, _RAW)

    def fitting(self, text: str, limit: int, scope_id: str = OWNER) -> TextMatches:
        """Active memories that fit a text, by what was said around them, too, best first."""
        with self._db.read() as tx:
            return self._find_best(tx, text, limit, scope_id, _ACTIVE, neighbours=True)

    def talk(self, memory_ids: Sequence[str], scope_id: str = OWNER) -> Neighbours:
        """Active memories of these ids and what was said around each, as far as it is valid now."""
        with self._db.read() as tx:
            scope = scope_in(tx, scope_id, _ACTIVE)
            return neighbours_of(tx, scope, memory_ids, moment_text(self._clock.now()))

    async def get_many(self, memory_ids: Sequence[str], scope_id: str = OWNER) -> list[MemoryItem]:
        """The memories of these ids that this scope has, in this order."""
        with self._db.read() as tx:
            rows = records.rows_of(tx, memory_ids, scope_id)
        return readable_items(self._db, rows)

    async def search_session(self, session_id: str, scope_id: str = OWNER) -> list[MemoryItem]:
        """See `MemoryStore.search_session`."""
        return self._query_active(OF_SESSION, scope_id=scope_id, session_id=session_id)

    async def newest_of_session(
        self, session_id: str, limit: int, scope_id: str = OWNER
    ) -> list[MemoryItem]:
        """Active memories of a session, newest first: a session may be as long as a life."""
        most = max(limit, 0)
        return self._query_active(
            NEWEST_OF_SESSION, scope_id=scope_id, session_id=session_id, limit=most
        )

    async def search_temporal(
        self, since: datetime, until: datetime, limit: int, scope_id: str = OWNER
    ) -> list[MemoryItem]:
        """See `MemoryStore.search_temporal`; both ends belong to the window."""
        window = {"since": moment_text(since), "until": moment_text(until)}
        with self._db.read() as tx:
            rows = tx.run(WITHIN, scope_id=scope_id, **window, limit=max(limit, 0)).fetchall()
        return readable_items(self._db, rows)

    async def rules(self, scope_id: str = OWNER) -> list[MemoryItem]:
        """See `MemoryStore.rules`."""
        return self._query_active(STANDING_RULES, scope_id=scope_id)

    async def forget(self, source: str, scope_id: str = OWNER) -> int:
        """See `MemoryStore.forget`. What is constitutional came from nowhere else, and stays."""
        gone = await self.forget_again(source, scope_id)
        with self._db.write() as tx:
            gone += self._remove_some(tx, source, scope_id)  # what came meanwhile
            forgotten.note(tx, scope_id, source)
        return gone

    async def forget_again(self, source: str, scope_id: str = OWNER) -> int:
        """See `MemoryStore.forget_again`."""
        gone = 0
        while True:
            with self._db.write() as tx:
                some = self._remove_some(tx, source, scope_id)
            gone += some
            if some < _AT_ONCE:
                return gone
            await self._clock.sleep(0)

    def check(self) -> None:
        """Set aside what cannot be read, of every scope; for whoever looks for damage."""
        last = 0
        while True:
            with self._db.read() as tx:
                rows = records.page(tx, last, _AT_ONCE)
            readable_items(self._db, [row[1:] for row in rows])
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1][0]

    def _remove_some(self, tx: Tx, source: str, scope_id: str) -> int:
        batch = records.of_source(tx, source, scope_id, _AT_ONCE)
        for record in batch:
            records.remove(tx, record)
        return len(batch)

    def forgotten_since(self, last: int, scope_id: str = OWNER) -> ForgottenEntry:
        """See `MemoryStore.forgotten_since`."""
        with self._db.read() as tx:
            return forgotten.since(tx, scope_id, last)

    async def count_access(self, memory_ids: Iterable[str], scope_id: str = OWNER) -> None:
        """Count one access to each of these memories, in one statement."""
        ids = list(memory_ids)
        if not ids:
            return
        now = moment_text(self._clock.now())
        with self._db.write() as tx:
            tx.run(_ACCESSED, now=now, scope_id=scope_id, memory_ids=ids)

    def _find_items(
        self, text: str, limit: int, scope_id: str, lane: Partition
    ) -> list[MemoryItem]:
        with self._db.read() as tx:
            fitting = self._find_best(tx, text, limit, scope_id, lane, neighbours=False)
            rows = records.rows_of(tx, [each.memory_id for each in fitting.found], scope_id)
        return readable_items(self._db, rows)

    def _find_best(
        self, tx: Tx, text: str, limit: int, scope_id: str, lane: Partition, *, neighbours: bool
    ) -> TextMatches:
        now, most = moment_text(self._clock.now()), max(limit, 0)
        return best_of(tx, scope_in(tx, scope_id, lane), text, most, now, neighbours=neighbours)

    def _query_active(self, statement: LiteralString, **values: str | int) -> list[MemoryItem]:
        """Active memories of a scope that are valid now."""
        now = moment_text(self._clock.now())
        with self._db.read() as tx:
            rows = tx.run(statement, **values, now=now).fetchall()
        return readable_items(self._db, rows)
