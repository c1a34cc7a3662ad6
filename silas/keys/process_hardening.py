"""Process hardening: no core dumps, and no other process of the user reads this one's memory."""

import ctypes
import re
import resource
import sys
from pathlib import Path

from silas.errors import ConfigError

_PR_GET_DUMPABLE, _PR_SET_DUMPABLE = 3, 4  # <linux/prctl.h>


def disable_core_dumps() -> None:
    """Call it before a private key comes into this process; safe to repeat.

    A crash then writes no core file, not even through a crash reporter, and other programs of the
    same user can neither attach to the process nor read its memory or its environment. Programs
    it starts are ordinary again. It does not protect against root. Other systems than Linux only
    get the limit on core files.

    Raises:
        ConfigError: The system refused; a key must not be loaded then (`E_CFG_KEY_EXPOSED`).
    """
    try:
        # A crash reporter behind a pipe is started whatever the limit is; it obeys the flag below.
        # The hard limit stays, since what Silas starts could never raise it again.
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (OSError, ValueError) as error:
        raise _memory_error("core files") from error
    if sys.platform.startswith("linux"):
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise _memory_error("being read by other programs")


def harden_signer() -> None:
    """The stricter form, for the signer's own process: also proved, and final.

    It starts no programs, so the hard limit goes as well. After it `/proc/PID/mem`, `ptrace` and
    `process_vm_readv` need a capability that only root has.

    Raises:
        ConfigError: The kernel did not do it, or a debugger is attached already.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if prctl(_PR_GET_DUMPABLE, 0, 0, 0, 0) != 0:
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


def _memory_error(what: str) -> ConfigError:
    return ConfigError(
        f"This system does not let Silas protect its memory against {what}, so the private key "
        "stays locked; start Silas outside whatever confines it.",
        code="E_CFG_KEY_EXPOSED",
    )
