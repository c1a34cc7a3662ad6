"""The least WebSocket client that counts: one protocol object a connection, no task, no queue.

A thousand of them cost the measuring process little, so that the figures are the server's. Frames
go out with an empty mask, which the protocol allows and which costs nothing to apply.
"""

import asyncio
import base64
import os
from collections.abc import Callable, Mapping

_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_UPGRADED = b"HTTP/1.1 101"
_PATIENCE = 30.0


def _head(opcode: int, size: int) -> bytes:
    if size < 126:
        return bytes((0x80 | opcode, 0x80 | size)) + bytes(4)
    return bytes((0x80 | opcode, 0x80 | 126)) + size.to_bytes(2, "big") + bytes(4)


class Line(asyncio.Protocol):
    """One connection.

    Args:
        told: Called with the bytes of every text frame.

    Attributes:
        frames: How many text frames came in.
        closed: The code it was closed with; 0 while it is open, 1006 where it broke off.
    """

    def __init__(self, told: Callable[[bytes], None]) -> None:
        self._told = told
        self._read = bytearray()
        self._open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._upgraded = False
        self.frames = 0
        self.closed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = self.closed or 1006
        if not self._open.done():
            self._open.set_exception(ConnectionError(f"refused: {bytes(self._read[:200])!r}"))

    def data_received(self, data: bytes) -> None:
        self._read += data
        if not self._upgraded and not self._answered():
            return
        while (frame := self._next()) is not None:
            opcode, payload = frame
            if opcode == _TEXT:
                self.frames += 1
                self._told(payload)
            elif opcode == _PING:
                self._transport.write(_head(_PONG, len(payload)) + payload)
            elif opcode == _CLOSE:
                self.closed = int.from_bytes(payload[:2], "big") or 1005

    def _answered(self) -> bool:
        """Whether the whole answer to the upgrade is here, and it is a yes."""
        end = self._read.find(b"\r\n\r\n")
        if end < 0 or not self._read.startswith(_UPGRADED):
            return False
        del self._read[: end + 4]
        self._upgraded = True
        self._open.set_result(None)
        return True

    def _next(self) -> tuple[int, bytes] | None:
        read = self._read
        if len(read) < 2:
            return None
        size, start = read[1], 2
        if size >= 126:
            start = 4 if size == 126 else 10
            size = int.from_bytes(read[2:start], "big")
        if len(read) < start + size or start > len(read):
            return None
        opcode, payload = read[0] & 0x0F, bytes(read[start : start + size])
        del read[: start + size]
        return opcode, payload

    def say(self, text: str) -> None:
        """Send one text frame."""
        payload = text.encode()
        self._transport.write(_head(_TEXT, len(payload)) + payload)

    def leave(self) -> None:
        """Close without ceremony."""
        self._transport.abort()

    async def upgraded(self, request: bytes) -> None:
        """Until the server has taken the upgrade. Raises `ConnectionError` where it did not."""
        self._transport.write(request)
        await asyncio.wait_for(self._open, _PATIENCE)


async def connect(
    port: int, path: str, headers: Mapping[str, str], told: Callable[[bytes], None]
) -> Line:
    """Open one connection on loopback."""
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(lambda: Line(told), "127.0.0.1", port)
    given = {
        "Host": f"127.0.0.1:{port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        **headers,
    }
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    await line.upgraded("\r\n".join([*lines, "", ""]).encode())
    return line
