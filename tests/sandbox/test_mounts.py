"""Which paths a sandbox may be shown, and what cannot be swapped in (decisions B2, B8)."""

import os
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SandboxError
from silas.sandbox import Mount, Sandbox, SandboxConfig, SandboxFiles, SandboxLimits, default

ECHO = ["/bin/echo", "ran"]


async def refusal(sandbox: Sandbox, *mounts: Mount, cwd: Path = Path("/tmp")) -> str:
    """The code a run is refused with; the run must not happen."""
    with pytest.raises(SandboxError) as refused:
        await sandbox.run(ECHO, SandboxLimits(), SandboxFiles(cwd=cwd, mounts=mounts))
    return refused.value.code


def at_its_place(path: Path) -> Mount:
    return Mount(source=path, target=path)


@pytest.mark.parametrize(
    "path",
    ["/", "/proc", "/proc/self", "/sys", "/sys/kernel", "/dev", "/dev/shm", "/run", "/missing"],
)
async def test_the_kernels_and_sessions_directories_are_never_shown(
    sandbox: Sandbox, path: str
) -> None:
    assert await refusal(sandbox, Mount(source=Path(path), target=Path("/x"))) == "E_SANDBOX_MOUNT"


@pytest.mark.parametrize("path", ["relative", "../up", "/tmp/../etc", "/usr/.."])
async def test_a_path_must_say_plainly_where_it_leads(sandbox: Sandbox, path: str) -> None:
    assert await refusal(sandbox, Mount(source=Path(path), target=Path("/x"))) == "E_SANDBOX_MOUNT"
    assert (
        await refusal(sandbox, Mount(source=Path("/opt"), target=Path(path))) == "E_SANDBOX_MOUNT"
    )


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_the_home_directory_what_contains_it_and_its_secrets_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    (home / ".ssh").mkdir(parents=True)
    (home / "project").mkdir()
    monkeypatch.setenv("HOME", str(home))
    sandbox = default(SandboxConfig(), forbidden=())
    for path in (home, home.parent, home / ".ssh"):
        assert await refusal(sandbox, at_its_place(path)) == "E_SANDBOX_MOUNT"
    files = SandboxFiles(cwd=home / "project", mounts=(at_its_place(home / "project"),))
    assert (await sandbox.run(ECHO, SandboxLimits(), files)).ok


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_the_directory_of_the_session_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    sandbox = default(SandboxConfig(), forbidden=())
    (tmp_path / "bus").mkdir()
    assert await refusal(sandbox, at_its_place(tmp_path / "bus")) == "E_SANDBOX_MOUNT"


@pytest.mark.proves("B8-OUT-OF-REACH", "S9.1-FRESH-WORKSPACE")
async def test_forbidden_roots_are_refused_from_inside_and_above_but_for_exceptions(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    (data / "scratch" / "w").mkdir(parents=True)
    (data / "keys").mkdir()
    sandbox = default(SandboxConfig(), forbidden=(data,), allowed=(data / "scratch",))
    for path in (tmp_path, data, data / "keys"):
        assert await refusal(sandbox, at_its_place(path)) == "E_SANDBOX_MOUNT"
    files = SandboxFiles(cwd=Path("/tmp"), mounts=(at_its_place(data / "scratch" / "w"),))
    assert (await sandbox.run(ECHO, SandboxLimits(), files)).ok


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_sockets_pipes_and_devices_are_refused(sandbox: Sandbox, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "docker.sock"))
        assert await refusal(sandbox, at_its_place(tmp_path / "docker.sock")) == "E_SANDBOX_MOUNT"
    os.mkfifo(tmp_path / "pipe")
    assert await refusal(sandbox, at_its_place(tmp_path / "pipe")) == "E_SANDBOX_MOUNT"


@pytest.mark.parametrize("place", ["last", "middle", "dangling"])
async def test_a_symbolic_link_anywhere_on_the_way_is_refused(
    sandbox: Sandbox, tmp_path: Path, place: str
) -> None:
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / ("missing" if place == "dangling" else "real"))
    path = tmp_path / "link" / "sub" if place == "middle" else tmp_path / "link"
    assert await refusal(sandbox, at_its_place(path)) == "E_SANDBOX_MOUNT"
    control = SandboxFiles(cwd=Path("/tmp"), mounts=(at_its_place(tmp_path / "real" / "sub"),))
    assert (await sandbox.run(ECHO, SandboxLimits(), control)).ok


@pytest.mark.parametrize(
    "target", ["/", "/usr", "/etc", "/bin", "/proc", "/proc/x", "/dev", "/dev/x", "/sys", "rel"]
)
async def test_the_sandboxes_own_places_cannot_be_covered(
    sandbox: Sandbox, tmp_path: Path, target: str
) -> None:
    mount = Mount(source=tmp_path, target=Path(target))
    assert await refusal(sandbox, mount) == "E_SANDBOX_MOUNT"


@pytest.mark.parametrize("what", ["missing", "link"])
async def test_a_mount_point_inside_a_mount_must_exist_and_be_no_link(
    sandbox: Sandbox, tmp_path: Path, what: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "other").mkdir()
    if what == "link":
        (work / "point").symlink_to("/etc")
    mounts = (
        Mount(source=work, target=work, writable=True),
        Mount(source=tmp_path / "other", target=work / "point"),
    )
    assert await refusal(sandbox, *mounts) == "E_SANDBOX_MOUNT"
    assert what == "link" or not (work / "point").exists()


@pytest.mark.parametrize("how", ["renamed away", "replaced by a link"])
async def test_a_directory_swapped_after_it_was_checked_is_not_shown(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The moment between the check and the mount belongs to the attacker."""
    work, secret = tmp_path / "work", tmp_path / "secret"
    work.mkdir()
    secret.mkdir()
    (secret / "key").write_text("hunter2")
    start = subprocess.Popen

    def swapped(*args: Any, **options: Any) -> Any:
        if how == "renamed away":
            work.rename(tmp_path / "moved")
            secret.rename(work)
        else:
            work.rmdir()
            work.symlink_to(secret)
        process = start(*args, **options)
        if how == "replaced by a link":
            # Over before the supervisor looks: still bubblewrap's refusal, not a failed watch.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return process

    monkeypatch.setattr(subprocess, "Popen", swapped)
    files = SandboxFiles(cwd=work, mounts=(at_its_place(work),))
    attempt = sandbox.run(["/bin/sh", "-c", "ls -A; cat key"], SandboxLimits(), files)
    if how == "renamed away":
        assert (await attempt).stdout == ""  # what was checked, wherever it is called now
        return
    with pytest.raises(SandboxError, match="E_SANDBOX_SETUP"):
        await attempt


@pytest.mark.parametrize("cwd", ["/", "relative", "/a/../b"])
async def test_the_working_directory_is_below_the_root(sandbox: Sandbox, cwd: str) -> None:
    assert await refusal(sandbox, cwd=Path(cwd)) == "E_SANDBOX_MOUNT"


async def test_a_working_directory_missing_in_its_mount_runs_nothing(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    code = await refusal(sandbox, at_its_place(tmp_path), cwd=tmp_path / "missing")
    assert code == "E_SANDBOX_SETUP"


@pytest.mark.parametrize("argv", [[], ["/bin/echo", "a\0b"]])
async def test_a_command_that_cannot_be_passed_is_refused(
    sandbox: Sandbox, argv: list[str]
) -> None:
    with pytest.raises(SandboxError) as refused:
        await sandbox.run(argv, SandboxLimits(), SandboxFiles(cwd=Path("/tmp")))
    assert refused.value.code == "E_SANDBOX_COMMAND"


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
async def test_an_impossible_variable_is_refused(sandbox: Sandbox, name: str) -> None:
    files = SandboxFiles(cwd=Path("/tmp"), env={name: "x"})
    with pytest.raises(SandboxError) as refused:
        await sandbox.run(ECHO, SandboxLimits(), files)
    assert refused.value.code == "E_SANDBOX_ENV"


async def test_a_command_line_too_long_is_refused(sandbox: Sandbox) -> None:
    argv = ["/bin/echo", "x" * (1 << 20)]
    with pytest.raises(SandboxError) as refused:
        await sandbox.run(argv, SandboxLimits(), SandboxFiles(cwd=Path("/tmp")))
    assert refused.value.code == "E_SANDBOX_COMMAND"
