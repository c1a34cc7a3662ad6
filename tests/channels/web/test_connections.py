"""How many connections are held, and how long each may take; time is the tests' own."""

import asyncio
import gc
import itertools
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

import pytest

from silas.channels.web.asgi import Receive, Scope, Send
from silas.channels.web.connections import (
    CONNECTION,
    MOST_SECONDS,
    ClientConnection,
    Connections,
    ConnectionStage,
    ConnectionState,
)
from silas.channels.web.serve import STRANGERS_A_MINUTE, PlainHttp, run_server
from silas.testing import MockClock
from tests.support import tight
from tests.support.command import ROOT
from tests.support.waits import SECONDS

COOKIE = b"cookie: paired"
HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"


class Held:
    """Connections whose stage a test chooses, and which of them were ended."""

    def __init__(self, most: int, most_unknown: int) -> None:
        self.clock = MockClock()
        self.all = Connections(most, most_unknown, self.clock)
        self.ended: list[int] = []
        self._count = itertools.count()

    def one(
        self, address: str = "127.0.0.1", stage: ConnectionStage = ConnectionStage.silent
    ) -> ClientConnection:
        """One more."""
        number = next(self._count)
        connection = ClientConnection(
            self.all, address, lambda: ConnectionState(stage), lambda: self.ended.append(number)
        )
        self.all.enter(connection)
        return connection


def test_a_crowd_that_is_refilled_sixty_thousand_times_ends_no_paired_browser() -> None:
    held = Held(100, 40)
    for _ in range(60):  # numbers 0 to 59
        held.one().recognise()
    for _ in range(60_000):
        held.one()
    assert len(held.all) == 100
    assert len(held.ended) == 60_000 - 40
    assert min(held.ended) == 60


def test_one_that_has_just_come_is_heard_before_a_crowd_pushes_it_out() -> None:
    held = Held(400, 200)
    for _ in range(200):
        held.one(stage=ConnectionStage.answering)
    fresh = held.one()
    for _ in range(99):  # three times as many as are taken in one turn of the loop
        held.one(stage=ConnectionStage.answering)
    fresh.recognise()
    assert fresh.known
    assert 200 not in held.ended


def test_the_silent_of_the_address_that_has_most_end_first() -> None:
    held = Held(20, 10)
    held.one("192.0.2.1")
    held.one("192.0.2.2", ConnectionStage.answering)
    for _ in range(8):
        held.one("192.0.2.2")
    for _ in range(3):
        held.one("192.0.2.2")
    assert held.ended == [2, 3, 4]


def test_paired_browsers_have_no_more_than_their_places_and_strangers_keep_theirs() -> None:
    held = Held(10, 4)
    browsers = [held.one() for _ in range(4)]
    for browser in browsers:
        browser.recognise()
    browsers += [held.one(), held.one(), held.one()]
    for browser in browsers[4:]:
        browser.recognise()
    assert [browser.known for browser in browsers] == [True] * 6 + [False]
    assert len(held.all) == 7


@asynccontextmanager
async def a_server(
    app: Callable[[Scope, Receive, Send], Any], clock: MockClock
) -> AsyncGenerator[int]:
    server = run_server(app, "127.0.0.1", 0, clock, lambda head: COOKIE in head, PlainHttp())
    opening = asyncio.ensure_future(server.__aenter__())
    while not opening.done():
        clock.advance(0.01)
        await asyncio.sleep(0)
    try:
        yield opening.result()
    finally:
        await server.__aexit__(None, None, None)


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["headers"][-1] == (b"cookie", b"paired"):
        scope["state"][CONNECTION].recognise()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"hello"})


async def _answer(port: int, sent: bytes) -> bytes:
    """What one connection says to these bytes; nothing where it is ended."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent + b"\r\n")
    try:
        return await asyncio.wait_for(reader.readuntil(b"hello"), SECONDS)
    except (asyncio.IncompleteReadError, ConnectionError):
        return b""
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize("first", [b"", HEAD], ids=["silent", "half of a head"])
async def test_a_head_that_comes_byte_by_byte_has_a_few_seconds(first: bytes) -> None:
    clock = MockClock()
    async with a_server(_hello, clock) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(first)
        ended = asyncio.ensure_future(reader.read())
        passed = 0
        while not ended.done():
            writer.write(b"x")
            await asyncio.sleep(0)
            clock.advance(1)
            passed += 1
            assert passed < 1_000
            assert await _answer(port, HEAD)  # the sweep has been, and it serves others
        assert passed >= MOST_SECONDS[ConnectionStage.silent]
        with suppress(ConnectionError):
            assert await ended == b""
        writer.close()


async def test_a_connection_between_two_requests_ends_though_bytes_come() -> None:
    clock = MockClock()
    async with a_server(_hello, clock) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"\r\n")
        await asyncio.wait_for(reader.readuntil(b"hello"), SECONDS)
        ended = asyncio.ensure_future(reader.read())
        for _ in range(1_000):
            if ended.done():
                break
            writer.write(b"G")
            clock.advance(1)
            assert await _answer(port, HEAD + COOKIE + b"\r\n")
        await asyncio.wait({ended}, timeout=0)
        assert ended.done()
        writer.close()


async def test_who_does_not_read_the_answer_is_let_go() -> None:
    clock, gone, begun = MockClock(), asyncio.Event(), asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while (await _sent(send)) and not gone.is_set():
            begun.set()

    async def _sent(send: Send) -> bool:
        before = clock.monotonic()
        await send({"type": "http.response.body", "body": b"x" * 1_000_000, "more_body": True})
        if clock.monotonic() > before:  # it waited until somebody read, or was gone
            gone.set()
        return True

    async with a_server(endless, clock) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"\r\n")
        await asyncio.wait_for(begun.wait(), SECONDS)
        async with asyncio.timeout(SECONDS):
            while not gone.is_set():
                clock.advance(1)
                await asyncio.sleep(0)
        writer.close()


async def test_of_a_flood_from_one_address_only_heads_with_a_session_are_parsed() -> None:
    async with a_server(_hello, MockClock()) as port:
        answers = [await _answer(port, HEAD) for _ in range(STRANGERS_A_MINUTE + 20)]
        assert [bool(one) for one in answers] == [True] * STRANGERS_A_MINUTE + [False] * 20
        assert await _answer(port, HEAD + COOKIE + b"\r\n")


@pytest.mark.parametrize(("cookie", "answers"), [(b"", 1), (COOKIE + b"\r\n", 3)])
async def test_only_a_paired_browser_has_requests_answered_that_it_sent_before_its_answer(
    cookie: bytes, answers: int
) -> None:
    last = HEAD + b"Connection: close\r\n" + cookie + b"\r\n"
    async with a_server(_hello, MockClock()) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write((HEAD + cookie + b"\r\n") * 2 + last)
        said = await asyncio.wait_for(reader.read(), SECONDS)
        writer.close()
    assert said.count(b"hello") == answers


def _transports() -> set[int]:
    return {id(one) for one in gc.get_objects() if isinstance(one, asyncio.Transport)}


async def test_a_crowd_that_says_nothing_has_no_transports() -> None:
    gc.collect()  # those of other tests
    before = _transports()
    async with a_server(_hello, MockClock()) as port:
        with ExitStack() as crowd:
            taken = [
                crowd.enter_context(socket.create_connection(("127.0.0.1", port), timeout=SECONDS))
                for _ in range(50)
            ]
            for one in taken[:25]:
                one.sendall(HEAD)  # half of a head
            assert await _answer(port, HEAD)  # so all that came before it were taken
            # of the answered one there may be some left
            assert len(_transports() - before) < len(taken) / 2
            for number, one in enumerate(taken):
                one.sendall(b"\r\n" if number < 25 else HEAD + b"\r\n")
            for one in taken:
                assert b"hello" in await asyncio.to_thread(_all_said, one)


def _all_said(one: socket.socket) -> bytes:
    said = b""
    while b"hello" not in said and (more := one.recv(4096)):
        said += more
    return said


def test_a_process_without_a_file_left_says_so_once_and_serves_again() -> None:
    argv = [sys.executable, tight.__file__]
    with subprocess.Popen(
        argv,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        out, errors = process.communicate(timeout=SECONDS)
    assert out.split() == ["full", "answered"], errors
    assert errors.count("out of system resource") <= 2  # whole, and at the end how often
    assert len(errors) < 8_000
