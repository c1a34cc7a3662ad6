"""A tool-door call against the same plain sandbox call, and the door's own cost."""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from silas.approval import Verdict
from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.gates import GateRunner
from silas.keys.signer import Ed25519Signer
from silas.sandbox import Sandbox, SandboxConfig, SandboxFiles, SandboxLimits, default
from silas.testing.tools import FakeSandbox, exit_result, never_stopped
from silas.tools import (
    SANDBOX_SCOPE,
    AutonomyLevel,
    DuplicateKey,
    ShellTool,
    SqlOutcomeStore,
    ToolCallContext,
    ToolExecutor,
    ToolPolicyConfig,
    ToolRegistry,
    ValidatedCall,
)
from silas.tools.builtin.sandboxed import SANDBOX_TOOL
from silas.tools.provenance import Provenance

ARGV = ["/bin/true"]
FILES = SandboxFiles(cwd=Path("/work"))
LIMITS = SandboxLimits()
FAKE_ROUNDS = 10  # calls of the door alone for each real one: they are some hundred times shorter


async def _covered(call: ValidatedCall) -> Verdict:
    return Verdict(call.args["argv"] == ARGV, "the benchmark's own plan")


def _context(step: int, key: str = "") -> ToolCallContext:
    return ToolCallContext(
        trace_id="bench",
        task_id="bench",
        step_id=str(step),
        idempotency_key=key,
        autonomy_level=AutonomyLevel.A2,
        granted_scopes=frozenset({SANDBOX_SCOPE}),
        authorise=_covered,
        authorise_alone=_covered,
        provenance=Provenance({}),
        files=FILES,
        limits=LIMITS,
    )


class _Door:
    """The real door over a real database, audit chain, journal and gates."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        clock = SystemClock()
        self.db = Database(folder / "silas.db", clock)
        for room in ("silas.audit", "silas.tools"):
            self.db.migrate(room)
        self.audit = AuditLog(self.db, clock, Ed25519Signer.from_seed(bytes(32)))
        registry = ToolRegistry(clock)
        registry.register(ShellTool(sandbox), SANDBOX_TOOL)
        self.executor = ToolExecutor(
            registry,
            GateRunner({}, self.audit, 1000),
            audit=self.audit,
            outcomes=SqlOutcomeStore(self.db, clock),
            clock=clock,
            db=self.db,
            config=ToolPolicyConfig(),
            require_running=never_stopped,
            scrub=str,
        )
        self.calls = 0

    async def call(self) -> None:
        self.calls += 1
        result = await self.executor.call("shell_exec", "run", {"argv": ARGV}, _context(self.calls))
        assert result.ok
        assert not result.deduped

    async def check(self) -> None:
        """What was measured was governed: the chain holds, a replay is shared or refused."""
        verdict = await self.audit.verify_chain()
        assert verdict.valid
        assert verdict.entries_checked == 3 * self.calls
        replay = await self.executor.call("shell_exec", "run", {"argv": ARGV}, _context(1))
        assert replay.deduped
        await self.executor.call("shell_exec", "run", {"argv": ARGV}, _context(0, "k"))
        other = {"argv": ARGV, "timeout_seconds": 1.0}
        with pytest.raises(DuplicateKey):
            await self.executor.call("shell_exec", "run", other, _context(0, "k"))
        self.db.close()


class _Took(NamedTuple):
    """Seconds by the clock, which waits for the disk, and of this process's own work."""

    clock: float
    cpu: float


async def _took(work: Callable[[], Awaitable[object]]) -> _Took:
    began, worked = time.perf_counter(), time.process_time()
    await work()
    return _Took(time.perf_counter() - began, time.process_time() - worked)


async def _measure(rounds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        sandbox = default(SandboxConfig(), forbidden=(home,))

        async def plain() -> None:
            assert (await sandbox.run(ARGV, LIMITS, FILES)).ok

        real = _Door(home / "real", sandbox)
        alone = _Door(home / "alone", FakeSandbox(lambda run: exit_result()))
        for _ in range(3):
            await real.call()
            await plain()
        pairs: list[tuple[float, float]] = []
        overhead: list[_Took] = []
        for _ in range(rounds):
            pairs.append(((await _took(real.call)).clock, (await _took(plain)).clock))
            overhead += [await _took(alone.call) for _ in range(FAKE_ROUNDS)]
        await real.check()
        await alone.check()
    return {
        "tool-door call, ms": statistics.median(a for a, _ in pairs) * 1000,
        "plain sandbox call, ms": statistics.median(b for _, b in pairs) * 1000,
        "ratio": statistics.median(a / b for a, b in pairs),
        "the door alone, fake sandbox, ms": statistics.median(took.clock for took in overhead)
        * 1000,
        "the same, CPU ms": statistics.median(took.cpu for took in overhead) * 1000,
    }


def measure(rounds: int = 40) -> dict[str, float]:
    """Medians in milliseconds, and the ratio pair by pair."""
    return asyncio.run(_measure(rounds))
