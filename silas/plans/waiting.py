"""Plans whose question is open, in the database: no crash loses what the owner is asked (5.1.3)."""

from typing import Any

from pydantic import ValidationError
from sqlalchemy import Column, Integer, MetaData, Table, Text, and_, delete, insert, select
from sqlalchemy.sql import Select
from sqlalchemy.sql.elements import ColumnElement

from silas.clock import Clock
from silas.damage import readable
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans.models import WorkItem
from silas.plans.port import WaitingPlan
from silas.plans.subject import plan_hash

_COLUMNS = ("work_item_id", "plan_hash", "plan", "rationale", "asked_at")
_WAITING = Table(
    "waiting_plans",
    MetaData(),
    *(Column(name, Text) for name in _COLUMNS),
    Column("changes_wanted", Integer),
)
_OLDEST_FIRST = select(_WAITING).order_by(_WAITING.c.asked_at, _WAITING.c.work_item_id)


class SqlWaitingPlans:
    """`WaitingPlans` over the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def put(self, waiting: WaitingPlan) -> None:
        """See `WaitingPlans.put`."""
        item = waiting.item
        row = {
            "work_item_id": item.id,
            "plan_hash": plan_hash(item),
            "plan": item.model_dump_json(),
            "rationale": waiting.rationale,
            "asked_at": self._clock.now().isoformat(),
            "changes_wanted": int(waiting.changes_wanted),
        }
        with self._db.write() as tx:
            tx.execute(delete(_WAITING).where(_same(item)))
            tx.execute(insert(_WAITING).values(row))

    async def drop(self, item: WorkItem) -> None:
        """See `WaitingPlans.drop`."""
        with self._db.write() as tx:
            tx.execute(delete(_WAITING).where(_same(item)))

    async def all(self) -> list[WaitingPlan]:
        """See `WaitingPlans.all`."""
        return self._those(_OLDEST_FIRST)

    async def to_change(self) -> list[WorkItem]:
        """See `WaitingPlans.to_change`."""
        wanted = self._those(_OLDEST_FIRST.where(_WAITING.c.changes_wanted == 1))
        return [waiting.item for waiting in wanted]

    def _those(self, query: Select[Any]) -> list[WaitingPlan]:
        with self._db.read() as tx:
            rows = [dict(row) for row in tx.execute(query).mappings()]
        return readable(self._db, "waiting_plans", rows, lambda row: row["work_item_id"], _waiting)


def _same(item: WorkItem) -> ColumnElement[bool]:
    return and_(_WAITING.c.work_item_id == item.id, _WAITING.c.plan_hash == plan_hash(item))


def _waiting(row: dict[str, Any]) -> WaitingPlan:
    try:
        item = WorkItem.model_validate_json(row["plan"])
        if (item.id, plan_hash(item)) != (row["work_item_id"], row["plan_hash"]):
            raise ValueError
        if not isinstance(row["rationale"], str):
            raise TypeError
    except (ValidationError, ValueError, TypeError) as error:
        raise DatabaseError(
            f"The stored question about {row['work_item_id']} was changed or damaged; restore the "
            "database from a backup.",
            code="E_DB_CORRUPT",
            work_item_id=row["work_item_id"],
        ) from error
    return WaitingPlan(item, row["rationale"], row["changes_wanted"] == 1)
