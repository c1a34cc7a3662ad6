"""A socket behind the door: silent until the page token came, dead when its session is."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from silas.channels.web.asgi import Message
from silas.channels.web.handshake import MOST_FRAME
from tests.support.door import BASE, COOKIE, Browser, House, socket_scope
from tests.support.waits import SECONDS


class Line:
    """The browser's end of a socket, and the server's task."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[Message] = asyncio.Queue()
        self.told: list[Message] = []
        self.task: asyncio.Task[None]

    def says(self, text: str) -> None:
        self.inbox.put_nowait({"type": "websocket.receive", "text": text})

    def shows(self, browser: Browser, **changes: Any) -> None:
        self.says(json.dumps({"type": "auth", "token": browser.paired.page_token, **changes}))

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)

    @property
    def texts(self) -> list[str]:
        return [message["text"] for message in self.told if message["type"] == "websocket.send"]

    @property
    def closed(self) -> int:
        """The code with which it was closed; 0 while it is open."""
        codes = [message["code"] for message in self.told if message["type"] == "websocket.close"]
        assert len(codes) <= 1
        return codes[0] if codes else 0


@asynccontextmanager
async def a_line(
    house: House, browser: Browser | None, path: str = "/ws", **headers: str
) -> AsyncGenerator[Line]:
    """A WebSocket as our page opens it, but for these headers; an empty one is left out."""
    cookie = f"{COOKIE}={browser.paired.cookie}" if browser else ""
    sent = {"Host": "127.0.0.1:8420", "Origin": BASE, "Cookie": cookie, **headers}
    scope = socket_scope({name: value for name, value in sent.items() if value}, path)
    line = Line()

    async def send(message: Message) -> None:
        line.told.append(message)
        if message["type"] == "websocket.close":  # as servers do
            line.inbox.put_nowait({"type": "websocket.disconnect", "code": message["code"]})

    line.inbox.put_nowait({"type": "websocket.connect"})
    line.task = asyncio.ensure_future(house.guard(scope, line.inbox.get, send))
    await line.settle()
    try:
        yield line
        line.inbox.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(line.task, SECONDS)
    finally:
        line.task.cancel()


@pytest.mark.proves("S8.1-NO-URL-TOKEN")
async def test_a_page_that_shows_its_token_first_is_heard(house: House) -> None:
    browser = await house.browser()
    async with a_line(house, browser) as line:
        assert line.told == [{"type": "websocket.accept"}]
        line.shows(browser, after=7)
        await line.settle()
        line.says("hello")
        await line.settle()
        assert line.texts[-1] == "heard hello"
        assert line.closed == 0
    assert house.seen[-1] == "gone 1001"


REFUSED = {
    "a page of another site": {"Origin": "https://evil.example"},
    "a page of another port": {"Origin": "http://127.0.0.1:9999"},
    "a program that names no origin": {"Origin": ""},
    "a sandboxed frame": {"Origin": "null"},
    "a name made to point here": {"Host": "evil.example", "Origin": "http://evil.example"},
    "a browser that says it is another site": {"Sec-Fetch-Site": "cross-site"},
    "a browser without the cookie": {"Cookie": ""},
    "a cookie that was guessed": {"Cookie": f"{COOKIE}={'a' * 64}"},
    "another path": {"path": "/work"},
    "a token in the address": {"path": "/ws?token=x"},
}


@pytest.mark.proves("B6-LOOPBACK-NOT-TRUSTED")
@pytest.mark.parametrize("change", REFUSED.values(), ids=REFUSED.keys())
async def test_a_socket_that_is_not_our_pages_is_never_opened(
    house: House, change: dict[str, str]
) -> None:
    browser = await house.browser()
    async with a_line(house, browser, **change) as line:
        assert line.told == [{"type": "websocket.close", "code": 4001}]
    assert house.seen == []
    assert len(house.reasons("web.refused")) == 1


FIRST = {
    "a message": '{"type": "message", "id": "1", "text": "hello"}',
    "a guessed token": json.dumps({"type": "auth", "token": "a" * 64}),
    "no token": '{"type": "auth"}',
    "a token that is no text": '{"type": "auth", "token": ["a"]}',
    "no JSON": "hello",
    "nothing": "",
    "a list": "[[[[",
    "a novel": "x" * (MOST_FRAME + 1),
}


@pytest.mark.proves("S8.1-NO-URL-TOKEN")
@pytest.mark.parametrize("text", FIRST.values(), ids=FIRST.keys())
async def test_the_cookie_without_the_page_token_hears_nothing(house: House, text: str) -> None:
    browser = await house.browser()
    async with a_line(house, browser) as line:
        line.says(text)
        await line.settle()
        assert (line.texts, line.closed) == ([], 4001)
        line.shows(browser)
    assert house.seen == ["/ws", "gone 4001"]


async def test_another_sessions_page_token_opens_nothing(house: House) -> None:
    mine, other = await house.browser(), await house.browser()
    async with a_line(house, mine) as line:
        line.shows(other)
        await line.settle()
        assert (line.texts, line.closed) == ([], 4001)


@pytest.mark.proves("S8.1-NO-URL-TOKEN")
async def test_a_socket_that_stays_silent_is_closed_after_five_seconds(house: House) -> None:
    browser = await house.browser()
    async with a_line(house, browser) as line:
        house.clock.advance(4.9)
        await line.settle()
        assert line.closed == 0
        house.clock.advance(0.2)
        await line.settle()
        assert (line.texts, line.closed) == ([], 4001)
    assert house.reasons("web.refused") == ["no page token in time"]


async def test_a_page_that_goes_before_it_says_anything_is_gone(house: House) -> None:
    browser = await house.browser()
    async with a_line(house, browser):
        pass
    assert house.seen == ["/ws", "gone 1001"]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "websocket.receive", "bytes": b"{}"}, 1003),
        ({"type": "websocket.receive", "text": "x" * (MOST_FRAME + 1)}, 1009),
    ],
)
async def test_what_is_not_text_or_is_too_long_ends_the_socket(
    house: House, message: Message, code: int
) -> None:
    browser = await house.browser()
    async with a_line(house, browser) as line:
        line.shows(browser)
        line.inbox.put_nowait(message)
        await line.settle()
        assert line.closed == code
    assert house.seen[-1] == f"gone {code}"


@pytest.mark.proves("S18.5-MESSAGES", "S18.5-MESSAGES-ON-RECORD")
async def test_messages_over_the_limit_are_answered_and_do_not_come_in(house: House) -> None:
    browser = await house.browser()
    async with a_line(house, browser) as line:
        line.shows(browser)
        for number in range(62):
            line.says(json.dumps({"type": "message", "id": f"m-{number}", "text": "x"}))
        line.says('{"request_id": "r-1"}')
        line.says("[1]")
        await asyncio.sleep(0)
        for _ in range(20):
            await line.settle()
        errors = [json.loads(text) for text in line.texts if "E_CHANNEL_LIMIT" in text]
        assert [error["id"] for error in errors] == ["m-60", "m-61", "r-1", ""]
        assert all(error["type"] == "error" for error in errors)
        assert sum("m-" in seen for seen in house.seen) == 60
        house.clock.advance(1.5)
        line.says("again")
        await line.settle()
        assert line.texts[-1] == "heard again"
    assert house.reasons("web.limited") == ["messages of one browser"]


@pytest.mark.proves("S18.5-MESSAGES")
async def test_many_browsers_at_one_address_share_its_limit(house: House) -> None:
    heard = 0
    for _ in range(5):
        browser = await house.browser()
        async with a_line(house, browser) as line:
            line.shows(browser)
            for number in range(60):
                line.says(f"m-{number}")
            for _ in range(40):
                await line.settle()
            heard += sum(text.startswith("heard m-") for text in line.texts)
    assert heard == 240
    assert "messages from one address" in house.reasons("web.limited")


async def test_a_revoked_device_hears_no_more_and_says_no_more(house: House) -> None:
    browser = await house.browser()
    device = browser.paired.session.device_id
    async with a_line(house, browser) as line:
        line.shows(browser)
        await line.settle()
        await house.another_process().revoke(device)
        line.says("hello?")
        await line.settle()
        assert "heard hello?" not in line.texts
        assert line.closed == 4001


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "by another process"])
async def test_what_goes_out_stops_when_the_device_is_revoked(
    house: House, elsewhere: bool
) -> None:
    browser = await house.browser()
    outward: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        outward.append(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass

    house.app = app
    async with a_line(house, browser) as line:
        line.shows(browser)
        await line.settle()
        [send] = outward
        await send({"type": "websocket.send", "text": "before"})
        door = house.another_process() if elsewhere else house.door
        await door.revoke(browser.paired.session.device_id)
        house.clock.advance(1 if elsewhere else 0)
        await send({"type": "websocket.send", "text": "after"})
        await send({"type": "websocket.send", "text": "later"})
        assert (line.texts, line.closed) == (["before"], 4001)


async def test_a_socket_that_the_app_closes_is_closed_once(house: House) -> None:
    browser = await house.browser()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()
        await send({"type": "websocket.close", "code": 1001})
        await send({"type": "websocket.send", "text": "late"})
        await send({"type": "websocket.close", "code": 1000})
        assert (await receive())["code"] == 1001

    house.app = app
    async with a_line(house, browser) as line:
        line.shows(browser)
        await line.settle()
        assert (line.texts, line.closed) == ([], 1001)
