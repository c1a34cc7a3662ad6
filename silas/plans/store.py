"""Work items in the database: fields in columns, the approved bytes beside them (spec 4.13)."""

import json
from collections.abc import Callable
from typing import Any, LiteralString

from pydantic import ValidationError

from silas.canonical import canonical_json, sha256_hex
from silas.clock import Clock
from silas.damage import readable_rows, set_aside
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans.columns import ITEMS, JSON, LOADED, PLAIN
from silas.plans.models import BudgetUsed, WorkItem, WorkItemResult, WorkItemStatus
from silas.plans.projects.questions import waiting_for_answers, was_unanswered
from silas.plans.sqlite_statements import EVERY, NEWEST, OF_FOLLOW_UP, OF_PARENT, OF_STATUS
from silas.plans.subject import plan_bytes

_COLUMNS = (*LOADED, "updated_at")

_INSERT = f"""
INSERT INTO work_items ({", ".join(_COLUMNS)})
VALUES ({", ".join([f":{name}" for name in _COLUMNS])})
"""
_UPDATE = f"""
UPDATE work_items SET {", ".join([f"{name} = :{name}" for name in _COLUMNS])} WHERE id = :id
"""
_STATUS = """
UPDATE work_items SET status = :status, budget_used = :budget_used, updated_at = :updated_at
WHERE id = :id
"""
_RESULT = "SELECT result FROM work_item_results WHERE work_item_id = :work_item_id"
_RESULTS = "SELECT work_item_id, result FROM work_item_results"
_KEEP_RESULT = """
INSERT INTO work_item_results (work_item_id, result) VALUES (:work_item_id, :result)
ON CONFLICT (work_item_id) DO UPDATE SET result = excluded.result
"""
_ONE = f"SELECT {', '.join(LOADED)} FROM work_items WHERE id = :id"


class SqlWorkItemStore:
    """`WorkItemStore` over the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def save(self, item: WorkItem) -> None:
        """See `WorkItemStore.save`."""
        row = {**_row(item), "updated_at": self._now()}
        # update, then insert: an item that is saved anew keeps its place in the order
        with self._db.write() as tx:
            if tx.run(_UPDATE, **row).rowcount == 0:
                tx.run(_INSERT, **row)

    async def get(self, work_item_id: str) -> WorkItem | None:
        """See `WorkItemStore.get`."""
        rows = self._rows(_ONE, id=work_item_id)
        return _item(rows[0]) if rows else None

    async def list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        """See `WorkItemStore.list_by_status`."""
        return self._load(OF_STATUS, status=status.value)

    async def every(self) -> list[WorkItem]:
        """All items, those whose status nobody knows being set aside."""
        return self._load(EVERY)

    async def list_by_parent(self, parent_id: str) -> list[WorkItem]:
        """See `WorkItemStore.list_by_parent`."""
        return self._load(OF_PARENT, parent=parent_id)

    async def list_by_follow_up(self, work_item_id: str) -> list[WorkItem]:
        """See `WorkItemStore.list_by_follow_up`."""
        return self._load(OF_FOLLOW_UP, follow_up_of=work_item_id)

    async def newest(self, limit: int) -> list[WorkItem]:
        """At most `limit` items, those that changed last, the newest first by creation."""
        return self._load(NEWEST, limit=limit)[::-1]

    async def update_status(
        self, work_item_id: str, status: WorkItemStatus, budget_used: BudgetUsed
    ) -> None:
        """See `WorkItemStore.update_status`."""
        with self._db.write() as tx:
            changed = tx.run(
                _STATUS,
                id=work_item_id,
                status=status.value,
                budget_used=canonical_json(budget_used.model_dump(mode="json")),
                updated_at=self._now(),
            )
            if changed.rowcount == 0:
                raise missing_item(work_item_id)

    async def save_result(self, result: WorkItemResult) -> None:
        """See `WorkItemStore.save_result`."""
        with self._db.write() as tx:
            tx.run(_KEEP_RESULT, work_item_id=result.work_item_id, result=result.model_dump_json())

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """See `WorkItemStore.get_result`."""
        with self._db.read() as tx:
            row = tx.run(_RESULT, work_item_id=work_item_id).fetchone()
        if row is None:
            return None
        try:
            return WorkItemResult.model_validate_json(row[0])
        except ValidationError as error:
            set_aside(self._db, "work_item_results", work_item_id, row[0])
            raise _corrupt(work_item_id, "its result cannot be read") from error

    async def check_results(self) -> None:
        """Set aside every result that cannot be read."""
        with self._db.read() as tx:
            rows = [(str(name), result) for name, result in tx.run(_RESULTS)]
        readable_rows(
            self._db,
            "work_item_results",
            rows,
            lambda row: row[0],
            lambda row: WorkItemResult.model_validate_json(row[1]),
        )

    def asking(self) -> frozenset[str]:
        """See `WorkItemStore.asking`."""
        return waiting_for_answers(self._db)

    def was_unanswered(self, item: WorkItem) -> bool:
        """See `WorkItemStore.was_unanswered`."""
        return was_unanswered(self._db, item)

    async def finish(
        self, item: WorkItem, result: WorkItemResult, witness: Callable[[], object]
    ) -> None:
        """See `WorkItemStore.finish`."""
        with self._db.write():  # nothing is awaited for in here: both saves run inline
            await self.save_result(result)
            await self.save(item)
            witness()

    def _load(self, statement: LiteralString, **values: str | int) -> list[WorkItem]:
        """The items that can be read; a damaged one is set aside, and nobody waits for it."""
        rows = self._rows(statement, **values)
        items = readable_rows(self._db, "work_items", rows, lambda row: row["id"], _item)
        # Moments are compared as moments: as text, a whole second sorts after its fractions. Work
        # of one moment stays in the order in which it was saved first.
        return sorted(items, key=lambda item: item.created_at)

    def _rows(self, statement: LiteralString, **values: str | int) -> list[dict[str, Any]]:
        with self._db.read() as tx:
            return [dict(zip(LOADED, row, strict=True)) for row in tx.run(statement, **values)]

    def _now(self) -> str:
        return self._clock.now().isoformat()


def missing_item(work_item_id: str) -> DatabaseError:
    """The error for a work item that should be there."""
    return DatabaseError(
        f"There is no work item {work_item_id}; `silas status` lists them.",
        code="E_DB_MISSING",
        work_item_id=work_item_id,
    )


def _row(item: WorkItem) -> dict[str, Any]:
    dumped = item.model_dump(mode="json", exclude=set(ITEMS))
    plan = plan_bytes(item)
    fields = {
        # not canonical: a mapping's order is the author's, and loading must bring it back
        name: value if name in PLAIN else json.dumps(value, allow_nan=False)
        for name, value in dumped.items()
    }
    return {**fields, "plan_bytes": plan.decode("ascii"), "plan_hash": sha256_hex(plan)}


def _item(row: dict[str, Any]) -> WorkItem:
    """A stored row as an item, if its fields still are the plan that was stored with them."""
    plan, expected = str(row["plan_bytes"]), str(row["plan_hash"])
    try:
        fields = {
            **{name: row[name] for name in PLAIN},
            **{name: json.loads(row[name]) for name in JSON},
        }
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
