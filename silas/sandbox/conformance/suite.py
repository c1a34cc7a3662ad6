"""Does this sandbox hold? Every attack tried inside and, as control, outside (decision A20).

A check says something only if its attack works where there is no sandbox: the control shows that
it can fail. What does not work even outside is reported as not testable, never as held. The suite
knows the port alone, so that every backend is measured with the same attacks.
"""

import asyncio
import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from silas.sandbox.conformance.attempts import (
    SHARED,
    Aim,
    Interpreter,
    Kit,
    attempt,
    inside,
    kill,
    outside,
    plan_of,
)
from silas.sandbox.conformance.files import FILES
from silas.sandbox.conformance.kernel import KERNEL
from silas.sandbox.conformance.models import (
    AttackGroup,
    ConformanceCheck,
    ConformanceFinding,
    ConformanceVerdict,
    Evidence,
    Side,
    Trace,
    Untestable,
    own_name,
)
from silas.sandbox.conformance.network import NETWORK
from silas.sandbox.conformance.processes import PROCESSES
from silas.sandbox.models import SandboxLimits
from silas.sandbox.port import Sandbox

__all__ = [
    "CHECKS",
    "AttackGroup",
    "ConformanceCheck",
    "ConformanceFinding",
    "ConformanceVerdict",
    "Evidence",
    "Interpreter",
    "examine",
]

CHECKS: tuple[ConformanceCheck, ...] = (*NETWORK, *FILES, *PROCESSES, *KERNEL)
_TOGETHER = 2  # runs with limits of their own at the same time


class _Tried:
    """One attempt at every check of a run: what came of it, or why there was none."""

    def __init__(self) -> None:
        self.traces: dict[str, Trace] = {}
        self.hits: dict[str, str] = {}
        self.impossible: dict[str, str] = {}


async def examine(
    sandbox: Sandbox,
    *,
    home: Path,
    guarded: Sequence[Path],
    checks: Sequence[ConformanceCheck],
    python: Interpreter,
) -> list[ConformanceFinding]:
    """Try every check and report on each, in order.

    Args:
        sandbox: What is measured.
        home: The owner's home directory; secrets made for the purpose are put in it for a moment.
        guarded: Silas's own directories, likewise.
        checks: Which checks.
        python: What runs the attacks, inside and outside.

    Raises:
        SandboxUnavailable: There is no sandbox to measure.
    """
    suite = _Suite(sandbox, home, tuple(guarded), python)
    shared = [check for check in checks if check.limits is None]
    findings = {} if not shared else await suite.judge(shared, SHARED)
    turns = asyncio.Semaphore(_TOGETHER)

    async def alone(
        check: ConformanceCheck, limits: SandboxLimits
    ) -> dict[str, ConformanceFinding]:
        async with turns:
            return await suite.judge([check], limits)

    solo = [alone(check, check.limits) for check in checks if check.limits is not None]
    for found in await asyncio.gather(*solo):
        findings |= found
    return [findings[check.name] for check in checks]


class _Suite:
    """One sandbox, its owner's places, and the Python that attacks it."""

    def __init__(
        self, sandbox: Sandbox, home: Path, guarded: tuple[Path, ...], python: Interpreter
    ) -> None:
        self._sandbox = sandbox
        self._python = python
        self._home = home
        self._guarded = guarded

    async def judge(
        self, checks: Sequence[ConformanceCheck], limits: SandboxLimits
    ) -> dict[str, ConformanceFinding]:
        """Control and attempt, one after the other, and what both together mean."""
        # One after the other: what the control does to the machine must be over before.
        control = await self._try(checks, limits, control=True)
        tried = await self._try(checks, limits, control=False)
        return {check.name: _finding(check, control, tried) for check in checks}

    async def _try(
        self, checks: Sequence[ConformanceCheck], limits: SandboxLimits, *, control: bool
    ) -> _Tried:
        tried = _Tried()
        with ExitStack() as owned:
            place = owned.enter_context(_ground())
            side = Side.make(place / "side", self._home, self._guarded)
            kit = Kit(place / "kit", self._python)
            aims = self._aims(checks, side, owned, tried)
            plan, marks = plan_of(aims, side, control=control), [aim.mark for aim in aims]
            owned.callback(kill, marks)
            if control:
                seconds = limits.wall_seconds
                run = asyncio.to_thread(outside, kit, side, plan, seconds, marks)
            else:
                run = inside(self._sandbox, kit, side, plan, limits)
            traces = await attempt(aims, side, asyncio.ensure_future(run))
            for aim, trace in zip(aims, traces, strict=True):
                tried.traces[aim.check.name] = trace
                tried.hits[aim.check.name] = aim.stage.hit(trace)
        return tried

    def _aims(
        self, checks: Sequence[ConformanceCheck], side: Side, owned: ExitStack, tried: _Tried
    ) -> list[Aim]:
        aims: list[Aim] = []
        token = f"{os.getpid():06x}{os.urandom(2).hex()}"
        for number, check in enumerate(checks):
            try:
                stage = check.stage(side)
            except Untestable as reason:
                tried.impossible[check.name] = str(reason)
                continue
            owned.callback(stage.close)
            mark = f"sc{token}{number:03d}"  # 15 bytes at most, or the kernel cuts it
            aims.append(Aim(check, stage, mark))
        return aims


@contextmanager
def _ground() -> Generator[Path]:
    """A fresh directory, by the only name that leads to it without a link."""
    with tempfile.TemporaryDirectory(prefix=f"{own_name()}-") as folder:
        yield Path(folder).resolve()


def _finding(check: ConformanceCheck, control: _Tried, tried: _Tried) -> ConformanceFinding:
    verdict, words = _verdict(check.name, control, tried)
    return ConformanceFinding(
        check.name, check.group, check.promise, check.evidence, verdict, words
    )


def _verdict(name: str, control: _Tried, tried: _Tried) -> tuple[ConformanceVerdict, str]:
    trace = tried.traces.get(name)
    if trace is None:
        return ConformanceVerdict.untestable, tried.impossible[name]
    if tried.hits[name]:
        return ConformanceVerdict.broken, tried.hits[name]
    if trace.error == "no report":
        return (
            ConformanceVerdict.broken,
            "the attack ended without a report, so that nothing is known",
        )
    if name not in control.traces:
        return ConformanceVerdict.untestable, control.impossible[name]
    if not control.hits[name]:
        why = control.traces[name].error or "it has no effect"
        return ConformanceVerdict.untestable, f"the attack fails without a sandbox, too: {why}"
    return ConformanceVerdict.held, trace.error or "it had no effect"
