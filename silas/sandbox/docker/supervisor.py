"""The supervisor of one container: starts it, watches, ends it and buries it (spec 9.1).

The order is what protects: the container starts with the guard alone, is entered where the
emergency stop finds it, and only then starts the command. To end a run the guard is killed; the
kernel then kills everything in its process namespace.
"""

import array
import asyncio
import fcntl
import os
import signal
import subprocess
import termios
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError
from silas.sandbox.docker.command import Container
from silas.sandbox.docker.engine import Client
from silas.sandbox.docker.group import ControlGroup, unwatched_container
from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.models import EndedBy, Hear, SandboxLimits, SandboxResult, unheard
from silas.sandbox.supervise import own_end
from silas.sandbox.watch import exact_members, has_ended, sample_members
from silas.stop.runs import Register

_SAMPLE_SECONDS = 0.05
_CHUNK = 1 << 16
_KILLED = 128 + signal.SIGKILL
_NOT_STARTED = 127
_ENGINE_SECONDS = 20.0
_DYING_SECONDS = 5.0
_DYING_LOOK_SECONDS = 0.002


class _Box(NamedTuple):
    """A started container: its guard, held by a descriptor, and its control group."""

    init: int
    init_fd: int
    group: ControlGroup


class _Stream:
    """One output, kept up to a ceiling."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.hear: Hear = unheard
        self._content = bytearray()

    async def fill(self, reader: asyncio.StreamReader) -> bool:
        """Read to the end; True as soon as there was too much."""
        while chunk := await reader.read(_CHUNK):
            room = self._most - len(self._content)
            self._content += chunk[:room]
            self.hear(chunk[:room])
            if len(chunk) > room:
                return True
        return False

    def text(self) -> str:
        return self._content.decode("utf-8", "replace")


class DockerRun:
    """One command from start to burial."""

    def __init__(
        self,
        client: Client,
        container: Container,
        limits: SandboxLimits,
        register: Register,
        owned: ExitStack,
    ) -> None:
        self._client = client
        self._container = container
        self._limits = limits
        self._register = register
        self._owned = owned
        self._loop = asyncio.get_running_loop()
        self._box: _Box | None = None
        self._ended: EndedBy | None = None
        self._cut_short = False
        self._cpu_seconds = 0.0
        self._outputs = tuple(_Stream(limits.output_bytes) for _ in range(2))

    async def result(self, hear: Hear) -> SandboxResult:
        """Start it, wait for its end or a limit, bury it; `hear` is told what it puts out."""
        for output in self._outputs:
            output.hear = hear
        try:
            self._box = await self._start()
            started = self._loop.time()
            code = await self._execute(self._box)
            seconds = self._loop.time() - started
        finally:
            await self._bury()
        return self._judge(code, seconds)

    async def _start(self) -> _Box:
        """The container with nothing but the guard in it, known to whoever stops Silas."""
        container = self._container
        identity = (await self._ask(container.create, container.pass_fds)).strip()
        await self._ask(["start", container.name])
        told = await self._ask(["inspect", "--format", "{{.State.Pid}}", container.name])
        init = int(told) if told.strip().isdigit() else 0
        try:
            init_fd = os.pidfd_open(init)
            self._owned.callback(os.close, init_fd)
            # The guard's number belongs to it as long as its own control group lists it.
            group = ControlGroup.of(init, identity)
            self._owned.callback(self._register.enter(init, init))
            _compare(init, container.shown)
        except (ProcessLookupError, FileNotFoundError, ValueError) as error:
            raise unwatched_container("its first process is gone") from error
        await self._close_guard(init_fd)
        return _Box(init, init_fd, group)

    async def _close_guard(self, init_fd: int) -> None:
        """Two bytes through the guard's pipe: it has gone on as soon as it took the second."""
        last = self._loop.time() + _DYING_SECONDS
        for _ in range(2):
            os.write(self._container.life, b"x")
            while _has_unread(self._container.life):
                if has_ended(init_fd) or self._loop.time() > last:
                    raise unwatched_container("its first process does not answer")
                await asyncio.sleep(_DYING_LOOK_SECONDS)

    async def _ask(self, arguments: list[str], pass_fds: tuple[int, ...] = ()) -> str:
        """One command of the engine's, which must succeed."""
        process = await self._spawn(arguments, pass_fds)
        try:
            async with asyncio.timeout(_ENGINE_SECONDS):
                told, complaint = await process.communicate()
        except TimeoutError as error:
            raise SandboxUnavailable(
                "The Docker engine did not answer in time, so nothing was run.",
                code="E_SANDBOX_DOCKER_ENGINE",
            ) from error
        finally:
            await _end(process)
        words = complaint.decode("utf-8", "replace").strip()
        if process.returncode or "discarded" in words:
            raise SandboxError(
                f"The container could not be set up: {words[-300:] or 'no reason given'}.",
                code="E_SANDBOX_SETUP",
            )
        return told.decode("utf-8", "replace")

    async def _spawn(
        self, arguments: list[str], pass_fds: tuple[int, ...]
    ) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self._client.argv(arguments),
                env=self._client.environment,
                pass_fds=pass_fds,
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(
                f"The docker program could not be started: {error.strerror}.",
                code="E_SANDBOX_COMMAND",
            ) from error

    async def _execute(self, box: _Box) -> int:
        """Run the command in the container; its exit code as the engine tells it."""
        process = await self._spawn(self._container.execute, ())
        takers = [
            self._loop.create_task(self._take(output, reader))
            for output, reader in zip(self._outputs, (process.stdout, process.stderr), strict=True)
            if reader is not None
        ]
        watching = self._loop.create_task(self._watch(box))
        gone = self._loop.create_task(process.wait())
        timer = self._loop.call_later(self._limits.wall_seconds, self.end, "timeout")
        try:
            await asyncio.wait({gone, watching}, return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                watching.result()  # a supervisor that fails ends the run
            await asyncio.wait({gone, *takers}, timeout=_DYING_SECONDS)
            self._cut_short = has_ended(box.init_fd)
            if self._ended is None and box.group.killed_for_memory():
                self._ended = "memory"  # too fast for a sample
            return process.returncode if process.returncode is not None else _KILLED
        finally:
            timer.cancel()
            for task in (*takers, watching, gone):
                task.cancel()
            await _end(process)

    async def _take(self, output: _Stream, reader: asyncio.StreamReader) -> None:
        if await output.fill(reader):
            self.end("output")

    async def _watch(self, box: _Box) -> None:
        """Sample what the run uses until it is over, and end it at a total limit."""
        limits, private = self._limits, self._container.private
        ceiling = limits.memory_mb << 20
        while self._ended is None and not has_ended(box.init_fd):
            members = box.group.members()
            usage = sample_members(members, box.init, private, limits.processes)
            self._cpu_seconds = max(self._cpu_seconds, usage.cpu_seconds)
            if usage.processes > limits.processes:
                self.end("processes")
            elif box.group.killed_for_memory() or (
                usage.memory > ceiling and exact_members(private, usage) > ceiling
            ):
                self.end("memory")
            await asyncio.sleep(_SAMPLE_SECONDS)

    def end(self, reason: EndedBy) -> None:
        """Kill everything; the first reason is the one reported."""
        if self._ended is None:
            self._ended = reason
            self._kill()

    def _kill(self) -> None:
        if self._box is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._box.init_fd, signal.SIGKILL)

    async def _bury(self) -> None:
        """Kill what is left and wait until the kernel has removed all of it."""
        burial = self._loop.create_task(self._remove_container())
        cancelled = False
        while not burial.done():
            try:
                await asyncio.shield(burial)
            except asyncio.CancelledError:
                cancelled = True
        burial.result()
        if cancelled:
            raise asyncio.CancelledError

    async def _remove_container(self) -> None:
        if self._box is None:
            # It may exist without ever having started, and then nothing else removes it.
            with suppress(SandboxError):
                await self._ask(["rm", "--force", self._container.name])
            return
        self._kill()
        last = self._loop.time() + _DYING_SECONDS
        while not has_ended(self._box.init_fd):
            if self._loop.time() > last:
                raise SandboxError(
                    f"The container {self._container.name} could not be ended; run: docker kill "
                    f"{self._container.name}",
                    code="E_SANDBOX_SUPERVISOR",
                )
            await asyncio.sleep(_DYING_LOOK_SECONDS)

    def _judge(self, code: int, seconds: float) -> SandboxResult:
        stdout, stderr = (output.text() for output in self._outputs)
        ended = self._ended
        if ended is None and self._cut_short:
            ended, code = "cancelled", _KILLED  # somebody else killed it: the emergency stop
        elif ended is None:
            error = self._judge_start(stderr)
            code = _NOT_STARTED if error else code
            ended = "exit" if error else own_end(code, self._cpu_seconds, self._limits)
            stderr += f"{self._container.starter.name}: {os.strerror(error)}\n" if error else ""
        else:
            code = _KILLED
        return SandboxResult(
            exit_code=code, stdout=stdout, stderr=stderr, ended_by=ended, duration_seconds=seconds
        )

    def _judge_start(self, words: str) -> int:
        try:
            return self._container.judge()
        except SandboxUnavailable as error:
            if not words.strip():
                raise
            raise SandboxError(
                f"The command could not be started in the container: {words.strip()[-300:]}.",
                code="E_SANDBOX_SETUP",
            ) from error


def _has_unread(pipe: int) -> bool:
    waiting = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return bool(waiting[0])


def _compare(init: int, shown: Sequence[tuple[int, Path]]) -> None:
    """The engine was given names; what it mounted must be what was opened before.

    Raises:
        SandboxError: Somebody put another file or directory in between.
    """
    for descriptor, target in shown:
        inside = os.stat(f"/proc/{init}/root{target}", follow_symlinks=False)
        if not os.path.samestat(os.fstat(descriptor), inside):
            raise SandboxError(
                f"What the container shows at {target} is not what was to be mounted there, so "
                "nothing was run in it; somebody swapped it.",
                code="E_SANDBOX_MOUNT",
            )


async def _end(process: asyncio.subprocess.Process) -> None:
    """See to it that a client of the engine is over."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await asyncio.shield(process.wait())
