"""A program that the owner named in the configuration, run as the owner would run it.

It runs outside the sandbox, because it is the owner's and not the agent's; it is here because this
room starts every process. No shell, one input, an environment without secrets, a limit of time.
Nothing that a model, a plan or a message says reaches its arguments.
"""

import asyncio
import os
import signal
from collections.abc import Sequence

from silas.errors import SandboxError, reason

_ENVIRONMENT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SSH_AUTH_SOCK", "TMPDIR", "USER")
"""What such a program may need to find itself; API keys are not among it."""

_SAID = 200  # characters of standard error that are passed on


def owner_environment(also: Sequence[str] = ()) -> dict[str, str]:
    """What a program of the owner's is started with; `also` names further variables it needs."""
    return {name: os.environ[name] for name in (*_ENVIRONMENT, *also) if name in os.environ}


async def run_owner_command(argv: Sequence[str], text: bytes, seconds: float) -> None:
    """Run it to its end.

    Args:
        argv: The program's absolute path and its arguments.
        text: Its standard input; what it prints is thrown away.
        seconds: After so long it is killed, with everything it started.

    Raises:
        SandboxError: It could not be started, took too long, or did not end with 0.
    """
    # A pipe of our own: asyncio's would make the process's end wait for its children's.
    complaints, its_end = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=its_end,
            cwd="/",
            env=owner_environment(),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(complaints)
        raise _command_error(argv, f"cannot be started ({reason(error)})") from error
    finally:
        os.close(its_end)
    reading = asyncio.ensure_future(_beginning(complaints))
    try:
        async with asyncio.timeout(seconds):
            await _to_its_end(process, text)
            said = await reading
    except TimeoutError:
        raise _command_error(argv, f"did not end within {seconds:g} seconds") from None
    finally:
        reading.cancel()
        if process.returncode is None:
            _kill(process.pid)
            await process.wait()
    if process.returncode != 0:
        words = " ".join(said.decode("utf-8", "replace").split())[:_SAID]
        raise _command_error(argv, f"ended with {process.returncode}{words and f': {words}'}")


async def _to_its_end(process: asyncio.subprocess.Process, text: bytes) -> None:
    if process.stdin is not None:
        try:
            process.stdin.write(text)
            await process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError):
            pass  # it does not want its input; its exit code says whether that is well
        process.stdin.close()
    await process.wait()
    _kill(process.pid)  # what it left in the background


async def _beginning(descriptor: int) -> bytes:
    """The first of what comes; the rest is read and forgotten, so that nobody waits on us."""
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(descriptor, "rb", buffering=0)
    )
    kept = b""
    try:
        while more := await stream.read(65536):
            kept += more[: 4 * _SAID - len(kept)]
    finally:
        transport.close()
    return kept


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _command_error(argv: Sequence[str], words: str) -> SandboxError:
    return SandboxError(f"The command {argv[0]} {words}.", code="E_SANDBOX_OWNER_COMMAND")
