"""The server under the cockpit: one socket, bound before anything is promised."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from typing import Any

from silas.clock import Clock
from silas.errors import ConfigError

MOST_FRAME_BYTES = 1024 * 1024
"""The largest frame that is read at all; the door says which is too long, and closes with why."""

_BACKLOG = 2048
_LOOK_SECONDS = 0.01
_PATIENCE_SECONDS = 3  # for requests under way when Silas ends


@asynccontextmanager
async def served(app: Any, host: str, port: int, clock: Clock) -> AsyncGenerator[int]:
    """Serve an ASGI application; yields the port once requests are answered.

    Args:
        app: The application.
        host: The address to listen at.
        port: 0 for any free one.
        clock: For the wait until it is up.

    Raises:
        ConfigError: `E_CFG_PORT`: the address cannot be listened at.
    """
    import uvicorn  # noqa: PLC0415 - only the cockpit pays for it

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None]:
            yield  # whoever started Silas decides when it ends

    listening = _bound(host, port)
    server = Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=True,
            proxy_headers=False,
            ws="websockets-sansio",
            ws_max_size=MOST_FRAME_BYTES,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=_PATIENCE_SECONDS,
            backlog=_BACKLOG,
        )
    )
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started and not running.done():
            await clock.sleep(_LOOK_SECONDS)
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await asyncio.wait([running])
        listening.close()


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
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
