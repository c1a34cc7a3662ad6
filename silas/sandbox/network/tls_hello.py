"""The server name of a TLS ClientHello (RFC 8446 4.1.2, RFC 6066 3), read before it goes on."""

from silas.sandbox.network.names import EgressRefused, Reason

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _DNS = 22, 1, 0, 0
_MAX_FRAGMENT = 1 << 14
_MAX_RECORDS = 64  # of one ClientHello; in crumbs it would keep the proxy busy, and not the sandbox
_RECORD_HEAD, _MESSAGE_HEAD = 5, 4
_VERSION_AND_RANDOM = 34


class _Fields:
    """Bytes that are taken from the front; taking more than there is means it is no TLS."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def __bool__(self) -> bool:
        return bool(self._data)

    def take(self, count: int) -> bytes:
        if count > len(self._data):
            raise EgressRefused(Reason.not_tls)
        taken, self._data = self._data[:count], self._data[count:]
        return taken

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> "_Fields":
        """A field whose length stands before it, in `size` bytes."""
        return _Fields(self.take(self.number(size)))


def server_name(data: bytes) -> str | None:
    """The host name that a client asks a TLS server for, in lower case.

    Args:
        data: What the client has sent so far, from its first byte.

    Returns:
        The name, or None while the ClientHello is not complete.

    Raises:
        Refused: This is no ClientHello, or it names no server, or more than one.
    """
    message = _message(data)
    return None if message is None else _name(_Fields(message))


def _message(data: bytes) -> bytes | None:
    """The first handshake message, put together from its records."""
    message = b""
    for _ in range(_MAX_RECORDS):
        if not data:
            return None
        length = int.from_bytes(data[3:5], "big")
        if data[0] != _HANDSHAKE or data[1:2] not in (b"", b"\x03") or length > _MAX_FRAGMENT:
            raise EgressRefused(Reason.not_tls)
        if len(data) < _RECORD_HEAD + length or len(data) < _RECORD_HEAD:
            return None
        if length == 0:
            raise EgressRefused(Reason.not_tls)
        message += data[_RECORD_HEAD : _RECORD_HEAD + length]
        data = data[_RECORD_HEAD + length :]
        if message[0] != _CLIENT_HELLO:
            raise EgressRefused(Reason.not_tls)
        end = _MESSAGE_HEAD + int.from_bytes(message[1:4], "big")
        if len(message) >= max(end, _MESSAGE_HEAD):
            return message[_MESSAGE_HEAD:end]
    raise EgressRefused(Reason.not_tls)


def _name(hello: _Fields) -> str:
    hello.take(_VERSION_AND_RANDOM)
    hello.block(1)  # session
    hello.block(2)  # cipher suites
    hello.block(1)  # compression
    names: list[bytes] = []
    extensions = hello.block(2) if hello else _Fields(b"")
    while extensions:
        kind, content = extensions.number(2), extensions.block(2)
        if kind == _SERVER_NAME:
            names += _names(content.block(2))
            if content:
                raise EgressRefused(Reason.not_tls)
    if hello:
        raise EgressRefused(Reason.not_tls)
    if len(names) != 1:
        raise EgressRefused(Reason.server_name)
    return names[0].decode("latin-1").lower()


def _names(entries: _Fields) -> list[bytes]:
    names: list[bytes] = []
    while entries:
        if entries.number(1) != _DNS:
            raise EgressRefused(Reason.server_name)
        length = entries.number(2)
        names.append(entries.take(length))
    return names
