"""From one look to the next, and to the answer, for every kind of question."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from silas.agents.runbook.folder import (
    answers,
    attached_files,
    changes,
    lookups,
    spending,
    table_answers,
)
from silas.agents.runbook.folder.looks import Kinds, LookAnswer, LookCall, LookResult, Moment
from silas.agents.runbook.folder.questions import LookRequest

_KINDS: Final[Kinds] = {
    **answers.KINDS,
    **changes.KINDS,
    **table_answers.KINDS,
    **spending.KINDS,
    **lookups.KINDS,
    **attached_files.KINDS,
}


def next_step(
    look: LookRequest, seen: Sequence[LookResult], now: datetime, zone: ZoneInfo
) -> LookCall | LookAnswer | None:
    """The next look, or the answer when all were taken; None where looking cannot answer.

    Args:
        look: What is asked.
        seen: What was seen so far, in order.
        now: The moment of the turn.
        zone: The owner's time zone, in which times are told.
    """
    return first_step([look], seen, now, zone)


def first_step(
    looks: Iterable[LookRequest], seen: Sequence[LookResult], now: datetime, zone: ZoneInfo
) -> LookCall | LookAnswer | None:
    """As `next_step`, of the first of several ways to understand a message that looking answers."""
    left = list(seen)
    for look in looks:
        asking = _KINDS[look.kind](look.given, Moment(now, zone))
        try:
            call = next(asking)
            while left:
                call = asking.send(left.pop(0).text)
        except StopIteration as end:
            answer: LookAnswer | None = end.value
            if answer is not None:
                return answer
        else:
            return call
    return None
