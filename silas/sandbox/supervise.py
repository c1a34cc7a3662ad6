"""The supervisor of one run: starts bubblewrap, watches, ends it and buries it (spec 9.1).

The supervisor lives on the host side, where nothing inside reaches it. It ends a run by killing the
init of the sandbox's process namespace: the kernel then kills everything in it, whatever signals
are ignored and whoever detached itself. Processes live in real time, so waiting uses the event
loop's own clock.
"""

import asyncio
import os
import re
import signal
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Protocol

from silas.errors import SandboxError, Stopped
from silas.sandbox.bubblewrap.launch import Launch
from silas.sandbox.models import EndedBy, Hear, SandboxLimits, SandboxResult
from silas.sandbox.process_group import counted_by_the_kernel
from silas.sandbox.watch import exact_memory, has_ended, impose, parent, sample
from silas.stop.runs import Register

_SAMPLE_SECONDS = 0.05
_CHUNK = 1 << 16
_KILLED = 128 + signal.SIGKILL
_OUT_OF_TIME = 128 + signal.SIGXCPU
_SETUP_SECONDS = 30.0  # bubblewrap needs milliseconds, and a machine with much to do some seconds
_CHILD = re.compile(rb'"child-pid": (\d+)\D')
_EXIT = re.compile(rb'"exit-code": (\d+)\D')
_NOT_STARTED = 127  # as shells report it


BeforeInit = Callable[[int, int], Awaitable[None]]
"""What must be in place before the command starts: given the waiting init and its descriptor."""


async def nothing_before(init: int, init_fd: int) -> None:
    """Most runs start as soon as their limits are set."""
    del init, init_fd


def own_end(code: int, cpu_seconds: float, limits: SandboxLimits) -> EndedBy:
    """How a command ended that no supervisor ended."""
    spent = cpu_seconds >= limits.cpu_seconds - 4 * _SAMPLE_SECONDS
    if code == _OUT_OF_TIME or (code == _KILLED and spent):
        return "timeout"
    return "signal" if 128 < code < 128 + signal.NSIG else "exit"


class OutputSink(Protocol):
    """Where one output stream goes."""

    def read(self) -> bool:
        """Take one chunk; False at the end or when nothing waits."""
        ...

    def text(self) -> str:
        """What the result shows of it."""
        ...


class _Output:
    """One output stream, kept up to a ceiling; more calls `over` and is thrown away."""

    def __init__(self, descriptor: int, most: int, over: Callable[[], None], hear: Hear) -> None:
        self.content = bytearray()
        self._descriptor = descriptor
        self._most = most
        self._over = over
        self._hear = hear
        os.set_blocking(descriptor, False)

    def read(self) -> bool:
        """Take one chunk; False at the end or when nothing waits."""
        try:
            chunk = os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return False
        room = self._most - len(self.content)
        self.content += chunk[:room]
        self._hear(chunk[:room])
        if len(chunk) > room:
            self._over()
        return bool(chunk)

    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class Run:
    """One command from start to burial."""

    def __init__(
        self,
        limits: SandboxLimits,
        owned: ExitStack,
        before: BeforeInit,
        register: Register,
        *,
        count_processes: bool,
        look_seconds: float = _SAMPLE_SECONDS,
    ) -> None:
        self._look_seconds = look_seconds
        self._loop = asyncio.get_running_loop()
        self._before = before
        self._opening: asyncio.Task[None] | None = None
        self._limits = limits
        self._owned = owned
        self._register = register
        self._count_processes = count_processes
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._status = bytearray()
        self._init = 0
        self._init_fd = -1
        self._bwrap = 0
        self._ended: EndedBy | None = None
        self._cpu_seconds = 0.0
        self._private: tuple[str, ...] = ()
        self._failure: Exception | None = None
        self._child_side = owned.enter_context(ExitStack())
        self._status_in, self._status_out = self._pipe(self._child_side)
        self._gate_in, self._gate_out = self._pipe(owned)

    def _pipe(self, stack: ExitStack) -> tuple[int, int]:
        """A pipe whose ends are closed with the run, or with the given stack for the child's."""
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._owned.callback(os.close, reading)
        stack.callback(os.close, writing)
        return reading, writing

    @property
    def control(self) -> tuple[str, ...]:
        """Options that let this supervisor in.

        Nobody else holds the gate's writing end: were Silas to die before it opens the gate, its
        end opens it, and the first program inside ends because nobody reads its report.
        """
        return ("--json-status-fd", str(self._status_out), "--block-fd", str(self._gate_in))

    async def result(self, launch: Launch, hear: Hear) -> SandboxResult:
        """Start it, wait for its end or a limit, bury it; `hear` is told what it puts out."""

        def collect_output(reading: int) -> OutputSink:
            return _Output(reading, self._limits.output_bytes, lambda: self.end("output"), hear)

        return await self.stream_result(launch, collect_output, collect_output)

    async def stream_result(
        self,
        launch: Launch,
        stdout: Callable[[int], OutputSink],
        stderr: Callable[[int], OutputSink],
    ) -> SandboxResult:
        """As `result`, with both streams going where the caller says."""
        started = self._loop.time()
        self._private = launch.private
        pipes = [self._pipe(self._child_side) for _ in range(2)]
        process = self._start(launch, pipes[0][1], pipes[1][1])
        outputs = [stdout(pipes[0][0]), stderr(pipes[1][0])]
        self._bwrap = process.pid
        watched = self._watch(process, outputs, [reading for reading, _ in pipes])
        timers = (
            self._loop.call_later(self._limits.wall_seconds, self.end, "timeout"),
            self._loop.call_later(_SETUP_SECONDS, self._give_up, process),
        )
        try:
            await self._exited
        finally:
            try:
                await self._bury(process)
            finally:
                for timer in timers:
                    timer.cancel()
                for descriptor in watched:
                    self._loop.remove_reader(descriptor)
        for output in outputs:
            while output.read():
                pass
        return self._judge(process, launch, outputs, self._loop.time() - started)

    def _start(self, launch: Launch, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
        control = (self._status_out, self._gate_in)
        try:
            return subprocess.Popen(
                launch.command,
                stdin=launch.stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(*launch.pass_fds, *control),
                env={},
                cwd="/",
                umask=0o022,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(
                f"The sandbox could not be started: {error.strerror}.", code="E_SANDBOX_COMMAND"
            ) from error
        finally:
            self._child_side.close()

    def _watch(
        self, process: subprocess.Popen[bytes], outputs: list[OutputSink], readings: list[int]
    ) -> list[int]:
        exit_fd = os.pidfd_open(process.pid)
        self._owned.callback(os.close, exit_fd)
        os.set_blocking(self._status_in, False)
        self._loop.add_reader(exit_fd, self._on_exit, exit_fd)
        self._loop.add_reader(self._status_in, self._on_status)
        for output, reading in zip(outputs, readings, strict=True):
            self._loop.add_reader(reading, self._on_output, output, reading)
        return [exit_fd, self._status_in, *readings]

    def _on_output(self, output: OutputSink, descriptor: int) -> None:
        if not output.read():
            self._loop.remove_reader(descriptor)

    def _on_exit(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        if not self._exited.done():
            self._exited.set_result(None)

    def _on_status(self) -> None:
        if not self._read_status():
            self._loop.remove_reader(self._status_in)
        found = _CHILD.search(self._status) if not self._init else None
        if found:
            self._init = int(found[1])
            self._guard_step(self._begin)

    def _guard_step(self, step: Callable[[], None]) -> None:
        """A supervisor that fails must not leave a run without one."""
        try:
            step()
        except Exception as error:  # whatever it is: the run ends, and it is reported
            self._failure = error
            self.end("cancelled")
            if self._init_fd < 0 and parent(self._init) == self._bwrap:
                os.kill(self._init, signal.SIGKILL)

    def _read_status(self) -> bool:
        try:
            chunk = os.read(self._status_in, _CHUNK)
        except BlockingIOError:
            return True
        self._status += chunk
        return bool(chunk)

    def _begin(self) -> None:
        """The namespaces' init exists and waits: limit it, then let it go on."""
        try:
            init_fd = os.pidfd_open(self._init)
        except ProcessLookupError:
            return  # setting up failed already; bubblewrap says why
        self._owned.callback(os.close, init_fd)
        if parent(self._init) != self._bwrap:
            return  # gone as well, and its number belongs to a stranger now
        self._init_fd = init_fd
        if self._ended is not None:
            self._kill()
            return
        try:
            impose(self._init, self._limits, count_processes=self._count_processes)
            most = self._limits.processes
            self._owned.enter_context(counted_by_the_kernel(self._init, most))
            # whoever stops Silas knows of it before anything runs inside, or it never runs
            self._owned.callback(self._register.enter(self._bwrap, self._init))
        except ProcessLookupError:
            return  # it failed just now, and never got as far as the gate
        self._opening = self._loop.create_task(self._open_gate())

    async def _open_gate(self) -> None:
        """Prepare what the run needs, then let the command start; or end the run before it does."""
        try:
            await self._before(self._init, self._init_fd)
        except Exception as error:  # whatever it is: the command is never started
            if not has_ended(self._init_fd):  # else setting up failed, and bubblewrap says why
                self._failure = error
                self.end("cancelled")
            return
        if self._ended is None:
            os.write(self._gate_out, b"x")
            self._loop.call_later(self._look_seconds, self._guard_step, self._look)

    def _look(self) -> None:
        """Sample what the run uses, and end it at a total limit."""
        if self._exited.done() or self._ended is not None:
            return
        usage = sample(self._init, self._private, self._limits.processes)
        self._cpu_seconds = max(self._cpu_seconds, usage.cpu_seconds)
        ceiling = self._limits.memory_mb << 20
        if usage.processes > self._limits.processes:
            self.end("processes")
        elif usage.memory > ceiling and exact_memory(self._init, self._private, usage) > ceiling:
            self.end("memory")
        else:
            self._loop.call_later(self._look_seconds, self._guard_step, self._look)

    def end(self, reason: EndedBy) -> None:
        """Kill everything; the first reason is the one reported."""
        if self._ended is None:
            self._ended = reason
            self._kill()

    def _kill(self) -> None:
        if self._init_fd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)

    def _give_up(self, process: subprocess.Popen[bytes]) -> None:
        if self._init == 0:
            self._failure = TimeoutError("bubblewrap did not start in time")
            process.kill()

    async def _bury(self, process: subprocess.Popen[bytes]) -> None:
        """Kill what is left and wait until the kernel has removed all of it.

        A cancellation that arrives meanwhile is passed on, afterwards.
        """
        if not self._exited.done() or self._exited.cancelled():
            self.end("cancelled")
        cancelled = await self._stop_opening()
        while process.poll() is None:
            cancelled |= await self._wait_for(os.pidfd_open(process.pid))
        self._kill()
        if self._init_fd >= 0:
            cancelled |= await self._wait_for(os.dup(self._init_fd))
        if cancelled:
            raise asyncio.CancelledError

    async def _stop_opening(self) -> bool:
        """End what prepares the run; True if cancellation was asked for meanwhile."""
        cancelled = False
        if self._opening is not None:
            self._opening.cancel()
            while not self._opening.done():
                try:
                    await asyncio.wait([self._opening])
                except asyncio.CancelledError:
                    cancelled = True
        return cancelled

    async def _wait_for(self, process_fd: int) -> bool:
        """Wait for a process to end; True if cancellation was asked for meanwhile."""
        cancelled = False
        ended: asyncio.Future[None] = self._loop.create_future()
        try:
            if has_ended(process_fd):
                return False
            self._loop.add_reader(process_fd, lambda: ended.done() or ended.set_result(None))
            while not ended.done():
                try:
                    await asyncio.shield(ended)
                except asyncio.CancelledError:
                    cancelled = True
            return cancelled
        finally:
            self._loop.remove_reader(process_fd)
            os.close(process_fd)

    def _judge(
        self,
        process: subprocess.Popen[bytes],
        launch: Launch,
        outputs: list[OutputSink],
        seconds: float,
    ) -> SandboxResult:
        self._read_status()
        if isinstance(self._failure, SandboxError | Stopped):
            raise self._failure
        if self._failure is not None:
            raise SandboxError(
                f"The run was ended because it could not be watched: {self._failure}.",
                code="E_SANDBOX_SUPERVISOR",
            ) from self._failure
        stdout, stderr = (output.text() for output in outputs)
        found = _EXIT.search(self._status)
        ended, code = self._ended, _KILLED
        if ended is None and found is None:
            if process.returncode >= 0:
                reason = stderr.strip().removeprefix("bwrap: ") or "bubblewrap ended early"
                raise SandboxError(
                    f"The sandbox could not be set up: {reason[:300]}.", code="E_SANDBOX_SETUP"
                )
            ended = "cancelled"  # somebody else killed bubblewrap: the emergency stop
        elif ended is None and found is not None:
            error = launch.judge()
            code = _NOT_STARTED if error else int(found[1])
            ended = "exit" if error else own_end(code, self._cpu_seconds, self._limits)
            stderr += f"{launch.starter.name}: {os.strerror(error)}\n" if error else ""
        return SandboxResult(
            exit_code=code,
            stdout=stdout,
            stderr=stderr,
            ended_by=ended or "cancelled",
            duration_seconds=seconds,
        )
