"""What uvicorn speaks on each connection, held in `Connections`, behind a first look at it.

Imported only where the cockpit is served: uvicorn takes 50 ms to load.
"""

from asyncio import AbstractEventLoop, BaseTransport, Protocol, Transport
from collections.abc import Callable
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

from silas.channels.web.connections import CONNECTION, Connection, Connections, Look, Stage
from silas.channels.web.limits import address_of

Admit = Callable[[str, bytes], bool]
"""Whether a request's head from this address is parsed at all."""

_END, _MOST_HEAD = b"\r\n\r\n", 16 * 1024


class ArrivalProtocol(Protocol):
    """Waits for the head of the first request; only then there is a parser and a task.

    Args:
        connections: Where it is held.
        admit: Asked once, with the head.
        config, server_state, app_state, _loop: uvicorn's own.
    """

    def __init__(
        self,
        connections: Connections,
        admit: Admit,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: AbstractEventLoop | None = None,
    ) -> None:
        self._connections = connections
        self._admit = admit
        self._uvicorn = (config, server_state, app_state, _loop)
        self._head = bytearray()

    def connection_made(self, transport: BaseTransport) -> None:
        """Held from here."""
        assert isinstance(transport, Transport)
        self._transport = transport
        client = get_remote_addr(transport)
        self._held = Connection(
            self._connections, address_of(client), lambda: Look(Stage.silent), transport.abort
        )
        self._connections.enter(self._held)

    def data_received(self, data: bytes) -> None:
        """Once the head is whole, or too long to be one, it is parsed or the connection ends."""
        if self._transport.is_closing():
            return
        self._head += data
        if _END not in self._head and len(self._head) <= _MOST_HEAD:
            return
        head = bytes(self._head)
        if not self._admit(self._held.address, head):
            self._transport.abort()
            return
        config, server_state, app_state, loop = self._uvicorn
        protocol = HttpProtocol(config, server_state, {**app_state, CONNECTION: self._held}, loop)
        self._transport.set_protocol(protocol)
        protocol.connection_made(self._transport)
        protocol.data_received(head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Held no more."""
        self._held.leave()


class HttpProtocol(H11Protocol):
    """Requests on one connection."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Held as before, in other stages."""
        super().connection_made(transport)
        self.app_state[CONNECTION].hand_over(self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Held no more."""
        self.app_state[CONNECTION].leave()
        super().connection_lost(exc)

    def _look(self) -> Look:
        if self.transport.is_closing():
            return Look(Stage.closing)
        if self.cycle is None:  # pyright: ignore[reportUnnecessaryComparison] - until a request
            return Look(Stage.silent)
        if self.cycle.response_complete:
            return Look(Stage.idle, self.cycle)
        unread = self.flow.write_paused
        return Look(Stage.unread if unread else Stage.answering, self.cycle)


class SocketProtocol(WebSocketsSansIOProtocol):
    """A live connection, which was an upgrade request before."""

    def connection_made(self, transport: BaseTransport) -> None:
        """Held as before, in other stages."""
        super().connection_made(transport)
        self.app_state[CONNECTION].hand_over(self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        """Held no more."""
        self.app_state[CONNECTION].leave()
        super().connection_lost(exc)

    def _look(self) -> Look:
        if self.transport.is_closing():
            return Look(Stage.closing)
        if not self.handshake_complete:
            return Look(Stage.answering, self)
        return Look(Stage.talking if self.writable.is_set() else Stage.unread, self)
