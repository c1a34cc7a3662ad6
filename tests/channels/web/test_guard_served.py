"""The door behind the real server, over real sockets: what a parser makes of an attack counts."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin

from silas.channels.models import WebConfig
from silas.channels.web.asgi import Receive, Scope, Send
from silas.channels.web.serve import PlainHttp, run_server
from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import migrate
from silas.testing import MockClock
from tests.support.door import PACKAGES, Browser, House
from tests.support.waits import SECONDS


class Server:
    """A guarded app that is really served."""

    def __init__(self, house: House, browser: Browser, port: int) -> None:
        self.house, self.browser, self.port = house, browser, port
        self.cookie = f"{house.hosts.cookie}={browser.paired.cookie}"

    def request(self, line: str, *headers: str, host: str = "", page: bool = True) -> bytes:
        """The head of a request of our own page, with these headers besides."""
        own = [
            f"Host: {host or f'127.0.0.1:{self.port}'}",
            f"Origin: http://127.0.0.1:{self.port}",
            f"Cookie: {self.cookie}",
        ]
        if page:
            own.append(f"X-Silas-Page: {self.browser.paired.page_token}")
        return "\r\n".join([line, *own, *headers, "", ""]).encode("latin-1")

    async def answer(self, sent: bytes, *, drip: bytes = b"", times: int = 0) -> tuple[int, int]:
        """The status of the answer to raw bytes (0: hung up), and how often `drip` got through."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        through = 0
        try:
            writer.write(sent)
            while through < times and not reader.at_eof() and not writer.is_closing():
                writer.write(drip)
                await asyncio.wait_for(writer.drain(), SECONDS)
                await asyncio.sleep(0)
                through += 1
            first = await asyncio.wait_for(reader.readline(), SECONDS)
        except ConnectionError:
            first = b""
        finally:
            writer.close()
        return int(first.split(b" ")[1]) if first else 0, through

    def socket(self, *, origin: str = "", cookie: str = "", path: str = "/ws") -> connect:
        """A WebSocket as our page opens it, but for what is said."""
        return connect(
            f"ws://127.0.0.1:{self.port}{path}",
            origin=Origin(origin or f"http://127.0.0.1:{self.port}"),
            additional_headers={"Cookie": cookie or self.cookie},
            open_timeout=SECONDS,
            proxy=None,
        )


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    clock, houses = MockClock(), list[House]()
    db = Database(tmp_path / "door.db", clock)
    migrate(db, PACKAGES)

    async def front(scope: Scope, receive: Receive, send: Send) -> None:
        await houses[0].guard(scope, receive, send)

    def knows(head: bytes) -> bool:
        return houses[0].guard.knows(head)

    async with run_server(front, "127.0.0.1", 0, SystemClock(), knows, PlainHttp()) as port:
        houses.append(House(db, clock, WebConfig(port=port)))
        yield Server(houses[0], await houses[0].browser(), port)
    db.close()


async def test_our_own_page_is_served(server: Server) -> None:
    status, _ = await server.answer(server.request("GET /work HTTP/1.1"))
    assert status == 200
    sent = server.request(
        "POST /stop HTTP/1.1", "Content-Length: 2", "Content-Type: application/json"
    )
    assert await server.answer(sent + b"{}") == (200, 0)
    assert server.house.seen == ["/work", "/stop"]


RAW: dict[str, tuple[str, list[str], str]] = {
    "another name": ("GET /work HTTP/1.1", ["X: 1"], "evil.example"),
    "an address for a proxy": ("GET http://evil.example/work HTTP/1.1", [], ""),
    "a path that climbs": ("GET /static/../work HTTP/1.1", [], ""),
    "a path that climbs in disguise": ("GET /static/..%2fwork HTTP/1.1", [], ""),
    "a path that climbs in two disguises": ("GET /static/..%252fwork HTTP/1.1", [], ""),
    "a backslash": ("GET /static/..%5cwork HTTP/1.1", [], ""),
    "a zero": ("GET /work%00.js HTTP/1.1", [], ""),
    "two names": ("GET /work HTTP/1.1", ["Host: evil.example"], ""),
    "two origins": ("POST /stop HTTP/1.1", ["Origin: http://evil.example"], ""),
    "two lengths": ("POST /stop HTTP/1.1", ["Content-Length: 0", "Content-Length: 5"], ""),
    "a length and pieces": (
        "POST /stop HTTP/1.1",
        ["Content-Length: 999999999", "Transfer-Encoding: chunked"],
        "",
    ),
    "another encoding": ("POST /stop HTTP/1.1", ["Transfer-Encoding: gzip, chunked"], ""),
    "a header without end": ("GET /work HTTP/1.1", [f"X-Long: {'x' * 30_000}"], ""),
    "headers without end": ("GET /work HTTP/1.1", [f"X-{n}: 1" for n in range(90)], ""),
    "another method": ("DELETE /work HTTP/1.1", [], ""),
    "a question before the question": (
        "OPTIONS /stop HTTP/1.1",
        ["Access-Control-Request-Method: POST"],
        "",
    ),
    "no page token": ("GET /work HTTP/1.1", ["X-Silas-Page: "], ""),
}


@pytest.mark.parametrize(("line", "headers", "host"), RAW.values(), ids=RAW.keys())
async def test_what_is_sent_raw_reaches_nobody(
    server: Server, line: str, headers: list[str], host: str
) -> None:
    sent = server.request(line, *headers, host=host, page="X-Silas-Page: " not in headers)
    status, _ = await server.answer(sent)
    assert status in (0, 400, 401, 403, 405, 413, 421, 431, 501)
    assert server.house.seen == []


async def test_a_body_in_pieces_without_end_is_refused_before_it_ends(server: Server) -> None:
    head = server.request(
        "POST /settings HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json"
    )
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    status, through = await server.answer(head, drip=piece, times=2000)
    assert status in (0, 413)
    assert through < 1000
    assert server.house.seen == []


async def test_a_page_without_a_host_header_is_nobodys(server: Server) -> None:
    assert await server.answer(b"GET /health HTTP/1.0\r\n\r\n") == (421, 0)
    assert await server.answer(b"GET /health HTTP/1.1\r\n\r\n") in ((400, 0), (421, 0))


async def heard(socket: ClientConnection) -> str:
    return str(await asyncio.wait_for(socket.recv(), SECONDS))


async def test_a_socket_that_shows_the_page_token_is_heard_and_no_other(server: Server) -> None:
    async with server.socket() as socket:
        token = server.browser.paired.page_token
        await socket.send(json.dumps({"type": "auth", "token": token}))
        assert "auth" in await heard(socket)
        await socket.send("hello")
        assert await heard(socket) == "heard hello"
        await server.house.another_process().revoke(server.browser.paired.session.device_id)
        await socket.send("hello?")
        with pytest.raises(ConnectionClosed) as closed:
            await heard(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4001


async def test_a_socket_with_the_cookie_alone_hears_nothing(server: Server) -> None:
    async with server.socket() as socket:
        await socket.send(json.dumps({"type": "auth", "token": server.browser.paired.cookie}))
        with pytest.raises(ConnectionClosed) as closed:
            await heard(socket)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4001


@pytest.mark.parametrize(
    ("origin", "cookie", "path"),
    [
        ("https://evil.example", "", "/ws"),
        ("null", "", "/ws"),
        ("", "silas_session=guess", "/ws"),
        ("", "", "/work"),
        ("", "", "/ws/../ws"),
    ],
)
async def test_no_other_socket_is_opened(
    server: Server, origin: str, cookie: str, path: str
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with server.socket(origin=origin, cookie=cookie, path=path):
            pass
    assert refused.value.response.status_code == 403
    assert server.house.seen == []
