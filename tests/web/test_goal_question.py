"""A goal is called by its title on the page, and the words that its work asks lead to Review."""

from typing import Any

import pytest
from playwright.async_api import Browser, expect

from silas.testing import CallTool, plan_text
from tests.stream.kit import planned, proposing
from tests.support.clocks import far_hour
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import SIZES, Size, devices, keep_notices
from tests.work.kit import DONE

pytestmark = in_a_browser

_GOAL = "goal-paint"
_ASKS = CallTool("ask_owner", {"question": "Which colour?", "options": ["red", "blue"]})


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_what_is_told_of_a_goal_has_its_title_and_leads_to_its_question(
    home: Home, browser: Browser, size: Size
) -> None:
    fields: dict[str, Any] = {
        "id": _GOAL, "type": "goal", "title": "Paint the fence", "cycle": "work",
        "workspace": str(home.workspace), "body": "Paint it.",
        "verify": [{"name": "there", "run": "test -f input.txt", "expect": {"exit_code": 0}}],
    }  # fmt: skip
    schedule = f"0 {far_hour(home.config().scheduler.zone)} * * *"
    plan = plan_text(**fields, schedule=schedule)
    models = planned(proposing(plan), executor=[_ASKS, DONE])
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        device.expected.append("409")  # a second run while one asks
        await keep_notices(device.page)
        await device.says("paint the fence every day")
        await device.sees_a_card()
        await device.answers("Approve this goal")
        await device.goes_to("more")
        await device.page.locator("#more-body a[href='#/more/ahead']").click()
        body = device.page.locator("#more-body")
        await body.get_by_role("button", name="Only 10 more: Paint the fence").click()
        toast = device.page.locator("#toasts")
        await expect(toast).to_contain_text("“Paint the fence” may start its work 10 times more")
        await body.get_by_role("button", name="Run now").click()
        asks = device.at("goal-asks")
        await expect(asks).to_contain_text("“Paint the fence” waits for your answer to what")
        await expect(body).not_to_contain_text(_GOAL)
        await body.get_by_role("button", name="Run now").click()
        alert = body.locator("[role=alert]:not(:empty)")
        await expect(alert).to_contain_text("“Paint the fence” waits for your answer to what")
        await expect(alert.get_by_role("link", name="Answer it in Review")).to_be_visible()
        assert await device.violations() == []
        assert await device.overflow() == 0
        await device.page.evaluate(f"location.hash = '#/more/work/{_GOAL}'")
        told = body.locator(".result-summary")
        await expect(told).to_contain_text("“Paint the fence” waits for your answer to what")
        await told.get_by_role("link", name="Answer it in Review").click()
        await device.sees_a_card("Which colour?")
        await device.answers("blue")
        await device.page.evaluate("location.hash = '#/more/ahead'")
        await expect(asks).to_have_count(0)
