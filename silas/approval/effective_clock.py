"""Time as approvals see it: a kept mark and uptime, never the machine's clock alone (B19).

It never goes back, whatever the machine's clock does, and it never stands still, so what expired
stays expired and what was issued expires. Two moments go in: the machine's, which may be wrong,
and the one that was reached before.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import NamedTuple
from zoneinfo import ZoneInfo

from silas.clock import Clock, Uptime
from silas.damage import set_aside
from silas.db import Database, Tx
from silas.language.calendar import moment_words
from silas.stop.epochs import void_tokens

JUMP = timedelta(days=1)
"""A step forward of more than this is a jump: it voids what was approved before."""

GRAIN = timedelta(seconds=5)
"""How far time runs on before the mark is written again; a start behind the mark adds it."""

AGREES = timedelta(minutes=10)
"""Within this the machine's clock and effective time agree."""

_CALM = 3600.0  # seconds after a step forward in which nothing is forgotten: it may step back

_READ = "SELECT reached, machine, unconfirmed, confirmed, boot, up FROM effective_time"
_FORGET = "DELETE FROM effective_time"
_BEGIN = """
INSERT INTO effective_time (one, reached, machine, unconfirmed, confirmed, boot, up)
VALUES (1, :reached, :machine, :unconfirmed, :confirmed, :boot, :up)
"""
_REMEMBERED = "SELECT 1 FROM approval_nonces WHERE expires_at > :moment LIMIT 1"

RecordJump = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


class ClockMark(NamedTuple):
    """What is kept.

    Attributes:
        reached: Effective time at the last look that was kept.
        machine: What the machine's clock said then.
        unconfirmed: Whether it jumped, and the owner has not said that the clock is right.
        confirmed: How often the owner said so; each time every process looks anew.
        up: The machine's uptime then.
    """

    reached: datetime
    machine: datetime
    unconfirmed: bool = False
    confirmed: int = 0
    up: Uptime = Uptime("", 0.0)


class TimeStep(NamedTuple):
    """One look: the effective time now, and whether it jumped to get there."""

    at: datetime
    jumped: bool


def begin(mark: ClockMark, machine: datetime, up: Uptime) -> datetime:
    """Where time goes on in a process that has just started.

    By as much as the machine was on since the mark, asleep or not, where it was not started anew
    meanwhile. Where the machine's clock is behind the mark, time goes on by as much as that clock
    went on since: while no process ran, too.
    """
    passed = mark.reached
    if up.boot and up.boot == mark.up.boot:
        passed += timedelta(seconds=max(up.seconds - mark.up.seconds, 0.0))
    if machine >= mark.reached:
        return passed
    return max(passed, mark.reached + GRAIN + max(machine - mark.machine, timedelta()))


def step(before: datetime, machine: datetime) -> TimeStep:
    """The next moment.

    Args:
        before: What uptime alone makes of the last one; never later than the result.
        machine: What the machine's clock says.
    """
    at = max(before, machine)
    return TimeStep(at, at - before > JUMP)


class ClockState(NamedTuple):
    """How the machine's clock and effective time stand to each other.

    Attributes:
        at: Effective time.
        machine: The machine's clock.
        unconfirmed: Whether a jump waits for the owner.
    """

    at: datetime
    machine: datetime
    unconfirmed: bool

    @property
    def ahead(self) -> bool:
        """Whether effective time is ahead: the machine's clock went back."""
        return self.at - self.machine > AGREES

    def words(self, zone: ZoneInfo) -> str:
        """What is wrong and what to do; empty where nothing is.

        Args:
            zone: The owner's, in which moments are told.
        """
        if self.ahead:
            says, come = moment_words(self.machine, zone), moment_words(self.at, zone)
            return (
                f"The clock of this machine went back: it says {says}, and "
                f"approvals have come to {come}. Set it right; if it is right now, "
                "`silas approvals clock --confirm`, which makes every open approval void."
            )
        if self.unconfirmed:
            return (
                "The clock of this machine jumped forward by more than a day, so what was approved "
                "before is void and no spent approval is forgotten. If it is right, "
                "`silas approvals clock --confirm`."
            )
        return ""


class EffectiveClock:
    """`Clock` for everything that expires or is remembered for a while: approvals, links, limits.

    Several processes share the mark; each adds the uptime that it saw pass itself.
    """

    def __init__(self, db: Database, machine: Clock, witness: RecordJump) -> None:
        self._db = db
        self._machine = machine
        self._witness = witness
        self._last: _Look | None = None
        self._calm_from = 0.0

    def now(self) -> datetime:
        """Effective time; later than or equal to whatever this or another process was told."""
        return self.state().at

    def monotonic(self) -> float:
        """See `Clock.monotonic`."""
        return self._machine.monotonic()

    def uptime(self) -> Uptime:
        """See `Clock.uptime`."""
        return self._machine.uptime()

    async def sleep(self, seconds: float) -> None:
        """See `Clock.sleep`."""
        await self._machine.sleep(seconds)

    async def until(self, moment: datetime) -> None:
        """See `Clock.until`; a clock that went back does not put it off."""
        left = moment - self.now()
        await self._machine.until(self._machine.now() + left)

    def state(self) -> ClockState:
        """Look at the clocks; keeps the mark where time has gone on by more than `GRAIN`."""
        machine, up = self._machine.now().astimezone(UTC), self._machine.uptime()
        with self._db.read() as tx:
            mark = _read(tx)
        if mark is None or _worth_keeping(mark, self._step_time(mark, machine, up), machine):
            with self._db.write() as tx:
                mark = self._keep_mark(tx, machine, up)
        stepped = self._step_time(mark, machine, up)
        self._last = _Look(stepped.at, up.seconds, mark.confirmed)
        return ClockState(stepped.at, machine, mark.unconfirmed)

    def peek(self) -> ClockState:
        """Look without keeping anything; a jump that nobody noticed yet shows as unconfirmed."""
        machine = self._machine.now().astimezone(UTC)
        with self._db.read() as tx:
            mark = _read(tx)
            if mark is None:
                return ClockState(machine, machine, unconfirmed=False)
            at, jumped = self._step_time(mark, machine, self._machine.uptime())
            pending = jumped and _remembers_since(tx, mark.reached)
        return ClockState(at, machine, mark.unconfirmed or pending)

    def may_forget(self) -> bool:
        """Whether the clocks agree, and have for a while: only then is anything forgotten."""
        state = self.state()
        calm = self._machine.uptime().seconds >= self._calm_from
        return calm and not state.ahead and not state.unconfirmed

    def confirm(self) -> ClockState:
        """The owner says that the machine's clock is right.

        Where it went back, effective time follows it: every approval given so far is void, by
        number and not by time, so that none of them is ever valid again.
        """
        state = self.state()
        reached = state.machine if state.ahead else state.at
        with self._db.write() as tx:
            mark = _read(tx)
            if state.ahead:
                void_tokens(tx, reached)
            times = 1 if mark is None else mark.confirmed + 1
            up = self._machine.uptime()
            _keep(tx, ClockMark(reached, state.machine, confirmed=times, up=up))
            self._witness("clock.confirmed", at=reached.isoformat(), was=state.at.isoformat())
        self._calm_from = 0.0
        return self.state()

    def _before(self, mark: ClockMark, machine: datetime, up: Uptime) -> datetime:
        """What is reached without believing the machine's clock."""
        last = self._last
        if last is None or last.confirmed != mark.confirmed:
            return begin(mark, machine, up)
        return max(mark.reached, last.at + timedelta(seconds=max(up.seconds - last.up, 0.0)))

    def _step_time(self, mark: ClockMark, machine: datetime, up: Uptime) -> TimeStep:
        return step(self._before(mark, machine, up), machine)

    def _keep_mark(self, tx: Tx, machine: datetime, up: Uptime) -> ClockMark:
        """Bring the mark up to now; read again, because another process may have been first."""
        mark = _read(tx)
        if mark is None:
            return self._began(tx, machine, up)
        before = self._before(mark, machine, up)
        stepped = step(before, machine)
        if self._last is not None and stepped.at - before > AGREES:
            self._calm_from = up.seconds + _CALM
        unconfirmed = mark.unconfirmed
        if stepped.jumped:
            void_tokens(tx, stepped.at)
            unconfirmed = unconfirmed or _remembers_since(tx, before)
            self._witness("clock.jumped", before=before.isoformat(), at=stepped.at.isoformat())
        kept = ClockMark(stepped.at, machine, unconfirmed, mark.confirmed, up)
        _keep(tx, kept)
        self._last = _Look(stepped.at, up.seconds, mark.confirmed)
        return kept

    def _began(self, tx: Tx, machine: datetime, up: Uptime) -> ClockMark:
        """The first mark; where there is a damaged one, nothing from before it counts."""
        row = tx.run(_READ).fetchone()
        damaged = row is not None
        if damaged:
            set_aside(self._db, "effective_time", "1", row)
            void_tokens(tx, machine)
            self._witness("clock.jumped", before="", at=machine.isoformat())
        mark = ClockMark(machine, machine, unconfirmed=damaged, up=up)
        _keep(tx, mark)
        return mark


class _Look(NamedTuple):
    at: datetime
    up: float
    confirmed: int


def _worth_keeping(mark: ClockMark, stepped: TimeStep, machine: datetime) -> bool:
    lead, kept_lead = stepped.at - machine, mark.reached - mark.machine
    return stepped.jumped or stepped.at - mark.reached >= GRAIN or lead - kept_lead >= GRAIN


def _read(tx: Tx) -> ClockMark | None:
    """The mark; None where there is none, or one that cannot be read."""
    row = tx.run(_READ).fetchone()
    if row is None:
        return None
    reached, machine, unconfirmed, confirmed, boot, up = row
    try:
        moments = datetime.fromisoformat(reached), datetime.fromisoformat(machine)
        since = Uptime(str(boot), int(up))
        if any(moment.tzinfo is None for moment in moments) or since.seconds < 0:
            return None
        return ClockMark(*moments, bool(unconfirmed), int(confirmed), since)
    except (TypeError, ValueError):
        return None


def _keep(tx: Tx, mark: ClockMark) -> None:
    tx.run(_FORGET)
    tx.run(
        _BEGIN,
        reached=_stamp(mark.reached),
        machine=_stamp(mark.machine),
        unconfirmed=int(mark.unconfirmed),
        confirmed=mark.confirmed,
        boot=mark.up.boot,
        up=ceil(mark.up.seconds),  # time does not run ahead by a part of a second each start
    )


def _remembers_since(tx: Tx, moment: datetime) -> bool:
    """Whether anything used is remembered that the jump alone would let be forgotten."""
    return tx.run(_REMEMBERED, moment=_stamp(moment)).fetchone() is not None


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
