"""Answers that are computed, not written by a model: calculations, dates and times, units.

Pure functions from a request and a moment to a sentence. A request is one of the sentences of
these modules whole or not at all; nothing of it is ever run as code.
"""

from datetime import datetime
from zoneinfo import ZoneInfo

from silas.agents.runbook.calculator import arithmetic, dates, units
from silas.agents.runbook.calculator.german import in_english
from silas.agents.runbook.calculator.request_text import request_text

__all__ = ["answer"]


def answer(text: str, now: datetime, zone: ZoneInfo) -> str | None:
    """What is asked for, computed; None where the request is no such question.

    Args:
        text: The request as it was said.
        now: The moment of the turn, timezone-aware.
        zone: The owner's time zone: whose days are counted.
    """
    said = request_text(text)
    if not said:
        return None
    for words in (said, in_english(said)):
        found = words and (
            units.answer(words)
            or dates.answer(words, now.astimezone(zone), zone)
            or arithmetic.answer(words)
        )
        if found:
            return found
    return None
