"""`Jobs` over the database of Silas itself."""

from collections.abc import Callable
from datetime import UTC, datetime

from silas.clock import Clock
from silas.jobs.models import Job, slot_of
from silas.jobs.store import SqlJobStore


class JobTable:
    """`silas.jobs.port.Jobs`: rows, and a word to whoever waits for the next one.

    Args:
        store: The rows.
        clock: Effective time (decision B19).
        changed: Called after each change, possibly within the transaction that makes it.
    """

    def __init__(self, store: SqlJobStore, clock: Clock, changed: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._changed = changed

    def start(self, kind: str, ref: str, *, queue: str = "", slot: str = "") -> Job:
        """See `Jobs.start`."""
        return self.at(self._clock.now(), kind, ref, queue=queue, slot=slot)

    def at(
        self,
        moment: datetime,
        kind: str,
        ref: str,
        *,
        queue: str = "",
        slot: str = "",
        zone: str = "UTC",
    ) -> Job:
        """See `Jobs.at`."""
        named, queued = slot or slot_of(moment), queue or f"{kind}:{ref}"
        job = self._store.put(Job(kind, ref, named, queued, moment.astimezone(UTC), zone))
        self._changed()
        return job

    def ensure(self, moment: datetime, kind: str, ref: str) -> Job:
        """See `Jobs.ensure`."""
        with self._store.db.write():
            there = self._store.list_open(kind, ref)
            if not there:
                return self.at(moment, kind, ref)
            if there[0].due > moment:  # it is to come more often than it did
                self.move(there[0].id, moment)
            return self._store.get(there[0].id) or there[0]

    def cancel(self, job_id: str) -> bool:
        """See `Jobs.cancel`."""
        done = self._store.cancel(job_id, self._clock.now())
        self._changed()
        return done

    def move(self, job_id: str, moment: datetime) -> bool:
        """See `Jobs.move`."""
        done = self._store.move(job_id, moment)
        self._changed()
        return done

    def get(self, job_id: str) -> Job | None:
        """See `Jobs.get`."""
        return self._store.get(job_id)

    def list(self, kind: str = "", ref: str = "") -> tuple[Job, ...]:
        """See `Jobs.list`."""
        return tuple(self._store.list_open(kind, ref))

    def history(self, kind: str = "", ref: str = "", most: int = 100) -> tuple[Job, ...]:
        """See `Jobs.history`."""
        return tuple(self._store.list_ended(kind, ref, most))
