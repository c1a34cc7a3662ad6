"""The body of a request behind the guard: read whole before anybody sees it, or as it comes."""

from silas.channels.web.asgi import Message, Receive, wait_within
from silas.channels.web.refusal import HttpRefusal
from silas.clock import Clock

BODY_SECONDS = 10.0
"""How long a body may take to arrive, and each piece of one that is handed on as it comes."""

GONE = HttpRefusal(400, "E_CHANNEL_GONE", "The request broke off.", "")
"""Where whoever sent it is no more there."""


async def read_whole(receive: Receive, most: int) -> bytes | HttpRefusal:
    """The body, or the first bytes of one that is longer than `most`."""
    pieces, length, more = list[bytes](), 0, True
    while more and length <= most:
        message = await receive()
        if message["type"] != "http.request":
            return GONE  # what came of it is not what was meant
        more = bool(message.get("more_body"))
        piece: bytes = message.get("body", b"")
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """What the routes read: the body whole, and then only whether somebody is still there."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def as_it_comes(receive: Receive, most: int, clock: Clock) -> Receive:
    """What the routes read of a file: each piece in its time, and it breaks off where it is more
    than `most`.
    """
    length, more = 0, True

    async def piece() -> Message:
        nonlocal length, more
        message = await wait_within(clock, BODY_SECONDS, receive()) if more else await receive()
        if message is not None and message["type"] == "http.request":
            length += len(message.get("body", b""))
            more = bool(message.get("more_body"))
        return {"type": "http.disconnect"} if message is None or length > most else message

    return piece
