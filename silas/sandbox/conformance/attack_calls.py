"""What attacks are told, and how they reach for the kernel. Runs inside the sandbox."""

import errno
from collections.abc import Mapping
from typing import Any

from silas.sandbox.conformance.system_calls import call

At = Mapping[str, Any]
"""What the host tells an attack: paths, ports, process numbers."""

_REFUSED = (errno.EPERM, errno.ENOSYS)


def reach(name: str, *arguments: Any) -> str:
    """Make a call with arguments that can do no harm: any answer but a refusal came from behind
    the wall.

    Raises:
        OSError: It was refused.
    """
    try:
        call(name, *arguments)
    except OSError as error:
        if error.errno in _REFUSED:
            raise
        return errno.errorcode.get(error.errno or 0, "?")
    return "done"
