"""The machine's clock is set while a cockpit lives: what was spent stays spent, a jump voids."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from silas.clock import SystemClock
from silas.plans.subject import subject_of
from tests.cockpit.program_page import ProgramPage, a_page
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.library import COPY

HOUR = timedelta(hours=1)
VOID = "jumped forward by more than a day"


class SetClock(SystemClock):
    """A machine's clock that somebody sets; what passes, passes."""

    def __init__(self) -> None:
        self.by = timedelta()

    def now(self) -> datetime:
        """The machine's moment."""
        return super().now() + self.by


@asynccontextmanager
async def living(home: Home, clock: SetClock) -> AsyncGenerator[tuple[Cockpit, ProgramPage]]:
    """A cockpit and a browser on one machine."""
    async with (
        a_cockpit(home, clock=clock) as cockpit,
        a_page(cockpit.origin, await cockpit.link(), clock=clock) as page,
    ):
        await page.connect()
        yield cockpit, page


async def asked(page: ProgramPage) -> dict[str, Any]:
    await page.say(COPY)
    return await page.next("approval_request")


async def approved(page: ProgramPage) -> str:
    """Have something done; the id of the work."""
    plan = await asked(page)
    await page.answer(plan, type="approval_response", verdict="approved")
    return (await page.next("post_execution"))["work_item_id"]


async def refusal(cockpit: Cockpit, work_item_id: str) -> str:
    """Why the approval of this work authorises nothing; empty where it does, and then once less."""
    silas = cockpit.running.silas
    item = await silas.store.get(work_item_id)
    assert item is not None
    assert item.approval_token is not None
    return (await silas.approval.verify(item.approval_token, subject_of(item))).code


async def test_a_spent_approval_counts_no_more_where_the_clock_went_forward_and_back(
    tmp_path: Path,
) -> None:
    home, clock = Home(tmp_path), SetClock()
    async with living(home, clock) as (cockpit, page):
        work = await approved(page)
        assert await refusal(cockpit, work) == "E_APPROVAL_SPENT"
        clock.by = 2 * HOUR
        assert await refusal(cockpit, work) != ""
        await page.say("hello")
        await page.next("message")
    async with living(home, clock) as (cockpit, page):  # what is over is forgotten at a start
        clock.by = timedelta()
        assert await refusal(cockpit, work) == "E_APPROVAL_EXPIRED"
        assert "went back" in (await page.get("/ahead")).json()["words"]
        plan = await asked(page)  # whose yes has the time of the clock that went back
        await page.answer(plan, type="approval_response", verdict="approved")
        refused = await page.next("error")
        assert refused["message"].startswith("Your yes came with another time than approvals go by")
        assert (await cockpit.events()).count("plan_approved") == 1
    async with living(home, clock) as (cockpit, page):
        assert await refusal(cockpit, work) != ""


async def test_a_jump_of_over_a_day_voids_what_is_open_and_says_so_until_the_owner_confirms(
    tmp_path: Path,
) -> None:
    home, clock = Home(tmp_path), SetClock()
    async with living(home, clock) as (cockpit, page):
        work, before = await approved(page), await asked(page)
        clock.by = 27 * HOUR
        assert await refusal(cockpit, work) == "E_APPROVAL_VOID"
        assert VOID in (await page.get("/ahead")).json()["words"]
        assert (await cockpit.events()).count("clock.jumped") == 1
        # the card was shown before, and the yes to it is given now
        await page.answer(before, type="approval_response", verdict="approved")
        new = (await page.next("post_execution"))["work_item_id"]
        assert await refusal(cockpit, new) == "E_APPROVAL_SPENT"
        clock.by = timedelta()
        assert await refusal(cockpit, work) == "E_APPROVAL_VOID"
        assert await refusal(cockpit, new) == "E_APPROVAL_SPENT"
