"""A socket behind the door: silent until the page token came, and dead when its session is."""

import json
from typing import Any

from pydantic import ValidationError

from silas.channels.web.asgi import Message, Receive, Send, wait_within
from silas.channels.web.events import RefusedEvent
from silas.channels.web.limits import WebLimits
from silas.channels.web.pages import UNAUTHENTICATED
from silas.channels.web.pairing import WebDoor
from silas.channels.web.session import WebSession
from silas.channels.web.wire import Auth

AUTH_SECONDS = 5.0
"""How long a socket may stay without its page token (spec 8.1)."""

MOST_FRAME = 256 * 1024
"""Characters of the longest frame: 20,000 of a draft, each as an escape, and what is around it."""

NOT_PAIRED, NOT_TEXT, TOO_BIG = UNAUTHENTICATED, 1003, 1009
"""Close codes: who are you (spec 8.1), only text is spoken, too much at once."""


class Handshake:
    """Wraps `receive` and `send` of one WebSocket whose cookie is a session's.

    1 the first frame is the page token's, within `AUTH_SECONDS`, else the socket is closed; 2 until
    then nothing goes out; 3 a frame that is too long or not text closes it; 4 a frame over the
    limit is answered with an error and does not come in; 5 a session that has ended closes it.
    """

    def __init__(
        self,
        session: WebSession,
        door: WebDoor,
        limits: WebLimits,
        address: str,
        receive: Receive,
        send: Send,
    ) -> None:
        self._session = session
        self._door = door
        self._limits = limits
        self._address = address
        self._receive = receive
        self._send = send
        self._connected = False
        self._let_in = False
        self._closed = 0

    async def receive(self) -> Message:
        """The next thing that the socket's own code may know of."""
        if self._closed:
            return self._disconnect_message()
        if not self._connected:
            self._connected = True
            return await self._receive()
        message = await (self._frame() if self._let_in else self._receive_first())
        return message if message is not None else self._disconnect_message()

    async def send(self, message: Message) -> None:
        """Out it goes, if the page token came and the session stands."""
        if self._closed:
            return
        kind = message["type"]
        if kind == "websocket.send":
            if not self._let_in:
                return
            if not self._door.standing(self._session):
                await self._close(NOT_PAIRED)
                return
        if kind == "websocket.close":
            self._closed = int(message.get("code") or 1000)
        await self._send(message)

    async def _receive_first(self) -> Message | None:
        message = await wait_within(self._door.clock, AUTH_SECONDS, self._receive())
        if message is None:
            await self._refuse("no page token in time")
        elif message["type"] == "websocket.disconnect" or self._is_page(message):
            self._let_in = message["type"] != "websocket.disconnect"
            return message
        else:
            await self._refuse("a wrong page token")
        return None

    def _is_page(self, message: Message) -> bool:
        text = message.get("text")
        if not isinstance(text, str) or len(text) > MOST_FRAME:
            return False
        try:
            auth = Auth.model_validate_json(text)
        except ValidationError:
            return False
        return self._door.page_ok(self._session, auth.token)

    async def _frame(self) -> Message | None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return message
            text: Any = message.get("text")
            if not isinstance(text, str):
                return await self._close(NOT_TEXT)
            if len(text) > MOST_FRAME:
                await self._note("web.refused", "a frame that is too long")
                return await self._close(TOO_BIG)
            if not self._door.alive(self._session):
                return await self._close(NOT_PAIRED)
            over = self._limits.message(self._session.id, self._address)
            if not over:
                return message
            await self._note("web.limited", over)
            await self.send({"type": "websocket.send", "text": _too_many(text)})

    async def _refuse(self, reason: str) -> None:
        await self._note("web.refused", reason)
        await self._close(NOT_PAIRED)

    async def _note(self, event: str, reason: str) -> None:
        await self._door.refusals.note(event, reason, self._address, device=self._session.device)

    async def _close(self, code: int) -> None:
        if not self._closed:
            self._closed = code
            await self._send({"type": "websocket.close", "code": code})

    def _disconnect_message(self) -> Message:
        return {"type": "websocket.disconnect", "code": self._closed or 1000}


def _too_many(text: str) -> str:
    """The answer to a frame over the limit; it names what it was, where that can be read."""
    try:
        frame: Any = json.loads(text)
    except (ValueError, RecursionError):
        frame = None
    known: Any = frame.get("id") or frame.get("request_id") if isinstance(frame, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - any JSON
    return RefusedEvent(
        id=known[:128] if isinstance(known, str) else "",
        code="E_CHANNEL_LIMIT",
        message="That was too much in one minute; wait a moment and send it again.",
    ).model_dump_json()
