"""Runs are killed by whoever reads the register, and nobody else is."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from silas.errors import SandboxError, Stopped
from silas.sandbox import Sandbox, SandboxConfig, SandboxFiles, SandboxLimits, default
from silas.stop import RunRegister, Sentinel, end_runs
from tests.support.command import processes_saying
from tests.support.home import soon
from tests.support.waits import SECONDS

FILES = SandboxFiles(cwd=Path("/work"))


@pytest.fixture
def register(tmp_path: Path) -> RunRegister:
    return RunRegister(Sentinel(tmp_path))


@pytest.fixture
def sandbox(register: RunRegister) -> Sandbox:
    return default(SandboxConfig(), register=register)


@contextmanager
def _bystander() -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=-1)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)


def entries(folder: Path) -> list[str]:
    return sorted(os.listdir(folder / "runs"))


async def test_everything_inside_a_run_dies_and_the_run_says_so(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    nap = f"4444.{os.getpid()}"
    script = f"trap '' TERM INT; setsid sleep {nap} & sleep {nap}"
    run = asyncio.create_task(sandbox.run(["sh", "-c", script], SandboxLimits(), FILES))
    await asyncio.to_thread(soon, lambda: len(processes_saying(f"sleep\0{nap}")) == 2, "both")
    assert len(entries(tmp_path)) == 1

    ended = await asyncio.to_thread(end_runs, tmp_path, SECONDS)
    assert ended == (1, 0)
    assert processes_saying(f"sleep\0{nap}") == []
    async with asyncio.timeout(SECONDS):
        result = await run
    assert result.ended_by == "cancelled"
    assert processes_saying(nap) == []  # also what stood around it, for which nobody waited
    assert entries(tmp_path) == []
    assert end_runs(tmp_path, SECONDS) == (0, 0)


async def test_a_run_that_ended_is_not_registered_any_more(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    assert (await sandbox.run(["true"], SandboxLimits(), FILES)).ok
    assert entries(tmp_path) == []


async def test_nothing_starts_while_the_sentinel_stands(tmp_path: Path, sandbox: Sandbox) -> None:
    Sentinel(tmp_path).place()
    with pytest.raises(Stopped):
        await sandbox.run(["true"], SandboxLimits(), FILES)
    assert not (tmp_path / "runs").exists()


class Late(Sentinel):
    """Says running when a run asks first, and stopped when it is about to begin."""

    asked = 0

    def words(self) -> str:
        self.asked += 1
        return "" if self.asked == 1 else "Silas is stopped."


async def test_a_run_whose_gate_is_still_closed_when_the_stop_comes_never_begins(
    tmp_path: Path,
) -> None:
    (tmp_path / "seen").mkdir()
    sandbox = default(SandboxConfig(), register=RunRegister(Late(tmp_path)))
    nap = f"4445.{os.getpid()}"
    with pytest.raises(Stopped):
        await sandbox.run(["sleep", nap], SandboxLimits(), FILES)
    assert entries(tmp_path) == []
    assert processes_saying(f"sleep\0{nap}") == []


async def test_a_run_that_nobody_could_stop_does_not_begin(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    (tmp_path / "runs").touch()
    with pytest.raises(SandboxError, match="could not be watched"):
        await sandbox.run(["true"], SandboxLimits(), FILES)


def _of(process: subprocess.Popen[bytes], register: RunRegister, folder: Path) -> str:
    register.enter(process.pid, process.pid)
    (name,) = entries(folder)
    (folder / "runs" / name).unlink()
    return name


def _same(name: str) -> str:
    return name


def _started_earlier(name: str) -> str:
    pid, _, rest = name.partition("-")
    start, _, rest = rest.partition("_")
    other = f"{pid}-{int(start) - 1}"
    return f"{other}_{other}_{rest.partition('_')[2]}"


def _elsewhere(name: str) -> str:
    one, other, space, boot = name.split("_")
    return f"{one}_{other}_{int(space) + 1}_{boot}"


def _another_boot(name: str) -> str:
    return name[:-1] + ("0" if name[-1] != "0" else "1")


def _nonsense(name: str) -> str:
    return f"x{name}"


@pytest.mark.parametrize(
    ("changed", "dies"),
    [
        (_same, True),
        (_started_earlier, False),
        (_elsewhere, False),
        (_another_boot, False),
        (_nonsense, False),
    ],
)
def test_a_number_that_belongs_to_somebody_else_is_never_killed(
    tmp_path: Path, register: RunRegister, changed: Callable[[str], str], dies: bool
) -> None:
    bystander: AbstractContextManager[subprocess.Popen[bytes]] = _bystander()
    with bystander as process:
        name = changed(_of(process, register, tmp_path))
        (tmp_path / "runs" / name).touch()
        assert end_runs(tmp_path, SECONDS).killed == int(dies)
        if dies:
            assert process.wait(timeout=SECONDS) == -signal.SIGKILL
        else:
            assert process.poll() is None


def test_entries_that_a_crash_left_are_tidied_up(tmp_path: Path, register: RunRegister) -> None:
    with _bystander() as process:
        register.enter(process.pid, process.pid)
    assert len(entries(tmp_path)) == 1
    assert end_runs(tmp_path, SECONDS) == (0, 0)
    assert entries(tmp_path) == []
