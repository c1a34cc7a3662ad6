"""A process that holds the private key leaves no memory dump and lets no equal look inside."""

import ctypes
import resource
import sys

from silas.errors import ConfigError

_PR_SET_DUMPABLE = 4  # <linux/prctl.h>


def refuse_dumps() -> None:
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


def _memory_error(what: str) -> ConfigError:
    return ConfigError(
        f"This system does not let Silas protect its memory against {what}, so the private key "
        "stays locked; start Silas outside whatever confines it.",
        code="E_CFG_KEY_EXPOSED",
    )
