"""A page of somebody else's, in the same browser, that tries what such pages try."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.support.waits import SECONDS


@dataclass
class HostilePlace:
    """A web server that serves one page and keeps what browsers tell it.

    Attributes:
        port: Where it listens, on loopback as the cockpit does.
        html: What it serves.
        heard: The head of every request that came, cookies included.
    """

    port: int = 0
    html: str = "<!doctype html><title>hostile</title>"
    heard: list[str] = field(default_factory=list[str])

    @property
    def neighbour(self) -> str:
        """The same host and another port: the same site, and the same cookies."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def stranger(self) -> str:
        """Another host."""
        return f"http://localhost:{self.port}"


@asynccontextmanager
async def hostile_place() -> AsyncGenerator[HostilePlace]:
    """Serve it for as long as this is open."""
    place = HostilePlace()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SECONDS)
            place.heard.append(head.decode("latin-1"))
            body = place.html.encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    place.port = server.sockets[0].getsockname()[1]
    try:
        yield place
    finally:
        server.close()
