"""The live connection of a page: who it is, what it missed, what it says (spec 8.1)."""

import asyncio
from contextlib import suppress
from typing import Protocol

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from silas.channels.web.channel import WebChannel
from silas.channels.web.conversations import open_conversation, shown_conversations
from silas.channels.web.events import Ack, StreamState, WaitingPlanView
from silas.channels.web.forgotten_content import ForgottenContent
from silas.channels.web.pages import UNAUTHENTICATED, ConnectedPage
from silas.channels.web.record_rule import FRAMES
from silas.channels.web.session import WebSession
from silas.channels.web.wire import Auth, Inbound, Message, Ping, SecureInputCompleted, inbound
from silas.clock import Clock
from silas.language import COCKPIT, said_at, spoken_language

MOST_SENT_AGAIN = 200
"""How much of the conversation a page gets when it connects; older parts are asked for."""

_MOST_MISTAKES = 20
_POLICY = 1008  # why a page that makes nothing but mistakes is let go
_GONE = (WebSocketDisconnect, RuntimeError, OSError)
"""What reading and writing raise where the connection is no more."""

_NO_FRAME = "Silas did not understand what this page sent; reload it."
_SECOND_AUTH = "This connection has said who it is already."


class PageStatus(Protocol):
    """What a page must know besides the conversation and the cards."""

    async def waiting(self) -> tuple[WaitingPlanView, ...]:
        """Plans that wait for their owner."""
        ...

    def stop_words(self) -> str:
        """Words about an emergency stop in force; empty when there is none."""
        ...

    async def compare_seen(self, head: str, device: str) -> None:
        """Compare the record with the newest signed head that a device was told."""
        ...

    def record(self) -> tuple[str, str]:
        """Words where the record was changed, and its newest signed head; empty where none."""
        ...

    @property
    def runbook(self) -> bool:
        """Whether no language model is configured."""
        ...

    async def onboarding(self) -> bool:
        """Whether the first-run cards should be shown."""
        ...


class Sockets:
    """Serves the live connections behind the guard, which has heard the page token already.

    Args:
        channel: Where messages and answers go.
        standing: What a page must know when it connects.
        withholding: Keeps back what was forgotten.
        clock: The one that signatures are fresh by.
    """

    def __init__(
        self,
        channel: WebChannel,
        standing: PageStatus,
        withholding: ForgottenContent,
        clock: Clock,
    ) -> None:
        self._channel = channel
        self._standing = standing
        self._withholding = withholding
        self._clock = clock

    async def serve(self, websocket: WebSocket) -> None:
        """One connection from its first frame to its end."""
        session: WebSession = websocket.state.session
        await websocket.accept()
        try:
            first = _parse_frame(await _frame_of(websocket))
        except WebSocketDisconnect:
            return
        if not isinstance(first, Auth):  # no guard stands before this
            await websocket.close(UNAUTHENTICATED)
            return
        if first.head:
            await self._standing.compare_seen(first.head, session.device)
        page = ConnectedPage(session)
        waiting, first_run = await self._standing.waiting(), await self._standing.onboarding()
        await self._withholding.look()
        page.give(self._state(session, first, waiting, first_run).model_dump_json())
        if first.after:  # else it has nothing to replace
            page.give(self._withholding.all().model_dump_json())
        self._channel.pages.enter(page)
        writing = asyncio.create_task(_write(websocket, page))
        try:
            await self._read(websocket, page)
            if page.closing is not None:
                await asyncio.wait([writing])
        finally:
            self._channel.pages.leave(page)
            writing.cancel()
            await asyncio.wait([writing])

    def _state(
        self,
        session: WebSession,
        first: Auth,
        waiting: tuple[WaitingPlanView, ...],
        first_run: bool,
    ) -> StreamState:
        """The same for every device; made in one step with entering, so that nothing is missed."""
        channel = self._channel
        changed, head = self._standing.record()
        newest = channel.transcript.newest()
        # a page that knows more than there is has another Silas's conversation
        after = first.after if first.after <= newest else 0
        where = open_conversation(channel.places.conversations, first.conversation)
        if where != first.conversation:  # what the page has is of another one
            after = 0
        part = channel.transcript.after(after, MOST_SENT_AGAIN, where)
        return StreamState(
            level=session.level,
            device=session.device,
            now=self._clock.now(),
            seq=newest,
            complete=part.complete and after == first.after,
            transcript=part.kept,
            cards=channel.cards,
            running=channel.running,
            waiting=waiting,
            stopped=said_at(COCKPIT, self._standing.stop_words()),
            runbook=self._standing.runbook,
            onboarding=first_run,
            coming=channel.coming.all,
            answering=channel.coming.answering,
            changed=changed,
            head=head,
            conversation=where,
            conversations=shown_conversations(channel.places.conversations),
            asked_in=channel.asked_in,
            answering_in=channel.coming.answering_in,
            language=spoken_language(),
        )

    async def _read(self, websocket: WebSocket, page: ConnectedPage) -> None:
        """Take what comes until the connection is closed, by them or by us.

        No task for a frame, nothing to wait for beside it, and what it is answered with is written
        here: an acknowledgement goes out one turn of the loop after what it is for came in, however
        much else there is to do.
        """
        mistakes = 0
        with suppress(WebSocketDisconnect):
            while mistakes < _MOST_MISTAKES:
                if not await self._take_frame(page, await _frame_of(websocket)):
                    mistakes += 1
                with suppress(*_GONE):  # then there is nothing more to read, either
                    await page.answer(websocket.send_text)
            page.close(_POLICY)

    async def _take_frame(self, page: ConnectedPage, text: str) -> bool:
        """Whether a frame was understood; a refused answer is no mistake of the page's."""
        frame = _parse_frame(text)
        match frame:
            case None:
                self._channel.refuse(page, "", "E_CHANNEL_FRAME", _NO_FRAME)
                return False
            case Auth():
                self._channel.refuse(page, "", "E_CHANNEL_FRAME", _SECOND_AUTH)
                return False
            case _ if frame.type not in FRAMES and (changed := self._standing.record()[0]):
                self._channel.refuse(page, "", "E_STOPPED_RECORD", changed)
            case Ping():
                page.give(Ack(id=frame.id).model_dump_json())
            case SecureInputCompleted():
                self._channel.secret_form_closed(frame.ref_id, stored=frame.success)
            case Message():
                await self._channel.take_message(page, frame)
            case _:
                await self._channel.take_answer(page, frame)
        return True


def _parse_frame(text: str) -> Inbound | None:
    try:
        return inbound.validate_json(text)
    except ValidationError:
        return None


async def _frame_of(websocket: WebSocket) -> str:
    """The next text frame. Raises `WebSocketDisconnect`; a binary frame is no frame of ours."""
    received = await websocket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code") or 1000)
    return received.get("text") or ""


async def _write(websocket: WebSocket, page: ConnectedPage) -> None:
    """Send what waits for a page, in order, until it is closed or gone."""
    try:
        with suppress(*_GONE):  # it says where it was when it comes back
            while await page.stirs():
                await page.write(websocket.send_text)
            await websocket.close(page.closing or 1000)
    finally:
        page.told.set()
