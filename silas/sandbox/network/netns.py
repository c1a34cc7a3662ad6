"""A listening socket on the loopback of a sandbox, served from outside it.

A socket belongs for ever to the network namespace it was made in. So one is made inside, by a small
program that joins the namespace for a moment, and handed to the supervisor: what connects to it
comes from the sandbox, and whoever answers stays outside. Only the port is visible inside.
"""

import asyncio
import os
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from silas.errors import SandboxError
from silas.sandbox.watch import has_ended

PROXY_PORT = 3128
"""Where a run that may reach named hosts finds its proxy, on its own loopback."""

_PROGRAM = Path(__file__).with_name("netns_listener.py")
_SECONDS = 5.0


async def listen_inside(init: int, init_fd: int) -> socket.socket:
    """Listen on `PROXY_PORT` of the sandbox's loopback; the caller owns the socket.

    Args:
        init: The init of the sandbox, which waits to start the command.
        init_fd: Its process descriptor.

    Raises:
        SandboxError: `E_SANDBOX_NETWORK`: the kernel refuses; the command must not be started.
    """
    with ExitStack() as owned:
        try:
            network = os.open(f"/proc/{init}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise _network_error(error.strerror or "gone") from error
        owned.callback(os.close, network)
        own = os.path.samestat(os.fstat(network), os.stat("/proc/self/ns/net"))
        if own or has_ended(init_fd):  # the number may belong to a stranger by now
            raise _network_error("there is no network namespace of its own")
        here, there = (owned.enter_context(end) for end in socket.socketpair())
        words = await _run_listener(network, there.fileno())
        here.setblocking(False)
        try:
            descriptors = socket.recv_fds(here, 1, 1)[1]
        except BlockingIOError:
            descriptors = []
    if not descriptors:
        raise _network_error(words or "no socket came back")
    return socket.socket(fileno=descriptors[0])


async def _run_listener(network: int, channel: int) -> str:
    """Run the program to its end; what it complained about."""
    try:
        program = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            str(_PROGRAM),
            *map(str, (network, channel, PROXY_PORT)),
            pass_fds=(network, channel),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        raise _network_error(f"{sys.executable}: {error.strerror}") from error
    try:
        async with asyncio.timeout(_SECONDS):
            _, complaint = await program.communicate()
    except TimeoutError as error:
        raise _network_error("it took too long") from error
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    return complaint.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]


def _network_error(why: str) -> SandboxError:
    return SandboxError(
        f"The named hosts could not be opened for the sandbox ({why}); nothing was run.",
        code="E_SANDBOX_NETWORK",
    )
