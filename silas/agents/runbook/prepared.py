"""Whether the built-in model makes a plan of words that come without anything beside them."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from silas.agents.runbook import memory, unhandled
from silas.agents.runbook.by_the_clock import fit_request, recurring_request
from silas.agents.runbook.library import Library


def proposes(text: str, library: Library[Any], now: datetime, zone: ZoneInfo) -> bool:
    """Whether these words alone end in a plan: one of the library, with every blank filled.

    Args:
        text: What is asked for; nobody stands in a folder meanwhile.
        library: The runbooks.
        now: The moment.
        zone: The owner's.
    """
    if memory.to_keep(text) is not None or memory.recall_question(text) is not None:
        return False
    again = recurring_request(text, now, zone)
    request = text if again is None else again.request
    plan = library.find(request)
    if plan is None or unhandled.fits_no_part(request, library.find, plan.title):
        return False
    if again is not None:
        again = fit_request(again, plan.name, plan.shown_title)
        if again.fault or not again.cron:
            return False
    return not library.missing(plan, dict(library.parameters_from(plan, request)))
