"""Landlock behind the mounts: what a mount would allow and no rule grants is refused (A20)."""

import errno
import os
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

import silas.sandbox.bubblewrap.launch
from silas.sandbox import Endpoint, Mount, Sandbox, SandboxFiles, SandboxLimits, SandboxUnavailable
from silas.sandbox.bubblewrap.process import BubblewrapSandbox
from silas.sandbox.capability import forget, make_launcher, probe, require
from silas.sandbox.landlock import (
    DEVICE,
    PROGRAMS,
    READ,
    WRITE,
    Landlock,
    LandlockRule,
    kernel_version,
    read_version,
)
from silas.sandbox.landlock import rules as landlock_rules
from silas.sandbox.mounts import Roots
from silas.sandbox.network.outside import NO_OUTSIDE
from silas.sandbox.starter import STARTER
from silas.stop.runs import UNREGISTERED

from .conftest import AMPLE, PYTHON, PYTHON_MOUNTS, Run
from .test_ordinary_user import as_ordinary_user, sandboxed

NONE = Landlock(0)
HERE = Landlock(kernel_version())


def behind(landlock: Landlock) -> Sandbox:
    """This machine's sandbox with another Landlock."""
    machinery = require()._replace(landlock=landlock)
    launcher = make_launcher(machinery, Roots.of((), ()))
    return BubblewrapSandbox(
        launcher, NO_OUTSIDE, UNREGISTERED, count_processes=machinery.count_processes
    )


async def told(sandbox: Sandbox, script: str, **files: Any) -> str:
    """What a shell script prints."""
    files.setdefault("cwd", Path("/work"))
    result = await sandbox.run(
        ["/bin/sh", "-c", script], SandboxLimits(**AMPLE), SandboxFiles(**files)
    )
    assert result.ended_by == "exit", result.stderr
    return result.stdout


def test_this_machine_has_landlock_so_that_the_rest_of_this_file_means_something() -> None:
    assert HERE.used
    assert HERE.words() in {
        check.words for check in probe() if check.name == "Landlock" and check.ok
    }


# What mounts allow and rules do not.


@pytest.mark.proves("A20-LANDLOCK")
async def test_a_mount_that_is_writable_without_a_rule_is_not_written(
    monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    """The mount shows too much, as after a mistake; the host sees what was written."""

    def wrong(mount: Mount, descriptor: int) -> LandlockRule:
        del descriptor
        return LandlockRule(str(mount.target), PROGRAMS)

    monkeypatch.setattr(silas.sandbox.bubblewrap.launch, "mount_rule", wrong)
    (workdir / "old").write_text("kept")
    mount = Mount(source=workdir, target=Path("/project"), writable=True)
    script = "cat old; touch new; echo lost > old; rm old; mkdir dir; ln -s a link"
    assert await told(behind(HERE), script, cwd=mount.target, mounts=(mount,)) == "kept"
    assert [(path.name, path.read_text()) for path in workdir.iterdir()] == [("old", "kept")]
    await told(behind(NONE), script, cwd=mount.target, mounts=(mount,))
    assert sorted(path.name for path in workdir.iterdir()) == ["dir", "link", "new"]


@pytest.mark.proves("A20-LANDLOCK")
async def test_a_mount_without_a_rule_is_neither_read_nor_executed(
    monkeypatch: pytest.MonkeyPatch, workdir: Path
) -> None:
    def elsewhere(mount: Mount, descriptor: int) -> LandlockRule:
        del mount, descriptor
        return LandlockRule("/usr", PROGRAMS)

    monkeypatch.setattr(silas.sandbox.bubblewrap.launch, "mount_rule", elsewhere)
    (workdir / "secret").write_text("hunter2")
    (workdir / "program").write_text("#!/bin/sh\necho ran\n")
    (workdir / "program").chmod(0o755)
    mounts = (Mount(source=workdir, target=Path("/shown")),)
    script = "cat /shown/secret; /shown/program; true"
    assert await told(behind(HERE), script, mounts=mounts) == ""
    assert await told(behind(NONE), script, mounts=mounts) == "hunter2ran\n"


@pytest.mark.proves("A20-LANDLOCK")
async def test_what_bubblewrap_itself_made_is_closed_where_no_rule_is() -> None:
    script = f"cat {STARTER} > /dev/null 2>&1 && echo open || echo closed"
    assert await told(behind(HERE), script) == "closed\n"
    assert await told(behind(NONE), script) == "open\n"


@pytest.mark.proves("A20-LANDLOCK")
async def test_an_ordinary_user_is_behind_it_as_well(tmp_path: Path) -> None:
    script = f"cat {STARTER} > /dev/null 2>&1 && echo open || echo closed; mkdir a b; touch a/f"
    act = sandboxed(f"{script}; mv a/f b/f && ls b; kill -0 1 2> /dev/null || echo alone")
    ended, code, stdout, _ = as_ordinary_user(act, tmp_path)
    assert (ended, code, stdout) == ("exit", 0, "closed\nf\nalone\n")


@pytest.mark.proves("A20-LANDLOCK")
async def test_no_signal_reaches_the_namespaces_own_init() -> None:
    """Landlock knows signals since ABI 6; the init never ends early either way."""
    script = "kill -0 1 && echo reached || echo refused; sleep 5 & kill $! && echo own"
    expected = "refused\nown\n" if HERE.version >= 6 else "reached\nown\n"
    assert await told(behind(HERE), script) == expected
    assert await told(behind(NONE), script) == "reached\nown\n"


LOOPBACK = """
import socket
try:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=2): print("connected")
except OSError as error: print("refused", error.errno)
try:
    socket.create_connection(("127.0.0.1", 9), timeout=2)
except OSError as error: print("refused", error.errno)
"""


@pytest.mark.proves("A20-LANDLOCK", "S9.1-NETWORK-OFF")
async def test_without_network_there_is_no_tcp_unless_the_own_loopback_is_asked_for(
    python: Run,
) -> None:
    closed, absent = errno.EACCES, errno.ECONNREFUSED
    denied = HERE.version >= 4
    expected = f"refused {closed}\nrefused {closed}\n" if denied else ""
    opened = f"connected\nrefused {absent}\n"
    assert (await python(LOOPBACK)).stdout == (expected or opened)
    assert (await python(LOOPBACK, loopback=True)).stdout == opened
    assert (await python(LOOPBACK, network=(Endpoint("pypi.org", 443),))).stdout == opened


async def test_the_own_loopback_is_not_the_hosts(python: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        source = LOOPBACK.replace("9)", f"{server.getsockname()[1]})")
        told = (await python(source, loopback=True)).stdout
    assert told == f"connected\nrefused {errno.ECONNREFUSED}\n"


@pytest.mark.parametrize("landlock", [HERE, NONE])
async def test_the_command_inherits_no_descriptor_not_even_the_reports(landlock: Landlock) -> None:
    """Whoever held the report's pipe could claim what never happened."""
    assert await told(behind(landlock), "ls /proc/self/fd") == "0\n1\n2\n3\n"  # 3 is the listing's


# What ordinary work needs still works, in a workspace and in the private places.

WORK: dict[str, str] = {
    "O_TMPFILE": """
fd = os.open(".", os.O_TMPFILE | os.O_RDWR); os.write(fd, b"x")
here = os.open(".", os.O_RDONLY)  # with a descriptor Python follows the link
os.link(f"/proc/self/fd/{fd}", "linked", src_dir_fd=here); print(open("linked").read())
""",
    "rename between directories": """
os.makedirs("a"); os.makedirs("b/c"); open("a/f", "w").write("moved")
os.rename("a/f", "b/c/g"); os.rename("b/c", "a/c"); print(open("a/c/g").read())
""",
    "hard links between directories": """
os.makedirs("a"); os.makedirs("b"); open("a/f", "w").write("x"); os.link("a/f", "b/f")
print(os.stat("b/f").st_nlink)
""",
    "truncation": """
open("f", "w").write("long"); os.truncate("f", 1); print(open("f").read())
open("f", "w").close(); print(os.path.getsize("f"))
""",
    "removal": """
os.makedirs("a/b/c"); open("a/b/f", "w").close(); shutil.rmtree("a"); print(os.path.exists("a"))
""",
    "links, pipes and sockets": """
os.symlink("f", "l"); os.mkfifo("p"); s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen()
c = socket.socket(socket.AF_UNIX); c.connect("s"); print(sorted(os.listdir()))
""",
    "a program written and run": """
open("run", "w").write("#!/bin/sh\\necho ran\\n"); os.chmod("run", 0o755)
print(subprocess.run(["./run"], capture_output=True, text=True).stdout)
""",
    "memory shared by mapping a file": """
f = open("m", "w+b"); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); m[:1] = b"x"; m.flush()
print(open("m", "rb").read(1))
""",
}
ANYWHERE: dict[str, tuple[str, str]] = {
    "devices": (
        """
for name in ("null", "zero", "full", "random", "urandom"): open("/dev/" + name, "rb").read(1)
open("/dev/null", "w").write("x"); print(os.open("/dev/null", os.O_WRONLY | os.O_TRUNC) > 2)
try: termios.tcgetattr(os.open("/dev/null", os.O_RDONLY))
except termios.error as error: print(error.args[0] == errno.ENOTTY)
""",
        "True\nTrue\n",
    ),
    "a pseudo terminal": ("a, b = pty.openpty(); print(os.isatty(b))", "True\n"),
    "its own process": (
        "print(len(open('/proc/self/comm').read()) > 1, os.path.exists('/proc/self/exe'))",
        "True True\n",
    ),
    "standard streams by name": (
        "print(open('/dev/stdin').read(), flush=True); open('/dev/stdout', 'w').write('out')",
        "given\nout",
    ),
    "processes that share memory": (
        """
from multiprocessing import get_context
with get_context("fork").Pool(2) as pool: print(pool.map(abs, [-1, -2]))
""",
        "[1, 2]\n",
    ),
    "the root's names": ("print({'usr', 'etc', 'tmp'} <= set(os.listdir('/')))", "True\n"),
    "signals among its own": (
        "c = subprocess.Popen(['sleep', '5']); c.terminate(); print(c.wait(5))",
        "-15\n",
    ),
}
IMPORTS = "import os, shutil, socket, subprocess, mmap, pty, termios, errno\n"


@pytest.mark.parametrize("place", ["workspace", "temporary", "private", "shared memory"])
async def test_every_kind_of_file_work_is_possible_where_writing_is(
    place: str, workdir: Path
) -> None:
    mount = Mount(source=workdir, target=Path("/home/project"), writable=True)
    cwd = {"workspace": mount.target, "shared memory": Path("/dev/shm"), "private": Path("/work")}
    for name, source in WORK.items():
        if place == "shared memory" and "run" in name:
            continue  # nothing is executed there
        chosen = cwd.get(place, Path("/tmp"))
        script = f"{IMPORTS}os.makedirs('fresh'); os.chdir('fresh')\n{source}"
        answers: list[str] = []
        for landlock in (HERE, NONE):
            files = SandboxFiles(cwd=chosen, mounts=(*PYTHON_MOUNTS, mount))
            result = await behind(landlock).run(
                [PYTHON, "-I", "-c", script], SandboxLimits(**AMPLE), files
            )
            assert (result.stderr, result.exit_code) == ("", 0), (name, place)
            answers.append(result.stdout)
            if place == "workspace":
                os.rename(workdir / "fresh", workdir / f"{name} {landlock.version}")
        assert answers[0] == answers[1] != ""


@pytest.mark.parametrize("name", ANYWHERE)
async def test_what_every_program_needs_is_there(name: str, python: Run) -> None:
    source, expected = ANYWHERE[name]
    result = await python(IMPORTS + source, stdin=b"given")
    assert (result.stderr, result.exit_code) == ("", 0)
    assert result.stdout == expected


async def test_a_single_file_can_be_shown_and_written(run: Run, workdir: Path) -> None:
    (workdir / "in").write_text("in")
    (workdir / "out").write_text("before")
    mounts = (
        Mount(source=workdir / "in", target=Path("/data/in")),
        Mount(source=workdir / "out", target=Path("/data/out"), writable=True),
    )
    script = "cat in > out; echo x > in; ls"
    result = await run(["/bin/sh", "-c", script], mounts=mounts, cwd=Path("/data"))
    assert result.stdout.split() == ["in", "out"]
    assert ((workdir / "in").read_text(), (workdir / "out").read_text()) == ("in", "in")


# Failing to apply it is a refusal.


@pytest.mark.proves("A20-LANDLOCK", "A20-MISSING-PART-REFUSES")
@pytest.mark.parametrize("path", ["/usr/missing", "/project/link/bin", "/dev/null/x"])
async def test_rules_that_cannot_be_applied_refuse_the_run(
    monkeypatch: pytest.MonkeyPatch, workdir: Path, path: str
) -> None:
    def odd(mount: Mount, descriptor: int) -> LandlockRule:
        del mount, descriptor
        return LandlockRule(path, WRITE)

    monkeypatch.setattr(silas.sandbox.bubblewrap.launch, "mount_rule", odd)
    (workdir / "link").symlink_to("/usr")  # a link on the way is never followed
    mount = Mount(source=workdir, target=Path("/project"), writable=True)
    files = SandboxFiles(cwd=mount.target, mounts=(mount,))
    with pytest.raises(SandboxUnavailable, match=f"nothing was run .allow {path}:") as refused:
        await behind(HERE).run(["/usr/bin/touch", "ran"], SandboxLimits(**AMPLE), files)
    assert refused.value.code == "E_SANDBOX_LANDLOCK"
    assert [path.name for path in workdir.iterdir()] == ["link"]


@pytest.mark.proves("A20-LANDLOCK", "A20-MISSING-PART-REFUSES")
async def test_a_version_this_kernel_does_not_have_is_refused_and_not_lowered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A ruleset that asks for more than the kernel knows fails as a whole."""
    monkeypatch.setattr(Landlock, "handled", property(lambda _: 1 << 40))
    with pytest.raises(SandboxUnavailable, match="make the ruleset: Invalid argument"):
        await told(behind(Landlock(99)), "echo ran")


@pytest.mark.proves("A20-LANDLOCK", "A20-MISSING-PART-REFUSES")
def test_the_first_look_at_the_machine_tries_it_and_refuses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rules that open what must stay closed are found by reading it from inside."""
    own = (*landlock_rules((), (), ()), LandlockRule("/dev", READ))
    monkeypatch.setattr("silas.sandbox.landlock._OWN", own)
    forget()
    try:
        checks = {check.name: check for check in probe()}
        assert not checks["isolation"].ok
        assert "'Landlock'" in checks["isolation"].words
    finally:
        forget()


# Versions.


@pytest.mark.parametrize(
    ("version", "handled", "length"),
    [
        (2, 0x3FFF, 8),
        (3, 0x7FFF, 8),
        (4, 0x7FFF, 16),
        (5, 0xFFFF, 16),
        (6, 0xFFFF, 24),
        (9, 0xFFFF, 24),
    ],
)
def test_each_version_is_asked_for_what_it_knows(version: int, handled: int, length: int) -> None:
    """Numbers from the kernel's `linux/landlock.h`."""
    fields = (handled, 3, 3)[: length // 8]
    assert Landlock(version).ruleset(tcp=False) == struct.pack(f"<{len(fields)}Q", *fields)
    open_fields = (handled, 0, 3)[: length // 8]
    assert Landlock(version).ruleset(tcp=True) == struct.pack(f"<{len(fields)}Q", *open_fields)


def test_a_rule_for_a_file_holds_no_right_of_directories() -> None:
    assert Landlock(7).rule(LandlockRule("/f", WRITE, directory=False), 9) == struct.pack(
        "<Qi", 0x4007, 9
    )
    assert Landlock(2).rule(LandlockRule("/f", WRITE, directory=False), 9) == struct.pack(
        "<Qi", 0x7, 9
    )
    assert Landlock(7).rule(LandlockRule("/d", WRITE), 5) == struct.pack("<Qi", 0x77BF, 5)
    assert Landlock(7).rule(LandlockRule("/d", DEVICE, directory=False), 5) == struct.pack(
        "<Qi", 0x8006, 5
    )


@pytest.mark.parametrize(
    ("version", "used", "words"),
    [
        (0, False, "not in this kernel"),
        (1, False, "ABI 1 is too old to use"),
        (2, True, "ABI 2, protects files"),
        (4, True, "files, TCP"),
        (6, True, "files, TCP, devices, abstract sockets and signals"),
    ],
)
def test_doctor_says_what_is_protected_and_what_is_not(
    version: int, used: bool, words: str
) -> None:
    assert Landlock(version).used == used
    assert words in Landlock(version).words()


def test_a_kernel_without_it_is_told_from_a_filter_that_hides_it() -> None:
    assert [read_version(7, 0), read_version(-1, errno.ENOSYS)] == [7, 0]
    assert read_version(-1, errno.EOPNOTSUPP) == 0
    with pytest.raises(SandboxUnavailable, match="seccomp=unconfined") as refused:
        read_version(-1, errno.EPERM)
    assert refused.value.code == "E_SANDBOX_LANDLOCK"
