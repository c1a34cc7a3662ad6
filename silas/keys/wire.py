"""What passes between Silas and a signer apart: one question and one answer a connection.

A frame is four bytes of length and a canonical JSON object. The private key, the confirmation and
its code are never in one.
"""

import asyncio
import json
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from silas.canonical import canonical_bytes
from silas.errors import ConfigError

LARGEST = 4 * 1024 * 1024  # bytes of one frame; the largest plan is far smaller
_LONGEST_PATH = 107  # bytes; what the kernel takes as the address of a Unix socket
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid as SO_PEERCRED has them
_LENGTH = struct.Struct(">I")


class Peer(NamedTuple):
    """Who made the other end of a connection, as the kernel says."""

    pid: int
    uid: int


class BadFrame(ValueError):
    """What came is no frame of ours."""


def peer_of(connection: Any) -> Peer:
    """The process at the other end of a Unix socket at the moment it connected."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Peer(pid, uid)


def frame(document: dict[str, Any]) -> bytes:
    """A document on its way."""
    body = canonical_bytes(document)
    return _LENGTH.pack(len(body)) + body


def body_length(head: bytes) -> int:
    """How many bytes follow the four of the head.

    Raises:
        BadFrame: More than anybody may send.
    """
    (length,) = _LENGTH.unpack(head)
    if length > LARGEST:
        raise BadFrame("too long")
    return length


def document_of(body: bytes) -> dict[str, str]:
    """What a frame says: names and texts, nothing else.

    Raises:
        BadFrame: It says something else.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadFrame("not JSON") from error
    if not isinstance(said, dict):
        raise BadFrame("not an object")
    members: dict[Any, Any] = said  # pyright: ignore[reportUnknownVariableType] - any JSON
    if not all(isinstance(value, str) for value in members.values()):
        raise BadFrame("not texts")
    return members


async def read_frame(reader: asyncio.StreamReader) -> dict[str, str]:
    """The next document of a connection.

    Raises:
        BadFrame: It is none of ours, or the connection ended within it.
    """
    try:
        return document_of(await reader.readexactly(body_length(await reader.readexactly(4))))
    except asyncio.IncompleteReadError as error:
        raise BadFrame("broken off") from error


def ask_now(
    place: Path, document: dict[str, Any], seconds: float, admit: Callable[[Peer], None]
) -> dict[str, str]:
    """Send one document to a socket and wait for the answer.

    Args:
        place: The socket.
        document: What is asked.
        seconds: How long each step of it may take.
        admit: Sees who listens before anything is sent, and raises where it must not be.

    Raises:
        OSError: Nobody is there, or no answer came in time.
        BadFrame: What came is no answer.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(os.fspath(check_address(place)))
        admit(peer_of(connection))
        connection.sendall(frame(document))
        return document_of(_exactly(connection, body_length(_exactly(connection, 4))))


def _exactly(connection: socket.socket, length: int) -> bytes:
    found = b""
    while len(found) < length:
        piece = connection.recv(length - len(found))
        if not piece:
            raise BadFrame("broken off")
        found += piece
    return found


def check_address(place: Path) -> Path:
    """The address of a socket, if the kernel takes it. Raises `ConfigError` otherwise."""
    if len(os.fsencode(place)) > _LONGEST_PATH:
        raise ConfigError(
            f"The path of the signer's socket is longer than {_LONGEST_PATH} bytes ({place}); set "
            "a shorter `keys.socket`.",
            code="E_CFG_SIGNER",
        )
    return place
