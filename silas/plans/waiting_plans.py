"""Plans whose question is open, in the database: no crash loses what the owner is asked (5.1.3)."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString

from pydantic import ValidationError

from silas.clock import Clock
from silas.damage import readable_rows
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans.models import WorkItem
from silas.plans.port import AskedBy, WaitingPlan
from silas.plans.source_marks import UNKNOWN_MARKS, KeptMarks, dump_marks, load_marks
from silas.plans.subject import plan_hash

if TYPE_CHECKING:
    from silas.jobs.notify import ProcessNotifier

_COLUMNS = (
    "work_item_id",
    "plan_hash",
    "plan",
    "rationale",
    "asked_at",
    "changes_wanted",
    "conversation",
    "message",
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM waiting_plans"
_ALL = f"{_SELECT} ORDER BY asked_at, work_item_id"
_TO_CHANGE = f"{_SELECT} WHERE changes_wanted = 1 ORDER BY asked_at, work_item_id"
_DROP = "DELETE FROM waiting_plans WHERE work_item_id = :work_item_id AND plan_hash = :plan_hash"
_STANDS = (
    "SELECT 1 FROM waiting_plans WHERE work_item_id = :work_item_id AND plan_hash = :plan_hash"
)
_PUT = """
INSERT INTO waiting_plans (
  work_item_id, plan_hash, plan, rationale, asked_at, changes_wanted, conversation, message
) VALUES (
  :work_item_id, :plan_hash, :plan, :rationale, :asked_at, :changes_wanted, :conversation, :message
)
"""

_KEEP_MARKS = """
INSERT INTO project_marks (work_item_id, marks) VALUES (:work_item_id, :marks)
ON CONFLICT (work_item_id) DO UPDATE SET marks = excluded.marks
"""
_MARKS = "SELECT marks FROM project_marks WHERE work_item_id = :work_item_id"


class SqlWaitingPlans:
    """`WaitingPlans` over the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def put(self, waiting: WaitingPlan) -> None:
        """See `WaitingPlans.put`."""
        item = waiting.item
        with self._db.write() as tx:
            tx.run(_DROP, **_same(item))
            tx.run(
                _PUT,
                **_same(item),
                plan=item.model_dump_json(),
                rationale=waiting.rationale,
                asked_at=self._clock.now().isoformat(),
                changes_wanted=int(waiting.changes_wanted),
                **waiting.asked_by._asdict(),
            )

    async def drop(self, item: WorkItem) -> None:
        """See `WaitingPlans.drop`."""
        with self._db.write() as tx:
            tx.run(_DROP, **_same(item))

    async def keep_marks(self, project_id: str, marks: KeptMarks) -> None:
        """See `SharedWaitingPlans.keep_marks`."""
        with self._db.write() as tx:
            tx.run(_KEEP_MARKS, work_item_id=project_id, marks=dump_marks(marks))

    async def marks_of(self, project_id: str) -> KeptMarks:
        """See `SharedWaitingPlans.marks_of`."""
        with self._db.read() as tx:
            row = tx.run(_MARKS, work_item_id=project_id).fetchone()
        return UNKNOWN_MARKS if row is None else load_marks(str(row[0]))

    async def stands(self, work_item_id: str, plan_hash: str) -> bool:
        """See `WaitingPlans.stands`."""
        with self._db.read() as tx:
            found = tx.run(_STANDS, work_item_id=work_item_id, plan_hash=plan_hash)
            return found.fetchone() is not None

    async def all(self) -> list[WaitingPlan]:
        """See `WaitingPlans.all`."""
        return self._those(_ALL)

    async def to_change(self) -> list[WaitingPlan]:
        """See `WaitingPlans.to_change`."""
        return self._those(_TO_CHANGE)

    def _those(self, statement: LiteralString) -> list[WaitingPlan]:
        with self._db.read() as tx:
            rows: list[dict[str, Any]] = [
                dict(zip(_COLUMNS, row, strict=True)) for row in tx.run(statement)
            ]
        return readable_rows(
            self._db, "waiting_plans", rows, lambda row: row["work_item_id"], _waiting
        )


class AnnouncedPlans(SqlWaitingPlans):
    """`SharedWaitingPlans`: who closes a question wakes every process that asks one; none polls.

    Args:
        db: The database.
        clock: When a question was asked.
        folder: Where each process that asks has a pipe of its own.
    """

    def __init__(self, db: Database, clock: Clock, folder: Path) -> None:
        super().__init__(db, clock)
        self._folder = folder

    async def drop(self, item: WorkItem) -> None:
        """See `WaitingPlans.drop`."""
        await super().drop(item)
        if self._folder.is_dir():  # somebody asked something once
            self._notifier().notify()

    async def wait_until_closed(self, work_item_id: str, plan_hash: str) -> None:
        """See `SharedWaitingPlans.wait_until_closed`.

        Raises:
            OSError: Nobody can be heard here.
        """
        heard = asyncio.Event()
        with self._notifier().listening(heard.set, plan_hash):
            while await self.stands(work_item_id, plan_hash):
                await heard.wait()
                heard.clear()

    async def shown_elsewhere(self, work_item_id: str, plan_hash: str) -> bool:
        """See `SharedWaitingPlans.shown_elsewhere`."""
        del work_item_id  # the hash is over it, too
        return self._folder.is_dir() and self._notifier().is_heard(plan_hash)

    def _notifier(self) -> "ProcessNotifier":
        from silas.jobs.notify import ProcessNotifier  # noqa: PLC0415 - few turns ask about a plan

        return ProcessNotifier(self._folder)


def _same(item: WorkItem) -> dict[str, str]:
    return {"work_item_id": item.id, "plan_hash": plan_hash(item)}


def _waiting(row: dict[str, Any]) -> WaitingPlan:
    try:
        item = WorkItem.model_validate_json(row["plan"])
        if (item.id, plan_hash(item)) != (row["work_item_id"], row["plan_hash"]):
            raise ValueError
        if not all(isinstance(row[name], str) for name in ("rationale", *AskedBy._fields)):
            raise TypeError
    except (ValidationError, ValueError, TypeError) as error:
        raise DatabaseError(
            f"The stored question about {row['work_item_id']} was changed or damaged; restore the "
            "database from a backup.",
            code="E_DB_CORRUPT",
            work_item_id=row["work_item_id"],
        ) from error
    asked_by = AskedBy(row["conversation"], row["message"])
    return WaitingPlan(item, row["rationale"], row["changes_wanted"] == 1, asked_by)
