"""Device nodes of Silas itself: a killed process leaves none for long, a living one has its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from silas.sandbox.bubblewrap.devices import DeviceNodes, make_devices
from tests.support.waits import SECONDS

PROGRAM = """
import signal
from silas.sandbox.bubblewrap.devices import make_devices
nodes = make_devices()
print(*nodes.options()[1:2], flush=True)
signal.pause()
"""


def directory_of(nodes: DeviceNodes) -> list[Path]:
    """Where they lie; an ordinary user, who does not own the host's, needs none."""
    return [Path(path).parent for path in nodes.options()[1:2]]


def test_nodes_of_a_killed_process_are_removed_at_the_next_start_and_no_others() -> None:
    here = directory_of(mine := make_devices())
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        left = [Path(path).parent for path in one.stdout.readline().split()]
        assert len(left) == len(here) == (os.stat("/dev/null").st_uid == os.geteuid())
        while_it_lives = make_devices()
        assert all(path.is_dir() for path in (*left, *here))
        one.send_signal(signal.SIGKILL)
        one.wait(SECONDS)
    assert all(path.is_dir() for path in left)
    after = make_devices()
    assert not any(path.exists() for path in left)
    for nodes in (mine, while_it_lives, after):
        assert all(path.is_dir() for path in directory_of(nodes))
