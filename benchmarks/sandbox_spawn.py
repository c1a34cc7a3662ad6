"""A sandboxed `/bin/true` against bare bubblewrap with the same namespaces and mounts."""

import asyncio
import os
import statistics
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

from silas.sandbox import Sandbox, SandboxConfig, SandboxFiles, SandboxLimits, default
from silas.sandbox.capability import make_launcher, require
from silas.sandbox.mounts import Roots

COMMAND = ["/bin/true"]
FILES = SandboxFiles(cwd=Path("/work"))
LIMITS = SandboxLimits()


def _bare_command() -> list[str]:
    """Our namespaces and mounts as plain arguments; no filter, no files copied in."""
    machinery = require()
    with ExitStack() as owned:
        launch = make_launcher(machinery, Roots.of((), ())).prepare(
            COMMAND, LIMITS, FILES, (), owned
        )
        told = os.pread(int(launch.command[2]), 1 << 20, 0).decode().split("\0")[:-1]
    while "--file" in told:
        at = told.index("--file")
        del told[at - 2 : at + 3]  # with the --perms before it
    at = told.index("--seccomp")
    del told[at : at + 2]
    return [str(machinery.bwrap), *told, "--", *COMMAND]


def _bare(command: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        command, env={}, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    seconds = time.perf_counter() - started
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return seconds


async def _ours(sandbox: Sandbox) -> float:
    started = time.perf_counter()
    result = await sandbox.run(COMMAND, LIMITS, FILES)
    seconds = time.perf_counter() - started
    assert result.ok
    assert result.stdout == result.stderr == ""
    return seconds


async def _measure(rounds: int) -> dict[str, float]:
    sandbox = default(SandboxConfig(), forbidden=())
    command = _bare_command()
    ours: list[float] = []
    bare: list[float] = []
    for at in range(rounds + 2):
        first = await _ours(sandbox) if at % 2 else 0.0
        other = _bare(command)
        mine = first or await _ours(sandbox)
        if at > 1:  # the first two fill caches
            ours.append(mine)
            bare.append(other)
    check = await sandbox.run(["/bin/grep", "Seccomp:", "/proc/self/status"], LIMITS, FILES)
    assert check.stdout.split() == ["Seccomp:", "2"]
    return {
        "sandboxed /bin/true (ms)": statistics.median(ours) * 1e3,
        "bare bubblewrap (ms)": statistics.median(bare) * 1e3,
        "ratio (aim 1.3)": statistics.median(ours) / statistics.median(bare),
    }


def measure(rounds: int = 100) -> dict[str, float]:
    """Medians in milliseconds over interleaved rounds, and their ratio."""
    return asyncio.run(_measure(rounds))
