"""What the door says no with, and how a flood of it stays a few lines in the record."""

from contextlib import suppress
from typing import NamedTuple

from silas.audit import Audit
from silas.clock import Clock
from silas.errors import DatabaseError
from silas.language import tr, tr_later

CLOSED_ALREADY = tr_later("This question is closed already.")
NOT_OFFERED = tr_later("This card does not offer that answer; reload the page.")
_NO_KEY = tr_later(
    "Only a device with a key of its own can agree to this; pair this browser again, or say no."
)
BAD_SIGNATURE = tr_later(
    "The signature on your message does not fit; reload the page and say it again."
)
STALE = "it is stale"
"""Of a proof whose moment is not that of the clock that approvals go by."""

_OTHER_CLOCK = tr_later(
    "Your yes came with another time than approvals go by, so nothing was done. Look at the clocks "
    "of this device and of the machine that Silas runs on; “What protects you” under “More” says "
    "what the latter has."
)
_NO_PROOF = tr_later(
    "Your device's signature does not count ({why}), so nothing was done; reload the page and try "
    "again."
)


def proof_words(why: str | None) -> str:
    """What somebody is told whose yes does not count, and what to do.

    Args:
        why: What the door says of its proof; None where there is none.
    """
    if why is None:
        return tr(_NO_KEY)
    return tr(_OTHER_CLOCK) if why == STALE else tr(_NO_PROOF, why=why)


class HttpRefusal(NamedTuple):
    """One no.

    Attributes:
        status: The HTTP status.
        code: `E_CHANNEL_*`.
        message: One sentence that says what to do.
        reason: For the record; empty where nobody need know, because it is every day's.
    """

    status: int
    code: str
    message: str
    reason: str


_WINDOW = 60.0  # seconds
_MOST_A_WINDOW = 30
"""Entries of one event a minute: whoever is refused must not be able to fill the disk, nor to hide
an event behind others."""


class RefusalRecord:
    """Writes refusals to the audit log: each kind once a minute, the others as a number."""

    def __init__(self, audit: Audit, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock
        self._began = clock.monotonic()
        self._said: set[tuple[str, str, str]] = set()
        self._unsaid = 0

    async def note(self, event: str, reason: str, who: str, **facts: str) -> None:
        """Record one; `unsaid` of an entry is how many before it have none of their own.

        A record that cannot be written changes nothing: what was refused stays refused.
        """
        now = self._clock.monotonic()
        if now - self._began >= _WINDOW:
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
