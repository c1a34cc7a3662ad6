"""A web of the tests: names, public addresses, and loopback servers that speak HTTP and TLS."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from silas.home.web_tools import Web
from silas.testing import FakeOutside

PEM = Path(__file__).parent / "tls" / "web.pem"
"""Key and certificate of every host that these tests name, made for them."""

PUBLIC = "93.184.215.14"
PLAIN = "93.184.215.15"

Writer = asyncio.StreamWriter


@dataclass
class Asked:
    """One request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


def answer(
    body: bytes | str = b"", status: int = 200, kind: str = "text/html", **headers: str
) -> bytes:
    """A whole answer."""
    raw = body.encode() if isinstance(body, str) else body
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    lines = {"Content-Type": kind, "Content-Length": str(len(raw)), **told}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Status\r\n{head}\r\n".encode() + raw


Answers = Callable[[Asked], bytes | Awaitable[bytes]]


@dataclass
class Site:
    """What the servers of one test were asked, and the web that leads to them."""

    answers: Answers
    asked: list[Asked] = field(default_factory=list[Asked])
    ports: dict[str, int] = field(default_factory=dict[str, int])

    def web(
        self,
        names: Mapping[str, Sequence[str] | Sequence[Sequence[str]]] | None = None,
        make_tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> Web:
        """A web in which every name of the tests leads here, or as told."""
        known = names or {
            "api.search.brave.com": [PUBLIC],
            "api.tavily.com": [PUBLIC],
            "a.example.com": [PUBLIC],
            "b.example.com": [PUBLIC],
            "plain.example.com": [PLAIN],
        }
        return Web(FakeOutside(known, self.ports), make_tls or trusting)

    async def attend(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        """Take one request, answer, and close."""
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
            headers = {k.lower(): v for k, v in (one.split(": ", 1) for one in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            asked = Asked(line, headers, body)
            self.asked.append(asked)
            said = self.answers(asked)
            writer.write(said if isinstance(said, bytes) else await said)
            await writer.drain()
        writer.close()


def trusting() -> ssl.SSLContext:
    """Trusts the tests' own certificate and no other."""
    return ssl.create_default_context(cafile=str(PEM))


@asynccontextmanager
async def serving(answers: Answers) -> AsyncGenerator[Site]:
    """One server with TLS, and one without, which `plain.example.com` is."""
    site = Site(answers)
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(PEM)
    attending: set[asyncio.Task[None]] = set()

    async def attend(reader: asyncio.StreamReader, writer: Writer) -> None:
        task = asyncio.current_task()
        assert task is not None
        attending.add(task)
        try:
            await site.attend(reader, writer)
        finally:
            attending.discard(task)
            writer.transport.abort()

    servers = [
        await asyncio.start_server(attend, "127.0.0.1", 0, ssl=secure),
        await asyncio.start_server(attend, "127.0.0.1", 0),
    ]
    for address, server in zip((PUBLIC, PLAIN), servers, strict=True):
        site.ports[address] = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        for server in servers:
            server.close()
        for task in attending:
            task.cancel()
        await asyncio.gather(*attending, return_exceptions=True)
