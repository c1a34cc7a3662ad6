"""Plans that wait for their owner, on the pages that are there already (spec 5.1.2)."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from silas.channels.web.events import PlansWaiting, WaitingPlanView
from silas.channels.web.pages import Pages
from silas.clock import Clock
from silas.errors import SilasError

SECONDS_BETWEEN = 0.5
"""How soon a plan is seen that begins to wait: another program may have put it there."""

Unasked = Callable[[], Awaitable[tuple[WaitingPlanView, ...]]]
"""The plans that wait now and that nobody is asked about."""


async def announce_waiting_plans(unasked: Unasked, pages: Pages, clock: Clock) -> None:
    """Tell every page when other plans wait than before, until this is cancelled.

    A page that connects is told what waits then; what it is told once more changes nothing.
    """
    told: tuple[WaitingPlanView, ...] = ()
    while True:
        await pages.some()
        await clock.sleep(SECONDS_BETWEEN)
        if not len(pages):
            continue
        with suppress(SilasError):  # the next look may succeed, and a page that connects is told
            waiting = await unasked()
            if waiting != told:
                told = waiting
                pages.all(PlansWaiting(waiting=waiting).model_dump_json())
