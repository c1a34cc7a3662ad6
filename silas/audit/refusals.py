"""How a flood of refusals stays a few lines in the record."""

from contextlib import suppress
from typing import Final

from silas.audit.models import Audit
from silas.clock import Clock
from silas.errors import DatabaseError

LIMIT_EXCEEDED: Final = "limit.exceeded"
"""The event of what was refused because it came too often (spec 18.5)."""

_WINDOW: Final = 60.0  # seconds
_MOST_A_WINDOW = 30
"""Entries of one event a window: whoever is refused must not be able to fill the disk, nor to hide
an event behind others."""


class RefusalRecord:
    """Writes refusals to the audit log: each kind once a window, the others as a number.

    Args:
        window: In seconds; a minute, or as long as the limit that it is about counts.
    """

    def __init__(self, audit: Audit, clock: Clock, window: float = _WINDOW) -> None:
        self._audit = audit
        self._clock = clock
        self._window = window
        self._began = clock.monotonic()
        self._said: set[tuple[str, str, str]] = set()
        self._unsaid = 0

    async def note(self, event: str, reason: str, who: str, **facts: str) -> None:
        """Record one; `unsaid` of an entry is how many before it have none of their own.

        A record that cannot be written changes nothing: what was refused stays refused.
        """
        now = self._clock.monotonic()
        if now - self._began >= self._window:
            self._began = now
            self._said.clear()
        kind = (event, reason, who)
        of_event = sum(said[0] == event for said in self._said)
        if kind in self._said or of_event >= _MOST_A_WINDOW:
            self._unsaid += 1
            return
        self._said.add(kind)
        unsaid, self._unsaid = self._unsaid, 0
        with suppress(DatabaseError):
            await self._audit.log(event, reason=reason, who=who, unsaid=unsaid, **facts)
