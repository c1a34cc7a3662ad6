"""The table of jobs, in SQL that SQLite and PostgreSQL read alike."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, LiteralString

from silas.damage import UNREADABLE, readable_rows
from silas.db import Database, Tx
from silas.jobs.models import Job, JobState

_COLUMNS = "kind, ref, slot, queue, due, zone, state, attempts, ended_at, fault"

_PUT = f"""
INSERT INTO jobs (id, {_COLUMNS}, place)
VALUES (:id, :kind, :ref, :slot, :queue, :due, :zone, 'waiting', 0, '', '',
        (SELECT COALESCE(MAX(place), 0) + 1 FROM jobs))
ON CONFLICT (id) DO UPDATE
SET state = 'waiting', due = excluded.due, zone = excluded.zone, attempts = 0, ended_at = '',
    place = excluded.place
WHERE jobs.state = 'cancelled'
"""
_GET = f"SELECT {_COLUMNS} FROM jobs WHERE id = :id"
_UNFINISHED = f"""
SELECT {_COLUMNS} FROM jobs
WHERE state IN ('waiting', 'running') AND due <= :until ORDER BY due, place
"""
_NEXT = """
SELECT MIN(due) FROM jobs WHERE state IN ('waiting', 'running') AND due > :after AND kind = :kind
"""
_OF_KIND = f"""
SELECT {_COLUMNS} FROM jobs
WHERE state IN ('waiting', 'running') AND (:kind = '' OR kind = :kind) AND (:ref = '' OR ref = :ref)
ORDER BY due, place
"""
_ENDED = f"""
SELECT {_COLUMNS} FROM jobs
WHERE state IN ('done', 'failed', 'cancelled')
  AND (:kind = '' OR kind = :kind) AND (:ref = '' OR ref = :ref)
ORDER BY ended_at DESC, place DESC LIMIT :most
"""
_BEGIN = """
UPDATE jobs SET state = 'running', attempts = attempts + 1
WHERE id = :id AND state IN ('waiting', 'running')
"""
_END = """
UPDATE jobs SET state = :state, ended_at = :at, fault = :fault
WHERE id = :id AND state IN ('waiting', 'running')
"""
_AGAIN = "UPDATE jobs SET state = 'waiting', due = :due WHERE id = :id AND state = 'running'"
_MOVE = "UPDATE jobs SET due = :due WHERE id = :id AND state = 'waiting'"
_CANCEL = """
UPDATE jobs SET state = 'cancelled', ended_at = :at WHERE id = :id AND state = 'waiting'
"""
_PRUNE = """
DELETE FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND ended_at < :before
"""


class SqlJobStore:
    """Rows of jobs; every call joins the transaction that is open."""

    def __init__(self, db: Database) -> None:
        self.db = db

    def put(self, job: Job) -> Job:
        """Keep a job that waits; returns the one that is there where its id was made before.

        One that was cancelled waits again.
        """
        with self.db.write() as tx:
            tx.run(
                _PUT,
                id=job.id,
                kind=job.kind,
                ref=job.ref,
                slot=job.slot,
                queue=job.queue,
                due=_stamp(job.due),
                zone=job.zone,
            )
            return self._one(tx, job.id) or job

    def get(self, job_id: str) -> Job | None:
        """One job; None where there is none, or its row cannot be read."""
        with self.db.read() as tx:
            return self._one(tx, job_id)

    def list_unfinished(self, until: datetime) -> list[Job]:
        """What waits or runs and is due by then, in the order in which it is due."""
        with self.db.read() as tx:
            return self._all(tx, _UNFINISHED, {"until": _stamp(until)})

    def next_due(self, kinds: Collection[str], after: datetime | None) -> datetime | None:
        """The first moment of an unfinished job of these kinds, after this one; None for none."""
        since = "" if after is None else _stamp(after)
        with self.db.read() as tx:
            found = [tx.run(_NEXT, after=since, kind=kind).fetchone()[0] for kind in kinds]
        try:
            moments = [datetime.fromisoformat(moment) for moment in found if moment]
        except UNREADABLE:  # a damaged row came first; the others are asked one by one
            listed = [job.due for kind in kinds for job in self.list_open(kind, "")]
            moments = [due for due in listed if after is None or due > after]
        return min(moments, default=None)

    def list_open(self, kind: str, ref: str) -> list[Job]:
        """What waits or runs."""
        with self.db.read() as tx:
            return self._all(tx, _OF_KIND, {"kind": kind, "ref": ref})

    def list_ended(self, kind: str, ref: str, most: int) -> list[Job]:
        """What ended, the newest first."""
        with self.db.read() as tx:
            return self._all(tx, _ENDED, {"kind": kind, "ref": ref, "most": most})

    def begin(self, job_id: str) -> Job | None:
        """A job runs from now on, or once more; None where it is over."""
        with self.db.write() as tx:
            return self._one(tx, job_id) if _run_changes(tx, _BEGIN, {"id": job_id}) else None

    def end(self, job_id: str, state: JobState, at: datetime, fault: str = "") -> None:
        """A job is over."""
        values = {"id": job_id, "state": state.value, "at": _stamp(at), "fault": fault}
        with self.db.write() as tx:
            tx.run(_END, **values)

    def again(self, job_id: str, due: datetime) -> None:
        """A job that failed waits once more."""
        with self.db.write() as tx:
            tx.run(_AGAIN, id=job_id, due=_stamp(due))

    def cancel(self, job_id: str, at: datetime) -> bool:
        """End a job that waits; False where it does not."""
        with self.db.write() as tx:
            return _run_changes(tx, _CANCEL, {"id": job_id, "at": _stamp(at)})

    def move(self, job_id: str, due: datetime) -> bool:
        """Another moment for a job that waits; False where it does not."""
        with self.db.write() as tx:
            return _run_changes(tx, _MOVE, {"id": job_id, "due": _stamp(due)})

    def prune(self, before: datetime) -> None:
        """Forget what ended before a moment."""
        with self.db.write() as tx:
            tx.run(_PRUNE, before=_stamp(before))

    def _one(self, tx: Tx, job_id: str) -> Job | None:
        found = self._readable_jobs(tx.run(_GET, id=job_id).fetchall())
        return found[0] if found else None

    def _all(self, tx: Tx, statement: LiteralString, values: dict[str, Any]) -> list[Job]:
        return self._readable_jobs(tx.run(statement, **values).fetchall())

    def _readable_jobs(self, rows: list[tuple[Any, ...]]) -> list[Job]:
        """The jobs that can be read; the others are set aside, so that nothing waits for them."""
        return readable_rows(self.db, "jobs", rows, lambda row: f"{row[0]} {row[1]} {row[2]}", _job)


def _run_changes(tx: Tx, statement: LiteralString, values: dict[str, Any]) -> bool:
    return tx.run(statement, **values).rowcount > 0


def _job(row: tuple[Any, ...]) -> Job:
    kind, ref, slot, queue, due, zone, state, attempts, ended, fault = row
    return Job(
        kind=kind,
        ref=ref,
        slot=slot,
        queue=queue,
        due=datetime.fromisoformat(due),
        zone=zone,
        state=JobState(state),
        attempts=int(attempts),
        ended_at=datetime.fromisoformat(ended) if ended else None,
        fault=fault,
    )


def _stamp(moment: datetime) -> str:
    """Text that sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
