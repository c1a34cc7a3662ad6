"""Two sandboxes at the same moment share nothing, although each does all it can to be found."""

import asyncio
import json
from pathlib import Path

import pytest

from silas.sandbox import Mount, Sandbox, SandboxFiles, SandboxLimits
from tests.support.waits import SECONDS

from .conftest import PYTHON, PYTHON_MOUNTS

OFFER = """
import ctypes, os, socket, sys, time
work = sys.argv[1]
ctypes.CDLL(None).prctl(15, b"the-first", 0, 0, 0)
tcp = socket.create_server(("127.0.0.1", 47471))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(("127.0.0.1", 47472))
path = socket.socket(socket.AF_UNIX); path.bind("/tmp/offered"); path.listen()
name = socket.socket(socket.AF_UNIX); name.bind("\\0offered"); name.listen()
for place in ("/tmp/file", "/dev/shm/file", os.environ["HOME"] + "/file", work + "/file"):
    with open(place, "w") as file: file.write("hunter2")
open(work + "/ready", "w").close()
while not os.path.exists(work + "/go"): time.sleep(0.01)
"""

TAKE = """
import json, os, socket, sys, time
theirs = sys.argv[1]
while len(sys.argv) > 2 and not os.path.exists(theirs + "/ready"): time.sleep(0.01)

def connect(family, where):
    with socket.socket(family) as s: s.settimeout(2); s.connect(where); return True

def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", 47472)); s.send(b"x"); s.settimeout(0.2)
        try: s.recv(1)
        except TimeoutError: return True  # nobody refused it: somebody is there

def read(path):
    with open(path) as file: return file.read() == "hunter2"

def find():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if read_name(pid) == "the-first": return int(pid)
    raise ProcessLookupError(3, "nobody")

def read_name(pid):
    with open(f"/proc/{pid}/comm") as file: return file.read().strip()

def signal():
    os.kill(find(), 0); return True

attempts = {
    "tcp": lambda: connect(socket.AF_INET, ("127.0.0.1", 47471)),
    "udp": ask,
    "unix path": lambda: connect(socket.AF_UNIX, "/tmp/offered"),
    "unix name": lambda: connect(socket.AF_UNIX, "\\0offered"),
    "tmp": lambda: read("/tmp/file"),
    "shared memory": lambda: read("/dev/shm/file"),
    "home": lambda: read(os.environ["HOME"] + "/file"),
    "workspace": lambda: read(theirs + "/file"),
    "process": lambda: bool(find()),
    "signal": signal,
}
taken = []
for name, attempt in attempts.items():
    try:
        if attempt(): taken.append(name)
    except OSError: pass
print(json.dumps(taken))
"""

ALL = [
    *("tcp", "udp", "unix path", "unix name"),
    *("tmp", "shared memory", "home", "workspace"),
    *("process", "signal"),
]


async def told(sandbox: Sandbox, *argv: str, work: Path) -> str:
    files = SandboxFiles(
        cwd=work,
        mounts=(*PYTHON_MOUNTS, Mount(source=work, target=work, writable=True)),
        loopback=True,
    )
    result = await sandbox.run(argv, SandboxLimits(wall_seconds=SECONDS), files)
    assert result.ok, result.stderr
    return result.stdout


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """The workspaces of the two."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    return first, second


async def until_ready(work: Path) -> None:
    async with asyncio.timeout(SECONDS):
        while not (work / "ready").exists():
            await asyncio.to_thread((work / "ready").exists)


@pytest.mark.proves("S15-NEVER-OTHER-CONTEXTS")
async def test_of_two_sandboxes_at_once_the_second_finds_nothing_of_the_first(
    sandbox: Sandbox, places: tuple[Path, Path]
) -> None:
    first, second = places
    offering = asyncio.create_task(told(sandbox, PYTHON, "-I", "-c", OFFER, str(first), work=first))
    try:
        await until_ready(first)
        taken = await told(sandbox, PYTHON, "-I", "-c", TAKE, str(first), work=second)
    finally:
        (first / "go").touch()
        await offering
    assert json.loads(taken) == []


async def test_inside_one_sandbox_all_of_that_is_found(
    sandbox: Sandbox, places: tuple[Path, Path]
) -> None:
    """The control: the same two programs beside each other."""
    first, _ = places
    both = '"$1" -I -c "$2" "$4" & "$1" -I -c "$3" "$4" wait; touch "$4/go"; wait'
    command = ["/bin/sh", "-c", both, "sh", PYTHON, OFFER, TAKE, str(first)]
    assert json.loads(await told(sandbox, *command, work=first)) == ALL
