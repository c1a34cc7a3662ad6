"""A plan that begins to wait is on every page at once, whoever put it there."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from silas.channels.web.events import WaitingPlanView
from silas.channels.web.pages import ConnectedPage, Pages
from silas.channels.web.session import WebSession
from silas.channels.web.waiting_plans import SECONDS_BETWEEN, announce_waiting_plans
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans import WaitingPlan, WorkItem
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.testing import MockClock, a_plan
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Home, a_cockpit

SESSION = WebSession(id="s-1", device_id="d-1", device="phone", level="owner")


async def of_kind(page: ConnectedPage, kind: str) -> dict[str, Any]:
    async with asyncio.timeout(SECONDS):
        while True:
            frame = await page.next()
            assert frame is not None
            if (event := json.loads(frame))["type"] == kind:
                return event


async def waiting_on(page: ConnectedPage) -> list[str]:
    return [one["title"] for one in (await of_kind(page, "plans_waiting"))["waiting"]]


def titled(title: str) -> WorkItem:
    return a_plan(id=f"task-{title}", title=title)


async def test_a_plan_that_waits_is_on_the_pages_until_its_card_is(tmp_path: Path) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        silas, page = cockpit.running.silas, ConnectedPage(SESSION)
        cockpit.channel.pages.enter(page)
        await silas.runs.proposer.keep(titled("mine"), "It was your wish.")
        assert await waiting_on(page) == ["mine"]
        db = Database(cockpit.config.data_dir / "silas.db", silas.messages.clock)
        await SqlWaitingPlans(db, silas.messages.clock).put(
            WaitingPlan(titled("elsewhere"), "Why not.")
        )
        db.close()
        assert await waiting_on(page) == ["mine", "elsewhere"]
        await silas.ask_again("task-mine")
        asked = await of_kind(page, "approval_request")
        assert asked["work_item_id"] == "task-mine"
        assert await waiting_on(page) == ["elsewhere"]


@asynccontextmanager
async def telling(looks: list[Any], pages: Pages) -> AsyncGenerator[MockClock]:
    """Looks that find one after the other; the last of them again and again."""
    clock = MockClock()

    async def unasked() -> tuple[WaitingPlanView, ...]:
        found = looks.pop(0) if len(looks) > 1 else looks[0]
        if isinstance(found, Exception):
            raise found
        return tuple(WaitingPlanView(work_item_id=name, title=name) for name in found)

    task = asyncio.create_task(announce_waiting_plans(unasked, pages, clock))
    try:
        yield clock
    finally:
        task.cancel()
        await asyncio.wait([task])


async def look(clock: MockClock, times: int = 1) -> None:
    for _ in range(times):
        for _ in range(5):
            await asyncio.sleep(0)
        clock.advance(SECONDS_BETWEEN)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_nothing_is_looked_at_without_a_page_nor_said_twice() -> None:
    pages, looks = Pages(), [["a"], ["a"], ["a", "b"], []]
    async with telling(looks, pages) as clock:
        await look(clock, 3)
        assert len(looks) == 4
        page = ConnectedPage(SESSION)
        pages.enter(page)
        await look(clock, 6)
    said = list[list[str]]()
    while page.has_something:
        said.append(await waiting_on(page))
    assert said == [["a"], ["a", "b"], []]


async def test_a_look_that_fails_is_made_up_for_by_the_next() -> None:
    pages, page = Pages(), ConnectedPage(SESSION)
    pages.enter(page)
    async with telling([DatabaseError("busy", code="E_DB_BUSY"), ["a"]], pages) as clock:
        await look(clock, 2)
    assert await waiting_on(page) == ["a"]
