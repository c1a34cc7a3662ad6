"""One request to a public web server: who may be asked, and what is taken of the answer.

The rules are those of the sandbox's proxy: full host names alone, every address of a name public,
and the connection made to one of the very addresses that were checked. Nothing is kept between two
requests: no cookie, no connection.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from silas.sandbox import Endpoint, HostOpened, Outside, RecordTraffic, Traffic
from silas.sandbox.network.addresses import is_public
from silas.sandbox.network.names import DEFAULT_PORTS, EgressRefused, Reason, endpoint
from silas.sandbox.network.outside import Streams

if TYPE_CHECKING:
    import ssl

MAX_URL: Final = 2048
"""Characters of an address."""

_CHUNK = 1 << 16
_MOST_ADDRESSES = 4  # of one name that are tried
_PORTS = {"https": 443, "http": 80}
_PARTS = re.compile(r"(https?)://([^/?#]+)(/[^?#]*)?(\?[^#]*)?(?:#.*)?", re.IGNORECASE)

MakeTls = Callable[[], "ssl.SSLContext"]
"""Makes what verifies a server's certificate."""

RecordOf = Callable[[str, str], RecordTraffic]
"""(work item or turn, tool) to where its connections are recorded."""


class HttpRequestNotSent(Exception):
    """No request went out; the text is a sentence that says why."""


class Address(NamedTuple):
    """Where a request goes, taken apart once, so that nobody reads it differently afterwards."""

    scheme: str
    there: Endpoint
    target: str

    def __str__(self) -> str:
        plain = self.there.port == _PORTS[self.scheme]
        return f"{self.scheme}://{self.there.host if plain else self.there}{self.target}"


class HttpResponse(NamedTuple):
    """What a server said.

    Attributes:
        headers: By name in lower case; of several of one name the last.
        body: At most as many bytes as were asked for.
        cut: There was more.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool


def address(text: str) -> Address:
    """An `http` or `https` address of a host by name, on port 80 or 443.

    Raises:
        ValueError: One sentence that says what it must be.
    """
    plain = len(text) <= MAX_URL and all("!" <= sign <= "~" for sign in text) and "\\" not in text
    parts = _PARTS.fullmatch(text) if plain else None
    if parts is None:
        raise ValueError(
            f"must be an http or https address of at most {MAX_URL} plain ASCII characters"
        )
    scheme, authority, path, query = parts.groups()
    scheme = scheme.lower()
    try:
        there = endpoint(authority, _PORTS[scheme])
    except EgressRefused as error:
        raise ValueError(f"the host {error.message}") from None
    if there.port not in DEFAULT_PORTS:
        raise ValueError("must use port 80 or 443")
    return Address(scheme, there, (path or "/") + (query or ""))


class WebClient:
    """Asks public web servers.

    Args:
        outside: The network; resolves names and connects to addresses.
        make_tls: See `MakeTls`.
        record_of: See `RecordOf`; what cannot be recorded is not connected (decision B5).
    """

    def __init__(self, outside: Outside, make_tls: MakeTls, record_of: RecordOf) -> None:
        self._outside = outside
        self._make_tls = make_tls
        self._record_of = record_of

    async def ask(
        self,
        to: Address,
        *,
        whose: tuple[str, str],
        seconds: float,
        most: int,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> HttpResponse:
        """Send one GET, or a POST where there is a body; no redirect is followed.

        Args:
            to: Where to.
            whose: Work item or turn, and the tool.
            seconds: For all of it.
            most: Bytes of the answer that are read.
            headers: Sent beside Host and the length.
            body: What is posted.

        Raises:
            NotSent: The host may not be asked, or was not reached.
            OSError, TimeoutError, h11.RemoteProtocolError: It broke off after something was sent.
            DatabaseError: The connection could not be recorded; nothing was sent.
        """
        record = self._record_of(*whose)
        exchange = _Exchange(most)
        try:
            async with asyncio.timeout(seconds):
                streams = await self._open_streams(to, record)
                try:
                    return await exchange.run(streams, to, headers, body)
                finally:
                    streams[1].transport.abort()
        except TimeoutError:
            if exchange.out:
                raise
            raise HttpRequestNotSent(f"{to.there.host} did not answer in time.") from None
        finally:
            if exchange.out:
                await record(Traffic(*to.there, 1, exchange.out, exchange.into))

    async def _open_streams(self, to: Address, record: RecordTraffic) -> Streams:
        addresses = await self._addresses(to.there.host)
        await record(HostOpened(*to.there, addresses))
        for found in addresses:
            with suppress(OSError, EgressRefused):
                reader, writer = await self._outside.connect(found, to.there.port)
                try:
                    if to.scheme == "https":
                        await writer.start_tls(self._make_tls(), server_hostname=to.there.host)
                except BaseException:
                    writer.transport.abort()
                    raise
                return reader, writer
        raise HttpRequestNotSent(
            f"{to.there.host} cannot be reached, or its certificate is not valid."
        )

    async def _addresses(self, host: str) -> tuple[str, ...]:
        """All addresses of a name; one that is not public makes the name unusable."""
        found: tuple[str, ...] = ()
        with suppress(OSError, UnicodeError, EgressRefused):
            found = tuple(dict.fromkeys(await self._outside.resolve(host)))
        if not found:
            raise HttpRequestNotSent(EgressRefused(Reason.unresolved, host).message)
        if not all(map(is_public, found)):
            raise HttpRequestNotSent(EgressRefused(Reason.not_public, host).message)
        return found[:_MOST_ADDRESSES]


class _Exchange:
    """One request and its answer over a connection, and what passed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.out = self.into = 0

    async def run(
        self, streams: Streams, to: Address, headers: Mapping[str, str], body: bytes | None
    ) -> HttpResponse:
        """Send the request whole, then read the answer as far as it is wanted."""
        import h11  # noqa: PLC0415 - only a request needs it

        reader, writer = streams
        http = h11.Connection(h11.CLIENT)
        events = (
            h11.Request(
                method="GET" if body is None else "POST",
                target=to.target,
                headers=_headers(to, headers, body),
            ),
            *(() if body is None else (h11.Data(data=body),)),
            h11.EndOfMessage(),
        )
        request = b"".join(http.send(event) or b"" for event in events)
        self.out = len(request)
        writer.write(request)
        await writer.drain()
        status, told, content = 0, dict[str, str](), bytearray()
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                chunk = await reader.read(_CHUNK)
                self.into += len(chunk)
                http.receive_data(chunk)
            elif isinstance(event, h11.Response):
                status = event.status_code
                told = {
                    name.decode("ascii"): value.decode("latin-1") for name, value in event.headers
                }
            elif isinstance(event, h11.Data):
                content += event.data
                if len(content) > self._most:
                    return HttpResponse(status, told, bytes(content[: self._most]), True)
            elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
                return HttpResponse(status, told, bytes(content), False)


def _headers(to: Address, headers: Mapping[str, str], body: bytes | None) -> list[tuple[str, str]]:
    plain = to.there.port == _PORTS[to.scheme]
    own = [
        ("Host", to.there.host if plain else str(to.there)),
        ("Accept-Encoding", "identity"),
        ("Connection", "close"),
    ]
    if body is not None:
        own.append(("Content-Length", str(len(body))))
    return [*own, *headers.items()]
