"""The journal of effects: *attempted* before a call, its outcome after (decision B4).

Statements run inline and join an open transaction, so that an attempt and its audit entry are
written together or not at all. Every call of a tool pays for four of them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from silas.canonical import digest
from silas.clock import Clock
from silas.damage import readable_rows, set_aside
from silas.db import Database, Tx
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
from silas.tools.sqlite_statements import ANSWERS_OF_A_TASK, EVERY_ANSWER


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

    def list_unknown(self) -> list[OutcomeRecord]:
        """Every call whose outcome is unknown, the oldest first."""
        ...

    def calls_of(self, task_id: str) -> list[OutcomeRecord]:
        """Every call of one task, the oldest first."""
        ...

    def answers_of(self, task_id: str) -> list[tuple[str, str]]:
        """Which tools answered one task, each with where its answer came from, once."""
        ...

    def last_attempt(self, tool_name: str, action: str, target: str) -> datetime | None:
        """When this tool last did this to this target, as far as it was attempted."""
        ...

    def outbound_since(self, moment: datetime) -> int:
        """How many outbound notifications were attempted since then."""
        ...


def every_answer(tx: Tx) -> list[tuple[str, str]]:
    """Which tools ever answered here, each with where its answer came from, once."""
    return tx.run(EVERY_ANSWER).fetchall()


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


_BY_KEY = """
SELECT key, digest, task_id, step_id, tool_name, action, status, attempted_at, result
FROM tool_outcomes WHERE key = :key
"""
# public, so that a test asks the database how it answers them
CALLS_OF_A_TASK = """
SELECT key, digest, task_id, step_id, tool_name, action, status, attempted_at
FROM tool_outcomes WHERE task_id = :task_id ORDER BY attempted_at, key
"""
_UNKNOWN = """
SELECT key, digest, task_id, step_id, tool_name, action, status, attempted_at
FROM tool_outcomes WHERE status = 'unknown' ORDER BY attempted_at, key
"""
_ALL = """
SELECT key, digest, task_id, step_id, tool_name, action, status, attempted_at, result
FROM tool_outcomes
"""
_DROP = "DELETE FROM tool_outcomes WHERE key = :key"
_MARK = "UPDATE tool_outcomes SET status = 'unknown' WHERE status = 'attempted'"
_INSERT = """
INSERT INTO tool_outcomes (
  key, digest, trace_id, task_id, step_id, tool_name, action, target, outbound, status, attempted_at
) VALUES (
  :key, :digest, :trace_id, :task_id, :step_id, :tool_name, :action, :target, :outbound,
  'attempted', :attempted_at
)
"""
_CLOSE = """
UPDATE tool_outcomes SET status = :status, result = :result, finished_at = :finished_at
WHERE key = :key AND status = :before
"""
_LAST = """
SELECT max(attempted_at) FROM tool_outcomes
WHERE tool_name = :tool_name AND action = :action AND target = :target AND target <> ''
"""
_OUTBOUND = "SELECT count(*) FROM tool_outcomes WHERE outbound = 1 AND attempted_at > :since"


class SqlOutcomeStore:
    """The journal in the database; `db.migrate("silas.tools")` makes its table."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def find(self, key: str, call: ValidatedCall, *, idempotent: bool) -> ToolResult | None:
        """See `OutcomeStore.find`."""
        with self._db.read() as tx:
            row = tx.run(_BY_KEY, key=key).fetchone()
        if row is None:
            return None
        *record, stored = row
        known = _record(record)
        try:
            result = None if stored is None else ToolResult.model_validate_json(stored)
        except ValueError:  # it is as if it had never been told how it ended
            set_aside(self._db, "tool_outcomes", key, row)
            result, known = None, known._replace(status=OutcomeStatus.unknown)
        return recorded_outcome(known, result, call, idempotent=idempotent)

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
        with self._db.write() as tx:
            recorded = self.find(key, call, idempotent=idempotent)
            if recorded is None:
                if idempotent:  # one whose outcome nobody knows is attempted anew
                    tx.run(_DROP, key=key)
                tx.run(
                    _INSERT,
                    key=key,
                    digest=call.digest,
                    trace_id=context.trace_id,
                    task_id=context.task_id,
                    step_id=context.step_id,
                    tool_name=call.tool_name,
                    action=call.action,
                    target=facts.target,
                    outbound=int(facts.outbound),
                    attempted_at=_text(self._clock.now()),
                )
        return recorded

    def finish(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.finish`."""
        self._close(key, OutcomeStatus.attempted, status, result)

    def resolve(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.resolve`."""
        with self._db.write() as tx:
            self._close(key, OutcomeStatus.unknown, status, result)
            if status is OutcomeStatus.attempted:
                tx.run(_DROP, key=key)

    def _close(
        self, key: str, before: OutcomeStatus, status: OutcomeStatus, result: ToolResult | None
    ) -> None:
        stored = None if result is None else result.model_dump_json()
        at = _text(self._clock.now())
        changes = {"status": status, "result": stored, "finished_at": at}
        with self._db.write() as tx:
            if tx.run(_CLOSE, **changes, key=key, before=before).rowcount != 1:
                raise no_open_attempt(key)

    def mark_unfinished_unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.mark_unfinished_unknown`."""
        with self._db.write() as tx:
            tx.run(_MARK)
        return self.list_unknown()

    def list_unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.list_unknown`."""
        with self._db.read() as tx:
            rows = tx.run(_UNKNOWN).fetchall()
        return self._records(rows)

    def calls_of(self, task_id: str) -> list[OutcomeRecord]:
        """See `OutcomeStore.calls_of`."""
        with self._db.read() as tx:
            rows = tx.run(CALLS_OF_A_TASK, task_id=task_id).fetchall()
        return self._records(rows)

    def check(self) -> None:
        """Set aside every call whose row cannot be read."""
        with self._db.read() as tx:
            rows = tx.run(_ALL).fetchall()
        self._records([row[:-1] for row in rows])
        readable_rows(self._db, "tool_outcomes", rows, lambda row: row[0], _result)

    def _records(self, rows: Sequence[Sequence[Any]]) -> list[OutcomeRecord]:
        """Calls from their rows; of a damaged one nobody knows what became, and it is named."""
        records = [_record(row) for row in rows]
        for record in records:
            if record.attempted_at is _NEVER:
                set_aside(self._db, "tool_outcomes", record.key, tuple(record))
        return records

    def answers_of(self, task_id: str) -> list[tuple[str, str]]:
        """See `OutcomeStore.answers_of`."""
        with self._db.read() as tx:
            return tx.run(ANSWERS_OF_A_TASK, task_id=task_id).fetchall()

    def last_attempt(self, tool_name: str, action: str, target: str) -> datetime | None:
        """See `OutcomeStore.last_attempt`."""
        with self._db.read() as tx:
            (at,) = tx.run(_LAST, tool_name=tool_name, action=action, target=target).fetchone()
        try:
            return None if at is None else datetime.fromisoformat(at)
        except (ValueError, TypeError):  # a damaged row: as if it had been just now
            return self._clock.now()

    def outbound_since(self, moment: datetime) -> int:
        """See `OutcomeStore.outbound_since`."""
        with self._db.read() as tx:
            return tx.run(_OUTBOUND, since=_text(moment)).fetchone()[0]


def cooling_down(last: datetime | None, now: datetime, cooldown_seconds: float) -> bool:
    """Whether a moment lies within the cooldown after the last attempt."""
    return last is not None and now - last < timedelta(seconds=cooldown_seconds)


def is_flapping(
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


def is_storming(outcomes: OutcomeStore, facts: CallFacts, now: datetime, per_hour: int) -> bool:
    """Whether the hourly limit of notifications to the outside is used up."""
    return facts.outbound and outcomes.outbound_since(now - timedelta(hours=1)) >= per_hour


_NEVER = datetime.min.replace(tzinfo=UTC)


def _result(row: Sequence[Any]) -> ToolResult | None:
    return None if row[-1] is None else ToolResult.model_validate_json(row[-1])


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds")


def _record(row: Sequence[Any]) -> OutcomeRecord:
    key, digest, task, step, tool, action, status, at = row
    try:
        said, moment = OutcomeStatus(status), datetime.fromisoformat(at)
    except (ValueError, TypeError):  # a damaged row: nobody knows what became of that call
        said, moment = OutcomeStatus.unknown, _NEVER
    return OutcomeRecord(key, digest, task, step, tool, action, said, moment)
