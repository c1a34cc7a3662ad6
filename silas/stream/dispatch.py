"""Handing approved work to the executor, its progress told as it comes (5.1 step 12)."""

from collections.abc import Awaitable, Callable

from silas.agents.call_scope import calls_of
from silas.language import tr, tr_later
from silas.plans import WaitingPlan, WorkItem, WorkItemResult
from silas.stream.models import SendText
from silas.types import OWNER, whose
from silas.work.end_words import tell_end
from silas.work.executor import WorkItemExecutor
from silas.work.models import Notify, ProgressEvent

_WORDS = {
    "running": tr_later("working"),
    "verification_failed": tr_later("not yet right"),
    "done": tr_later("done"),
    "stuck": tr_later("stuck"),
    "blocked": tr_later("blocked"),
    "failed": tr_later("failed"),
}


_OVER = frozenset({"done", "stuck", "blocked", "failed"})


def progress_line(event: ProgressEvent) -> str:
    """One line for a person: what stands and why."""
    status = tr(_WORDS[event.status]) if event.status in _WORDS else event.status
    told = event.message if event.status == "running" else tell_end(event.message)
    return f"{status}: {told}"


ShowWork = Callable[[WorkItem, SendText], Notify]
"""Where the progress of an item goes: to whoever can show it as such, else as lines of text."""


def as_text(item: WorkItem, send: SendText) -> Notify:
    """Progress as lines."""
    del item

    async def notify(event: ProgressEvent) -> None:
        await send(progress_line(event))

    return notify


WorkEnded = Callable[[WorkItem], Awaitable[WaitingPlan | None]]
"""Told that work has ended, however it did; gives the plan in its place to ask about, if any."""

AskAbout = Callable[[WaitingPlan, "Dispatcher"], bool]
"""Asks about a plan that waits, outside of a turn; after a yes the dispatcher runs it."""


AskedAt = Callable[[str], str]
"""The id of work to the address of the conversation that it came from."""


class Dispatcher:
    """Starts work in the background; a turn never waits for it."""

    def __init__(
        self,
        executor: WorkItemExecutor,
        show: ShowWork,
        ended: WorkEnded,
        ask_about: AskAbout,
        asked_at: AskedAt,
    ) -> None:
        self._executor = executor
        self._asked_at = asked_at
        self._show = show
        self._ended = ended
        self._ask_about = ask_about

    def address_of(self, work_item_id: str) -> str:
        """The conversation of the owner's in which he is told of this work."""
        address = self._asked_at(work_item_id)
        return address if whose(address) == OWNER else OWNER

    def dispatch(self, item: WorkItem, send: SendText) -> None:
        """Return at once; every progress event is shown."""
        with calls_of(self._asked_by(item), waits=True):
            self._executor.dispatch(item, self._progress_listener(item, send))

    async def execute(self, item: WorkItem, send: SendText) -> WorkItemResult:
        """Run an item to its end; every progress event is shown."""
        with calls_of(self._asked_by(item), waits=True):
            return await self._executor.execute(item, self._progress_listener(item, send))

    def _asked_by(self, item: WorkItem) -> str:
        """Whose allowance work uses, whoever approved it: that of whoever asked for it, or for
        what it is part of.
        """
        names = (item.id, item.parent, item.spawned_by)
        asked = [whose(self._asked_at(name)) for name in names if name is not None]
        return next((scope for scope in asked if scope != OWNER), OWNER)

    async def tell(self, item: WorkItem, send: SendText, result: WorkItemResult) -> None:
        """Show how an item ended whose changes the owner decided about after its run."""
        event = ProgressEvent(item.id, result.status.value, result.summary, item.attempts)
        await self._progress_listener(item, send)(event)

    def _progress_listener(self, item: WorkItem, send: SendText) -> Notify:
        notify = self._show(item, send)

        async def pass_on(event: ProgressEvent) -> None:
            await notify(event)
            if event.status in _OVER:
                another = await self._ended(item)
                if another is not None:
                    self._ask_about(another, self)

        return pass_on
