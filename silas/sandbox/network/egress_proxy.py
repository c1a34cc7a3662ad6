"""The proxy of one run: the only way out of its sandbox, to exactly the hosts it was given.

It lives outside and is reached through a socket inside (`netns.py`). What may pass is decided by
the rules in `proxy_rules.py`, `tls_hello.py` and `addresses.py`. A name is resolved once, every
address it has must be public, and the connection goes to one of those very addresses. What a tunnel
carries after its ClientHello is not seen, and neither is what a server does with it.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from silas.sandbox.network.addresses import is_public
from silas.sandbox.network.names import EgressRefused, Endpoint, Reason
from silas.sandbox.network.outside import Outside, Streams
from silas.sandbox.network.proxy_rules import MAX_HEAD, ProxyRequest, read_request
from silas.sandbox.network.tls_hello import server_name
from silas.sandbox.network.traffic import DeniedTraffic, HostOpened, RecordTraffic, Traffic

_CHUNK = 1 << 16
_MEBIBYTE = 1 << 20
_MOST_ADDRESSES = 4  # of one name that are tried
_LAST_WORDS_SECONDS = 1.0
_TURNS_TO_ACCEPT = 4  # asyncio forgets to close what it is accepting when the server closes
_MOST_TOLD = 20  # refusals of one run that are recorded one by one; the rest are counted
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
_STATUS = {
    Reason.malformed: "400 Bad Request",
    Reason.unresolved: "502 Bad Gateway",
    Reason.unreachable: "502 Bad Gateway",
}


@dataclass(frozen=True)
class ProxyLimits:
    """Ceilings of one run.

    Attributes:
        connections: At once.
        seconds: For the head of a request, a ClientHello, a name, a connection; each of them.
        bytes_out, bytes_in: In all.
    """

    connections: int = 64
    seconds: float = 10.0
    bytes_out: int = 256 * _MEBIBYTE
    bytes_in: int = 4096 * _MEBIBYTE


class _Client:
    """One connection from inside."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.answered = False

    async def head(self) -> bytes:
        """The head of its one request."""
        try:
            return await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise EgressRefused(Reason.too_large) from None

    async def hello(self, host: str) -> bytes:
        """What it sent up to the end of its ClientHello, which names this host."""
        self.answered = True
        self.writer.write(_ESTABLISHED)
        data = b""
        while (name := server_name(data)) is None:
            if len(data) > MAX_HEAD:
                raise EgressRefused(Reason.too_large, host)
            chunk = await self.reader.read(_CHUNK)
            if not chunk:
                raise EgressRefused(Reason.not_tls, host)
            data += chunk
        if name != host:
            raise EgressRefused(Reason.server_name, host)
        return data

    async def refuse(self, refusal: EgressRefused) -> None:
        """Say why, where HTTP is still spoken."""
        if self.answered:
            return
        words = f"Silas: {refusal.message}\n".encode("ascii", "backslashreplace")
        head = (
            f"HTTP/1.1 {_STATUS.get(refusal.reason, '403 Forbidden')}\r\n"
            f"Content-Type: text/plain\r\nContent-Length: {len(words)}\r\nConnection: close\r\n\r\n"
        )
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(_LAST_WORDS_SECONDS):
                self.writer.write(head.encode("ascii") + words)
                self.writer.write_eof()
                # what was not read would make the kernel throw the answer away
                while await self.reader.read(_CHUNK):
                    pass


class _Meter:
    """What passed to and from one host."""

    def __init__(self) -> None:
        self.connections = self.out = self.into = 0


class EgressProxy:
    """Serves one run from before its command starts until after its end."""

    def __init__(
        self,
        allowed: Collection[Endpoint],
        outside: Outside,
        record: RecordTraffic,
        limits: ProxyLimits,
    ) -> None:
        self._allowed = frozenset(allowed)
        self._outside = outside
        self._record = record
        self._limits = limits
        self._opening = asyncio.Lock()
        self._meters: dict[Endpoint, _Meter] = {}
        self._told: set[DeniedTraffic] = set()
        self._untold: Counter[Reason] = Counter()
        self._clients: set[asyncio.Task[None]] = set()
        self._servers: list[asyncio.Server] = []
        self._failures: list[Exception] = []
        self._over = False

    async def serve(self, listener: socket.socket) -> None:
        """Answer what connects to this socket, which belongs to the proxy from now on."""
        server = await asyncio.start_server(self._accept, sock=listener, limit=MAX_HEAD)
        self._servers.append(server)

    async def close(self) -> tuple[Traffic, ...]:
        """End every connection, record the totals and return them.

        Raises:
            Exception: What kept something from being recorded.
        """
        self._over = True
        for client in self._clients:
            client.cancel()
        try:
            for _ in range(_TURNS_TO_ACCEPT):
                await asyncio.sleep(0)
        finally:
            for server in self._servers:
                server.close()
        await asyncio.gather(*self._clients, return_exceptions=True)
        traffic = tuple(
            Traffic(*there, meter.connections, meter.out, meter.into)
            for there, meter in self._meters.items()
        )
        for total in traffic:
            await self._record(total)
        for reason, times in self._untold.items():
            await self._record(DeniedTraffic("", reason, times))
        for failure in self._failures:
            raise failure
        return traffic

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._over:  # it was waiting at the door when the run ended
            writer.transport.abort()
            return
        client = asyncio.create_task(self._attend(_Client(reader, writer)))
        self._clients.add(client)
        client.add_done_callback(self._clients.discard)
        # one that is cancelled before its first step closes nothing
        client.add_done_callback(lambda _: writer.transport.abort())

    async def _attend(self, client: _Client) -> None:
        try:
            if len(self._clients) > self._limits.connections:
                client.answered = True  # many of them need no answer
                raise EgressRefused(Reason.too_many)
            await self._pass(client)
        except EgressRefused as refusal:
            await self._deny(refusal)
            await client.refuse(refusal)
        except (OSError, asyncio.IncompleteReadError):
            pass  # one side went away
        except Exception as error:  # whatever it is, it ends this connection and then the run
            self._failures.append(error)
        finally:
            # what it has not read yet keeps its place: else nothing would bound their number
            await self._part(client.writer, None)

    async def _part(self, writer: asyncio.StreamWriter, seconds: float | None) -> None:
        """Close a connection, at most so long after the other side should have read all of it."""
        writer.close()
        try:
            async with asyncio.timeout(0 if self._over else seconds):
                await writer.wait_closed()
        except (OSError, TimeoutError):
            pass
        finally:
            writer.transport.abort()

    async def _deny(self, refusal: EgressRefused) -> None:
        denied = DeniedTraffic(refusal.what, refusal.reason)
        if denied in self._told or len(self._told) >= _MOST_TOLD:
            self._untold[refusal.reason] += 1
            return
        self._told.add(denied)
        try:
            await self._record(denied)
        except EgressRefused:  # nobody records; it was refused all the same
            return
        except Exception as error:  # it is raised at the end of the run
            self._failures.append(error)

    async def _pass(self, client: _Client) -> None:
        request = await self._limit_time(client.head(), Reason.slow)
        judged = read_request(request, self._allowed)
        there = judged.endpoint
        reader, writer = await self._connect_endpoint(there)
        try:
            first = judged.head
            if judged.tunnel:
                first = await self._limit_time(client.hello(there.host), Reason.slow)
            await self._relay(client, judged, first, (reader, writer))
        finally:
            await self._part(writer, _LAST_WORDS_SECONDS)

    async def _connect_endpoint(self, there: Endpoint) -> Streams:
        """Resolve once, check every address, record, connect to one of those addresses."""
        addresses = await self._addresses(there.host)
        async with self._opening:
            if there not in self._meters:
                # what cannot be recorded does not happen (decision B5)
                await self._record(HostOpened(there.host, there.port, addresses))
                self._meters[there] = _Meter()
        for address in addresses:
            with suppress(OSError, TimeoutError):
                async with asyncio.timeout(self._limits.seconds):
                    streams = await self._outside.connect(address, there.port)
                self._meters[there].connections += 1
                return streams
        raise EgressRefused(Reason.unreachable, str(there))

    async def _addresses(self, host: str) -> tuple[str, ...]:
        found: Sequence[str] = ()
        with suppress(OSError, TimeoutError, UnicodeError):
            async with asyncio.timeout(self._limits.seconds):
                found = await self._outside.resolve(host)
        if not found:
            raise EgressRefused(Reason.unresolved, host)
        if not all(map(is_public, found)):
            raise EgressRefused(Reason.not_public, host)
        return tuple(dict.fromkeys(found))[:_MOST_ADDRESSES]

    async def _relay(
        self, client: _Client, request: ProxyRequest, first: bytes, server: Streams
    ) -> None:
        """Send what was judged, then pass bytes both ways until the server is done."""
        reader, writer = server
        meter = self._meters[request.endpoint]

        def outward(count: int) -> None:
            meter.out += count
            if sum(each.out for each in self._meters.values()) > self._limits.bytes_out:
                raise EgressRefused(Reason.too_much, str(request.endpoint))

        def inward(count: int) -> None:
            client.answered = True
            meter.into += count
            if sum(each.into for each in self._meters.values()) > self._limits.bytes_in:
                raise EgressRefused(Reason.too_much, str(request.endpoint))

        outward(len(first))
        writer.write(first)
        most = None if request.tunnel else request.body
        up = asyncio.create_task(_pump(client.reader, writer, most, outward))
        down = asyncio.create_task(_pump(reader, client.writer, None, inward))
        try:
            await asyncio.wait((up, down), return_when=asyncio.FIRST_COMPLETED)
            if up.done() and up.exception() is None:
                await asyncio.wait((down,))
        finally:
            up.cancel()
            down.cancel()
            ended = await asyncio.gather(up, down, return_exceptions=True)
        for end in ended:
            if isinstance(end, Exception):
                raise end

    async def _limit_time(self, reading: Awaitable[bytes], late: Reason) -> bytes:
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await reading
        except TimeoutError:
            raise EgressRefused(late) from None


async def _pump(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    most: int | None,
    count: Callable[[int], None],
) -> None:
    """Pass bytes on until the end, or until `most`; without a limit the end is passed on, too."""
    while most is None or most > 0:
        chunk = await reader.read(_CHUNK if most is None else min(_CHUNK, most))
        if not chunk:
            break
        count(len(chunk))
        writer.write(chunk)
        await writer.drain()
        most = None if most is None else most - len(chunk)
    if most is None and writer.can_write_eof():
        writer.write_eof()
