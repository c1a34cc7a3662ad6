"""Handing approved work to the executor, its progress told as it comes (5.1 step 12)."""

from silas.plans import WorkItem
from silas.stream.models import Send
from silas.work.executor import WorkItemExecutor
from silas.work.models import ProgressEvent

_WORDS = {
    "running": "working",
    "verification_failed": "not yet right",
    "done": "done",
    "stuck": "stuck",
    "blocked": "blocked",
    "failed": "failed",
}


def progress_line(event: ProgressEvent) -> str:
    """One line for a person: what stands and why."""
    return f"{_WORDS.get(event.status, event.status)}: {event.message}"


class Dispatcher:
    """Starts work in the background; a turn never waits for it."""

    def __init__(self, executor: WorkItemExecutor) -> None:
        self._executor = executor

    def dispatch(self, item: WorkItem, send: Send) -> None:
        """Return at once; every progress event goes to `send`."""

        async def notify(event: ProgressEvent) -> None:
            await send(progress_line(event))

        self._executor.dispatch(item, notify)
