"""How often Silas was stopped, in the database: what makes tokens from before a stop void."""

from collections.abc import Callable
from datetime import datetime

from silas.clock import Clock, is_moment
from silas.db import Database, Tx
from silas.stop.sentinel import Sentinel

_COUNT = "SELECT count(*) FROM emergency_stops"
_ALL = "SELECT number, stopped_at, resumed_at FROM emergency_stops"
_STOP = "INSERT INTO emergency_stops (stopped_at) VALUES (:stopped_at)"
_VOID = "INSERT INTO emergency_stops (stopped_at, resumed_at) VALUES (:at, :at)"
_RESUME = """
UPDATE emergency_stops SET stopped_at = :stopped_at, resumed_at = :resumed_at
WHERE number = :number
"""


class StopEpochs:
    """The stop as approvals see it: the sentinel now, and the stops that were.

    A count, not a moment: it holds however the clock is set.
    """

    def __init__(self, db: Database, clock: Clock, sentinel: Sentinel) -> None:
        self._db = db
        self._clock = clock
        self._sentinel = sentinel

    def words(self) -> str:
        """The sentence to say where Silas is stopped; empty where it is not."""
        return self._sentinel.words()

    def stops(self) -> int:
        """How often Silas was stopped so far."""
        with self._db.read() as tx:  # asked for at every use of a token
            return int(tx.run(_COUNT).fetchone()[0])

    def reconcile(self, witness: Callable[[], object]) -> None:
        """Make file and database agree that Silas is stopped where either says so.

        A file made by hand is recorded; a file that got lost is made again.

        Args:
            witness: Called inside the transaction that records a stop.

        Raises:
            DatabaseError: It cannot be recorded.
            OSError: The file cannot be made.
        """
        with self._db.read() as tx:
            if self._sentinel.stands() == _is_open(tx):
                return
        with self._db.write(durable=True) as tx:  # asked again: nobody resumes meanwhile
            if _is_open(tx):
                self._sentinel.place()
            elif self._sentinel.stands():
                self._record(tx, witness)

    def resume(self, recorded: Callable[[], object], witness: Callable[[], object]) -> None:
        """Make every token void, and then let Silas go on.

        Args:
            recorded: Called inside the transaction that records a stop that was not on record yet.
            witness: Called inside the transaction that ends the stop.

        Raises:
            DatabaseError, OSError: Silas stays stopped.
        """
        with self._db.write(durable=True) as tx:
            if not _is_open(tx):
                self._record(tx, recorded)
        try:
            with self._db.write(durable=True) as tx:
                now = self._clock.now().isoformat()
                for number, stopped_at in _open_stops(tx):
                    since = stopped_at if is_moment(stopped_at) else now
                    tx.run(_RESUME, number=number, stopped_at=since, resumed_at=now)
                witness()
                self._sentinel.remove()  # under the lock of `reconcile`, which would make it again
        except BaseException:
            self._sentinel.place()
            raise

    def _record(self, tx: Tx, witness: Callable[[], object]) -> None:
        tx.run(_STOP, stopped_at=self._clock.now().isoformat())
        witness()


def void_tokens(tx: Tx, moment: datetime) -> None:
    """Make every token void that was signed so far, as a stop that was over at once would."""
    tx.run(_VOID, at=moment.isoformat())


def _is_open(tx: Tx) -> bool:
    return bool(_open_stops(tx))


def _open_stops(tx: Tx) -> list[tuple[int, object]]:
    """Those that are not over, and since when; a damaged one is not known to be."""
    return [
        (number, stopped_at)
        for number, stopped_at, resumed_at in tx.run(_ALL).fetchall()
        if not (is_moment(stopped_at) and is_moment(resumed_at))
    ]
