"""The control group of one container, read by the supervisor outside (spec 9.1)."""

import re
from pathlib import Path
from typing import NamedTuple

from silas.errors import SandboxError

_ROOT = Path("/sys/fs/cgroup")
_KILLED = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)


class ControlGroup(NamedTuple):
    """Where the kernel lists a container's processes, and where it counts what it had to kill.

    Attributes:
        processes: The list.
        memory: The count of processes killed for memory; a file that may not exist.
    """

    processes: Path
    memory: Path

    @classmethod
    def of(cls, init: int, container: str) -> "ControlGroup":
        """The group of a container, by its first process.

        Raises:
            SandboxError: The kernel does not show it, so nobody could watch the run.
        """
        told = Path(f"/proc/{init}/cgroup").read_text(encoding="utf-8")
        group = find(told, container, _ROOT)
        if str(init) not in group.processes.read_text(encoding="utf-8").split():
            raise unwatched_container("its first process is not in its control group")
        return group

    def members(self) -> list[int]:
        """Every process in it; none once it is gone."""
        try:
            return [int(pid) for pid in self.processes.read_text(encoding="utf-8").split()]
        except OSError:  # removed with its last process
            return []

    def killed_for_memory(self) -> bool:
        """Whether the kernel had to kill a process because the memory was used up."""
        try:
            found = _KILLED.search(self.memory.read_text(encoding="utf-8"))
        except OSError:
            return False
        return bool(found and int(found[1]))


def find(told: str, container: str, root: Path) -> ControlGroup:
    """Read `/proc/PID/cgroup`: hierarchies of their own (version 1), or one for all."""
    places = {
        name: place
        for _, names, place in (line.split(":", 2) for line in told.splitlines())
        for name in names.split(",")
        if container in place and "/../" not in place
    }
    if "pids" in places:
        return ControlGroup(
            root / "pids" / places["pids"].lstrip("/") / "cgroup.procs",
            root / "memory" / places.get("memory", "").lstrip("/") / "memory.oom_control",
        )
    if "" in places:
        folder = root / places[""].lstrip("/")
        return ControlGroup(folder / "cgroup.procs", folder / "memory.events")
    raise unwatched_container("its control group is not shown")


def unwatched_container(why: str) -> SandboxError:
    """The sentence about a container that runs unseen."""
    return SandboxError(
        f"The container could not be watched ({why}), so nothing was run in it; the engine must "
        "run on this machine, beside Silas.",
        code="E_SANDBOX_SUPERVISOR",
    )
