"""A process that holds a key: its memory is closed to other processes, no core is dumped."""

import ctypes
import re
import resource
from pathlib import Path

from silas.errors import ConfigError

_GET_DUMPABLE, _SET_DUMPABLE = 3, 4  # of prctl(2)


def harden() -> None:
    """Close this process's memory to every process of its user; before any secret is in it.

    After it `/proc/PID/mem`, `ptrace` and `process_vm_readv` need a capability that only root has.

    Raises:
        ConfigError: The kernel did not do it, or a debugger is attached already.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    if prctl(_GET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise ConfigError(
            "The system does not let the signer close its memory to other programs; keep the key "
            "inside instead (`keys.signer: inside`).",
            code="E_CFG_SIGNER",
        )
    # Who attached before the door was closed stays inside.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    if re.search(r"^TracerPid:\t0$", status, re.MULTILINE) is None:
        raise ConfigError(
            "A debugger is attached to the signer; start it without one.", code="E_CFG_SIGNER"
        )
