"""Time, as a dependency: nothing else in Silas asks the system what time it is."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple, Protocol

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Uptime(NamedTuple):
    """For how long a machine has been on.

    Attributes:
        boot: Names the start that it counts from, for every process since then; empty where the
            machine names none, and then another process cannot be compared with.
        seconds: Since then, those in which the machine slept included where `boot` is there.
    """

    boot: str
    seconds: float


class Clock(Protocol):
    """What time it is, and how to wait."""

    def now(self) -> datetime:
        """The current moment, timezone-aware, in UTC (spec 3)."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back; only differences mean anything."""
        ...

    def uptime(self) -> Uptime:
        """Seconds on a clock that nobody can set, and that goes on while the machine sleeps."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; other tasks run meanwhile."""
        ...

    async def until(self, moment: datetime) -> None:
        """Wait for a moment of the wall clock, through sleep of the machine, too.

        It may return early, and does where the clock was set: whoever waits looks again.
        """
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> datetime:
        """The current moment in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since an arbitrary start."""
        return time.monotonic()

    def uptime(self) -> Uptime:
        """As Linux counts it; elsewhere monotonic time, of this process alone."""
        boot = _boot()
        if not boot:
            return Uptime("", time.monotonic())
        return Uptime(boot, time.clock_gettime(time.CLOCK_BOOTTIME))

    async def sleep(self, seconds: float) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(seconds)

    async def until(self, moment: datetime) -> None:
        """Wait on a timer of the kernel that follows the wall clock, where there is one."""
        timer = _wall_timer(moment)
        if timer == -1:
            # an event loop's timer stands still while the machine sleeps
            left = (moment - self.now()).total_seconds()
            await asyncio.sleep(min(max(left, 0.0), _LONGEST_BLIND_SECONDS))
            return
        loop = asyncio.get_running_loop()
        rings: asyncio.Future[None] = loop.create_future()
        loop.add_reader(timer, lambda: rings.done() or rings.set_result(None))
        try:
            await rings
        finally:
            loop.remove_reader(timer)
            os.close(timer)


_LONGEST_BLIND_SECONDS = 300.0
"""Where the kernel has no such timer: how late a wait notices that the machine slept."""

_ABSOLUTE, _ENDS_WHEN_SET = 1, 2  # TFD_TIMER_ABSTIME, TFD_TIMER_CANCEL_ON_SET of timerfd_create(2)


def _wall_timer(moment: datetime) -> int:
    """A descriptor that is readable at a moment, or when the clock was set; -1 where there is none.

    Linux alone has these timers; from Python 3.13 on `os.timerfd_create` makes them.
    """
    import ctypes  # noqa: PLC0415 - only whoever waits for a moment needs it

    class Times(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_long) for name in ("every_s", "every_ns", "first_s", "first_ns")
        ]

    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "timerfd_create"):
        return -1
    timer: int = libc.timerfd_create(time.CLOCK_REALTIME, os.O_NONBLOCK | os.O_CLOEXEC)
    if timer == -1:
        return -1
    seconds = max(moment.timestamp(), 1.0)  # all zeros would mean never
    whole = int(seconds)
    first = Times(0, 0, whole, int((seconds - whole) * 1e9))
    if libc.timerfd_settime(timer, _ABSOLUTE | _ENDS_WHEN_SET, ctypes.byref(first), None) == -1:
        os.close(timer)
        return -1
    return timer


class TimeLimitReached(TimeoutError):
    """A `time_limit` broke the work off; a `TimeoutError` of the work's own is not one."""


@asynccontextmanager
async def time_limit(clock: Clock, seconds: float) -> AsyncGenerator[None]:
    """Break off what takes longer than `seconds` on this clock.

    Raises:
        TimeLimitReached: The time was over first.
    """
    ends = clock.monotonic() + seconds
    async with time_limit_until(lambda: clock.sleep(ends - clock.monotonic())):
        yield


@asynccontextmanager
async def time_limit_until(over: Callable[[], Awaitable[object]]) -> AsyncGenerator[None]:
    """Break off what is not done when `over` is; for a limit that can be put off.

    Raises:
        TimeLimitReached: The time was over first.
    """
    loop = asyncio.get_running_loop()
    limit = asyncio.timeout(None)

    async def end() -> None:
        await over()
        limit.reschedule(loop.time())

    try:
        async with limit:
            timer = asyncio.ensure_future(end())
            try:
                yield
            finally:
                timer.cancel()
    except TimeoutError as error:
        if limit.expired():
            raise TimeLimitReached from error
        raise


def is_moment(value: object) -> bool:
    """Whether something is the text of a moment with its zone, as every table keeps them."""
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


@cache
def _boot() -> str:
    """What the kernel calls this start of the machine; empty where it does not say."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return ""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
