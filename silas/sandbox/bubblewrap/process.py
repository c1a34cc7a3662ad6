"""bubblewrap behind the sandbox port (spec 9.1, decision A20)."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import replace

from silas.sandbox.bubblewrap.launch import Launcher
from silas.sandbox.bubblewrap.resident import LOOK_SECONDS, Conversation, Lines, Tail, spoken_with
from silas.sandbox.models import SandboxFiles, SandboxLimits, SandboxResult
from silas.sandbox.network.egress_proxy import EgressProxy, ProxyLimits
from silas.sandbox.network.netns import listen_inside
from silas.sandbox.network.outside import Outside
from silas.sandbox.supervise import BeforeInit, Run, nothing_before
from silas.stop.runs import Register


class BubblewrapSandbox:
    """Runs commands under bubblewrap. Made by `silas.sandbox.default`, which probes first.

    What it does not do: limit how much a run writes in total to a writable mount.
    """

    def __init__(
        self, launcher: Launcher, outside: Outside, register: Register, *, count_processes: bool
    ) -> None:
        self._launcher = launcher
        self._outside = outside
        self._register = register
        self._count_processes = count_processes

    @property
    def name(self) -> str:
        """The backend's name."""
        return "bubblewrap"

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Run a command; see the port. While Silas is stopped it raises `Stopped`."""
        self._register.require_running()
        if not files.network:
            return await self._run(argv, limits, files, nothing_before)
        proxy = EgressProxy(files.network, self._outside, files.record, ProxyLimits())

        async def let_out(init: int, init_fd: int) -> None:
            await proxy.serve(await listen_inside(init, init_fd))

        try:
            result = await self._run(argv, limits, files, let_out)
        finally:
            traffic = await proxy.close()
        return result.model_copy(update={"traffic": traffic})

    async def _run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles, before: BeforeInit
    ) -> SandboxResult:
        with ExitStack() as owned:
            run = Run(limits, owned, before, self._register, count_processes=self._count_processes)
            launch = self._launcher.prepare(argv, limits, files, run.control, owned)
            return await run.result(launch, files.hear)

    @asynccontextmanager
    async def resident(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> AsyncGenerator[Conversation]:
        """Keep a command running and talk with it; see `silas.sandbox.bubblewrap.resident`."""
        self._register.require_running()
        async with AsyncExitStack() as stack:
            before: BeforeInit = nothing_before
            if files.network:
                proxy = EgressProxy(files.network, self._outside, files.record, ProxyLimits())
                stack.push_async_callback(proxy.close)

                async def let_out(init: int, init_fd: int) -> None:
                    await proxy.serve(await listen_inside(init, init_fd))

                before = let_out
            owned = stack.enter_context(ExitStack())
            run = Run(
                limits,
                owned,
                before,
                self._register,
                count_processes=self._count_processes,
                look_seconds=LOOK_SECONDS,
            )
            launch = self._launcher.prepare(argv, limits, files, run.control, owned)
            reading, writing = os.pipe2(os.O_CLOEXEC)
            owned.callback(os.close, reading)
            owned.callback(os.close, writing)
            lines = Lines(lambda: run.end("output"))
            task = asyncio.ensure_future(
                run.stream_result(replace(launch, stdin=reading), lines.of, Tail)
            )
            yield await stack.enter_async_context(spoken_with(task, lines, writing))
