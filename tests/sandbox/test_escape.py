"""What a sandboxed process cannot reach, each with evidence from the host (spec 9.1, A20, B8)."""

import asyncio
import json
import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from silas.sandbox import Endpoint, Mount
from silas.sandbox.searchpath import python_alias
from tests.support.waits import SECONDS

from .conftest import PYTHON_MOUNTS, Run


def writable(path: Path) -> tuple[Mount, ...]:
    return (Mount(source=path, target=path, writable=True),)


# Positive controls: the sandbox lets ordinary work through.


async def test_a_program_runs_and_its_output_and_exit_code_come_back(python: Run) -> None:
    result = await python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (result.exit_code, result.ended_by) == (3, "exit")
    assert (result.stdout, result.stderr) == ("out\n", "err\n")


async def test_standard_input_is_what_was_given_and_then_ends(run: Run) -> None:
    assert (await run(["/bin/cat"], stdin=b"hello")).stdout == "hello"
    assert (await run(["/bin/cat"])).stdout == ""


async def test_a_writable_mount_is_the_hosts_and_the_working_directory(
    run: Run, workdir: Path
) -> None:
    result = await run(
        ["/bin/sh", "-c", "pwd; echo made > file"], mounts=writable(workdir), cwd=workdir
    )
    assert result.stdout == f"{workdir}\n"
    assert (workdir / "file").read_text() == "made\n"


async def test_a_working_directory_without_a_mount_is_empty_writable_and_private(
    run: Run, tmp_path: Path
) -> None:
    place = tmp_path / "nowhere"
    result = await run(["/bin/sh", "-c", "ls -A; echo x > file && cat file"], cwd=place)
    assert result.stdout == "x\n"
    assert not place.exists()


async def test_later_mounts_cover_parts_of_earlier_ones(run: Run, workdir: Path) -> None:
    (workdir / ".git").mkdir()
    mounts = (
        *writable(workdir),
        Mount(source=workdir / ".git", target=workdir / ".git"),
    )
    script = "touch ok; touch .git/hook || echo refused"
    result = await run(["/bin/sh", "-c", script], mounts=mounts, cwd=workdir)
    assert result.stdout == "refused\n"
    assert (workdir / "ok").exists()
    assert list((workdir / ".git").iterdir()) == []


async def test_python_threads_processes_and_git_work_inside(python: Run, run: Run) -> None:
    source = """
import subprocess, threading, asyncio, tempfile, os
threading.Thread(target=print, args=("thread",)).start()
print(subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout.strip())
async def main():
    child = await asyncio.create_subprocess_exec("/bin/echo", "async", stdout=-1)
    print((await child.communicate())[0].decode().strip())
asyncio.run(main())
with tempfile.NamedTemporaryFile() as file: file.write(b"x")
print(os.getpid() > 1)
"""
    assert (await python(source)).stdout.split() == ["thread", "child", "async", "True"]
    script = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
    assert (await run(["/bin/sh", "-c", f"{script} && git log --oneline | wc -l"])).stdout == "1\n"


async def test_a_command_that_does_not_exist_says_so(run: Run) -> None:
    result = await run(["no-such-program"])
    assert (result.exit_code, result.ended_by) == (127, "exit")
    assert "No such file" in result.stderr


async def test_bytes_that_are_no_text_are_replaced(run: Run) -> None:
    assert (await run(["/usr/bin/printf", "a\\377b"])).stdout == "a\ufffdb"


# The host's network.

HOSTS = (Endpoint("pypi.org", 443),)


@pytest.fixture
def listener() -> Iterator[int]:
    """A TCP service on the loopback of the host; says hello."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_greet, args=(server,), daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(SECONDS)


def _greet(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:  # the test is over
            return
        with connection:
            connection.sendall(b"hello")


CONNECT = """
import socket, sys
try:
    with socket.create_connection(("127.0.0.1", {port}), timeout=2) as s: print(s.recv(5).decode())
except OSError as error: print("refused", error.errno)
"""


@pytest.mark.proves("S9.1-NETWORK-OFF")
@pytest.mark.parametrize("network", [(), HOSTS])
async def test_a_service_on_the_hosts_loopback_is_out_of_reach(
    python: Run, listener: int, network: tuple[Endpoint, ...]
) -> None:
    with socket.create_connection(("127.0.0.1", listener), timeout=SECONDS) as control:
        assert control.recv(5) == b"hello"
    result = await python(CONNECT.format(port=listener), network=network, loopback=True)
    assert result.stdout == "refused 111\n"


@pytest.mark.proves("S9.1-NETWORK-OFF")
@pytest.mark.parametrize("network", [(), HOSTS])
async def test_only_the_loopback_device_exists(python: Run, network: tuple[Endpoint, ...]) -> None:
    source = "print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])"
    assert (await python(source, network=network)).stdout == "['lo']\n"


@pytest.mark.proves("B8-OUT-OF-REACH", "S9.1-NETWORK-OFF")
@pytest.mark.parametrize("network", [(), HOSTS])
async def test_an_abstract_unix_socket_of_the_host_is_out_of_reach(
    python: Run, network: tuple[Endpoint, ...]
) -> None:
    name = f"\0silas-{os.getpid()}-{len(network)}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(name)
        source = f"""
import socket
try:
    socket.socket(socket.AF_UNIX).connect({name!r}); print("connected")
except OSError as error: print("refused", error.errno)
"""
        result = await python(source, network=network)
    assert result.stdout in ("refused 111\n", "refused 97\n")


# The host's files, environment and processes.


@pytest.mark.proves("S9.1-FRESH-WORKSPACE", "B8-OUT-OF-REACH")
async def test_nothing_of_the_host_is_visible_but_programs_and_mounts(run: Run) -> None:
    listing = set((await run(["/bin/ls", "-A", "/"])).stdout.split())
    prefix = {mount.target.parts[1] for mount in PYTHON_MOUNTS}
    usual = {"bin", "sbin", "lib", "lib32", "lib64", "libx32", "usr", "etc", "proc", "dev", "tmp"}
    assert listing - usual - prefix == {"work", *(["silas"] if python_alias() else [])}
    etc = set((await run(["/bin/ls", "-A", "/etc"])).stdout.split())
    assert etc <= {"passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "alternatives"}


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_the_home_directory_is_not_there(python: Run) -> None:
    home = Path.home()
    source = f"""
import os
for name in (".ssh", ".bashrc", ".profile", ".config"):
    print(os.path.exists(os.path.join({str(home)!r}, name)))
print(os.environ["HOME"], os.listdir(os.environ["HOME"]))
"""
    result = await python(source)
    assert result.stdout == "False\n" * 4 + "/tmp/home []\n"


@pytest.mark.proves("S9.1-EXPLICIT-ENVIRONMENT", "B8-OUT-OF-REACH", "S9.1-FRESH-WORKSPACE")
async def test_the_environment_is_only_what_was_given(
    python: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILAS_TEST_SECRET", "hunter2")
    source = """
import os, json
seen = dict(os.environ); everywhere = ""
for pid in filter(str.isdigit, os.listdir("/proc")):
    everywhere += open(f"/proc/{pid}/cmdline").read()
    try: everywhere += open(f"/proc/{pid}/environ").read()
    except PermissionError: assert pid == "1"  # bubblewrap, which Landlock keeps out of reach
print(json.dumps([sorted(seen), "hunter" "2" in everywhere]))
"""
    result = await python(source, env={"GIVEN": "1"})
    assert json.loads(result.stdout) == [["GIVEN", "HOME", "LANG", "PATH", "PWD"], False]


async def test_an_environment_variable_does_not_appear_in_the_hosts_process_list(
    run: Run, workdir: Path
) -> None:
    os.mkfifo(workdir / "pipe")
    command = ["/bin/sh", "-c", "echo ready > pipe; read end < pipe"]
    task = asyncio.create_task(
        run(command, mounts=writable(workdir), cwd=workdir, env={"TOKEN": "s3cret-value"})
    )
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, (workdir / "pipe").read_text) == "ready\n"
    lines = b""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            lines += (process / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            continue
    await loop.run_in_executor(None, (workdir / "pipe").write_text, "end\n")
    assert (await task).ok
    assert b"bwrap" in lines
    assert b"s3cret-value" not in lines


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_no_process_of_the_host_is_visible(python: Run) -> None:
    source = """
import os
print([int(name) for name in os.listdir("/proc") if name.isdigit()], os.getpid())
try: os.kill(%d, 0); print("found")
except ProcessLookupError: print("nobody")
print(open("/proc/1/comm").read())
"""
    result = await python(source % os.getpid())
    assert result.stdout == "[1, 2] 2\nnobody\nbwrap\n\n"


@pytest.mark.proves("B8-OUT-OF-REACH", "S9.1-FRESH-WORKSPACE")
async def test_no_descriptor_of_the_parent_is_inherited(python: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    descriptor = os.open(tmp_path / "secret", os.O_RDONLY)
    os.set_inheritable(descriptor, True)
    try:
        result = await python("import os; print(sorted(os.listdir('/proc/self/fd')))")
    finally:
        os.close(descriptor)
    assert result.stdout == "['0', '1', '2', '3']\n"  # 3 lists the directory itself


# Privileges.


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES", "A20-SECCOMP")
async def test_the_kernel_confirms_no_capabilities_no_new_privileges_and_the_filter(
    run: Run,
) -> None:
    # bubblewrap's own first process filters itself while the command begins already
    waits = 'until grep -q "^Seccomp:.2" /proc/1/status; do :; done; exec cat /proc/1/status'
    for command in (["/bin/cat", "/proc/self/status"], ["/bin/sh", "-c", waits]):
        told = (await run(command)).stdout
        facts = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
        for capability in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(facts[capability], 16) == 0
        assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")
        assert facts["Uid"].split() == ["1000"] * 4


REMOUNT = """
import ctypes, os, errno
libc = ctypes.CDLL(None, use_errno=True)
MS_REMOUNT, MS_BIND = 32, 4096
for target in ("/", "/usr", "/proc", "/dev"):
    done = libc.mount(None, target.encode(), None, MS_REMOUNT | MS_BIND, None)
    print(target, done, errno.errorcode.get(ctypes.get_errno()))
for path in ("/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x", "/proc/x"):
    try: open(path, "w"); print("wrote", path)
    except OSError as error: print(path, errno.errorcode[error.errno])
"""


@pytest.mark.proves("A20-ROOT-CANNOT-REMOUNT")
async def test_the_system_is_read_only_and_cannot_be_remounted_even_when_root_started_it(
    python: Run,
) -> None:
    """Run by root without `--cap-drop ALL`, bubblewrap's root could be made writable again."""
    lines = (await python(REMOUNT)).stdout.splitlines()
    assert lines[:4] == [f"{path} -1 EPERM" for path in ("/", "/usr", "/proc", "/dev")]
    assert {line.split()[1] for line in lines[4:]} <= {"EROFS", "ENOENT", "EACCES"}
    assert not Path("/usr/x").exists()


KERNEL_SETTINGS = """
import os
refused = 0
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger",
             "/proc/sys/vm/drop_caches", "/proc/self/oom_score_adj", "/proc/1/mem"):
    try: os.open(path, os.O_WRONLY); print("opened", path)
    except OSError: refused += 1
print(refused)
"""


async def test_settings_of_the_kernel_cannot_be_written_although_root_owns_them(
    python: Run,
) -> None:
    before = Path("/proc/sys/kernel/core_pattern").read_bytes()
    assert (await python(KERNEL_SETTINGS)).stdout == "6\n"
    assert Path("/proc/sys/kernel/core_pattern").read_bytes() == before


async def test_device_nodes_of_the_host_keep_their_mode_whatever_is_done_to_those_inside(
    run: Run,
) -> None:
    names = ("null", "zero", "full", "random", "urandom", "tty")
    before = {name: os.stat(f"/dev/{name}").st_mode for name in names}
    script = f"for n in {' '.join(names)}; do chmod 600 /dev/$n; done; chmod 0 /dev/fd/0"
    try:
        await run(["/bin/sh", "-c", script])
        after = {name: os.stat(f"/dev/{name}").st_mode for name in names}
    finally:
        for name, mode in before.items():  # a broken sandbox must not break the machine, too
            if os.stat(f"/dev/{name}").st_mode != mode:
                os.chmod(f"/dev/{name}", stat.S_IMODE(mode))
    assert after == before
    control = await run(["/bin/sh", "-c", "echo gone > /dev/null && head -c 2 /dev/zero | wc -c"])
    assert control.stdout == "2\n"


@pytest.mark.proves("B8-OUT-OF-REACH")
async def test_the_kernels_list_of_keys_is_hidden(run: Run) -> None:
    result = await run(["/bin/cat", "/proc/keys"])
    assert result.stdout == ""
    assert not result.ok


NESTED = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x20000
print(libc.unshare(CLONE_NEWUSER), libc.unshare(CLONE_NEWNS), libc.setns(0, 0))
print(libc.syscall(56 if os.uname().machine == "x86_64" else 220, CLONE_NEWUSER | 17, 0, 0, 0, 0))
"""


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES")
async def test_a_nested_user_namespace_is_refused(python: Run) -> None:
    assert (await python(NESTED)).stdout == "-1 -1 -1\n-1\n"


SET_ID = """
import os, errno
os.chmod(".", 0o755); open("f", "w").close(); tried = []
for attempt in (lambda: os.chmod("f", 0o4755), lambda: os.chmod("f", 0o2755),
                lambda: os.fchmod(os.open("f", os.O_RDONLY), 0o4755),
                lambda: os.open("g", os.O_CREAT | os.O_WRONLY, 0o4755),
                lambda: os.mknod("h", 0o104755)):
    try: attempt(); tried.append("done")
    except OSError as error: tried.append(errno.errorcode[error.errno])
os.chmod("f", 0o755)
print(*tried)
"""


async def test_no_set_id_file_can_be_left_in_a_workspace(python: Run, workdir: Path) -> None:
    result = await python(SET_ID, mounts=writable(workdir), cwd=workdir)
    assert result.stdout == "EPERM " * 4 + "EPERM\n"
    modes = [stat.S_IMODE(path.stat().st_mode) for path in workdir.iterdir()]
    assert modes == [0o755]


async def test_a_set_id_program_gives_nothing(run: Run) -> None:
    mounted = "grep nosuid /proc/self/mountinfo | grep -c ' /usr '"
    result = await run(["/bin/sh", "-c", f"su -c id 2>&1 </dev/null; id -u; {mounted}"])
    assert result.stdout.splitlines()[-2:] == ["1000", "1"]


@pytest.mark.parametrize("where", ["/etc/passwd", "/var", "/root/x", "/home/x", "/opt"])
async def test_writing_outside_the_working_directory_fails(run: Run, where: str) -> None:
    result = await run(["/bin/sh", "-c", f"echo x >> {where}"])
    assert not result.ok


async def test_a_link_in_a_workspace_leads_nowhere_outside(run: Run, workdir: Path) -> None:
    secret = workdir.parent / "secret"
    secret.write_text("hunter2")
    (workdir / "link").symlink_to(secret)
    result = await run(["/bin/cat", "link"], mounts=writable(workdir), cwd=workdir)
    assert "hunter2" not in result.stdout + result.stderr
    assert not result.ok
