"""Tells reminders when they are due: one message, on record, without any model (spec 5.1.6)."""

from collections.abc import Callable
from datetime import datetime, timedelta

from silas.cards import Channel
from silas.clock import Clock
from silas.context import ChronicleStore, ContextZone
from silas.db import at_once
from silas.errors import ChannelError
from silas.jobs.models import Finish, Job, JobKind, nothing
from silas.reminders.service import KIND, Reminders
from silas.reminders.words import telling_words
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView
from silas.stream.state import Conversations
from silas.types import OWNER, TaintLevel

_ATTEMPTS = 10_000  # a reminder is told late, however long its owner cannot be reached
_AGAIN, _LONGEST = timedelta(minutes=1), timedelta(hours=1)


class ReminderDelivery:
    """Carries out the jobs of reminders.

    A message cannot be part of a transaction. So it is written before it is sent that it will be,
    and after it that it was. Where a crash comes between, it is sent once more and says so: never
    twice as if it were new, never not at all.

    Args:
        reminders: The service.
        channel: Where the owner is told.
        chronicle, context, items, conversations: What the conversation remembers of it.
        clock: Effective time (decision B19).
        discreet: A text without any known secret.
    """

    def __init__(
        self,
        reminders: Reminders,
        channel: Channel,
        chronicle: ChronicleStore,
        context: ModelView,
        items: ItemFactory,
        conversations: Conversations,
        clock: Clock,
        discreet: Callable[[str], str],
    ) -> None:
        self._reminders = reminders
        self._channel = channel
        self._chronicle = chronicle
        self._context = context
        self._items = items
        self._conversations = conversations
        self._clock = clock
        self._discreet = discreet

    def kind(self) -> JobKind:
        """How jobs of reminders run."""
        return JobKind(
            KIND, self.run, self.following, _ATTEMPTS, _AGAIN, _LONGEST, takes_place=False
        )

    async def run(self, job: Job) -> Finish:
        """Tell the reminder of a job, unless it was moved or cancelled meanwhile."""
        reminder = self._reminders.coming(job.ref, job.slot)
        if reminder is None:
            return nothing
        now, store = self._clock.now(), self._reminders.store
        telling = store.begin_telling(reminder.id, reminder.due, now)
        missed = self._reminders.count_missed(reminder, now)
        words = self._discreet(telling_words(reminder, now, missed, again=telling.tries > 1))
        try:
            await self._channel.send(OWNER, words)
        except ChannelError:
            store.record_not_told(reminder.id, reminder.due)
            raise
        scope = self._conversations.of(OWNER)
        origin = ItemOrigin(TaintLevel.owner, "silas", (reminder.source,))
        said = f"Silas: {words}"
        item = self._items.make(scope, ContextZone.chronicle, "message", said, origin)

        def finish() -> None:
            self._reminders.mark_told(reminder, now, missed, telling.tries)
            at_once(self._chronicle.append(OWNER, item))
            self._context.add(OWNER, item)

        return finish

    def following(self, job: Job, now: datetime) -> datetime | None:
        """When it comes next."""
        del now  # the service reckoned it when the reminder was told
        return self._reminders.next_moment(job.ref)
