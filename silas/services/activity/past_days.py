"""What was done on days of the owner's, as an answer: the record, told as Activity tells it."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from silas.audit.kinds import KINDS, QUIET
from silas.audit.reader import AuditReader, ReadEntry
from silas.clock import Clock
from silas.language import tr, tr_later
from silas.language.calendar import near_day_words
from silas.services.activity.entry_words import EntryWords, entry_item

_MOST: Final = 15  # lines
_AT_ONCE: Final = 200  # entries
_NOT_DONE: Final = frozenset(
    {
        *("workspace_applied_before", "batch_moving", "memory.consolidated", "memory.changed"),
        *("access_level_changed", "clock.jumped", "clock.confirmed", "gate_mutation"),
        *("key.rotation_began", "onboarded"),
    }
)
"""Changes that are no work of anybody's, or that lead to one with an entry of its own."""
_ENDS: Final = frozenset(
    {
        *("work_item_finished", "work_item_not_begun", "work_item_cancelled"),
        *("work_item_stopped", "reminder.told"),
    }
)
_TOLD: Final = (KINDS["changed"] | _ENDS) - QUIET - _NOT_DONE
_WHEN: Final = {
    (0, 1): tr_later("today"),
    (-1, 1): tr_later("yesterday"),
    (-1, 2): tr_later("since yesterday"),
    (-6, 7): tr_later("in the last 7 days"),
}
_NOTHING: Final = tr_later("I have done nothing {when}.")


class PastDays:
    """Tells what was done; nothing here changes anything.

    Args:
        reader: The record.
        entries: Tells an entry in words.
        clock: What time it is.
        zone: The owner's.
    """

    def __init__(
        self, reader: AuditReader, entries: EntryWords, clock: Clock, zone: ZoneInfo
    ) -> None:
        self._reader = reader
        self._entries = entries
        self._clock = clock
        self._zone = zone

    async def tell_done(self, first: int, days: int) -> str:
        """What was done within so many days, the newest last.

        Args:
            first: How many days from today the first one is; not above 0.
            days: How many there are.
        """
        now = self._clock.now().astimezone(self._zone)
        start = datetime.combine(now.date() + timedelta(days=first), time(), self._zone)
        end = datetime.combine(start.date() + timedelta(days=days), time(), self._zone)
        span = start.astimezone(UTC), end.astimezone(UTC)
        found = await asyncio.to_thread(lambda: list(self._newest(*span)))
        told = list(_without_ends(found))
        if not told:
            return tr(_NOTHING, when=tr(_WHEN[first, days]))
        lines, day = list[str](), ""
        for one in told[-_MOST:]:
            at = one.at.astimezone(self._zone)
            if (named := near_day_words(at, now)) != day:
                lines, day = [*lines, f"{named}:"], named
            lines.append(f"- {at:%H:%M}  {await self._entries.words(one)}")
        if len(told) > _MOST:
            more = len(told) - _MOST
            lines.append(tr("{more} more before these; Activity shows them.", more=more))
        return "\n".join(lines)

    def _newest(self, start: datetime, end: datetime) -> Iterator[ReadEntry]:
        before = 0
        while True:
            page = self._reader.before(before, _AT_ONCE, _TOLD)
            for one in page.entries:
                if one.at < start:
                    return
                if one.at < end:
                    yield one
            if (before := page.before) <= 1:
                return


def _without_ends(found: Sequence[ReadEntry]) -> Iterator[ReadEntry]:
    """All, the oldest first, but the good ends of work whose changes were told just before."""
    changed = set[str]()
    for one in sorted(found, key=lambda entry: entry.seq):
        item = entry_item(one)
        if one.event == "workspace_applied":
            changed.add(item)
        elif one.event == "work_item_finished" and item in changed:
            changed.discard(item)
            if one.data.get("status") == "done":
                continue
        yield one
