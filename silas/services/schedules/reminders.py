"""Reminders for commands and the cockpit: the service over a database (spec 5.1.6)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple

from silas.approval.effective_clock import EffectiveClock
from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.database import open_existing_database
from silas.home.effective_clock import effective_time
from silas.home.keyless import NoKey
from silas.home.lease import runs_jobs
from silas.jobs.notify import ProcessNotifier
from silas.jobs.store import SqlJobStore
from silas.jobs.table import JobTable
from silas.language import tr, tr_later
from silas.reminders.models import Reminder, ReminderRefused, ReminderTime
from silas.reminders.phrase import chosen_phrase
from silas.reminders.request import read_request
from silas.reminders.service import Reminders, UnderstoodReminder
from silas.reminders.store import SqlReminderStore
from silas.services.record import require_whole_record

SAID_IN_COMMAND = "channel:cli"
"""The source of what `silas remind` is told."""


def notifier_of(config: SilasConfig) -> ProcessNotifier:
    """How processes of this home tell each other of changes."""
    return ProcessNotifier(config.data_dir / "wake")


def reminders_over(
    config: SilasConfig,
    db: Database,
    time: EffectiveClock,
    audit: Audit,
    changed: Callable[[], None],
    require_whole: Callable[[], None],
) -> Reminders:
    """The service over a database that is open.

    Args:
        changed: Tells who waits for jobs that they changed.
        require_whole: See `Reminders`.
    """
    return Reminders(
        SqlReminderStore(db),
        JobTable(SqlJobStore(db), time, changed),
        time,
        config.scheduler.zone,
        audit.log_now,
        require_whole,
        enabled=config.scheduler.enabled,
    )


class ReminderService(NamedTuple):
    """Reminders for commands and the cockpit; they work beside a running Silas.

    Attributes:
        reminders: The service.
        time: Effective time.
        config: The configuration.
    """

    reminders: Reminders
    time: EffectiveClock
    config: SilasConfig

    @property
    def warnings(self) -> list[str]:
        """What the owner must be told before anything else: a wrong clock."""
        words = self.time.state().words(self.config.scheduler.zone)
        return [words] if words else []

    @property
    def untold(self) -> list[str]:
        """That what waits would not be told, because no Silas is running."""
        if not self.reminders.waiting() or runs_jobs(self.config.data_dir):
            return []
        return [tr("No Silas is running: reminders wait until `silas start` or `silas chat`.")]

    async def understand(self, said: str) -> UnderstoodReminder:
        """What a text wants to be told, and when. Raises `ReminderRefused` as `Reminders`."""
        return await asyncio.to_thread(lambda: self.reminders.understand(read_request(said)))

    async def moment(self, said: str, moved: Reminder) -> ReminderTime:
        """When a text says that a reminder is to come; on its day where it says a time alone.

        Raises `ReminderRefused` where it says none, or what is past.
        """
        return await asyncio.to_thread(lambda: self.reminders.when(chosen_phrase(said), moved))

    def one(self, reminder_id: str) -> Reminder:
        """The reminder of this id that waits. Raises `ReminderRefused` where there is none."""
        for reminder in self.reminders.waiting():
            if reminder.id == reminder_id:
                return reminder
        raise ReminderRefused(
            tr_later("This reminder was told or cancelled meanwhile."), code="E_REMINDER_UNKNOWN"
        )

    def make(self, text: str, when: ReminderTime, source: str) -> Reminder:
        """Keep what was shown, on record. Raises as `Reminders.make`."""
        return self.reminders.make(text, when, source)

    def move(self, reminder: Reminder, when: ReminderTime) -> Reminder:
        """Give it the time that was shown, on record. Raises as `make`."""
        return self.reminders.move(reminder, when)


@asynccontextmanager
async def open_reminders(config: SilasConfig) -> "AsyncGenerator[ReminderService]":
    """The reminders of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())
        time = effective_time(db, clock, audit)
        changed = notifier_of(config).notify
        whole = partial(require_whole_record, config, db)
        yield ReminderService(reminders_over(config, db, time, audit, changed, whole), time, config)
