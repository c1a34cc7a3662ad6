"""Which work came from which conversation, so that nobody goes on with somebody else's (5.1)."""

from typing import NamedTuple, Protocol

from silas.clock import Clock
from silas.db import Database
from silas.plans import WorkItem, WorkItemResult
from silas.types import OWNER


class Known(NamedTuple):
    """A piece of work and how it ended, if it did."""

    item: WorkItem
    result: WorkItemResult | None


class Items(Protocol):
    """What is looked up of the work item store."""

    async def get(self, work_item_id: str) -> WorkItem | None:
        """The item of this id."""
        ...

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """How it ended."""
        ...

    async def newest(self, limit: int) -> list[WorkItem]:
        """The items that changed last, the newest first."""
        ...


class ScopeWork:
    """The work of each scope; what no scope has claimed is the owner's, who alone runs plans."""

    def __init__(self, db: Database, items: Items, clock: Clock) -> None:
        self._db = db
        self._items = items
        self._clock = clock

    def claim(self, work_item_id: str, scope_id: str) -> None:
        """Say that this work came from this scope; the first to say so is right."""
        row = (work_item_id, scope_id, self._clock.now().isoformat())
        with self._db.write() as tx:
            tx.driver.execute("INSERT OR IGNORE INTO scope_work VALUES (?, ?, ?)", row)

    def scope_of(self, work_item_id: str) -> str:
        """Whose it is."""
        query = "SELECT scope_id FROM scope_work WHERE work_item_id = ?"
        with self._db.read() as tx:
            row = tx.driver.execute(query, (work_item_id,)).fetchone()
        return OWNER if row is None else str(row[0])

    async def known(self, work_item_id: str, scope_id: str) -> Known | None:
        """The work of this id, if this scope has it."""
        item = await self._items.get(work_item_id)
        if item is None or self.scope_of(work_item_id) != scope_id:
            return None
        return Known(item, await self._items.get_result(work_item_id))

    async def recent(self, scope_id: str, limit: int) -> list[Known]:
        """The newest work of a scope, the oldest of it first."""
        if scope_id == OWNER:
            newest = await self._items.newest(limit)
            found = [item for item in newest if self.scope_of(item.id) == scope_id]
        else:
            items = [await self._items.get(name) for name in self._claimed(scope_id, limit)]
            found = [item for item in items if item is not None]
        return [Known(item, await self._items.get_result(item.id)) for item in reversed(found)]

    def _claimed(self, scope_id: str, limit: int) -> list[str]:
        query = (
            "SELECT work_item_id FROM scope_work WHERE scope_id = ?"
            " ORDER BY begun_at DESC, rowid DESC LIMIT ?"
        )
        with self._db.read() as tx:
            return [str(row[0]) for row in tx.driver.execute(query, (scope_id, limit))]
