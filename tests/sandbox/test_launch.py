"""The command line that every run gets, and what becomes possible without it (decision A20)."""

import os
import select
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from silas.sandbox import Endpoint, Mount, SandboxFiles, SandboxLimits
from silas.sandbox.bubblewrap.launch import ISOLATION, Launch
from silas.sandbox.capability import make_launcher, require
from silas.sandbox.mounts import Roots
from silas.sandbox.supervise import Run, nothing_before
from silas.stop.runs import UNREGISTERED
from tests.support.waits import SECONDS

ALWAYS = (
    "--unshare-all",
    "--unshare-user",
    "--disable-userns",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--clearenv",
)


def options(files: SandboxFiles) -> tuple[list[str], Launch]:
    """What bubblewrap is told for a run."""
    launcher = make_launcher(require(), Roots.of((), ()))
    with ExitStack() as owned:
        launch = launcher.prepare(["/bin/true"], SandboxLimits(), files, (), owned)
        place = launch.command.index("--args") + 1
        content = os.pread(int(launch.command[place]), 1 << 20, 0)
        return content.decode().split("\0")[:-1], launch


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES")
@pytest.mark.parametrize("network", [(), (Endpoint("pypi.org", 443),)])
def test_every_run_gets_every_isolation_option(
    tmp_path: Path, network: tuple[Endpoint, ...]
) -> None:
    mount = Mount(source=tmp_path, target=tmp_path, writable=True)
    told, launch = options(SandboxFiles(cwd=tmp_path, mounts=(mount,), network=network))
    assert tuple(told[: len(ALWAYS)]) == ALWAYS
    assert "--share-net" not in told
    assert told[told.index("--seccomp") + 1].isdigit()
    for path in ("/", "/proc", "/dev"):
        assert ["--remount-ro", path] in [told[at : at + 2] for at in range(len(told))]
    assert not {"--cap-add", "--dev-bind-try", "--userns", "--as-pid-1"} & set(told)
    assert str(tmp_path) not in launch.command


def test_only_mounts_that_ask_for_it_are_writable(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    mounts = (
        Mount(source=tmp_path / "a", target=Path("/a"), writable=True),
        Mount(source=tmp_path / "b", target=Path("/b")),
    )
    told, _ = options(SandboxFiles(cwd=Path("/a"), mounts=mounts))
    kinds = {told[at + 2]: told[at] for at in range(len(told)) if told[at].endswith("bind-fd")}
    assert kinds == {"/a": "--bind-fd", "/b": "--ro-bind-fd"}
    assert "--bind" not in told


def test_certificates_are_shown_only_with_named_hosts_and_name_servers_never() -> None:
    offline, _ = options(SandboxFiles(cwd=Path("/tmp")))
    online, _ = options(SandboxFiles(cwd=Path("/tmp"), network=(Endpoint("pypi.org", 443),)))
    assert ("/etc/ssl/certs" in online) == Path("/etc/ssl/certs").is_dir()
    assert "/etc/ssl/certs" not in offline
    assert "/etc/resolv.conf" not in {*online, *offline}  # names are resolved outside alone


REMOUNT = (  # the mount that has the path: of the disk, or of the memory that tests are given
    'mount -o remount,bind,rw "$(stat -c %m {folder})" && touch {folder}/mark && echo escaped'
)


def bare(isolation: tuple[str, ...], script: str) -> str:
    """Bubblewrap without our filter, to see what the options alone are good for."""
    command = [
        *(str(require().bwrap), *isolation),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"),
        *("--", "/bin/sh", "-c", script),
    ]
    done = subprocess.run(
        command, env={}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return done.stdout


@pytest.mark.proves("A20-ROOT-CANNOT-REMOUNT")
def test_root_without_cap_drop_escapes_and_with_our_options_does_not(tmp_path: Path) -> None:
    """The reason for `--cap-drop ALL`: the same attack, with and without it."""
    script = REMOUNT.format(folder=tmp_path)
    weak = tuple(o for o in ISOLATION if o not in ("--cap-drop", "ALL", "--disable-userns"))
    assert (bare(weak, script) == "escaped\n") == (os.geteuid() == 0)
    (tmp_path / "mark").unlink(missing_ok=True)
    assert bare(ISOLATION, script) == ""
    assert not (tmp_path / "mark").exists()


async def test_a_supervisor_that_dies_before_opening_the_gate_never_lets_the_command_run(
    tmp_path: Path,
) -> None:
    """Its end opens the gate, and the first program inside ends because nobody reads its report."""
    launcher = make_launcher(require(), Roots.of((), ()))
    files = SandboxFiles(
        cwd=tmp_path, mounts=(Mount(source=tmp_path, target=tmp_path, writable=True),)
    )
    with ExitStack() as owned:
        status_in, status_out = os.pipe()
        gate_in, gate_out = os.pipe()
        run = Run(SandboxLimits(), owned, nothing_before, UNREGISTERED, count_processes=True)
        control = run.control[::2]
        assert control == ("--json-status-fd", "--block-fd")
        told = [
            part
            for pair in zip(control, map(str, (status_out, gate_in)), strict=True)
            for part in pair
        ]
        launch = launcher.prepare(["/usr/bin/touch", "ran"], SandboxLimits(), files, told, owned)
        bwrap = subprocess.Popen(
            launch.command,
            stdin=launch.stdin,
            pass_fds=(*launch.pass_fds, status_out, gate_in),
            env={},
        )
        os.close(status_out)
        os.close(gate_in)
        init = os.pidfd_open(int(os.read(status_in, 4096).split()[2].strip(b",")))
    os.close(gate_out)  # as the kernel does for a process that died; its report's end is closed too
    try:
        assert bwrap.wait(SECONDS) != 0
        assert select.select([init], [], [], 5)[0]
        assert not (tmp_path / "ran").exists()
    finally:
        os.close(init)
        os.close(status_in)
        bwrap.kill()
