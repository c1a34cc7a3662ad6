"""The kernel's own count of a run's processes where Silas runs as root (spec 9.1, decision A20).

`RLIMIT_NPROC` binds everybody but root. A supervisor that only samples is then too late: between
two looks a fork bomb makes a thousand processes, and whoever has to wait behind a thousand
processes for the processor looks late again. A control group refuses the next one at once.
"""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_NAME = "silas-run-{owner}-{init}"
_NAMED = re.compile(r"silas-run-(\d+)-\d+")


def parent_of_runs(told: str, root: Path = _ROOT) -> Path | None:
    """Where groups of runs can be made; None where the kernel offers no such place.

    Args:
        told: Silas's `/proc/self/cgroup`.
        root: Where the control groups are mounted.
    """
    places = {
        name: place.lstrip("/")
        for _, names, place in (line.split(":", 2) for line in told.splitlines())
        for name in names.split(",")
        if "/../" not in place
    }
    if "pids" in places:  # version 1: a hierarchy of its own, and groups inside of one's own
        return root / "pids" / places["pids"]
    if "" not in places:
        return None
    # Version 2: a group that holds processes has no limited groups inside, so beside one's own.
    own = root / places[""]
    folder = own if own == root else own.parent
    with suppress(OSError):
        if "pids" in (folder / "cgroup.subtree_control").read_text(encoding="ascii").split():
            return folder
    return None


@contextmanager
def counted_by_the_kernel(init: int, most: int) -> Generator[bool]:
    """Let the kernel refuse a run's processes beyond `most`, and one that tells the supervisor.

    Gives whether it does. Where it cannot (not root, or the groups are not ours to change), the
    limits of `silas.sandbox.watch` and the supervisor's samples hold alone.

    Args:
        init: The run's first process, which does not count and still waits.
        most: How many processes and threads the run may have.
    """
    group = _group_of(init, most) if os.getuid() == 0 else None
    try:
        yield group is not None
    finally:
        if group is not None:
            _remove(group)


def _group_of(init: int, most: int) -> Path | None:
    try:
        parent = parent_of_runs(Path("/proc/self/cgroup").read_text(encoding="utf-8"))
        if parent is None:
            return None
        _clear_former(os.getpid(), parent)
        for left in tuple(_left):
            _remove(left)
        group = parent / _NAME.format(owner=os.getpid(), init=init)
        group.mkdir()
    except OSError:
        return None
    try:
        (group / "pids.max").write_text(str(most + 2), encoding="ascii")  # init, and one too many
        (group / "cgroup.procs").write_text(str(init), encoding="ascii")
    except OSError:
        _remove(group)
        return None
    return group


_left: set[Path] = set()
"""Groups of this process in which one was not quite gone; the next run clears them away."""


def _remove(group: Path) -> None:
    _left.discard(group)
    try:
        group.rmdir()
    except FileNotFoundError:
        return
    except OSError:
        _left.add(group)


@cache
def _clear_former(pid: int, parent: Path) -> None:
    """Remove what runs of processes that ended left, once a process: listing every group costs.

    A group with a process in it cannot be removed.

    Args:
        pid: This process, which a fork of it is not.
        parent: Where the groups are.
    """
    del pid
    with os.scandir(parent) as found:
        left = [entry.path for entry in found if _is_over(entry.name)]
    for path in left:
        with suppress(OSError):
            os.rmdir(path)


def _is_over(name: str) -> bool:
    """Whether nobody is about to put a process into a group: its Silas is gone, or is this one."""
    made = _NAMED.fullmatch(name)
    return made is not None and (
        int(made[1]) == os.getpid() or not Path(f"/proc/{made[1]}").exists()
    )
