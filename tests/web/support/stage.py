"""A page with a made-up other end: for what a real Silas never does, or not when it is wished."""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.async_api import Browser, Page, Route, WebSocketRoute, expect

from silas.cards import Card
from silas.channels.web.card_events import CardAsked, card_event
from silas.channels.web.events import Ack, Outbound, StreamState
from silas.channels.web.headers import policy
from silas.channels.web.page_files import face_dir
from silas.channels.web.wire import Proof
from silas.keys import verify_with
from tests.support.waits import SECONDS

HOST = "127.0.0.1:9"
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_ROOT = {"/": "index.html", "/pair": "pair.html", "/sw.js": "sw.js"}
_COUNTS_ANSWERS = """
const data = Object.getOwnPropertyDescriptor(MessageEvent.prototype, "data");
Object.defineProperty(MessageEvent.prototype, "data", { ...data, get() {
  const frame = data.get.call(this);
  if (/"id":"ping"/.test(frame)) queueMicrotask(() => {
    sessionStorage.answers = Number(sessionStorage.answers ?? 0) + 1;
    document.documentElement.dataset.answers = sessionStorage.answers;
  });
  return frame;
} });
"""
"""How many answers to its asking for a word a page has read, also before it was loaded anew."""


class Stage:
    """What a page sees of Silas, as a test wants it.

    Attributes:
        page: The page.
        key: The public key that the page enrolled, in hex.
        heard: What it sent over the live connection, oldest first, without `auth`.
        greeting: What it is told when it connects.
        silent: Whether what it sends gets lost, as where its network is gone.
        pings: How often it asked for a word.
    """

    def __init__(self, page: Page, host: str) -> None:
        self.page = page
        self.host = host
        self.origin = f"http://{host}"
        self.key = ""
        self.heard: list[dict[str, Any]] = []
        self.greeting = a_state()
        self.connections = 0
        self.afters: list[int] = []
        self.acknowledges = True
        self.silent = False
        self.pings = 0
        self._answers = 0
        self._socket: WebSocketRoute | None = None
        self._more = asyncio.Event()

    async def opened(self) -> None:
        """Pair, and wait until it is connected."""
        await self.page.goto(f"{self.origin}/pair#made-up")
        await self.page.get_by_test_id("pair").click()
        await self.is_connected()

    async def is_connected(self) -> None:
        """Until the page says so."""
        await expect(self.page.locator("#link")).to_have_attribute("data-link", "open")

    def send(self, frame: Outbound) -> None:
        """Say something to the page."""
        self.send_text(frame.model_dump_json())

    def send_text(self, frame: str) -> None:
        """The same, as it stands."""
        assert self._socket is not None
        self._socket.send(frame)

    async def cut(self, code: int = 1011) -> None:
        """Lose the connection."""
        assert self._socket is not None
        socket, self._socket = self._socket, None
        await socket.close(code=code)

    async def next(self) -> dict[str, Any]:
        """The next frame that the page sends."""
        await self._until(lambda: bool(self.heard))
        return self.heard.pop(0)

    async def pinged(self, times: int) -> None:
        """Until the page has asked so often for a word, and has read the answers to it.

        An answer that is still on its way when the page's time is moved on comes too late.
        """
        await self._until(lambda: self.pings >= times)
        assert self.pings == times
        if not self.silent:
            await self._answers_are_read()

    async def hears(self) -> None:
        """Say something that draws nothing, and wait until the page has read it."""
        assert self._socket is not None
        self._answer_ping(self._socket)
        await self._answers_are_read()

    def _answer_ping(self, socket: WebSocketRoute) -> None:
        self._answers += 1
        socket.send(Ack(id="ping").model_dump_json())

    async def _answers_are_read(self) -> None:
        page = self.page.locator("html")
        await expect(page).to_have_attribute("data-answers", str(self._answers))

    async def connected(self, times: int) -> None:
        """Until the page has begun so many connections."""
        await self._until(lambda: self.connections >= times)

    async def _until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not holds():
                self._more.clear()
                await self._more.wait()

    def signed(self, data: bytes, proof: Proof) -> bool:
        """Whether the page's own key made this proof."""
        return verify_with(self.key, data, proof.signature)

    def live(self, socket: WebSocketRoute) -> None:
        """A connection of the page's."""
        self.connections += 1
        self._more.set()
        self._socket = socket

        def taken(text: str | bytes) -> None:
            frame = json.loads(text)
            if frame["type"] == "auth":
                self.afters.append(frame["after"])
                if not self.silent:
                    socket.send(self.greeting.model_dump_json())
                return
            if frame["type"] == "ping":
                self.pings += 1
                self._more.set()
                if not self.silent:
                    self._answer_ping(socket)
                return
            self.heard.append(frame)
            self._more.set()
            if self.acknowledges:
                name = frame.get("id") or frame.get("request_id") or frame.get("ref_id")
                socket.send(Ack(id=name).model_dump_json())

        socket.on_message(taken)

    async def answer(self, route: Route) -> None:
        """A request of the page's: one of its files, or its pairing."""
        request = route.request
        path = request.url.removeprefix(self.origin).partition("?")[0].partition("#")[0]
        if request.method == "POST" and path == "/pair":
            sent = json.loads(request.post_data or "")
            self.key = base64.b64decode(sent["public_key"] or "").hex()
            level = "owner" if self.key else "auth"
            self.greeting = self.greeting.model_copy(update={"level": level})
            answer = {"page_token": "made-up", "level": level, "device": sent["name"]}
            await route.fulfill(json=answer)
            return
        file = face_dir() / _ROOT.get(path, path.removeprefix("/static/"))
        if not file.is_file():
            await route.fulfill(status=404, json={"code": "E_CHANNEL_NOT_FOUND", "message": "No."})
            return
        headers = {"Content-Security-Policy": policy(self.host).decode()}
        kind = _KINDS.get(file.suffix, "application/octet-stream")
        await route.fulfill(body=file.read_bytes(), content_type=kind, headers=headers)


def a_state(**changed: Any) -> StreamState:
    """What a page is told when it connects to a Silas where nothing has happened yet."""
    known: dict[str, Any] = {
        "level": "owner", "device": "Test", "seq": 0, "complete": True, "transcript": (),
        "cards": (), "running": (), "waiting": (), "stopped": "", "runbook": False,
        "onboarding": False, "now": datetime.now(UTC),
    }  # fmt: skip
    return StreamState(**{**known, **changed})


def shown(card: Card[Any], name: str = "ask-1") -> Any:
    """A card as the page gets it."""
    now = datetime.now(UTC)
    return card_event(card, CardAsked(name, now, now + timedelta(seconds=300)))


@asynccontextmanager
async def stage(browser: Browser, host: str = HOST) -> AsyncGenerator[Stage]:
    """A page of its own, on a stage of its own."""
    there = await browser.new_context(service_workers="block")
    page = await there.new_page()
    await page.add_init_script(_COUNTS_ANSWERS)
    made = Stage(page, host)
    await there.route(f"{made.origin}/**", made.answer)
    await page.route_web_socket(f"ws://{host}/ws", made.live)
    try:
        await made.opened()
        yield made
    finally:
        await there.close()
