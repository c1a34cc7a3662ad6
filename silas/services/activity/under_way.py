"""What runs and what waits for the owner, as an answer."""

from typing import Final

from silas.language import tr, tr_later
from silas.plans import WaitingPlans, WorkItemStatus, WorkItemStore, show
from silas.plans.models import WorkItemType
from silas.services.work import waits_words
from silas.work.changes.held_store import HeldStore

_MOST: Final = 10  # lines of each
_NOTHING: Final = tr_later("Nothing runs, and nothing waits for you.")


class UnderWay:
    """Tells what is under way; nothing here changes anything.

    Args:
        store: The plans that were approved.
        waiting: Those that wait for a yes.
        held: Changes that wait for one.
    """

    def __init__(self, store: WorkItemStore, waiting: WaitingPlans, held: HeldStore) -> None:
        self._store = store
        self._waiting = waiting
        self._held = held

    async def words(self) -> str:
        """What runs, then what waits for a yes, a line each; a task of a project is not named."""
        running = [
            item
            for item in await self._store.list_by_status(WorkItemStatus.running)
            if not item.parent and item.type is not WorkItemType.goal
        ]
        asked = [one.item.title for one in await self._waiting.all()]
        asked += [one.title for one in self._held.all()]
        lines = list[str]()
        if running:
            titles = [
                " ".join([tr("“{words}”", words=show(item.title)), waits_words(item, self._store)])
                for item in running
            ]
            lines += [tr("Running:"), *_lines(titles)]
        if asked:
            titles = [tr("“{words}”", words=show(title)) for title in asked]
            lines += [tr("Waiting for your yes:"), *_lines(titles)]
        return "\n".join(lines) if lines else tr(_NOTHING)


def _lines(titles: list[str]) -> list[str]:
    shown = [f"- {title}".rstrip() for title in titles[:_MOST]]
    more = len(titles) - len(shown)
    return [*shown, tr("{more} more; “Work” shows them.", more=more)] if more else shown
