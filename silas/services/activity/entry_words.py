"""An entry of the record in its owner's words: what it names by an id is told by its title."""

from collections.abc import Callable
from typing import Any, NamedTuple

from silas.audit.narrate import narrate
from silas.audit.reader import ReadEntry
from silas.context.conversation_store import ConversationRow
from silas.errors import SilasError
from silas.language import tr
from silas.language.titles import TOOL_TITLES, tool_title
from silas.plans import WaitingPlans, WorkItem, WorkItemStore
from silas.reminders.models import Reminder

_APPROVED = "This is the plan as it is kept; why it was proposed is not kept with it."


class KeptPlan(NamedTuple):
    """A plan that an entry is about, and why it was proposed."""

    item: WorkItem
    rationale: str


class EntryWords:
    """Tells entries of the record.

    Args:
        store: The plans that were approved.
        waiting: Those that wait.
        conversation: A conversation by its id; raises where it was deleted.
        reminder: A reminder by its id; None where there is none.
        redact: Takes secrets out of a text.
    """

    def __init__(
        self,
        store: WorkItemStore,
        waiting: WaitingPlans,
        conversation: Callable[[str], ConversationRow],
        reminder: Callable[[str], Reminder | None],
        redact: Callable[[str], str],
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._conversation = conversation
        self._reminder = reminder
        self._redact = redact
        self._titles: dict[str, str] = {}

    async def words(self, told: ReadEntry) -> str:
        """One sentence on one line, without secrets."""
        item_id = entry_item(told)
        named = {"work_item_id": await self.title(item_id)} if item_id else {}
        if isinstance(talk := told.data.get("conversation"), str):
            named["conversation"] = self._conversation_title(talk)
        if isinstance(reminder := told.data.get("reminder_id"), str):
            named["reminder_id"] = self._reminder_title(reminder)
        tool = told.data.get("tool")
        if isinstance(tool, str) and tool in TOOL_TITLES:
            named["tool"] = tr("“{words}”", words=tool_title(tool))
        return self._redact(narrate(told.event, {**told.data, **named}))

    async def title(self, item_id: str) -> str:
        """A work item's title in quotes, or its id where that is all there is."""
        if item_id not in self._titles:
            plan = await self.plan(item_id)
            if plan is None:
                return item_id
            self._titles[item_id] = plan.item.title
        return tr("“{words}”", words=self._titles[item_id])

    async def plan(self, item_id: str) -> KeptPlan | None:
        """A plan that is kept; None where it is not, or cannot be read."""
        if not item_id:
            return None
        try:
            item = await self._store.get(item_id)
            if item is not None:
                return KeptPlan(item, _APPROVED)
            waiting = [one for one in await self._waiting.all() if one.item.id == item_id]
        except SilasError:  # a damaged row must not hide what the record says
            return None
        return KeptPlan(waiting[0].item, waiting[0].rationale) if waiting else None

    def _conversation_title(self, conversation: str) -> str:
        """A conversation's title in quotes, or its id where it was deleted."""
        try:
            return tr("“{words}”", words=self._conversation(conversation).called)
        except SilasError:
            return conversation

    def _reminder_title(self, reminder_id: str) -> str:
        """What a reminder says in quotes, or its id where its words were forgotten."""
        try:
            found = self._reminder(reminder_id)
        except SilasError:
            return reminder_id
        if found is None or not found.text:
            return reminder_id
        return tr("“{words}”", words=found.text)


def entry_item(told: ReadEntry) -> str:
    """Which work item an entry is about; empty where it is about none."""
    for name in ("work_item_id", "task"):
        value: Any = told.data.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
