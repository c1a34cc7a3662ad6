"""Work items in the database: fields in columns, the approved bytes beside them (spec 4.13)."""

import json
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, MetaData, Table, Text, insert, literal_column, select, update
from sqlalchemy.sql.elements import ColumnElement

from silas.canonical import canonical_json, sha256_hex
from silas.clock import Clock
from silas.damage import readable, set_aside
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans.models import BudgetUsed, WorkItem, WorkItemResult, WorkItemStatus
from silas.plans.subject import plan_bytes

_PLAIN = frozenset(
    {
        "id",
        "type",
        "title",
        "parent",
        "spawned_by",
        "follow_up_of",
        "domain",
        "agent",
        "body",
        "interaction_mode",
        "schedule",
        "on_failure",
        "on_stuck",
        "failure_context",
        "workspace",
        "worker",
        "status",
        "created_at",
    }
)
"""Fields that are text as they are; every other field is JSON in its column."""

_ITEMS = Table(
    "work_items",
    MetaData(),
    *(Column(name, Text) for name in WorkItem.model_fields),
    Column("plan_bytes", Text),
    Column("plan_hash", Text),
    Column("updated_at", Text),
)
_ORDER: ColumnElement[int] = literal_column("work_items.rowid")
_LOADED = (*WorkItem.model_fields, "plan_bytes", "plan_hash")

_RESULTS = Table(
    "work_item_results", MetaData(), Column("work_item_id", Text), Column("result", Text)
)


class SqlWorkItemStore:
    """`WorkItemStore` over the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def save(self, item: WorkItem) -> None:
        """See `WorkItemStore.save`."""
        self._put(_ITEMS, _ITEMS.c.id == item.id, {**_row(item), **self._touched()})

    async def get(self, work_item_id: str) -> WorkItem | None:
        """See `WorkItemStore.get`."""
        rows = self._rows(_ITEMS.c.id == work_item_id)
        return _item(rows[0]) if rows else None

    async def list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        """See `WorkItemStore.list_by_status`."""
        return self._load(_ITEMS.c.status == status.value)

    async def every(self) -> list[WorkItem]:
        """All items, those whose status nobody knows being set aside."""
        return self._load(_ITEMS.c.id.is_not(None))

    async def list_by_parent(self, parent_id: str) -> list[WorkItem]:
        """See `WorkItemStore.list_by_parent`."""
        return self._load(_ITEMS.c.parent == parent_id)

    async def list_by_follow_up(self, work_item_id: str) -> list[WorkItem]:
        """See `WorkItemStore.list_by_follow_up`."""
        return self._load(_ITEMS.c.follow_up_of == work_item_id)

    async def newest(self, limit: int) -> list[WorkItem]:
        """At most `limit` items, those that changed last, the newest first by creation."""
        changed = (_ITEMS.c.updated_at.desc(), _ORDER.desc())
        last = select(_ITEMS.c.id).order_by(*changed).limit(limit)
        return self._load(_ITEMS.c.id.in_(last))[::-1]

    async def update_status(
        self, work_item_id: str, status: WorkItemStatus, budget_used: BudgetUsed
    ) -> None:
        """See `WorkItemStore.update_status`."""
        change = (
            update(_ITEMS)
            .where(_ITEMS.c.id == work_item_id)
            .values(
                status=status.value,
                budget_used=canonical_json(budget_used.model_dump(mode="json")),
                **self._touched(),
            )
        )
        with self._db.write() as tx:
            if tx.execute(change).rowcount == 0:
                raise missing(work_item_id)

    async def save_result(self, result: WorkItemResult) -> None:
        """See `WorkItemStore.save_result`."""
        row = {"work_item_id": result.work_item_id, "result": result.model_dump_json()}
        self._put(_RESULTS, _RESULTS.c.work_item_id == result.work_item_id, row)

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """See `WorkItemStore.get_result`."""
        query = select(_RESULTS.c.result).where(_RESULTS.c.work_item_id == work_item_id)
        with self._db.read() as tx:
            text: str | None = tx.execute(query).scalar_one_or_none()
        if text is None:
            return None
        try:
            return WorkItemResult.model_validate_json(text)
        except ValidationError as error:
            set_aside(self._db, "work_item_results", work_item_id, text)
            raise _corrupt(work_item_id, "its result cannot be read") from error

    async def check_results(self) -> None:
        """Set aside every result that cannot be read."""
        with self._db.read() as tx:
            found = tx.execute(select(_RESULTS.c.work_item_id, _RESULTS.c.result))
            rows = [(str(row["work_item_id"]), row["result"]) for row in found.mappings()]
        readable(
            self._db,
            "work_item_results",
            rows,
            lambda row: row[0],
            lambda row: WorkItemResult.model_validate_json(row[1]),
        )

    async def finish(
        self, item: WorkItem, result: WorkItemResult, witness: Callable[[], object]
    ) -> None:
        """See `WorkItemStore.finish`."""
        with self._db.write():  # nothing is awaited for in here: both saves run inline
            await self.save_result(result)
            await self.save(item)
            witness()

    def _put(self, table: Table, same: ColumnElement[bool], row: dict[str, Any]) -> None:
        # update, then insert: an upsert is spelt differently in every database
        with self._db.write() as tx:
            if tx.execute(update(table).where(same).values(row)).rowcount == 0:
                tx.execute(insert(table).values(row))

    def _load(self, which: ColumnElement[bool]) -> list[WorkItem]:
        """The items that can be read; a damaged one is set aside, and nobody waits for it."""
        rows = self._rows(which)
        items = readable(self._db, "work_items", rows, lambda row: row["id"], _item)
        # Moments are compared as moments: as text, a whole second sorts after its fractions. Work
        # of one moment stays in the order in which it was saved first.
        return sorted(items, key=lambda item: item.created_at)

    def _rows(self, which: ColumnElement[bool]) -> list[dict[str, Any]]:
        query = select(*(_ITEMS.c[name] for name in _LOADED)).where(which).order_by(_ORDER)
        with self._db.read() as tx:
            return [dict(row) for row in tx.execute(query).mappings()]

    def _touched(self) -> dict[str, str]:
        return {"updated_at": self._clock.now().isoformat()}


def missing(work_item_id: str) -> DatabaseError:
    """The error for a work item that should be there."""
    return DatabaseError(
        f"There is no work item {work_item_id}; `silas status` lists them.",
        code="E_DB_MISSING",
        work_item_id=work_item_id,
    )


def _row(item: WorkItem) -> dict[str, Any]:
    dumped = item.model_dump(mode="json")
    plan = plan_bytes(item)
    fields = {
        # not canonical: a mapping's order is the author's, and loading must bring it back
        name: value if name in _PLAIN else json.dumps(value, allow_nan=False)
        for name, value in dumped.items()
    }
    return {**fields, "plan_bytes": plan.decode("ascii"), "plan_hash": sha256_hex(plan)}


def _item(row: dict[str, Any]) -> WorkItem:
    """A stored row as an item, if its fields still are the plan that was stored with them."""
    plan, expected = str(row["plan_bytes"]), str(row["plan_hash"])
    try:
        fields = {n: row[n] if n in _PLAIN else json.loads(row[n]) for n in WorkItem.model_fields}
        item = WorkItem.model_validate(fields)
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        raise _corrupt(str(row["id"]), "its fields cannot be read") from error
    if plan_bytes(item).decode("ascii") != plan or sha256_hex(plan.encode()) != expected:
        raise _corrupt(item.id, "its fields are not the plan that was stored")
    return item


def _corrupt(work_item_id: str, what: str) -> DatabaseError:
    return DatabaseError(
        f"The stored work item {work_item_id} was changed or damaged: {what}; restore the "
        "database from a backup.",
        code="E_DB_CORRUPT",
        work_item_id=work_item_id,
    )
