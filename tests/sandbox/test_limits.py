"""Every limit ends a run, by itself, and leaves nothing running (spec 3.7, 9.1)."""

import asyncio
import os
import signal
import subprocess
import zlib
from pathlib import Path

import pytest

from silas.errors import SandboxError
from silas.sandbox import Mount, Sandbox, SandboxFiles, SandboxLimits
from silas.sandbox.process_group import counted_by_the_kernel
from silas.sandbox.watch import Usage, exact_memory
from tests.support.waits import SECONDS

from .conftest import Run


def writable(path: Path) -> tuple[Mount, ...]:
    return (Mount(source=path, target=path, writable=True),)


@pytest.fixture
def nap(tmp_path: Path) -> str:
    """How long a sleep of this very test sleeps: no other process of the machine has it."""
    return f"7777.{zlib.crc32(str(tmp_path).encode()) + os.getpid()}"


def running(mark: str) -> list[int]:
    """Processes of the host with a mark on their command line, this one not counted."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
        except OSError:  # it ended while we looked
            continue
        if mark.encode() in line and int(process.name) != os.getpid():
            found.append(int(process.name))
    return found


async def until_running(mark: str, count: int = 2) -> None:
    """Wait for the marked command and the init above it, at most half a minute."""
    async with asyncio.timeout(SECONDS):
        while len(running(mark)) < count:
            await asyncio.to_thread(os.sched_yield)


@pytest.mark.proves("S9.1-CAPS", "S4.7-DESTROYED")
async def test_a_run_that_takes_too_long_is_ended(run: Run, nap: str) -> None:
    result = await run(["/bin/sleep", nap], limits={"wall_seconds": 0.2})
    assert (result.ended_by, result.exit_code) == ("timeout", 137)
    assert running(nap) == []


@pytest.mark.proves("S9.1-CAPS")
@pytest.mark.parametrize("how", ["trap '' TERM INT HUP QUIT XCPU", "setsid true", "exec 2>&1"])
async def test_ignoring_signals_does_not_help(run: Run, nap: str, how: str) -> None:
    script = f"{how}; while :; do /bin/sleep {nap}; done"
    result = await run(["/bin/sh", "-c", script], limits={"wall_seconds": 0.3})
    assert result.ended_by == "timeout"
    assert running(nap) == []


@pytest.mark.proves("S4.7-DESTROYED")
async def test_a_daemon_ends_with_the_command_that_started_it(run: Run, nap: str) -> None:
    script = f"setsid nohup /bin/sleep {nap} >/dev/null 2>&1 </dev/null & echo started"
    result = await run(["/bin/sh", "-c", script])
    assert (result.stdout, result.ended_by) == ("started\n", "exit")
    assert running(nap) == []


async def test_a_daemon_that_holds_the_output_open_does_not_delay_the_result(
    run: Run, nap: str
) -> None:
    result = await run(["/bin/sh", "-c", f"setsid /bin/sleep {nap} & echo started"])
    assert (result.stdout, result.ended_by) == ("started\n", "exit")
    assert running(nap) == []


@pytest.mark.proves("S9.1-RESOURCE-LIMITS")
async def test_cpu_time_is_limited(python: Run) -> None:
    result = await python("while True: pass", limits={"cpu_seconds": 1})
    assert result.ended_by == "timeout"


async def test_ignoring_the_cpu_signal_buys_one_second(python: Run) -> None:
    source = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    result = await python(source, limits={"cpu_seconds": 1})
    assert (result.ended_by, result.exit_code) == ("timeout", 137)


@pytest.mark.proves("S9.1-RESOURCE-LIMITS")
async def test_one_process_cannot_take_more_memory_than_allowed(python: Run) -> None:
    source = """
try: hoard = bytearray(400 << 20); print("got it")
except MemoryError: print("refused")
"""
    assert (await python(source, limits={"memory_mb": 200})).stdout == "refused\n"
    assert (await python(source, limits={"memory_mb": 800})).stdout == "got it\n"


MANY = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        hoard = bytearray(60 << 20); hoard[::4096] = b"x" * len(hoard[::4096]); time.sleep(60)
time.sleep(60)
"""


@pytest.mark.proves("A20-TOTALS-SUPERVISED", "S9.1-RESOURCE-LIMITS")
async def test_many_processes_together_cannot_take_more_memory_than_allowed(python: Run) -> None:
    result = await python(MANY, limits={"memory_mb": 256})
    assert result.ended_by == "memory"


LEADERLESS = """
import ctypes, os, threading, time
libc = ctypes.CDLL(None)
def take():
    while open(f"/proc/{os.getpid()}/stat").read().rpartition(")")[2].split()[0] != "Z": pass
    hoard = bytearray(60 << 20); hoard[::4096] = b"x" * len(hoard[::4096]); time.sleep(60)
for _ in range(10):
    if os.fork() == 0:
        threading.Thread(target=take).start()
        libc.syscall(93 if os.uname().machine == "aarch64" else 60, 0)  # this thread alone
time.sleep(60)
"""


async def test_memory_of_a_process_whose_first_thread_is_over_counts(python: Run) -> None:
    result = await python(LEADERLESS, limits={"memory_mb": 256})
    assert result.ended_by == "memory"


SOCKETS = """
import socket, time
held, stays = map(float, input().split())
pairs = [socket.socketpair() for _ in range(int(held))]
for end in sum(pairs, ()):
    end.setblocking(False)
    try:
        while True: end.send(bytes(4096))
    except BlockingIOError: pass
time.sleep(stays)
print("kept")
"""


@pytest.mark.parametrize(("held", "ended"), [("20 0.3", "exit"), ("200 60", "memory")])
async def test_what_sockets_keep_counts_as_memory(python: Run, held: str, ended: str) -> None:
    result = await python(SOCKETS, stdin=held.encode(), limits={"memory_mb": 80})
    assert result.ended_by == ended, result.stderr


async def test_a_socket_keeps_no_more_than_is_counted_for_it(python: Run) -> None:
    source = """
import socket
one, other = socket.socketpair()
try: one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
except PermissionError: print("refused")
one.setblocking(False)
kept = 0
try:
    while True: kept += one.send(bytes(4096))
except BlockingIOError: print(kept < 1 << 18)
"""
    assert (await python(source)).stdout == "refused\nTrue\n"


SHARED = """
import os, mmap, time
shared = mmap.mmap(-1, 100 << 20); shared[::4096] = b"x" * len(shared[::4096])
for _ in range(8):
    if os.fork() == 0:
        sum(shared[::4096]); time.sleep(0.6); os._exit(0)
while True:
    try: os.wait()
    except ChildProcessError: break
print("done")
"""


async def test_memory_shared_by_processes_counts_once(python: Run) -> None:
    result = await python(SHARED, limits={"memory_mb": 256})
    assert (result.stdout, result.ended_by) == ("done\n", "exit")


def test_what_lies_in_the_hosts_tmp_does_not_count_for_a_run_that_is_still_being_set_up(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_bytes(bytes(1 << 20))
    usage = Usage(processes=0, memory=0, cpu_seconds=0.0, pids=())
    assert exact_memory(os.getpid(), (str(tmp_path),), usage) == 0


@pytest.mark.parametrize("where", ["/tmp", "/dev/shm", "/tmp/home", "/work/empty"])
async def test_files_in_memory_count_as_memory(python: Run, where: str) -> None:
    source = f"""
import time
for n in range(100):
    with open(f"{where}/{{n}}", "wb") as f: f.write(bytes(1 << 20))
time.sleep(60)
"""
    limits = {"memory_mb": 60 if where == "/dev/shm" else 80, "file_mb": 200}
    result = await python(source, limits=limits)
    assert result.ended_by == "memory" or "No space left" in result.stderr


async def test_a_private_disk_is_bounded(python: Run) -> None:
    source = """
try:
    for n in range(100):
        with open(f"/tmp/{n}", "wb") as f: f.write(bytes(1 << 20))
except OSError as error: print(error.strerror, n < 25)
"""
    result = await python(source, limits={"file_mb": 20})
    assert result.stdout == "No space left on device True\n"


async def test_memory_that_no_limit_would_count_cannot_be_had(python: Run) -> None:
    source = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
print(libc.memfd_create(b"x", 0), libc.shmget(0, 1 << 20, 0o1600))
print(libc.semget(0, 32000, 0o1600), libc.msgget(0, 0o1600))
open("/tmp/file", "w").close()
for follow in (True, False):
    try: os.setxattr("/tmp/file", "user.x", bytes(1000), follow_symlinks=follow)
    except OSError as error: print(error.errno == 95)
"""
    assert (await python(source)).stdout == "-1 -1\n-1 -1\nTrue\nTrue\n"


BOMB = """
import os
while True:
    try: os.fork()
    except OSError: pass
"""


@pytest.mark.proves("A20-TOTALS-SUPERVISED", "S9.1-RESOURCE-LIMITS")
async def test_a_fork_bomb_is_ended_and_leaves_nothing(python: Run, nap: str) -> None:
    result = await python(BOMB + f"#{nap}", limits={"processes": 20, "wall_seconds": 2})
    assert result.ended_by in ("processes", "timeout")  # timeout where the kernel refuses forks
    assert running(nap) == []


FORKS = """
import os, time
for _ in range(3000):
    try:
        if os.fork() == 0: time.sleep(60); os._exit(0)
        os.write(1, b"x")
    except OSError: pass
"""


@pytest.mark.proves("S9.1-RESOURCE-LIMITS")
async def test_the_kernel_refuses_the_process_beyond_the_limit_without_waiting_for_a_look(
    python: Run, nap: str
) -> None:
    with (
        subprocess.Popen(["/bin/sleep", "60"]) as child,
        counted_by_the_kernel(child.pid, 20) as counted,
    ):
        child.kill()
    if os.getuid() == 0 and not counted:
        pytest.skip("root without control groups: the kernel counts nothing, the samples alone do")
    result = await python(FORKS + f"#{nap}", limits={"processes": 20, "wall_seconds": 2})
    assert 10 < len(result.stdout) <= 21  # a look is every 50 ms: hundreds, were it the only one
    assert running(nap) == []


@pytest.mark.proves("A20-TOTALS-SUPERVISED")
async def test_threads_count_as_processes(python: Run) -> None:
    source = """
import threading, time
started = 0
try:
    for _ in range(40): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    time.sleep(60)
except RuntimeError: print("refused")
"""
    result = await python(source, limits={"processes": 10, "memory_mb": 2048})
    assert result.ended_by == "processes" or "refused" in result.stdout


async def test_as_many_processes_as_allowed_may_live(python: Run) -> None:
    source = """
import os, time
for _ in range(9):
    if os.fork() == 0: time.sleep(0.3); os._exit(0)
for _ in range(9): os.wait()
print("all")
"""
    result = await python(source, limits={"processes": 10})
    assert (result.stdout, result.ended_by) == ("all\n", "exit")


@pytest.mark.proves("S9.1-CAPS")
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
async def test_too_much_output_is_cut_and_ends_the_run(run: Run, stream: str) -> None:
    script = "yes" if stream == "stdout" else "yes >&2"
    result = await run(["/bin/sh", "-c", script], limits={"output_bytes": 5000})
    assert result.ended_by == "output"
    assert len(getattr(result, stream)) == 5000


@pytest.mark.proves("S9.1-CAPS")
async def test_output_up_to_the_limit_is_complete(python: Run) -> None:
    result = await python("print('x' * 4999)", limits={"output_bytes": 5000})
    assert (len(result.stdout), result.ended_by) == (5000, "exit")
    over = await python("print('x' * 5000)", limits={"output_bytes": 5000})
    assert (len(over.stdout), over.ended_by) == (5000, "output")


@pytest.mark.proves("S9.1-RESOURCE-LIMITS")
async def test_no_file_grows_beyond_its_limit(python: Run, workdir: Path) -> None:
    source = """
with open("big", "wb") as f:
    try:
        for _ in range(10): f.write(bytes(1 << 20)); f.flush()
    except OSError as error: print(error.strerror)
"""
    result = await python(source, limits={"file_mb": 2}, mounts=writable(workdir), cwd=workdir)
    assert result.stdout == "File too large\n"
    assert (workdir / "big").stat().st_size == 2 << 20


async def test_no_core_is_left_behind(run: Run, workdir: Path) -> None:
    result = await run(["/bin/sh", "-c", "kill -SEGV $$"], mounts=writable(workdir), cwd=workdir)
    assert (result.exit_code, result.ended_by) == (128 + signal.SIGSEGV, "signal")
    assert list(workdir.iterdir()) == []


async def test_open_files_are_limited(python: Run) -> None:
    source = """
import os
try:
    while True: os.dup(0)
except OSError as error: print(error.strerror)
"""
    assert (await python(source)).stdout == "Too many open files\n"


# Cancellation and the death of others.


@pytest.mark.proves("S4.7-DESTROYED")
async def test_cancellation_kills_everything_and_waits_for_it(run: Run, nap: str) -> None:
    script = f"trap '' TERM; setsid /bin/sleep {nap} & /bin/sleep {nap}"
    task = asyncio.create_task(run(["/bin/sh", "-c", script]))
    await until_running(nap, 4)
    task.cancel()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert running(nap) == []


async def test_cancellation_before_the_command_started_kills_it_too(
    sandbox: Sandbox, nap: str
) -> None:
    for _ in range(10):
        command = ["/bin/sleep", nap]
        task = asyncio.create_task(
            sandbox.run(command, SandboxLimits(), SandboxFiles(cwd=Path("/tmp")))
        )
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert running(nap) == []


async def test_a_run_killed_from_outside_is_reported_as_cancelled(run: Run, nap: str) -> None:
    task = asyncio.create_task(run(["/bin/sleep", nap]))
    await until_running(nap, 3)
    os.kill(min(running(nap)), signal.SIGKILL)
    result = await asyncio.wait_for(task, SECONDS)
    assert (result.ended_by, result.exit_code) == ("cancelled", 137)
    assert running(nap) == []


@pytest.mark.proves("S15-NEVER-OTHER-CONTEXTS")
async def test_runs_beside_each_other_do_not_see_each_other(python: Run) -> None:
    source = """
import os, time
open("/tmp/mine", "w").write("{n}"); time.sleep(0.2)
print([p for p in os.listdir("/proc") if p.isdigit()], os.listdir("/tmp"), open("/tmp/mine").read())
"""
    results = await asyncio.gather(*(python(source.format(n=n)) for n in range(4)))
    expected = [f"['1', '2'] ['mine', 'home'] {n}\n" for n in range(4)]
    assert [result.stdout for result in results] == expected


async def test_no_descriptor_is_lost_over_many_runs(run: Run) -> None:
    await run(["/bin/true"])
    before = len(os.listdir("/proc/self/fd"))
    for command in (["/bin/true"], ["no-such"], ["/bin/sh", "-c", "kill -9 $$"]):
        await run(command)
    with pytest.raises(SandboxError):
        await run(["/bin/true"], mounts=writable(Path("/nowhere")))
    assert len(os.listdir("/proc/self/fd")) == before
