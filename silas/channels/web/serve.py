"""The server under the cockpit: one socket, bound before anything is promised."""

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, cast

from silas.channels.web.connections import Connections, room_for_connections
from silas.channels.web.guard import MOST_HEADER_BYTES
from silas.channels.web.limits import TokenBuckets
from silas.channels.web.repeats import RepeatedErrors, repeated_errors_counted
from silas.clock import Clock
from silas.errors import ConfigError

MOST_FRAME_BYTES = 1024 * 1024
"""The largest frame that is read at all; the door says which is too long, and closes with why."""

STRANGERS_A_MINUTE = 120
"""First requests from one address that are parsed, whoever sends them."""

_WAITING = 2048  # connections that the system keeps until they are taken
_AT_ONCE = 32  # are taken in one turn of the loop: fewer than may be held, so that each is heard
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
_SWEEP_SECONDS = 1.0
_SWEEPS_A_MINUTE = 60
_LOOK_SECONDS = 0.01
_PATIENCE_SECONDS = 3  # for requests under way when Silas ends


@asynccontextmanager
async def served(
    app: Any, host: str, port: int, clock: Clock, knows: Callable[[bytes], bool]
) -> AsyncGenerator[int]:
    """Serve an ASGI application; yields the port once requests are answered.

    Args:
        app: The application.
        host: The address to listen at.
        port: 0 for any free one.
        clock: For the wait until it is up, and for how long a connection may take.
        knows: Whether the head of a request carries a paired browser's session. Where one address
            opens more connections than `STRANGERS_A_MINUTE`, only such are parsed.

    Raises:
        ConfigError: `E_CFG_PORT`: the address cannot be listened at.
    """
    import uvicorn  # noqa: PLC0415 - only the cockpit pays for it

    from silas.channels.web.protocols import ArrivalProtocol, SocketProtocol  # noqa: PLC0415

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            yield  # whoever started Silas decides when it ends

    connections = room_for_connections(clock)
    listening = _bound(host, port, connections)
    strangers = TokenBuckets(STRANGERS_A_MINUTE, clock)

    def admit(address: str, head: bytes) -> bool:
        return strangers.take(address) or knows(head)

    http = cast("type[asyncio.Protocol]", partial(ArrivalProtocol, connections, admit))
    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=True,
            proxy_headers=False,
            http=http,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            ws=SocketProtocol,
            ws_max_size=MOST_FRAME_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
            backlog=_AT_ONCE,
        )
    )
    with repeated_errors_counted() as repeats:
        running = asyncio.create_task(server.serve(sockets=[listening]))
        sweeping = asyncio.create_task(_sweep(connections, repeats, clock))
        try:
            while not server.started and not running.done():
                await clock.sleep(_LOOK_SECONDS)
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            connections.close()
            await asyncio.wait([running])
            sweeping.cancel()
            await asyncio.wait([sweeping])
            listening.close()


async def _sweep(connections: Connections, repeats: RepeatedErrors, clock: Clock) -> None:
    while True:
        for _ in range(_SWEEPS_A_MINUTE):
            await clock.sleep(_SWEEP_SECONDS)
            connections.sweep()
        repeats.tell()


class _Listening(socket.socket):
    """Takes what waits; where no file is left, it says so once a turn of the loop.

    asyncio asks on after such an error, `_AT_ONCE` times, and logs each one.
    """

    connections: Connections
    full = False

    def listen(self, backlog: int = _WAITING, /) -> None:
        """More may wait than are taken at once, which is what asyncio means by its number."""
        super().listen(max(backlog, _WAITING))

    def accept(self) -> tuple[socket.socket, Any]:
        """The next one. Raises `BlockingIOError` where none waits, or none can be taken."""
        if self.full:
            self.full = False
            raise BlockingIOError
        try:
            return super().accept()
        except OSError as error:
            if error.errno in _NO_FILES:
                self.full = True
                self.connections.drop_one()
            raise


def _bound(host: str, port: int, connections: Connections) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = _Listening(family, socket.SOCK_STREAM)
    listening.connections = connections
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(
            f"Silas cannot listen at {host}:{port} ({why}); choose another with --port.",
            code="E_CFG_PORT",
        ) from error
    return listening
