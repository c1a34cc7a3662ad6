"""The tables of goals, in SQL that SQLite and PostgreSQL read alike."""

from datetime import UTC, datetime
from typing import Any, LiteralString

from silas.damage import readable_rows
from silas.db import Database
from silas.goals.models import Cycle, CycleCount, Goal, GoalState, Outcome
from silas.plans.goals.schedule import schedule_fault

_GOAL = "id, schedule, state, why, failing, quiet, approved_at"
_CYCLE = "goal_id, slot, due, outcome, task_id, missed, words, began_at, ended_at"

_LAST = """
SELECT outcome FROM goal_cycles WHERE goal_id = goals.id AND ended_at <> ''
ORDER BY began_at DESC, slot DESC LIMIT 1
"""
_READ = f"{_GOAL}, ({_LAST}) AS outcome"

_PUT = f"""
INSERT INTO goals ({_GOAL}) VALUES (:id, :schedule, 'active', '', 0, 0, :at)
ON CONFLICT (id) DO UPDATE
SET schedule = excluded.schedule, state = 'active', why = '', failing = 0, quiet = 0,
    approved_at = excluded.approved_at
"""
_GET = f"SELECT {_READ} FROM goals WHERE id = :id"
_ALL = f"SELECT {_READ} FROM goals ORDER BY approved_at, id"
_STATE = "UPDATE goals SET state = :state, why = :why WHERE id = :id"
_COUNT = "UPDATE goals SET failing = :failing, quiet = :quiet WHERE id = :id"
_BEGIN = f"""
INSERT INTO goal_cycles ({_CYCLE}) VALUES (:id, :slot, :due, 'begun', '', :missed, '', :at, '')
ON CONFLICT (goal_id, slot) DO NOTHING
"""
_SPAWNED = "UPDATE goal_cycles SET task_id = :task WHERE goal_id = :id AND slot = :slot"
_END = """
UPDATE goal_cycles
SET outcome = :outcome, words = :words, missed = :missed, ended_at = :at
WHERE goal_id = :id AND slot = :slot
"""
_MISSED = "UPDATE goal_cycles SET missed = :missed WHERE goal_id = :id AND slot = :slot"
_ONE = f"SELECT {_CYCLE} FROM goal_cycles WHERE goal_id = :id AND slot = :slot"
_HISTORY = f"""
SELECT {_CYCLE} FROM goal_cycles WHERE goal_id = :id ORDER BY began_at DESC, slot DESC LIMIT :most
"""
_COUNTS = """
SELECT outcome, COUNT(*), MIN(began_at), MAX(began_at) FROM goal_cycles
WHERE goal_id = :id AND ended_at <> '' GROUP BY outcome ORDER BY MAX(began_at), outcome
"""
_UNENDED = f"SELECT {_CYCLE} FROM goal_cycles WHERE goal_id = :id AND ended_at = ''"
_PRUNE = "DELETE FROM goal_cycles WHERE goal_id = :id AND ended_at <> '' AND ended_at < :before"


class SqlGoalStore:
    """Rows of goals; every call joins the transaction that is open."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def save_approved(self, goal_id: str, schedule: str, at: datetime) -> None:
        """Keep a goal that runs from now on; one that was there begins anew."""
        self._write(_PUT, {"id": goal_id, "schedule": schedule, "at": _stamp(at)})

    def get(self, goal_id: str) -> Goal | None:
        """One goal; None where there is none of this id."""
        found = self._goals(_GET, {"id": goal_id})
        return found[0] if found else None

    def all(self) -> list[Goal]:
        """Every goal, in the order of approval."""
        return self._goals(_ALL, {})

    def stands(self, goal_id: str, state: GoalState, why: str = "") -> None:
        """Whether the clock runs it from now on, and why not."""
        self._write(_STATE, {"id": goal_id, "state": state.value, "why": why})

    def counts(self, goal_id: str, failing: int, *, quiet: bool) -> None:
        """How many cycles in a row failed, and whether its owner knows."""
        self._write(_COUNT, {"id": goal_id, "failing": failing, "quiet": int(quiet)})

    def begin(self, goal_id: str, slot: str, due: datetime, missed: int, at: datetime) -> Cycle:
        """Note that a cycle begins; the one that is there where a crash interrupted it."""
        values = {
            "id": goal_id,
            "slot": slot,
            "due": _stamp(due),
            "missed": missed,
            "at": _stamp(at),
        }
        with self.db.write():
            self._write(_BEGIN, values)
            return _cycle(self._read(_ONE, {"id": goal_id, "slot": slot})[0])

    def save_spawned(self, cycle: Cycle, task_id: str) -> None:
        """Note which task a cycle starts."""
        self._write(_SPAWNED, {"id": cycle.goal_id, "slot": cycle.slot, "task": task_id})

    def end(self, cycle: Cycle, outcome: Outcome, words: str, at: datetime) -> None:
        """A cycle is over."""
        values = {"id": cycle.goal_id, "slot": cycle.slot, "outcome": outcome.value}
        self._write(_END, {**values, "words": words, "missed": cycle.missed, "at": _stamp(at)})

    def save_missed(self, cycle: Cycle, missed: int) -> None:
        """How many moments a cycle that is over stands for."""
        self._write(_MISSED, {"id": cycle.goal_id, "slot": cycle.slot, "missed": missed})

    def history(self, goal_id: str, most: int) -> list[Cycle]:
        """The cycles of a goal, the newest first."""
        rows = self._read(_HISTORY, {"id": goal_id, "most": most})
        return readable_rows(self.db, "goal_cycles", rows, lambda row: f"{row[0]} {row[1]}", _cycle)

    def count_cycles(self, goal_id: str) -> list[CycleCount]:
        """How many cycles of a goal ended in which way, the way of the newest last."""
        rows = self._read(_COUNTS, {"id": goal_id})
        return readable_rows(
            self.db, "goal_cycles", rows, lambda row: f"{goal_id} {row[0]}", _cycle_count
        )

    def list_unended(self, goal_id: str) -> list[Cycle]:
        """The cycles of a goal that began and did not end."""
        rows = self._read(_UNENDED, {"id": goal_id})
        return readable_rows(self.db, "goal_cycles", rows, lambda row: f"{row[0]} {row[1]}", _cycle)

    def prune(self, goal_id: str, before: datetime) -> None:
        """Forget cycles that ended before a moment."""
        self._write(_PRUNE, {"id": goal_id, "before": _stamp(before)})

    def _goals(self, statement: LiteralString, values: dict[str, Any]) -> list[Goal]:
        """Those that can be read; the others are set aside."""
        rows = self._read(statement, values)
        return readable_rows(self.db, "goals", rows, lambda row: row[0], _goal)

    def _read(self, statement: LiteralString, values: dict[str, Any]) -> list[Any]:
        with self.db.read() as tx:
            return tx.run(statement, **values).fetchall()

    def _write(self, statement: LiteralString, values: dict[str, Any]) -> None:
        with self.db.write() as tx:
            tx.run(statement, **values)


def _goal(row: tuple[Any, ...]) -> Goal:
    name, schedule, state, why, failing, quiet, at, last = row
    if fault := schedule_fault(schedule):
        raise ValueError(fault)
    repaired = last == Outcome.fixed.value
    counted, told, moment = int(failing), bool(quiet), _moment(at)
    return Goal(name, schedule, GoalState(state), why, counted, told, moment, repaired)


def _cycle(row: tuple[Any, ...]) -> Cycle:
    name, slot, due, outcome, task, missed, words, began, ended = row
    return Cycle(
        name,
        slot,
        _moment(due),
        Outcome(outcome),
        task,
        int(missed),
        words,
        _moment(began),
        _moment(ended) if ended else None,
    )


def _cycle_count(row: tuple[Any, ...]) -> CycleCount:
    outcome, count, first, last = row
    return CycleCount(Outcome(outcome), int(count), _moment(first), _moment(last))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
