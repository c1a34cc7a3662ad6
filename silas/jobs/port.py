"""What the rest of Silas may ask about jobs; every engine answers the same (tests/contracts)."""

from datetime import datetime
from typing import Protocol

from silas.jobs.models import Job


class Jobs(Protocol):
    """Jobs that wait, run or ended.

    Calls write in the transaction that is open, so that a job is there exactly if what it belongs
    to is. None of them waits.
    """

    def start(self, kind: str, ref: str, *, queue: str = "", slot: str = "") -> Job:
        """A job that is due now; see `at`."""
        ...

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
        """A job that is due at a moment; the one that is there where its slot was made before.

        A slot that was cancelled and is made again waits again; one that ran never does.

        Args:
            moment: When, with a zone.
            kind: What runs.
            ref: The id of what it is about.
            queue: Runs in order with the others of this queue; by default with those of its ref.
            slot: Its name among those of the ref; by default that of the moment.
            zone: The zone that the moment was chosen in.
        """
        ...

    def ensure(self, moment: datetime, kind: str, ref: str) -> Job:
        """The unfinished job of a kind and ref, at this moment at the latest; made where there is
        none.
        """
        ...

    def cancel(self, job_id: str) -> bool:
        """A job that waits will not run; False where none of this id waits."""
        ...

    def move(self, job_id: str, moment: datetime) -> bool:
        """A job that waits runs at another moment, under its id; False where none waits."""
        ...

    def get(self, job_id: str) -> Job | None:
        """One job; None where there is none of this id."""
        ...

    def list(self, kind: str = "", ref: str = "") -> tuple[Job, ...]:
        """What waits or runs, the first to come first; of one kind or thing where it is named."""
        ...

    def history(self, kind: str = "", ref: str = "", most: int = 100) -> tuple[Job, ...]:
        """What ended, the newest first."""
        ...
