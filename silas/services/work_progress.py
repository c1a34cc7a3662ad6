"""Who shows running work: a channel that can, or lines of text on any other."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, runtime_checkable

from silas.cards import CardChannel
from silas.errors import SilasError
from silas.language import tr
from silas.plans import WorkItem, WorkItemResult
from silas.plans.characters import show_exactly
from silas.stream.dispatch import ShowWork, as_text
from silas.stream.drafts import DraftWaits, ShowsWaiting, waits_on
from silas.stream.models import SendText
from silas.stream.scope_work import ScopeWork
from silas.types import OWNER
from silas.work.models import ENDED, SETTLED, Notify, ProgressEvent
from silas.work.progress_board import ProgressBoard
from silas.work.report import result_texts


@runtime_checkable
class ConversationTerminal(Protocol):
    """A channel beside which commands are typed."""

    @property
    def talks(self) -> bool:
        """Whether its owner talks there; a single command says by itself how its work is named."""
        ...


@runtime_checkable
class WorkDisplay(Protocol):
    """A channel with a place of its own for running work."""

    def showing(
        self, item: WorkItem, result: Callable[[str], Awaitable[WorkItemResult | None]]
    ) -> Notify:
        """Where the progress of this item goes."""
        ...


class ProgressReporter:
    """How this channel's owner learns how work is going."""

    def __init__(self, channel: CardChannel, work: ScopeWork, board: ProgressBoard) -> None:
        self._channel = channel
        self._work = work
        self._board = board

    @property
    def show(self) -> ShowWork:
        """Where the progress of an item goes."""
        channel = self._channel
        if not isinstance(channel, WorkDisplay):
            return self._progress_listener if isinstance(channel, ShowsWaiting) else self._as_text

        def show(item: WorkItem, send: SendText) -> Notify:
            del send  # it would be said twice
            notify = channel.showing(item, self._work.result)
            return _Following(item, notify, self._board).pass_on

        return show

    def _progress_listener(self, item: WorkItem, send: SendText) -> Notify:
        """Lines of text, and between them what the work does now."""
        return _Stepping(
            item, self._as_text(item, send), self._board, waits_on(self._channel)
        ).pass_on

    def _as_text(self, item: WorkItem, send: SendText) -> Notify:
        """Lines of text; what the owner's work printed and what its executor says come before the
        line that it has ended. In a terminal where he talks the command that shows all comes after.
        """
        notify = as_text(item, send)

        async def show(event: ProgressEvent) -> None:
            owners = self._work.scope_of(item.id) == OWNER
            if owners and event.status in ENDED:
                result = await self._work.result(item.id)
                for text in () if result is None else result_texts(result):
                    await send(text)
            await notify(event)
            named = owners and event.status in SETTLED
            if named and isinstance(self._channel, ConversationTerminal) and self._channel.talks:
                await send(tr("`silas show {id}` shows all of it.", id=show_exactly(item.id)))

        return show


class _Stepping:
    """Says in passing what an item does now, for as long as it runs."""

    def __init__(
        self, item: WorkItem, notify: Notify, board: ProgressBoard, waits: DraftWaits
    ) -> None:
        self._item = item
        self._notify = notify
        self._board = board
        self._waits = waits
        board.follow(item.id, self._show_change)

    async def pass_on(self, event: ProgressEvent) -> None:
        """Pass on what work tells."""
        if event.status in SETTLED:
            self._board.leave(self._item.id)
            self._waits(OWNER, self._item.id, "")
        await self._notify(event)

    def _show_change(self) -> None:
        going = self._board.going(self._item.id)
        running = [step.words for step in going.steps if step.state == "running"]
        if running:
            words = running[-1]
        elif going.phase == "attempt":
            words = tr("waiting for the model (executor)")
        else:
            words = tr("checking")
        self._waits(OWNER, self._item.id, words)


class _Following:
    """Tells a channel what is told of an item, and between that what its board says.

    Changes that come while the last one is still being told are told together.
    """

    def __init__(self, item: WorkItem, notify: Notify, board: ProgressBoard) -> None:
        self._item = item
        self._notify = notify
        self._board = board
        self._last = ProgressEvent(item.id, "running", tr("begins"))
        self._stale = False
        self._telling: asyncio.Task[None] | None = None
        board.follow(item.id, self._show_change)

    @property
    def ended(self) -> bool:
        """Whether nothing more comes."""
        return self._last.status in SETTLED

    async def pass_on(self, event: ProgressEvent) -> None:
        """Pass on what work tells, with how it is going."""
        self._last = event
        going = self._board.going(self._item.id)
        if self.ended:
            self._board.leave(self._item.id)
        await self._notify(event._replace(going=going))

    def _show_change(self) -> None:
        self._stale = True
        if self._telling is None or self._telling.done():
            self._telling = asyncio.get_running_loop().create_task(self._tell())

    async def _tell(self) -> None:
        while self._stale and not self.ended:
            self._stale = False
            going = self._board.going(self._item.id)
            running = [step.words for step in going.steps if step.state == "running"]
            words = running[-1] if running else self._last.message
            with suppress(SilasError):  # the next change is told again
                await self._notify(self._last._replace(message=words, going=going))
