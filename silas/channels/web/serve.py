"""The server under the cockpit: one socket, bound before anything is promised."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from silas.channels.web.acceptor import Acceptor, Arrive, PendingConnection
from silas.channels.web.connections import Connections, room_for_connections
from silas.channels.web.guard import MOST_HEADER_BYTES
from silas.channels.web.repeated_errors import RepeatedErrors, count_repeated_errors
from silas.channels.web.tls_arrival import PendingTlsConnection
from silas.clock import Clock
from silas.errors import ConfigError, reason
from silas.token_buckets import TokenBuckets

if TYPE_CHECKING:
    import uvicorn

MOST_FRAME_BYTES = 1024 * 1024
"""The largest frame that is read at all; the door says which is too long, and closes with why."""

STRANGERS_A_MINUTE = 120
"""First requests from one address that are parsed, whoever sends them."""

_SWEEP_SECONDS = 1.0
_SWEEPS_A_MINUTE = 60
_LOOK_SECONDS = 0.01
_DATE_SECONDS = 1.0
_PATIENCE_SECONDS = 3  # for requests under way when Silas ends


class Transport(Protocol):
    """What connections speak until a request's head is whole."""

    def arrivals(self, server: "uvicorn.Server") -> Arrive:
        """What waits for the first request of each connection."""
        ...


class PlainHttp:
    """HTTP as it is: for this machine's loopback, and for a page that holds nothing secret."""

    def arrivals(self, server: "uvicorn.Server") -> Arrive:
        """Waits for a head."""
        del server
        return PendingConnection


class Https:
    """HTTP within TLS.

    Args:
        tls: The server's certificate.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls

    def arrivals(self, server: "uvicorn.Server") -> Arrive:
        """Waits for a handshake, then for a head."""
        from silas.channels.web import protocols  # noqa: PLC0415 - it loads uvicorn, which is slow

        return partial(PendingTlsConnection, self._tls, partial(protocols.choose_protocol, server))


@asynccontextmanager
async def run_server(
    app: Any,
    host: str,
    port: int,
    clock: Clock,
    knows: Callable[[bytes], bool],
    transport: Transport,
    *,
    interface: str = "",
) -> AsyncGenerator[int]:
    """Serve an ASGI application; yields the port once requests are answered.

    Args:
        app: The application.
        host: The address to listen at.
        port: 0 for any free one.
        clock: For the wait until it is up, and for how long a connection may take.
        knows: Whether the head of a request carries a paired browser's session. Where one address
            opens more connections than `STRANGERS_A_MINUTE`, only such are parsed.
        transport: Plain HTTP, or TLS with a certificate.
        interface: Through which connections must come in; empty for any that leads to `host`. An
            address alone also answers what another network sends to it.

    Raises:
        ConfigError: `E_CFG_PORT`: the address cannot be listened at.
    """
    from silas.channels.web import protocols  # noqa: PLC0415 - it loads uvicorn, which is slow

    connections = room_for_connections(clock)
    listening = _bind_socket(host, port, interface)
    strangers = TokenBuckets(STRANGERS_A_MINUTE, clock)

    def admit(address: str, head: bytes) -> bool:
        return strangers.take(address) or knows(head)

    ends = asyncio.Event()
    server = _server(app, ends)
    with count_repeated_errors() as repeats:
        running = asyncio.create_task(server.serve(sockets=[]))
        arrivals = Acceptor(
            listening,
            connections,
            admit,
            partial(protocols.speak_http, server),
            transport.arrivals(server),
        )
        sweeping = asyncio.create_task(_sweep(connections, repeats, clock))
        try:
            while not server.started and not running.done():
                await clock.sleep(_LOOK_SECONDS)
            arrivals.open()
            yield listening.getsockname()[1]
        finally:
            await arrivals.close()
            server.should_exit = True
            ends.set()
            await asyncio.wait([running])
            sweeping.cancel()
            await asyncio.wait([sweeping])


def _server(app: Any, ends: asyncio.Event) -> "uvicorn.Server":
    """One that listens at nothing by itself, says little of itself and takes no signals.

    By itself it looks ten times a second whether it should end, which an idle Silas pays for all
    day; here it is told so by the event, and wakes once a second for the date of its answers.
    """
    import uvicorn  # noqa: PLC0415 - only the cockpit pays for it

    from silas.channels.web import protocols  # noqa: PLC0415 - it loads uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            yield  # whoever started Silas decides when it ends

        async def main_loop(self) -> None:
            while not await self.on_tick(0):  # each tenth of its ticks writes the date
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_DATE_SECONDS):
                        await ends.wait()

    return Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=True,
            proxy_headers=False,
            http=protocols.HttpProtocol,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            ws=protocols.SocketProtocol,
            ws_max_size=MOST_FRAME_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
        )
    )


async def _sweep(connections: Connections, repeats: RepeatedErrors, clock: Clock) -> None:
    while True:
        for _ in range(_SWEEPS_A_MINUTE):
            await clock.sleep(_SWEEP_SECONDS)
            connections.sweep()
        repeats.tell()


def _bind_socket(host: str, port: int, interface: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Linux answers at an address whatever interface a packet comes in by
        if interface:
            listening.setsockopt(
                socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode() + b"\0"
            )
        listening.bind((host, port))
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        why = reason(error)
        raise ConfigError(
            f"Silas cannot listen at {host}:{port} ({why}); choose another with --port.",
            code="E_CFG_PORT",
        ) from error
    return listening
