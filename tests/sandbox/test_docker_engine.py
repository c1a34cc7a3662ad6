"""The Docker backend on a real engine: the same attacks, the same limits, nothing left behind.

`scripts/dockerd.sh start DIR` starts an engine for these tests with its image.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from silas.errors import SandboxError, Stopped
from silas.plans import WorkItemStatus
from silas.sandbox import (
    Mount,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
    default,
)
from silas.sandbox.capability import machine_here
from silas.sandbox.conformance.suite import CHECKS, ConformanceVerdict, Interpreter, examine
from silas.sandbox.docker import command, container
from silas.sandbox.docker.backend import DockerSandbox
from silas.sandbox.docker.command import DockerCommands
from silas.sandbox.docker.probe import engine_here, require
from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.landlock import Landlock
from silas.sandbox.mounts import Roots
from silas.sandbox.seccomp import ALLOW
from silas.stop.runs import UNREGISTERED, RunRegister, end_runs
from silas.stop.sentinel import Sentinel
from silas.testing import Harness
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.waits import SECONDS
from tests.work.kit import owner

from .test_killed import alive

IMAGE = "silas-base"
DOCKER = SandboxConfig(backend="docker", base_image=IMAGE)


def _missing() -> str:
    try:
        engine_here(IMAGE)
    except SandboxUnavailable as error:
        return str(error)
    return ""


WHY = _missing()
pytestmark = pytest.mark.skipif(bool(WHY), reason=f"no Docker engine with its image: {WHY}")


async def run(
    script: str, *mounts: Mount, limits: dict[str, float] | None = None, stdin: bytes = b""
) -> SandboxResult:
    ceiling = SandboxLimits.model_validate({"wall_seconds": SECONDS, **(limits or {})})
    files = SandboxFiles(cwd=Path("/work"), mounts=mounts, stdin=stdin)
    return await default(DOCKER).run(["/bin/sh", "-c", script], ceiling, files)


@pytest.mark.proves("S9.1-DOCKER", "A20-NAMESPACES-AND-CAPABILITIES", "A20-SECCOMP")
async def test_where_an_engine_runs_every_attack_is_withstood(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    found = await examine(
        default(DOCKER), home=home, guarded=(home,), checks=CHECKS, python=Interpreter.own()
    )
    assert [f"{f.name}: {f.words}" for f in found if f.verdict is ConformanceVerdict.broken] == []
    assert sum(f.verdict is ConformanceVerdict.held for f in found) >= 100


async def test_where_an_engine_runs_a_plan_is_done_in_it_and_its_files_are_the_owners(
    tmp_path: Path,
) -> None:
    work = a_workspace(tmp_path / "work")
    plan = sh_plan(
        "cp input.txt result.txt && test -f /.dockerenv",
        workspace=str(work),
        verify=check("test -s result.txt"),
    )
    settings = {"sandbox": {"backend": "docker", "base_image": IMAGE}}
    async with Harness(owner(), settings=settings) as house:
        result = await house.silas.run(plan)
    assert result.status is WorkItemStatus.done, result
    assert (work / "result.txt").stat().st_uid == os.geteuid()


@pytest.mark.parametrize(
    ("script", "limits", "ended_by", "code"),
    [
        ("exit 7", {}, "exit", 7),
        ("kill -9 $$", {}, "signal", 137),
        ("sleep 30", {"wall_seconds": 0.5}, "timeout", 137),
        ("while :; do :; done", {"cpu_seconds": 1, "wall_seconds": SECONDS}, "timeout", 152),
        ("while :; do echo xxxxxxxxxxxxxxxx; done", {"output_bytes": 99}, "output", 137),
        ("for i in 1 2 3 4 5 6 7; do sleep 9 & done; wait", {"processes": 5}, "processes", 137),
    ],
)  # fmt: skip
async def test_where_an_engine_runs_a_command_ends_as_it_does_under_bubblewrap(
    script: str, limits: dict[str, float], ended_by: str, code: int
) -> None:
    here = await run(script, limits=limits)
    there = await default(SandboxConfig()).run(
        ["/bin/sh", "-c", script],
        SandboxLimits.model_validate({"wall_seconds": SECONDS, **limits}),
        SandboxFiles(cwd=Path("/work")),
    )
    assert (here.ended_by, here.exit_code) == (there.ended_by, there.exit_code) == (ended_by, code)


async def test_where_an_engine_runs_input_and_both_outputs_pass() -> None:
    result = await run("cat; echo no >&2", stdin=b"yes\n")
    assert (result.stdout, result.stderr, result.exit_code) == ("yes\n", "no\n", 0)


async def test_where_an_engine_runs_a_command_that_is_not_there_is_told_as_shells_do() -> None:
    files = SandboxFiles(cwd=Path("/work"))
    result = await default(DOCKER).run(["no-such-program"], SandboxLimits(), files)
    assert (result.exit_code, result.stderr) == (
        127,
        "no-such-program: No such file or directory\n",
    )


async def test_where_an_engine_runs_a_working_directory_that_is_not_there_refuses(
    tmp_path: Path,
) -> None:
    files = SandboxFiles(cwd=Path("/w/none"), mounts=(Mount(source=tmp_path, target=Path("/w")),))
    with pytest.raises(SandboxError) as refused:
        await default(DOCKER).run(["true"], SandboxLimits(), files)
    assert refused.value.code == "E_SANDBOX_SETUP"


def test_where_an_engine_runs_an_image_that_is_not_here_is_named_and_never_fetched() -> None:
    with pytest.raises(SandboxUnavailable, match="docker pull no-such-image:1") as refused:
        default(SandboxConfig(backend="docker", base_image="no-such-image:1"))
    assert refused.value.code == "E_SANDBOX_DOCKER_IMAGE"


def containers() -> str:
    return require(IMAGE).client.ask(["ps", "--all", "--quiet", "--filter", LABEL]).stdout


LABEL = "label=silas.sandbox=run"


def nap() -> str:
    return f"5557.{os.getpid()}{time.monotonic_ns()}"


async def gone(mark: str) -> bool:
    """Whether every process with a mark, and every container, is gone in time."""
    end = time.monotonic() + SECONDS
    while (alive(mark) or containers()) and time.monotonic() < end:
        await asyncio.sleep(0.05)
    return not alive(mark) and not containers()


PROGRAM = """
import asyncio, sys
from pathlib import Path
from silas.sandbox import Mount, SandboxConfig, SandboxFiles, SandboxLimits, default
work, image, script = sys.argv[1:]
files = SandboxFiles(cwd=Path(work), mounts=(Mount(source=work, target=work, writable=True),))
sandbox = default(SandboxConfig(backend="docker", base_image=image))
asyncio.run(sandbox.run(["/bin/sh", "-c", script], SandboxLimits(), files))
"""


@pytest.mark.proves("S4.7-DESTROYED")
async def test_where_an_engine_runs_a_killed_silas_leaves_no_container_alive(
    tmp_path: Path,
) -> None:
    mark = nap()
    script = f"touch started; trap '' TERM INT HUP; kill -9 1; setsid sleep {mark} & sleep {mark}"
    silas = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), IMAGE, script])
    try:
        await until(tmp_path / "started")
        assert alive(mark)
    finally:
        os.kill(silas.pid, signal.SIGKILL)
        silas.wait()
    assert await gone(mark)


async def until(path: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while not path.exists():
            await asyncio.sleep(0.02)


async def test_where_an_engine_runs_a_cancelled_run_leaves_nothing(tmp_path: Path) -> None:
    mark = nap()
    work = Mount(source=tmp_path, target=Path("/w"), writable=True)
    running = asyncio.ensure_future(
        run(f"touch /w/started; setsid sleep {mark} & sleep {mark}", work)
    )
    await until(tmp_path / "started")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(mark)


async def test_where_an_engine_runs_the_emergency_stop_kills_what_is_in_a_container(
    tmp_path: Path,
) -> None:
    mark, place = nap(), tmp_path / "work"
    place.mkdir()
    sentinel = Sentinel(tmp_path)
    sandbox = default(DOCKER, register=RunRegister(sentinel))
    files = SandboxFiles(
        cwd=Path("/w"), mounts=(Mount(source=place, target=Path("/w"), writable=True),)
    )
    command = ["/bin/sh", "-c", f"touch started; sleep {mark}"]
    running = asyncio.ensure_future(sandbox.run(command, SandboxLimits(), files))
    await until(place / "started")
    assert end_runs(tmp_path, SECONDS) == (1, 0)
    assert (await running).ended_by == "cancelled"
    assert await gone(mark)
    (tmp_path / "STOPPED").touch()
    with pytest.raises(Stopped):
        await sandbox.run(command, SandboxLimits(), files)


async def test_where_an_engine_runs_what_was_swapped_before_the_mount_is_not_run_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, other = tmp_path / "shown", tmp_path / "other"
    shown.mkdir()
    other.mkdir()
    sandbox = default(DOCKER)
    real = DockerCommands.prepare

    def prepare(self: DockerCommands, *given: object) -> object:
        made = real(self, *given)  # pyright: ignore[reportArgumentType]
        shown.rmdir()
        shown.symlink_to(other)
        return made

    monkeypatch.setattr(DockerCommands, "prepare", prepare)
    files = SandboxFiles(
        cwd=Path("/w"), mounts=(Mount(source=shown, target=Path("/w"), writable=True),)
    )
    with pytest.raises(SandboxError, match="swapped") as refused:
        await sandbox.run(["/bin/sh", "-c", "touch /w/ran"], SandboxLimits(), files)
    assert refused.value.code == "E_SANDBOX_MOUNT"
    assert list(other.iterdir()) == []
    assert await gone("no process")


async def test_where_an_engine_runs_nothing_inside_looks_into_the_guard_or_holds_its_pipe() -> None:
    result = await run(
        "cat /proc/1/environ; echo $?; (echo x > /proc/1/fd/3); echo $?; (echo x > /.silas/life);"
        " echo $?; kill -9 1; chmod 600 /.silas/life; echo $?; echo end"
    )
    told = result.stdout.split()
    assert (len(told), told[-1]) == (5, "end"), result.stderr
    assert "0" not in told


def host_network(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(command, "ISOLATION", swapped("--network"))


def host_messages(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(command, "ISOLATION", swapped("--ipc"))


def swapped(option: str) -> tuple[str, ...]:
    """Every option, one of them with the host's own in place of a private one."""
    words = list(command.ISOLATION)
    words[words.index(option) + 1] = "host"
    return tuple(words)


def same_user(patch: pytest.MonkeyPatch) -> None:
    def nothing(script: object) -> None:
        del script

    patch.setattr(container, "_own_user", nothing)


def no_filter(patch: pytest.MonkeyPatch) -> None:
    def allow(machine: str) -> bytes:
        del machine
        return b"\x06\0\0\0" + ALLOW.to_bytes(4, "little")

    def open_profile(machine: str) -> bytes:
        del machine
        return b'{"defaultAction": "SCMP_ACT_ALLOW"}'

    patch.setattr(container, "compile_filter", allow)
    patch.setattr(command, "profile", open_profile)


WEAKER = {
    "the host's network": (host_network, "devices namespace-net port-list tcp-ipv4 udp-ipv4"),
    "the host's messages": (host_messages, "namespace-ipc posix-message"),
    "the host's users": (same_user, "namespace-user"),
    "no system-call filter": (no_filter, "io-uring netlink set-user-id trace-own userfaultfd"),
}


@pytest.mark.parametrize("what", WEAKER)
async def test_where_an_engine_runs_a_container_that_gives_away_one_thing_is_found_out(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weaken, names = WEAKER[what]
    engine = require(IMAGE)
    boxer = DockerCommands(engine, machine_here(), Landlock(0), Roots.of((), ()))
    container._closing.cache_clear()  # pyright: ignore[reportPrivateUsage]
    weaken(monkeypatch)
    try:
        found = await examine(
            DockerSandbox(engine, boxer, UNREGISTERED),
            home=tmp_path,
            guarded=(tmp_path,),
            checks=[check for check in CHECKS if check.name in names.split()],
            python=Interpreter.own(),
        )
    finally:
        container._closing.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert {f.name for f in found if f.verdict is ConformanceVerdict.broken} == set(names.split())
