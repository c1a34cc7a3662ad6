"""External verification: fixed commands, their own sandbox, nothing the agent can touch (5.3).

Also after one failed, because the report is the evidence for the next attempt. What verification
saw is what is applied. A plan without checks is done when its last call succeeded, and its result
says that there were none.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from silas.clock import Clock
from silas.errors import SandboxError
from silas.gates import evaluate
from silas.plans import VerificationCheck, VerificationReport, VerificationResult
from silas.plans.allowed_hosts import hosts_of_check
from silas.sandbox import Mount, RecordTraffic, Sandbox, SandboxFiles, SandboxLimits, SandboxResult
from silas.sandbox.models import Hear, unheard
from silas.sandbox.network.traffic import record_nothing
from silas.work.changes.copy_view import tree_of
from silas.work.checks.runner_summary import why_no_pass
from silas.work.uninterrupted import finish_work
from silas.workspace.throwaway_copy import throwaway

_OUTPUT_CHARS = 1000  # how much of a check's output is kept (spec 4.10)


def _record_no_traffic(check: str) -> RecordTraffic:
    del check
    return record_nothing


class SeenCheck(NamedTuple):
    """Who looks at one check while it runs.

    Attributes:
        hear: Is told what it puts out, as it comes.
        judged: Is told whether it passed.
    """

    hear: Hear
    judged: Callable[[bool], None]


WatchCheck = Callable[[str], AbstractContextManager[SeenCheck]]
"""Stands around one check, by its name, from before its command to its verdict."""


def _ignore_verdict(passed: bool) -> None:
    del passed


def watch_no_check(check: str) -> AbstractContextManager[SeenCheck]:
    """Nobody looks."""
    del check
    return nullcontext(SeenCheck(unheard, _ignore_verdict))


class CheckSetup(NamedTuple):
    """Where checks stand: a throw-away copy of the artifacts, and what else may be looked at.

    Attributes:
        cwd: Working directory inside: the workspace at its own path, or an empty directory.
        root: The host directory that is copied there; `file_exists` looks nowhere else.
        scratch: Where copies are made: never seen by a sandbox as a whole.
        below: Read-only views that the workspace may cover, such as the plan's `read` paths.
        above: Read-only views that cover parts of the workspace, such as its `.git`.
        path: Where commands are looked for, before the system's directories.
        env: The environment of the tools found there.
        network: The hosts of the plan, for checks that say `network: true`.
        record: Where a check's use of the network is recorded, by the check's name.
        watch: Who looks at each check while it runs.
    """

    cwd: Path
    root: Path
    scratch: Path
    below: tuple[Mount, ...] = ()
    above: tuple[Mount, ...] = ()
    path: tuple[Path, ...] = ()
    env: dict[str, str] = {}  # noqa: RUF012 - never changed
    network: tuple[str, ...] = ()
    record: Callable[[str], RecordTraffic] = _record_no_traffic
    watch: WatchCheck = watch_no_check

    def files(self, copy: Path) -> SandboxFiles:
        """What a check sees whose throw-away copy this is: the one place where it can write."""
        work = Mount(source=copy, target=self.cwd, writable=True)
        return SandboxFiles(
            cwd=self.cwd,
            mounts=(*self.below, work, *self.above),
            path=self.path,
            env=self.env,
            loopback=True,
        )


_NOT_COPIED = frozenset({"__pycache__"})
"""Python would run these modules in place of their sources, and the work could write them."""


class VerificationRunner:
    """Runs checks one after the other, each in a fresh sandbox instance (spec 4.10, 5.3)."""

    def __init__(self, sandbox: Sandbox, clock: Clock, limits: SandboxLimits) -> None:
        self._sandbox = sandbox
        self._clock = clock
        self._limits = limits

    async def run_checks(
        self, checks: Sequence[VerificationCheck], bench: CheckSetup
    ) -> VerificationReport:
        """Run all checks, even after a failure: the report is the evidence for a retry."""
        if any(mount.writable for mount in (*bench.below, *bench.above)):
            raise SandboxError(
                "Verification was given a writable mount; nothing was checked.",
                code="E_SANDBOX_VERIFY_WRITABLE",
            )
        results = [await self._run(check, bench) for check in checks]
        return VerificationReport(
            all_passed=all(result.passed for result in results),
            results=results,
            timestamp=self._clock.now(),
        )

    async def _run(self, check: VerificationCheck, bench: CheckSetup) -> VerificationResult:
        with bench.watch(check.name) as seen:
            result = await self._run_command(check, bench, seen.hear)
            seen.judged(result.passed)
        return result

    async def _run_command(
        self, check: VerificationCheck, bench: CheckSetup, hear: Hear
    ) -> VerificationResult:
        async with _layer(bench) as copy:
            ran = await self._sandbox.run(
                ["/bin/sh", "-c", check.run],
                self._limits.model_copy(update={"wall_seconds": float(check.timeout)}),
                bench.files(copy).model_copy(
                    update={
                        "network": hosts_of_check(check.network, check.run, bench.network),
                        "record": bench.record(check.name),
                        "hear": hear,
                    }
                ),
            )
        passed, reason = self._judge(check, ran, bench)
        output = ran.stdout or ran.stderr
        return VerificationResult(
            name=check.name,
            passed=passed,
            reason=reason,
            output=output[-_OUTPUT_CHARS:],
            exit_code=ran.exit_code,
        )

    def _judge(
        self, check: VerificationCheck, ran: SandboxResult, bench: CheckSetup
    ) -> tuple[bool, str]:
        ended = self._why_ended_early(check, ran)
        if ended:
            return False, ended
        expect = check.expect
        if expect.file_exists is not None:
            inside = Path(expect.file_exists)
            if inside.is_absolute() and inside.is_relative_to(bench.cwd):
                expect = expect.model_copy(
                    update={"file_exists": str(bench.root / inside.relative_to(bench.cwd))}
                )
        judged = evaluate(expect, ran.stdout, ran.exit_code, [bench.root])
        if judged.passed and expect.exit_code == 0:
            printed = f"{ran.stdout}\n{ran.stderr}"
            if refused := why_no_pass(check.run, printed, tree_of(bench.root)):
                return False, refused
        return judged.passed, judged.reason

    def _why_ended_early(self, check: VerificationCheck, ran: SandboxResult) -> str:
        """Why the command did not come to an end of its own, or nothing."""
        match ran.ended_by:
            case "exit":
                return ""
            case "signal":
                # an exit code that was asked for may be that of a signal
                return "" if check.expect.exit_code is not None else "Ended by a signal"
            case "timeout" if ran.duration_seconds < check.timeout:
                return f"Ended at the CPU time limit of {self._limits.cpu_seconds}s"
            case "timeout":
                return f"Timeout after {check.timeout}s"
            case "cancelled":
                return "Ended from outside"
            case "memory" | "processes" | "output":
                return f"Ended at the limit on {ran.ended_by}"


@asynccontextmanager
async def _layer(bench: CheckSetup) -> AsyncGenerator[Path]:
    """A copy of the artifacts for one check: build tools and test runners write caches.

    Nothing of it is delivered or seen by the next check; the artifacts stay as the work left them.
    """
    layer = throwaway(bench.root, bench.scratch, _NOT_COPIED)
    copy = await finish_work(asyncio.to_thread(layer.__enter__))
    try:
        yield copy
    finally:
        await finish_work(asyncio.to_thread(layer.__exit__, None, None, None))
