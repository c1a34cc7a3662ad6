"""A program that stays: the same walls as any run, with a line in and a line out (decision D120).

Nothing said by it is kept here but what was not read yet, and that is bounded: whoever talks faster
than anybody listens, or never ends a line, is ended.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, runtime_checkable

from silas.errors import SandboxError
from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult

UNREAD_BYTES = 8 << 20
"""How much may wait to be read; an answer with a large picture in it fits."""

LOOK_SECONDS = 0.25
"""Between two looks at what it uses. It stays, so this is a price without end: a thousandth of a
processor. The kernel's own limits on each process hold at every moment.
"""

_CHUNK = 1 << 16
_TAIL_BYTES = 4096  # of standard error that are kept, for the sentence about a failure


class Conversation(Protocol):
    """What passes between Silas and a program that stays."""

    async def next_line(self) -> bytes | None:
        """The next line, without its end; None when there will be no more."""
        ...

    async def say(self, line: bytes) -> None:
        """Send one line. Raises `SandboxError` where nobody reads any more."""
        ...

    async def wait_for_end(self) -> SandboxResult:
        """How it ended, once it has. Raises what `Sandbox.run` raises."""
        ...


@runtime_checkable
class Residents(Protocol):
    """A sandbox that can keep a program running."""

    def resident(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> AbstractAsyncContextManager[Conversation]:
        """Start it; it is killed, with everything it started, when the context ends.

        Raises:
            SandboxUnavailable, SandboxError, Stopped: Nothing was started.
        """
        ...


class Lines:
    """Standard output, line by line, kept until it is read."""

    def __init__(self, over: Callable[[], None]) -> None:
        self._over = over
        self._descriptor = -1
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._partial = bytearray()
        self._unread = 0

    def of(self, descriptor: int) -> "Lines":
        """Read from here."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        return self

    def read(self) -> bool:
        """Take one chunk; False at the end or when nothing waits."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.close()
            return False
        self._unread += len(chunk)
        if self._unread > UNREAD_BYTES:
            self._over()
            return True
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            self._waiting.put_nowait(bytes(self._partial) + line)
            self._partial.clear()
        self._partial += rest
        return True

    def close(self) -> None:
        """Say that nothing more will come."""
        self._waiting.put_nowait(None)

    def text(self) -> str:
        """Nothing is kept for a result."""
        return ""

    async def next(self) -> bytes | None:
        """The next line; None at the end, and ever after."""
        line = await self._waiting.get()
        if line is None:
            self._waiting.put_nowait(None)
            return None
        self._unread -= len(line) + 1
        return line


class Tail:
    """The last of standard error."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._kept = b""

    def read(self) -> bool:
        """Take one chunk; False at the end or when nothing waits."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        self._kept = (self._kept + chunk)[-_TAIL_BYTES:]
        return bool(chunk)

    def text(self) -> str:
        """What is kept, decoded as UTF-8 with replacement."""
        return self._kept.decode("utf-8", "replace")


class Writing:
    """Standard input of a program that may read slowly, or not at all."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._one = asyncio.Lock()

    async def all(self, content: bytes) -> None:
        """Write everything, in one piece. Raises `SandboxError` where nobody reads."""
        async with self._one:
            view = memoryview(content)
            while view:
                try:
                    view = view[os.write(self._descriptor, view) :]
                except BlockingIOError:
                    await self._room()
                except OSError as error:
                    raise SandboxError(
                        "The program does not read any more.", code="E_SANDBOX_RESIDENT"
                    ) from error

    async def _room(self) -> None:
        loop = asyncio.get_running_loop()
        room: asyncio.Future[None] = loop.create_future()
        loop.add_writer(self._descriptor, lambda: room.done() or room.set_result(None))
        try:
            await room
        finally:
            loop.remove_writer(self._descriptor)


class RunningConversation:
    """A `Conversation` with a run that is under way."""

    def __init__(self, lines: Lines, writing: Writing, run: "asyncio.Task[SandboxResult]") -> None:
        self._lines = lines
        self._writing = writing
        self._run = run

    async def next_line(self) -> bytes | None:
        """See `Conversation.next_line`."""
        return await self._lines.next()

    async def say(self, line: bytes) -> None:
        """See `Conversation.say`."""
        writing = asyncio.ensure_future(self._writing.all(line + b"\n"))
        try:
            await asyncio.wait({writing, self._run}, return_when=asyncio.FIRST_COMPLETED)
            if not writing.done():
                raise SandboxError("The program has ended.", code="E_SANDBOX_RESIDENT")
        finally:
            writing.cancel()
        await writing

    async def wait_for_end(self) -> SandboxResult:
        """See `Conversation.wait_for_end`."""
        return await asyncio.shield(self._run)


@asynccontextmanager
async def spoken_with(
    run: "asyncio.Task[SandboxResult]", lines: Lines, descriptor: int
) -> AsyncGenerator[Conversation]:
    """Talk with a run; it is over, and buried, when this ends."""
    run.add_done_callback(lambda _: lines.close())
    try:
        yield RunningConversation(lines, Writing(descriptor), run)
    finally:
        await _cancel_and_wait(run)


async def _cancel_and_wait(run: "asyncio.Task[SandboxResult]") -> None:
    """Wait until nothing of it is left; a cancellation that arrives meanwhile is passed on."""
    cancelled = False
    run.cancel()
    while not run.done():
        try:
            await asyncio.wait([run])
        except asyncio.CancelledError:
            cancelled = True
    if not run.cancelled():
        run.exception()  # whoever asked `ended` has it; nobody else needs it
    if cancelled:
        raise asyncio.CancelledError
