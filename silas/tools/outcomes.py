"""The journal of effects: *attempted* before a call, its outcome after (decision B4).

Statements run inline and join an open transaction, so that an attempt and its audit entry are
written together or not at all.
"""

from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from silas.canonical import digest
from silas.clock import Clock
from silas.db import Database
from silas.tools.models import (
    CallFacts,
    ToolCallContext,
    ToolResult,
    ValidatedCall,
)
from silas.tools.refusals import (
    DuplicateKey,
    OutcomeUnknown,
)

if TYPE_CHECKING:
    from sqlalchemy import Executable


class OutcomeStatus(StrEnum):
    """What is known about a call."""

    attempted = "attempted"
    """It was about to happen; there is no outcome yet."""
    succeeded = "succeeded"
    failed = "failed"
    unknown = "unknown"
    """Nobody knows whether it happened; never success."""


class OutcomeRecord(NamedTuple):
    """One call in the journal, without its payload."""

    key: str
    digest: str
    task_id: str
    step_id: str
    tool_name: str
    action: str
    status: OutcomeStatus
    attempted_at: datetime


def idempotency_key(task: str, step: str, action: str, args: dict[str, Any]) -> str:
    """The key of a call: task, step, action (`tool.action`) and the validated arguments.

    Raises:
        ValueError, TypeError: The arguments are not JSON.
    """
    return digest({"task": task, "step": step, "action": action, "args": args})


class OutcomeStore(Protocol):
    """Remembers what was attempted and how it ended."""

    def find(self, key: str, call: ValidatedCall, *, idempotent: bool) -> ToolResult | None:
        """The recorded outcome of a call, or None if it may be attempted.

        Args:
            key: The idempotency key.
            call: What is about to run.
            idempotent: Whether doing it twice is harmless.

        Raises:
            DuplicateKey: The key was used for another call.
            OutcomeUnknown: It was attempted, has no outcome, and is not idempotent: ask the owner.
        """
        ...

    def begin(
        self,
        key: str,
        call: ValidatedCall,
        context: ToolCallContext,
        facts: CallFacts,
        *,
        idempotent: bool,
    ) -> ToolResult | None:
        """Record the attempt, or return what is already recorded; `find` and insert as one.

        Raises:
            DuplicateKey, OutcomeUnknown: As `find`; nothing was recorded.
        """
        ...

    def finish(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """Record how an attempt ended; only an attempt without outcome can end.

        Raises:
            DuplicateKey: There is no such open attempt.
        """
        ...

    def resolve(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """Record what the owner says about an unknown outcome; `attempted` allows a repeat.

        Raises:
            DuplicateKey: That call's outcome is not unknown.
        """
        ...

    def mark_unfinished_unknown(self) -> list[OutcomeRecord]:
        """After a restart: every attempt without an outcome is unknown. Returns all unknown."""
        ...

    def unknown(self) -> list[OutcomeRecord]:
        """Every call whose outcome is unknown, the oldest first."""
        ...

    def calls_of(self, task_id: str) -> list[OutcomeRecord]:
        """Every call of one task, the oldest first."""
        ...

    def last_attempt(self, tool_name: str, action: str, target: str) -> datetime | None:
        """When this tool last did this to this target, as far as it was attempted."""
        ...

    def outbound_since(self, moment: datetime) -> int:
        """How many outbound notifications were attempted since then."""
        ...


def recorded_outcome(
    known: OutcomeRecord, result: ToolResult | None, call: ValidatedCall, *, idempotent: bool
) -> ToolResult | None:
    """What a call that finds its key in the journal gets: the rule both stores share."""
    if known.digest != call.digest:
        raise DuplicateKey(
            f"The idempotency key of {known.tool_name!r} was already used for other arguments; "
            "use a new step for a new call.",
            code="E_TOOL_DUPLICATE_KEY",
            work_item_id=known.task_id,
        )
    if known.status in (OutcomeStatus.succeeded, OutcomeStatus.failed):
        return result
    if idempotent:
        return None
    raise OutcomeUnknown(
        f"An earlier {known.tool_name!r} call was attempted and its outcome is unknown; check what "
        "happened and decide whether to repeat it.",
        repeatable=False,
        work_item_id=known.task_id,
    )


def no_open_attempt(key: str) -> DuplicateKey:
    """The error of an outcome for a call that is not waiting for one."""
    return DuplicateKey(
        f"The call {key[:12]} is not waiting for an outcome; nothing was recorded.",
        code="E_TOOL_NO_ATTEMPT",
    )


class SqlOutcomeStore:
    """The journal in the database; `db.migrate("silas.tools")` makes its table."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def find(self, key: str, call: ValidatedCall, *, idempotent: bool) -> ToolResult | None:
        """See `OutcomeStore.find`."""
        with self._db.read() as tx:
            row = tx.execute(_sql().by_key, {"of_key": key}).mappings().first()
        if row is None:
            return None
        stored: str | None = row["result"]
        result = None if stored is None else ToolResult.model_validate_json(stored)
        return recorded_outcome(_record(row), result, call, idempotent=idempotent)

    def begin(
        self,
        key: str,
        call: ValidatedCall,
        context: ToolCallContext,
        facts: CallFacts,
        *,
        idempotent: bool,
    ) -> ToolResult | None:
        """See `OutcomeStore.begin`."""
        row = {
            "key": key,
            "digest": call.digest,
            "trace_id": context.trace_id,
            "task_id": context.task_id,
            "step_id": context.step_id,
            "tool_name": call.tool_name,
            "action": call.action,
            "target": facts.target,
            "outbound": int(facts.outbound),
            "status": OutcomeStatus.attempted.value,
            "result": None,
            "attempted_at": _text(self._clock.now()),
            "finished_at": None,
        }
        with self._db.write() as tx:
            recorded = self.find(key, call, idempotent=idempotent)
            if recorded is None:
                if idempotent:  # one whose outcome nobody knows is attempted anew
                    tx.execute(_sql().drop, {"of_key": key})
                tx.execute(_sql().insert, row)
        return recorded

    def finish(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.finish`."""
        self._close(key, OutcomeStatus.attempted, status, result)

    def resolve(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.resolve`."""
        with self._db.write() as tx:
            self._close(key, OutcomeStatus.unknown, status, result)
            if status is OutcomeStatus.attempted:
                tx.execute(_sql().drop, {"of_key": key})

    def _close(
        self, key: str, before: OutcomeStatus, status: OutcomeStatus, result: ToolResult | None
    ) -> None:
        changes = {
            "of_key": key,
            "before": before.value,
            "status": status.value,
            "result": None if result is None else result.model_dump_json(),
            "finished_at": _text(self._clock.now()),
        }
        with self._db.write() as tx:
            if tx.execute(_sql().close, changes).rowcount != 1:
                raise no_open_attempt(key)

    def mark_unfinished_unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.mark_unfinished_unknown`."""
        with self._db.write() as tx:
            tx.execute(_sql().mark)
            return [_record(row) for row in tx.execute(_sql().unknown).mappings()]

    def unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.unknown`."""
        with self._db.read() as tx:
            return [_record(row) for row in tx.execute(_sql().unknown).mappings()]

    def calls_of(self, task_id: str) -> list[OutcomeRecord]:
        """See `OutcomeStore.calls_of`."""
        with self._db.read() as tx:
            found = tx.execute(_sql().of_task, {"of_task": task_id}).mappings()
            return [_record(row) for row in found]

    def last_attempt(self, tool_name: str, action: str, target: str) -> datetime | None:
        """See `OutcomeStore.last_attempt`."""
        same = {"of_tool": tool_name, "of_action": action, "of_target": target}
        with self._db.read() as tx:
            at = tx.execute(_sql().last, same).scalar()
        return None if at is None else datetime.fromisoformat(at)

    def outbound_since(self, moment: datetime) -> int:
        """See `OutcomeStore.outbound_since`."""
        with self._db.read() as tx:
            return tx.execute(_sql().outbound, {"since": _text(moment)}).scalar_one()


def cooling_down(last: datetime | None, now: datetime, cooldown_seconds: float) -> bool:
    """Whether a moment lies within the cooldown after the last attempt."""
    return last is not None and now - last < timedelta(seconds=cooldown_seconds)


def flapping(
    outcomes: OutcomeStore,
    call: ValidatedCall,
    facts: CallFacts,
    now: datetime,
    cooldown_seconds: float,
) -> bool:
    """Whether the same was done to the same target within the cooldown."""
    if not facts.target or not cooldown_seconds:
        return False
    last = outcomes.last_attempt(call.tool_name, call.action, facts.target)
    return cooling_down(last, now, cooldown_seconds)


def storming(outcomes: OutcomeStore, facts: CallFacts, now: datetime, per_hour: int) -> bool:
    """Whether the hourly limit of notifications to the outside is used up."""
    return facts.outbound and outcomes.outbound_since(now - timedelta(hours=1)) >= per_hour


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def _record(row: Any) -> OutcomeRecord:
    return OutcomeRecord(
        key=row["key"],
        digest=row["digest"],
        task_id=row["task_id"],
        step_id=row["step_id"],
        tool_name=row["tool_name"],
        action=row["action"],
        status=OutcomeStatus(row["status"]),
        attempted_at=datetime.fromisoformat(row["attempted_at"]),
    )


class _Statements(NamedTuple):
    """Built once: building one costs more than running it."""

    by_key: "Executable"
    insert: "Executable"
    drop: "Executable"
    close: "Executable"
    mark: "Executable"
    unknown: "Executable"
    of_task: "Executable"
    last: "Executable"
    outbound: "Executable"


@cache
def _sql() -> _Statements:
    from sqlalchemy import Column, Integer, MetaData, String, Table, func, select  # noqa: PLC0415 - 0.3 s  # noqa: PLC0415
    from sqlalchemy import bindparam as given  # noqa: PLC0415

    texts = (
        "key", "digest", "trace_id", "task_id", "step_id", "tool_name", "action", "target",
        "status", "result", "attempted_at", "finished_at",
    )  # fmt: skip
    columns = [Column(name, String) for name in texts]
    table = Table("tool_outcomes", MetaData(), *columns, Column("outbound", Integer))
    column, this = table.c, table.c.key == given("of_key")
    same_target = (
        (column.tool_name == given("of_tool"))
        & (column.action == given("of_action"))
        & (column.target == given("of_target"))
        & (column.target != "")
    )
    is_attempted = column.status == OutcomeStatus.attempted.value
    is_unknown = column.status == OutcomeStatus.unknown.value
    in_order = (column.attempted_at, column.key)
    recent = (column.outbound == 1) & (column.attempted_at > given("since"))
    outcome = {name: given(name, type_=String) for name in ("status", "result", "finished_at")}
    return _Statements(
        by_key=table.select().where(this),
        insert=table.insert(),
        drop=table.delete().where(this),
        close=table.update().where(this, column.status == given("before")).values(outcome),
        mark=table.update().where(is_attempted).values(status=OutcomeStatus.unknown.value),
        unknown=table.select().where(is_unknown).order_by(*in_order),
        of_task=table.select().where(column.task_id == given("of_task")).order_by(*in_order),
        last=select(func.max(column.attempted_at)).where(same_target),
        outbound=select(func.count()).select_from(table).where(recent),
    )
