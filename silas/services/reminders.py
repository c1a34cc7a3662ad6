"""Reminders for commands and the cockpit: the desk over a database (spec 5.1.6)."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
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
from silas.reminders.desk import Reminders, Understood
from silas.reminders.models import Reminder, When
from silas.reminders.phrase import chosen_phrase
from silas.reminders.request import read_request
from silas.reminders.store import SqlReminderStore

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
) -> Reminders:
    """The desk over a database that is open."""
    return Reminders(
        SqlReminderStore(db),
        JobTable(SqlJobStore(db), time, changed),
        time,
        config.scheduler.zone,
        audit.log_now,
        enabled=config.scheduler.enabled,
    )


class ReminderDesk(NamedTuple):
    """Reminders for commands; they work beside a running Silas.

    Attributes:
        reminders: The desk.
        time: Effective time.
        config: The configuration.
    """

    reminders: Reminders
    time: EffectiveClock
    config: SilasConfig

    @property
    def warnings(self) -> list[str]:
        """What the owner must be told: that what waits would not be told, or a wrong clock."""
        found = [self.time.state().words]
        if self.reminders.waiting() and not runs_jobs(self.config.data_dir):
            found.append("No Silas is running: reminders wait until `silas start` or `silas chat`.")
        return [words for words in found if words]

    async def understand(self, said: str) -> Understood:
        """What a text wants to be told, and when. Raises `ReminderRefused` as `Reminders`."""
        return await asyncio.to_thread(lambda: self.reminders.understand(read_request(said)))

    async def moment(self, said: str) -> When:
        """When a text says. Raises `ReminderRefused` where it does not, or what is past."""
        return await asyncio.to_thread(lambda: self.reminders.when(chosen_phrase(said)))

    def make(self, understood: Understood) -> Reminder:
        """Keep what was shown. Raises as `Reminders.make`."""
        return self.reminders.make(understood.text, understood.when, SAID_IN_COMMAND)


@asynccontextmanager
async def open_reminders(config: SilasConfig) -> "AsyncGenerator[ReminderDesk]":
    """The reminders of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())
        time = effective_time(db, clock, audit)
        changed = notifier_of(config).notify
        yield ReminderDesk(reminders_over(config, db, time, audit, changed), time, config)
