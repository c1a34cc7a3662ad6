"""The proxy of a run, over loopback sockets: who is connected to, what is counted and recorded."""

import asyncio
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import pytest

from silas.sandbox.network.egress_proxy import EgressProxy, ProxyLimits
from silas.sandbox.network.internet import Internet
from silas.sandbox.network.names import EgressRefused, Endpoint, Reason
from silas.sandbox.network.outside import NO_OUTSIDE, Outside
from silas.sandbox.network.traffic import (
    DeniedTraffic,
    HostOpened,
    NetworkEvent,
    RecordTraffic,
    Traffic,
    record_nothing,
)
from silas.testing import FakeOutside
from tests.sandbox.test_proxy_rules import hello
from tests.support.waits import SECONDS

HERE = "93.184.215.14"
ELSEWHERE = "93.184.215.15"
ALLOWED = tuple(
    Endpoint(*there) for there in (("a.example", 80), ("a.example", 443), ("b.example", 80))
)
GET = b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n"
CONNECT = b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi"

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter


@dataclass
class Server:
    """A loopback server that plays a host on the internet, and what it was sent."""

    port: int = 0
    received: bytearray = field(default_factory=bytearray)


async def answers(server: Server, reader: Reader, writer: Writer) -> None:
    """Take one request with its body of three bytes, if any, answer, and close."""
    server.received += await reader.readuntil(b"\r\n\r\n")
    if b"content-length: 3" in server.received:
        server.received += await reader.readexactly(3)
    writer.write(ANSWER)
    writer.write_eof()
    server.received += await reader.read(-1)


async def echoes(server: Server, reader: Reader, writer: Writer) -> None:
    """Send back whatever comes, until the end."""
    while chunk := await reader.read(1 << 16):
        server.received += chunk
        writer.write(chunk)
        await writer.drain()


@asynccontextmanager
async def serving(
    how: Callable[[Server, Reader, Writer], Awaitable[None]],
) -> AsyncGenerator[Server]:
    server, attending = Server(), set[asyncio.Task[None]]()

    async def attend(reader: Reader, writer: Writer) -> None:
        try:
            await how(server, reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def accept(reader: Reader, writer: Writer) -> None:
        attending.add(asyncio.create_task(attend(reader, writer)))

    listening = await asyncio.start_server(accept, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server
    if attending:
        _, late = await asyncio.wait(attending, timeout=SECONDS)
        assert not late


@dataclass
class Recorded:
    """Every event; raises what it was told to raise."""

    events: list[NetworkEvent] = field(default_factory=list[NetworkEvent])
    error: Exception | None = None

    async def __call__(self, event: NetworkEvent) -> None:
        if self.error is not None:
            raise self.error
        self.events.append(event)

    @property
    def reasons(self) -> list[Reason]:
        return [event.reason for event in self.events if isinstance(event, DeniedTraffic)]


class Door:
    """A proxy that listens on the test's own loopback."""

    def __init__(self, proxy: EgressProxy, port: int) -> None:
        self.proxy, self.port = proxy, port

    async def say(self, *parts: bytes) -> bytes:
        """Send parts, each after something came back for the last; everything that came back."""
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            told = b""
            for part in parts[:-1]:
                writer.write(part)
                told += await reader.read(1 << 16)
            writer.write(parts[-1])
            with suppress(ConnectionResetError):
                told += await reader.read(-1)
            writer.close()
            return told


@asynccontextmanager
async def a_proxy(
    outside: Outside,
    record: RecordTraffic,
    limits: ProxyLimits = ProxyLimits(),  # noqa: B008 - frozen
    buffer: int = 1 << 16,
) -> AsyncGenerator[Door]:
    proxy = EgressProxy(ALLOWED, outside, record, limits)
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer)
    await proxy.serve(listener)
    try:
        yield Door(proxy, listener.getsockname()[1])
    finally:
        async with asyncio.timeout(SECONDS):
            await proxy.close()


@pytest.mark.proves("B1-NAMED-HOSTS")
async def test_a_named_host_answers_and_its_bytes_are_counted() -> None:
    record = Recorded()
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            assert await door.say(GET) == ANSWER
    sent = b"GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n"
    assert server.received == sent
    assert outside.connected == [(HERE, 80)]
    assert record.events == [
        HostOpened("a.example", 80, (HERE,)),
        Traffic("a.example", 80, 1, len(sent), len(ANSWER)),
    ]


async def test_no_byte_beyond_the_told_length_is_sent_on() -> None:
    record = Recorded()
    second = b"GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n"
    post = GET.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\nabc")
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            assert await door.say(post + second) == ANSWER
    assert server.received.endswith(b"\r\n\r\nabc")
    assert b"b.example" not in server.received


@pytest.mark.proves("B1-NAMED-HOSTS")
async def test_a_tunnel_passes_bytes_both_ways_after_a_matching_client_hello() -> None:
    record, first = Recorded(), hello("a.example")
    async with serving(echoes) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            async with asyncio.timeout(SECONDS):
                writer.write(CONNECT)
                assert await reader.readexactly(len(ESTABLISHED)) == ESTABLISHED
                writer.write(first)
                assert await reader.readexactly(len(first)) == first
                writer.write(b"secret")
                writer.write_eof()
                assert await reader.read(-1) == b"secret"
            writer.close()
    count = len(first) + 6
    assert record.events[-1] == Traffic("a.example", 443, 1, count, count)


@pytest.mark.proves("B1-NAMED-HOSTS")
@pytest.mark.parametrize(
    ("first", "reason"),
    [
        (hello("evil.example"), Reason.server_name),
        (hello(None), Reason.server_name),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", Reason.not_tls),
    ],
)
async def test_a_tunnel_for_another_name_or_without_tls_sends_nothing(
    first: bytes, reason: Reason
) -> None:
    record = Recorded()
    async with serving(echoes) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            assert await door.say(CONNECT, first) == ESTABLISHED
    assert server.received == b""
    assert record.reasons == [reason]


@pytest.mark.proves("B1-NAMED-HOSTS")
@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["fd00:ec2::254"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::a9fe:a9fe"],
        [HERE, "192.168.0.1"],
        ["::1", HERE],
    ],
)
async def test_a_name_with_any_address_that_is_not_public_is_not_connected_to(
    addresses: list[str],
) -> None:
    record, outside = Recorded(), FakeOutside({"a.example": addresses}, {})
    async with a_proxy(outside, record) as door:
        told = await door.say(GET)
    assert told.startswith(b"HTTP/1.1 403 ")
    assert b"not public" in told
    assert outside.connected == []
    assert record.events == [DeniedTraffic("a.example", Reason.not_public)]


async def test_a_name_that_changes_its_address_between_check_and_connection_gains_nothing() -> None:
    record = Recorded()
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [[HERE], ["127.0.0.1"]]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            assert await door.say(GET) == ANSWER
            assert outside.resolved == ["a.example"]  # asked once, and connected to that answer
            assert (await door.say(GET)).startswith(b"HTTP/1.1 403 ")
    assert outside.connected == [(HERE, 80)]
    assert record.reasons == [Reason.not_public]


async def test_a_redirect_is_handed_to_the_client_and_its_target_is_judged_like_any_other() -> None:
    record = Recorded()
    moved = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\n\r\n"

    async def redirects(server: Server, reader: Reader, writer: Writer) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(moved)
        await writer.drain()

    async with serving(redirects) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            assert await door.say(GET) == moved
            again = b"GET http://169.254.169.254/ HTTP/1.1\r\nHost: 169.254.169.254\r\n\r\n"
            assert (await door.say(again)).startswith(b"HTTP/1.1 403 ")
    assert outside.connected == [(HERE, 80)]
    assert record.reasons == [Reason.literal]


async def test_the_next_address_is_tried_where_one_does_not_answer() -> None:
    record = Recorded()
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = closed.getsockname()[1]
    async with serving(answers) as server:
        outside = FakeOutside(
            {"a.example": [ELSEWHERE, HERE], "b.example": [ELSEWHERE]},
            {ELSEWHERE: nobody, HERE: server.port},
        )
        async with a_proxy(outside, record) as door:
            assert await door.say(GET) == ANSWER
            told = await door.say(GET.replace(b"a.example", b"b.example"))
    assert outside.connected == [(ELSEWHERE, 80), (HERE, 80), (ELSEWHERE, 80)]
    assert told.startswith(b"HTTP/1.1 502 ")
    assert record.reasons == [Reason.unreachable]


async def test_what_cannot_be_recorded_is_not_connected_and_ends_in_its_error() -> None:
    record = Recorded(error=RuntimeError("disk full"))
    outside = FakeOutside({"a.example": [HERE]}, {})
    with pytest.raises(RuntimeError, match="disk full"):
        async with a_proxy(outside, record) as door:
            assert await door.say(GET) == b""
    assert outside.connected == []


async def test_where_nobody_records_nothing_is_connected() -> None:
    outside = FakeOutside({"a.example": [HERE]}, {})
    async with a_proxy(outside, record_nothing) as door:
        assert (await door.say(GET)).startswith(b"HTTP/1.1 403 ")
    assert outside.connected == []


async def test_without_a_network_outside_nothing_is_reached() -> None:
    record = Recorded()
    async with a_proxy(NO_OUTSIDE, record) as door:
        assert (await door.say(GET)).startswith(b"HTTP/1.1 502 ")
    assert record.events == [DeniedTraffic("a.example", Reason.unresolved)]
    with pytest.raises(EgressRefused):
        await NO_OUTSIDE.connect(HERE, 80)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254"])
async def test_the_real_network_connects_to_public_addresses_only(address: str) -> None:
    with pytest.raises(EgressRefused) as caught:
        await Internet().connect(address, 80)
    assert caught.value.reason is Reason.not_public


async def test_the_real_resolver_is_asked_for_the_whole_name_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []

    async def getaddrinfo(host: object, *_: object, **__: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (HERE, 0))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)
    assert await Internet().resolve("a.example") == [HERE]
    assert asked == ["a.example."]


async def test_too_many_connections_and_a_slow_head_are_refused() -> None:
    record = Recorded()
    async with a_proxy(
        FakeOutside({}, {}), record, ProxyLimits(connections=1, seconds=0.2)
    ) as door:
        told, idle = await asyncio.open_connection("127.0.0.1", door.port)
        idle.write(b"GET ")
        assert await door.say(GET) == b""
        assert b"in time" in await asyncio.wait_for(told.readuntil(b"in time"), SECONDS)
        idle.close()
    assert record.reasons == [Reason.too_many, Reason.slow]


async def test_bytes_in_have_a_ceiling() -> None:
    record = Recorded()
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record, ProxyLimits(bytes_in=1)) as door:
            assert await door.say(GET) == b""
    assert record.reasons == [Reason.too_much]


async def test_bytes_out_have_a_ceiling_of_their_own() -> None:
    record = Recorded()
    post = GET.replace(b"GET", b"POST").replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\nabc")
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record, ProxyLimits(bytes_out=76)) as door:
            assert ANSWER not in await door.say(post)
    assert b"abc" not in server.received
    assert record.reasons == [Reason.too_much]


async def test_a_head_that_is_too_large_is_refused() -> None:
    record = Recorded()
    async with a_proxy(FakeOutside({}, {}), record) as door:
        told = await door.say(b"GET http://a.example/ HTTP/1.1\r\nA: " + b"b" * 100_000)
    assert b"too large" in told
    assert record.reasons == [Reason.too_large]


async def test_of_many_refusals_the_first_are_told_and_the_rest_are_counted() -> None:
    record = Recorded()
    async with a_proxy(FakeOutside({}, {}), record) as door:
        for number in range(25):
            host = b"h%d.example" % number
            await door.say(GET.replace(b"a.example", host))
    named = [event for event in record.events if isinstance(event, DeniedTraffic) and event.what]
    assert len(named) == 20
    assert record.events[20:] == [DeniedTraffic("", Reason.not_listed, 5)]


async def test_closing_ends_what_is_open() -> None:
    record = Recorded()
    async with serving(echoes) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        async with a_proxy(outside, record) as door:
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            writer.write(CONNECT + hello("a.example"))
            await asyncio.wait_for(reader.readexactly(len(ESTABLISHED) + 5), SECONDS)
        assert (await asyncio.wait_for(reader.read(-1), SECONDS)) is not None
        writer.close()
    assert isinstance(record.events[-1], Traffic)
