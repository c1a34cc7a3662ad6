"""What uvicorn speaks on each connection, held in `Connections`.

Imported only where the cockpit is served: uvicorn takes 50 ms to load.
"""

import asyncio
import socket
from abc import abstractmethod
from asyncio import BaseTransport, Protocol
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import Server, ServerState

from silas.channels.web.connections import (
    CONNECTION,
    ClientConnection,
    ConnectionStage,
    ConnectionState,
)


async def speak_http(
    server: Server, one: socket.socket, held: ClientConnection, first: bytes
) -> asyncio.Transport:
    """Speak HTTP on a socket of which these first bytes were read already."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_accepted_socket(
        lambda: choose_protocol(server, held, first), one
    )
    return transport


def choose_protocol(server: Server, held: ClientConnection, first: bytes) -> "HttpProtocol":
    """What speaks HTTP on a connection of which these first bytes were read already."""
    state = {**server.lifespan.state, CONNECTION: held}
    return HttpProtocol(first, server.config, server.server_state, state)


class HeldProtocol(Protocol):
    """Beside a protocol of uvicorn's: its connection is held as before, in other stages."""

    app_state: dict[str, Any]

    @abstractmethod
    def look(self) -> ConnectionState:
        """What the connection does now."""

    def connection_made(self, transport: BaseTransport) -> None:
        """From here this protocol says what the connection does."""
        super().connection_made(transport)
        self.app_state[CONNECTION].hand_over(self.look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Held no more."""
        self.app_state[CONNECTION].leave()
        super().connection_lost(exc)


class HttpProtocol(HeldProtocol, H11Protocol):  # type: ignore[misc] - uvicorn narrows the transport
    """Requests on one connection.

    Args:
        first: What was read of it.
        config, server_state, app_state: uvicorn's own.
    """

    def __init__(
        self, first: bytes, config: Config, server_state: ServerState, app_state: dict[str, Any]
    ) -> None:
        super().__init__(config, server_state, app_state)
        self._first = first

    def connection_made(self, transport: BaseTransport) -> None:
        """As `HeldProtocol`; then hear what was read already."""
        super().connection_made(transport)
        self.data_received(self._first)

    def on_response_complete(self) -> None:
        """Go on to the next request, but for a stranger's who did not wait for his answer.

        No browser sends a second request before the first is answered, and a crowd could have
        thousands answered that way.
        """
        known, more = self.app_state[CONNECTION].known, self.conn.trailing_data[0]
        if more and not known and self.conn.their_state is h11.DONE:
            self.transport.close()
        super().on_response_complete()

    def look(self) -> ConnectionState:
        """See `HeldProtocol`."""
        if self.transport.is_closing():
            return ConnectionState(ConnectionStage.closing)
        if self.cycle is None:  # pyright: ignore[reportUnnecessaryComparison] - until a request
            return ConnectionState(ConnectionStage.silent)
        if self.cycle.response_complete:
            return ConnectionState(ConnectionStage.idle, self.cycle)
        unread = self.flow.write_paused
        return ConnectionState(
            ConnectionStage.unread if unread else ConnectionStage.answering, self.cycle
        )


class SocketProtocol(HeldProtocol, WebSocketsSansIOProtocol):
    """A live connection, which was an upgrade request before."""

    def look(self) -> ConnectionState:
        """See `HeldProtocol`."""
        if self.transport.is_closing():
            return ConnectionState(ConnectionStage.closing)
        if not self.handshake_complete:
            return ConnectionState(ConnectionStage.answering, self)
        return ConnectionState(
            ConnectionStage.talking if self.writable.is_set() else ConnectionStage.unread, self
        )
