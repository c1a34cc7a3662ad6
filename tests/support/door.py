"""The cockpit's door over a real database, a browser that pairs, an app behind the guard."""

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from silas.approval import NonceConfig
from silas.approval.nonces import SqlNonceStore
from silas.channels.models import WebConfig
from silas.channels.web.asgi import Receive, Scope, Send
from silas.channels.web.guard import RequestGuard
from silas.channels.web.hosts import WebHosts
from silas.channels.web.limits import WebLimits
from silas.channels.web.pairing import ENROL_DOMAIN, PairedBrowser, WebDoor
from silas.channels.web.sessions import WebSessions
from silas.channels.web.wire import Proof, command_bytes
from silas.db import Database
from silas.home.database import migrate
from silas.keys import Ed25519Signer, verify_with
from silas.keys.devices import DeviceKeys
from silas.testing import MockClock
from silas.testing.stores import MemoryAudit
from silas.types import new_nonce

BASE = "http://127.0.0.1:8420"
COOKIE = "silas_session_8420"
PACKAGES = ("silas.approval", "silas.keys", "silas.channels.web")
SAME_PAGE = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}


class Browser(NamedTuple):
    """A paired browser: its session, its two secrets, its key."""

    paired: PairedBrowser
    key: Ed25519Signer

    def proof(
        self, command: str, subject: str, clock: MockClock, *, late: float = 0, nonce: str = ""
    ) -> tuple[bytes, Proof]:
        """What it signs for a command, `late` seconds ago, and the proof."""
        bare = _proof(clock, late, nonce or new_nonce(), b"")
        data = command_bytes(command, subject, bare)
        return data, bare.model_copy(update={"signature": self.key.sign(data)})


def _proof(clock: MockClock, late: float, nonce: str, signature: bytes) -> Proof:
    from datetime import timedelta

    at = clock.now() - timedelta(seconds=late)
    return Proof(timestamp=at, nonce=nonce, signature=signature)


class House:
    """One door, its stores and its clock."""

    def __init__(self, db: Database, clock: MockClock, web: WebConfig) -> None:
        self.db, self.clock, self.audit = db, clock, MemoryAudit()
        self.hosts = WebHosts.of(web)
        self.keys = DeviceKeys(db, clock)
        self.door = self.another_process()
        self.limits = WebLimits(60, 240, clock)
        self.seen: list[str] = []
        self._known: Browser | None = None

    def another_process(self) -> WebDoor:
        """A door over the same database that remembers nothing of this one."""
        db, clock = self.db, self.clock
        sessions, nonces = WebSessions(db, clock), SqlNonceStore(db, clock, NonceConfig())
        devices = DeviceKeys(db, clock)
        return WebDoor(sessions, devices, verify_with, nonces, clock, self.audit, self.hosts)

    async def token(self) -> str:
        """A fresh pairing token."""
        return (await self.door.link(BASE)).partition("#")[2]

    async def browser(self, name: str = "a phone", *, auth_token: str = "") -> Browser:
        """A browser that is paired, with a key of its own."""
        key, token = Ed25519Signer.generate(), await self.token()
        signature = key.sign(ENROL_DOMAIN + token.encode())
        public = bytes.fromhex(key.public_key)
        paired = await self.door.pair(token, name, public, signature, auth_token)
        return Browser(paired, key)

    async def known_browser(self) -> Browser:
        """One and the same paired browser, however often it is asked for."""
        if self._known is None:
            self._known = await self.browser()
        return self._known

    async def keyless(self) -> PairedBrowser:
        """A browser that is paired and can make no key."""
        return await self.door.pair(await self.token(), "an old browser", None, None)

    def reasons(self, event: str) -> list[str]:
        """Why things were refused, from the record."""
        return [str(data["reason"]) for name, data in self.audit.entries if name == event]

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What is behind the guard: says what it got; a socket says back what it hears."""
        self.seen.append(str(scope["path"]))
        if scope["type"] == "websocket":
            await self._socket(receive, send)
            return
        body = (await receive()).get("body", b"")
        session = scope["state"]["session"]
        words = f"{session.device if session else 'nobody'}: {len(body)}".encode()
        headers = [(b"server", b"uvicorn"), (b"access-control-allow-origin", b"*")]
        headers.append((b"content-security-policy", b"default-src *"))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": words})

    async def _socket(self, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "too early"})
        while (message := await receive())["type"] == "websocket.receive":
            self.seen.append(message["text"])
            await send({"type": "websocket.send", "text": f"heard {message['text']}"})
        self.seen.append(f"gone {message['code']}")

    @property
    def guard(self) -> RequestGuard:
        """The guard in front of the app."""
        return RequestGuard(self.app, self.door, self.hosts, self.limits)

    @asynccontextmanager
    async def client(
        self, browser: Browser | None = None, *, page: bool = True, address: str = "127.0.0.1"
    ) -> AsyncGenerator[httpx.AsyncClient]:
        """Somebody who sends requests: with a browser's cookie, and its page token or not."""
        transport = httpx.ASGITransport(self.guard, client=(address, 50000))
        headers: dict[str, str] = {}
        if browser is not None:
            headers["Cookie"] = f"{COOKIE}={browser.paired.cookie}"
            if page:
                headers["X-Silas-Page"] = browser.paired.page_token
        async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
            yield client


@contextmanager
def a_house(folder: Path, **web: Any) -> Generator[House]:
    """A door over a fresh database in this folder."""
    clock = MockClock()
    db = Database(folder / "door.db", clock)
    migrate(db, PACKAGES)
    try:
        yield House(db, clock, WebConfig(**web))
    finally:
        db.close()


def socket_scope(headers: Mapping[str, str], path: str = "/ws") -> Scope:
    """What a server says about a WebSocket that wants to open."""
    return {
        "type": "websocket",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
        "client": ("127.0.0.1", 50000),
    }
