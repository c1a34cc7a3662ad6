"""The sandbox as an ordinary user: everything holds there, too, and forks are refused early."""

import asyncio
import json
import os
import select
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from silas.sandbox import Mount, SandboxConfig, SandboxFiles, SandboxLimits, default
from silas.sandbox.bubblewrap.process import BubblewrapSandbox
from silas.sandbox.capability import forget
from silas.workspace.copy import Workspace, undo
from tests.support.waits import SECONDS

UID = 54321


def as_ordinary_user(act: Callable[[], Any], home: Path, seconds: float = SECONDS) -> Any:
    """Call something in a child process that gave up root for good; its answer as JSON."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        answer: dict[str, Any] = {}
        try:
            os.close(reading)
            os.environ["HOME"] = str(home / "nobody")
            if os.geteuid() == 0:
                os.setgroups([])
                os.setresgid(UID, UID, UID)
                os.setresuid(UID, UID, UID)
            assert os.geteuid() != 0
            forget()
            answer["value"] = act()
        except BaseException:  # whatever went wrong is the parent's to report
            answer["error"] = traceback.format_exc()
        os.write(writing, json.dumps(answer).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        if not select.select([pipe], [], [], seconds)[0]:
            os.kill(child, signal.SIGKILL)
        told = pipe.read()
    os.waitpid(child, 0)
    answer = json.loads(told)
    assert "error" not in answer, answer["error"]
    return answer["value"]


def sandboxed(
    script: str,
    limits: dict[str, Any] | None = None,
    mounts: tuple[Mount, ...] = (),
    cwd: Path = Path("/work"),
) -> Callable[[], list[Any]]:
    """A run of a shell script, to be made by the child."""

    def act() -> list[Any]:
        sandbox = default(SandboxConfig(), forbidden=())
        assert isinstance(sandbox, BubblewrapSandbox)
        asked = SandboxFiles(cwd=cwd, mounts=mounts)
        given: dict[str, Any] = {"wall_seconds": SECONDS, **(limits or {})}
        ceiling = SandboxLimits(**given)
        result = asyncio.run(sandbox.run(["/bin/sh", "-c", script], ceiling, asked))
        return [result.ended_by, result.exit_code, result.stdout, result.stderr]

    return act


@pytest.fixture
def home() -> Iterator[Path]:
    """A directory an ordinary user can reach; pytest's own are private to who runs it."""
    with tempfile.TemporaryDirectory(prefix="silas-test-", dir="/var/tmp") as name:
        place = Path(name).resolve()
        place.chmod(0o777)
        yield place


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES", "A20-SECCOMP")
def test_a_command_runs_with_every_protection(home: Path) -> None:
    script = "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; id -u; pwd"
    ended, code, stdout, _ = as_ordinary_user(sandboxed(script), home)
    assert (ended, code) == ("exit", 0)
    assert stdout.split() == [
        *("CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1", "Seccomp:", "2"),
        *("1000", "/work"),
    ]


def test_the_network_is_closed_and_the_system_read_only(home: Path) -> None:
    script = "grep -c : /proc/net/dev; touch /usr/x || touch /x || touch /dev/x || echo refused"
    _, _, stdout, _ = as_ordinary_user(sandboxed(script), home)
    assert stdout == "1\nrefused\n"


def test_a_workspace_is_written_and_history_is_not(home: Path) -> None:
    work = home / "work"

    def act() -> list[Any]:
        (work / ".git").mkdir(parents=True)
        mounts = (
            Mount(source=work, target=work, writable=True),
            Mount(source=work / ".git", target=work / ".git"),
        )
        script = "echo made > file; touch .git/x || echo refused"
        return sandboxed(script, mounts=mounts, cwd=work)()

    _, _, stdout, _ = as_ordinary_user(act, home)
    assert stdout == "refused\n"
    assert (work / "file").read_text() == "made\n"
    assert not (work / ".git" / "x").exists()


def test_the_kernel_itself_refuses_more_processes_than_allowed(home: Path) -> None:
    script = "i=0; while [ $i -lt 100 ]; do sleep 60 & i=$((i+1)); done"
    limits = {"processes": 10}
    ended, code, _, stderr = as_ordinary_user(sandboxed(script, limits), home)
    assert "fork" in stderr.lower()
    assert (ended, code) == ("exit", 2)


def test_limits_and_the_end_of_daemons_hold(home: Path) -> None:
    ended, _, _, _ = as_ordinary_user(sandboxed("sleep 9191", {"wall_seconds": 0.2}), home)
    assert ended == "timeout"
    ended, _, stdout, _ = as_ordinary_user(sandboxed("setsid sleep 9191 & echo started"), home)
    assert (ended, stdout) == ("exit", "started\n")
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            assert b"9191" not in process.read_bytes()
        except OSError:  # it ended while we looked
            continue


def test_apply_and_undo_work_without_being_root(home: Path) -> None:
    def act() -> list[str]:
        original = home / "project"
        (original / "locked").mkdir(parents=True)
        (original / "locked" / "file").write_text("before")
        (original / "locked").chmod(0o555)
        workspace = Workspace.prepare(original, home / "scratch")
        (workspace.copy / "locked").chmod(0o755)
        (workspace.copy / "locked" / "file").unlink()
        (workspace.copy / "locked").rmdir()
        workspace.apply(home / "undo")
        gone = not (original / "locked").exists()
        undo(home / "undo")
        mode = f"{(original / 'locked').stat().st_mode & 0o777:o}"
        return [str(gone), (original / "locked" / "file").read_text(), mode]

    assert as_ordinary_user(act, home) == ["True", "before", "555"]
