"""How the proxy's connections end: with the run, and with what the client has read."""

import asyncio
import socket
from contextlib import suppress

import pytest

from silas.sandbox.network.egress_proxy import EgressProxy, ProxyLimits
from silas.sandbox.network.names import Reason
from silas.testing import FakeOutside
from tests.support.waits import SECONDS

from .test_proxy import (
    ALLOWED,
    GET,
    HERE,
    Reader,
    Recorded,
    Server,
    Writer,
    a_proxy,
    answers,
    serving,
)


@pytest.mark.parametrize("turns", range(8))
async def test_who_waits_at_the_door_when_the_run_ends_reaches_nobody(turns: int) -> None:
    record = Recorded()
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        proxy = EgressProxy(ALLOWED, outside, record, ProxyLimits())
        listener = socket.create_server(("127.0.0.1", 0))
        await proxy.serve(listener)
        with socket.create_connection(listener.getsockname()) as client:
            client.sendall(GET)
            client.shutdown(socket.SHUT_WR)
            for _ in range(turns):
                await asyncio.sleep(0)
            await proxy.close()
            known = (list(outside.connected), list(record.events))
            client.settimeout(SECONDS)
            with suppress(ConnectionResetError):  # the proxy lets go of it, now or soon
                await asyncio.to_thread(client.recv, 1)
            assert (outside.connected, record.events) == known
    assert server.received == b""


async def test_a_client_that_does_not_read_keeps_its_place_and_loses_nothing() -> None:
    much, sent = bytes(40_000), asyncio.Event()

    async def gives_much(server: Server, reader: Reader, writer: Writer) -> None:
        server.received += await reader.readuntil(b"\r\n\r\n")
        writer.write(much)
        await writer.drain()
        writer.write_eof()
        await reader.read(-1)
        sent.set()

    record = Recorded()
    async with serving(gives_much) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record, ProxyLimits(connections=1), buffer=4096) as door:
            with socket.socket() as lazy:
                lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
                lazy.connect(("127.0.0.1", door.port))
                lazy.sendall(GET)
                await asyncio.wait_for(sent.wait(), SECONDS)
                for _ in range(50):
                    await asyncio.sleep(0)
                assert await door.say(GET) == b""
                assert record.reasons == [Reason.too_many]
                lazy.settimeout(SECONDS)
                with lazy.makefile("rb") as reading:
                    assert await asyncio.to_thread(reading.read) == much
