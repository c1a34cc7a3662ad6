"""Waits for the TLS handshake of a connection and for the head of its first request.

As `Arrival` does without TLS: the connection has a place among the silent ones, its five seconds,
and no parser before its head is whole and admitted.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable

from silas.channels.web.acceptor import END, MOST_HEAD, SILENT, Acceptor
from silas.channels.web.connections import ClientConnection

Speak = Callable[[ClientConnection, bytes], asyncio.Protocol]
"""The protocol that speaks HTTP on a connection of which these bytes were read already."""

_GOODBYE_SECONDS = 1.0  # for the peer's own end of TLS; nothing that was sent depends on it


class PendingTlsConnection(asyncio.Protocol):
    """A connection whose first request has not come.

    Args:
        tls: The server's certificate.
        speak: Makes what takes over.
        arrivals: Where it came in.
        one: Its socket.
        address: Whose, as limits count it.
    """

    def __init__(
        self,
        tls: ssl.SSLContext,
        speak: Speak,
        arrivals: Acceptor,
        one: socket.socket,
        address: str,
    ) -> None:
        self._tls, self._speak, self._arrivals, self._socket = tls, speak, arrivals, one
        self._head = b""
        self._transport: asyncio.Transport | None = None
        self._held = ClientConnection(arrivals.connections, address, lambda: SILENT, self._abort)
        self._shaking = arrivals.loop.create_task(self._shake_hands())
        self._shaking.add_done_callback(self._close_unbegun)
        arrivals.await_end(self._shaking)
        arrivals.connections.enter(self._held)

    async def _shake_hands(self) -> None:
        try:
            await self._arrivals.loop.connect_accepted_socket(
                lambda: self,
                self._socket,
                ssl=self._tls,
                ssl_shutdown_timeout=_GOODBYE_SECONDS,
            )
        except OSError:  # no TLS, or it is gone; the sweep ends one that says nothing
            self._held.leave()

    def _close_unbegun(self, shaking: asyncio.Task[None]) -> None:
        if self._transport is None:  # also where it was ended before it began
            self._socket.close()
        del shaking

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The handshake is done."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Gather the head; what is too long for one is for the parser to refuse."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        self._head += data
        if END not in self._head and len(self._head) <= MOST_HEAD:
            return
        if not self._arrivals.admit(self._held.address, self._head):
            self._held.leave()
            transport.abort()
            return
        self._held.abort = transport.abort
        protocol = self._speak(self._held, self._head)
        transport.set_protocol(protocol)
        protocol.connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """It went before its first request was whole."""
        del exc
        self._held.leave()

    def _abort(self) -> None:
        self._held.leave()
        if self._transport is not None:
            self._transport.abort()
        else:
            self._shaking.cancel()


def server_tls(certificate: str, key: str = "") -> ssl.SSLContext:
    """TLS 1.3 with a certificate, as every browser speaks it that can sign here.

    Args:
        certificate: The file with the certificate, and with the key where no other is named.
        key: The file with the key.

    Raises:
        OSError: A file cannot be read, or certificate and key do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["http/1.1"])

    def no_passphrase() -> str:
        return ""  # OpenSSL would ask for one at the terminal

    context.load_cert_chain(certificate, key or None, no_passphrase)
    return context
