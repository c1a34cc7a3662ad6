"""Who shows running work: a channel that can, or lines of text on any other."""

from collections.abc import Awaitable, Callable
from typing import Protocol, runtime_checkable

from silas.cards import CardChannel
from silas.plans import WorkItem, WorkItemResult, WorkItemStore
from silas.stream.dispatch import ShowWork, as_text
from silas.stream.models import Send
from silas.work.models import Notify


@runtime_checkable
class ShowsWork(Protocol):
    """A channel with a place of its own for running work."""

    def showing(
        self, item: WorkItem, result: Callable[[str], Awaitable[WorkItemResult | None]]
    ) -> Notify:
        """Where the progress of this item goes."""
        ...


def shown_on(channel: CardChannel, store: WorkItemStore) -> ShowWork:
    """How this channel's owner learns how work is going."""
    if not isinstance(channel, ShowsWork):
        return as_text

    def show(item: WorkItem, send: Send) -> Notify:
        del send  # it would be said twice
        return channel.showing(item, store.get_result)

    return show
