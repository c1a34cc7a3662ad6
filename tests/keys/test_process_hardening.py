"""A process that holds the key leaves no core file and is not read by its equals."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.keys.places import Place
from tests.support.command import ROOT
from tests.support.waits import SECONDS

HOLDER = """
import ctypes, os, resource, sys
from pathlib import Path
from tests.keys.places import Place
import nacl.bindings
hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
folder, loads, ends = sys.argv[1:]
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as after any start: changing the user cleared it
place = Place("key file", Path(folder))
key = place.vault().load("owner") if loads == "loads" else None
os.chdir(folder)
print("ready", flush=True)
if ends == "crashes":
    os.abort()
sys.stdin.readline()
"""

READER = """
import os, sys
if os.getuid() == 0:
    os.setgid(65534); os.setuid(65534)
try:
    sys.exit(0 if open(f"/proc/{sys.argv[1]}/environ", "rb").read() else 2)
except PermissionError:
    sys.exit(3)
"""


@pytest.fixture
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="silas-held-") as name:
        folder = Path(name)
        made = Place("key file", folder)
        made.vault().create("owner")
        if os.getuid() == 0:  # the ordinary user that the holder becomes owns its key
            for each in (folder, *folder.rglob("*")):
                os.chown(each, 65534, 65534)
        yield made


def holding(place: Place, loads: str, ends: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(place.path), loads, ends],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "MARK": "here"},
    )


@pytest.mark.parametrize(("loads", "dumps"), [("loads", False), ("does not", True)])
def test_a_crash_leaves_no_core_file_of_a_process_that_holds_the_key(
    place: Place, loads: str, dumps: bool
) -> None:
    process = holding(place, loads, "crashes")
    assert process.stdin is not None
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -signal.SIGABRT
    process.communicate()
    assert os.WIFSIGNALED(status)
    # Where whoever started the tests forbade core files for good, none can show the difference.
    possible = resource.getrlimit(resource.RLIMIT_CORE)[1] != 0
    assert os.WCOREDUMP(status) is (dumps and possible)
    if not dumps:
        assert not [p for p in place.path.rglob("core*") if p.is_file()]


@pytest.mark.parametrize(("loads", "code"), [("loads", 3), ("does not", 0)])
def test_another_program_of_the_same_user_cannot_look_into_it(
    place: Place, loads: str, code: int
) -> None:
    process = holding(place, loads, "waits")
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        looked = subprocess.run(
            [sys.executable, "-I", "-S", "-c", READER, str(process.pid)],
            check=False,
            timeout=SECONDS,
        )
        assert looked.returncode == code
    finally:
        process.communicate("\n", timeout=SECONDS)


def test_what_it_starts_is_ordinary_again(tmp_path: Path) -> None:
    """So that the sandbox can watch what it runs, also where nobody is root."""
    place = Place("key file", tmp_path)
    place.vault().create("owner")
    asks = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    started = subprocess.run(
        [sys.executable, "-I", "-S", "-c", asks], capture_output=True, text=True, check=True
    )
    assert started.stdout.strip() == "1"
