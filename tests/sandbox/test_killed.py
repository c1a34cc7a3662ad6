"""Silas killed at any moment of a run leaves nothing alive, and starts nothing (spec 4.7)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.waits import SECONDS

# A run that does not want to end: everything ignores signals, one process belongs to nobody.
SCRIPT = "touch started; trap '' TERM INT HUP; setsid sleep {nap} & sleep {nap}"

PROGRAM = """
import asyncio, os, signal, sys
from pathlib import Path
from silas.sandbox import Mount, SandboxConfig, SandboxFiles, SandboxLimits, default, supervise

moment, work, script = sys.argv[1:]

def die(run):
    # bubblewrap itself loses its child if it dies before it let that one go on: a known limit.
    while run._init and os.stat(f"/proc/{run._init}/root").st_dev == os.stat("/").st_dev:
        pass
    os.kill(os.getpid(), signal.SIGKILL)

def killed_at(name, before):
    real = getattr(supervise.Run, name)
    def step(run, *given, **more):
        if before:
            die(run)
        real(run, *given, **more)
        die(run)
    setattr(supervise.Run, name, step)

where, _, name = moment.partition(" ")
killed_at(name, where == "before")
files = SandboxFiles(cwd=Path(work), mounts=(Mount(source=work, target=work, writable=True),))
sandbox = default(SandboxConfig())
limits = SandboxLimits(wall_seconds=1.0 if name in ("end", "_kill") else 60.0)
asyncio.run(sandbox.run(["/bin/sh", "-c", script], limits, files))
"""

# Steps of the supervisor in the order in which they happen, and whether the command may have begun.
MOMENTS = {
    "before _start": False,
    "before _begin": False,
    "after _begin": True,
    "before _look": True,
    "after _look": True,
    "before end": True,
    "before _kill": True,
}


def alive(mark: str) -> list[int]:
    """Processes of this machine with a mark on their command line, zombies not counted."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            continue
        if mark.encode() in line and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


@pytest.mark.proves("S4.7-DESTROYED")
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_any_step_of_a_run_silas_leaves_nothing_alive(
    moment: str, tmp_path: Path
) -> None:
    nap = f"5555.{os.getpid()}{time.monotonic_ns()}"
    command = [sys.executable, "-c", PROGRAM, moment, str(tmp_path), SCRIPT.format(nap=nap)]
    ended = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
    end = time.monotonic() + SECONDS
    while (left := alive(nap)) and time.monotonic() < end:
        time.sleep(0.02)
    for pid in left:  # a broken sandbox must not litter the machine
        os.kill(pid, signal.SIGKILL)
    assert left == []
    if not MOMENTS[moment]:
        assert not (tmp_path / "started").exists()
