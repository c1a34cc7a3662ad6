"""Makes processes to be killed: each line `BASE POINT SECONDS` is one, its exit code the answer.

A process of its own for the imports, which take longer than a run; the victims are its children.
At point 0 a victim runs to its end, unless it is killed after so many seconds.
"""

import os
import select
import signal
import sys
from pathlib import Path

from tests.chaos.faults import Faults, kill_this_process
from tests.chaos.kit import process
from tests.chaos.scenario import World


def _victim(base: Path, point: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        process(World(base), Faults(point, kill_this_process), sends=True)
    finally:
        os._exit(0)


def _ended(child: int, seconds: float) -> int:
    watched = os.pidfd_open(child)
    try:
        if seconds and not select.select([watched], [], [], seconds)[0]:
            signal.pidfd_send_signal(watched, signal.SIGKILL)
    finally:
        os.close(watched)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        folder, at, after = line.split()
        print(_ended(_victim(Path(folder), int(at)), float(after)), flush=True)
