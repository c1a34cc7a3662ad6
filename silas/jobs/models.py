"""A job: what is to run, about what, and when. It carries ids, never text, secrets or approvals."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple


class JobState(StrEnum):
    """How a job stands."""

    waiting = "waiting"
    running = "running"
    """Begun by the process that has the lease, or by one that crashed."""
    done = "done"
    failed = "failed"
    cancelled = "cancelled"


UNFINISHED = (JobState.waiting, JobState.running)


def job_id(kind: str, ref: str, slot: str) -> str:
    """The id of the job of a slot: made twice, it is one job."""
    return f"{kind}:{ref}:{slot}"


class Job(NamedTuple):
    """One run of something at one moment.

    Attributes:
        kind: What runs: the name of a `JobKind`.
        ref: The id of the thing that it is about; the room of the kind keeps that thing.
        slot: Names the due moment among those of the same thing; see `slot_of`.
        queue: Jobs of one queue run in the order of their moments, one at a time.
        due: When, in UTC.
        zone: The IANA name of the zone that the moment was chosen in.
        attempts: How often it was begun.
        ended_at: When it ended, or None.
        fault: The code of the error it failed with; empty where it did not.
    """

    kind: str
    ref: str
    slot: str
    queue: str
    due: datetime
    zone: str = "UTC"
    state: JobState = JobState.waiting
    attempts: int = 0
    ended_at: datetime | None = None
    fault: str = ""

    @property
    def id(self) -> str:
        """See `job_id`."""
        return job_id(self.kind, self.ref, self.slot)


Finish = Callable[[], None]
"""What a job writes at its end, in the transaction that records that end; it never waits."""


def nothing() -> None:
    """The `Finish` of a job that has nothing to write."""


class JobKind(NamedTuple):
    """How jobs of one kind run.

    Attributes:
        name: The kind.
        run: Does the work. It is called again where a crash interrupted it, so whatever it does
            outside the database needs a record of its own that says whether it was begun.
        following: The next moment after this job's, given the present one; None where it ends. It
            is asked for when a job ends, well or badly; its job is made in the same transaction.
        attempts: How often a job that fails is begun altogether.
        again: How long after a failure; twice as long after each further one.
        longest: It is never longer than this.
        takes_place: Whether it counts for how many run at once, and waits where that many do.
    """

    name: str
    run: Callable[[Job], Awaitable[Finish]]
    following: Callable[[Job, datetime], datetime | None]
    attempts: int = 1
    again: timedelta = timedelta(minutes=1)
    longest: timedelta = timedelta(days=1)
    takes_place: bool = True


def once(job: Job, now: datetime) -> None:
    """`JobKind.following` of what does not recur."""
    del job, now


def slot_of(moment: datetime) -> str:
    """The name of a moment: UTC, without what every moment has in common."""
    at = moment.astimezone(UTC)
    return f"{at:%Y%m%dT%H%M%S}Z" if not at.microsecond else f"{at:%Y%m%dT%H%M%S.%f}Z"
