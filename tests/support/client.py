"""The official MCP client, at a `silas mcp serve` that it starts or at one that is forked."""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support import forked
from tests.support.command import ROOT, silas
from tests.support.waits import SECONDS

_SERVER = tuple(silas("mcp", "serve"))
_RELAY = 'cat <"$2" & exec cat >"$1"'
"""What the client starts before a forked server: it ends with its input, as a server does."""


@asynccontextmanager
async def started_client(env: Mapping[str, str]) -> AsyncGenerator[ClientSession]:
    """A session with a server that the client starts, as a user's client does."""
    async with _session(_SERVER, env) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def client(env: Mapping[str, str]) -> AsyncGenerator[ClientSession]:
    """The same with a server that is forked, between two named pipes, where that is the same."""
    if not forked.may_be(_SERVER, env):
        async with started_client(env) as session:
            yield session
        return
    with tempfile.TemporaryDirectory(prefix="silas-client-") as folder:
        to, out = Path(folder) / "to", Path(folder) / "out"
        for place in (to, out):
            os.mkfifo(place)
        held = [os.open(place, os.O_RDWR) for place in (to, out)]  # opening waits for nobody then
        inside = os.open(to, os.O_RDONLY), os.open(out, os.O_WRONLY)
        server = forked.start(_SERVER, env, ROOT, (*inside, 2))
        for descriptor in inside:
            os.close(descriptor)
        try:
            async with _session(["sh", "-c", _RELAY, "-", str(to), str(out)], env) as session:
                async with asyncio.timeout(SECONDS):
                    await session.initialize()
                while held:
                    os.close(held.pop())
                yield session
            await asyncio.to_thread(server.wait, SECONDS)
        finally:
            for descriptor in held:
                os.close(descriptor)
            server.end()


@asynccontextmanager
async def _session(command: Sequence[str], env: Mapping[str, str]) -> AsyncGenerator[ClientSession]:
    program, *words = command
    parameters = StdioServerParameters(command=program, args=words, env=dict(env))
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write) as session,
    ):
        yield session
