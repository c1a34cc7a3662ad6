"""What a program of the owner's prints, asked as the owner would ask it (see `owner_command`)."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress

from silas.errors import SandboxError, reason
from silas.sandbox.owner_command import owner_environment

_MOST_BYTES = 1 << 20
_SAID = 300  # characters of standard error that are passed on


async def ask_owner_program(argv: Sequence[str], seconds: float, also: Sequence[str] = ()) -> bytes:
    """Run it to its end without a shell or an input; its standard output.

    Nothing that a model, a plan or a message says reaches its arguments.

    Args:
        argv: The program's absolute path and its arguments.
        seconds: After so long it is killed, with everything it started.
        also: Variables of the environment that it needs besides the usual ones.

    Raises:
        SandboxError: `E_SANDBOX_OWNER_COMMAND`: it could not be started, took too long, printed
            more than a mebibyte, or did not end with 0; then with what it said.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd="/",
            env=owner_environment(also),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _command_error(argv, f"cannot be started ({reason(error)})") from error
    try:
        async with asyncio.timeout(seconds):
            said, complaint = await process.communicate()
    except TimeoutError:
        raise _command_error(argv, f"did not end within {seconds:g} seconds") from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        words = " ".join(complaint.decode("utf-8", "replace").split())[:_SAID]
        raise _command_error(argv, f"ended with {process.returncode}{words and f': {words}'}")
    if len(said) > _MOST_BYTES:
        raise _command_error(argv, "printed too much")
    return said


def _command_error(argv: Sequence[str], words: str) -> SandboxError:
    return SandboxError(
        f"The command `{' '.join((os.path.basename(argv[0]), *argv[1:]))}` {words}.",
        code="E_SANDBOX_OWNER_COMMAND",
    )
