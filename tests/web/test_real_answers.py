"""“Stop this answer” and “Ask for changes”, pressed in the page of a whole Silas."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from silas.agents import PlanActionType
from silas.testing import ScriptedModel, plan_text
from tests.stream.kit import direct, planned, proposing
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import SIZES, Size, devices

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
FIRST = plan_text(title="Write the long report")
SECOND = plan_text(id="task-shorter", title="Write the short report")


class _Thinking(ScriptedModel):
    """Thinks about its first question until it is stopped."""

    async def request(self, *asked: Any, **more: Any) -> Any:
        if not self.requests:
            self.requests.append(asked[0])
            await asyncio.Event().wait()
        return await super().request(*asked, **more)


@_EACH_SIZE
async def test_an_answer_is_stopped_and_the_next_message_is_answered(
    browser: Browser, home: Home, size: Size
) -> None:
    models = {"proxy": _Thinking([direct("never"), direct("It is nine.")])}
    async with a_cockpit(home, models=models) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("think about everything")
        stop = device.at("stop-answer")
        await expect(stop).to_be_visible()
        assert await device.violations() == []
        await stop.click()
        await expect(device.at("heard").last).to_contain_text("You stopped this answer")
        await expect(stop).to_be_hidden()
        await device.says("what time is it?")
        await expect(device.at("heard").last).to_contain_text("It is nine.")
        assert not cockpit.stopped()


@_EACH_SIZE
async def test_a_plan_is_changed_by_words_in_its_card_and_the_new_one_is_asked(
    browser: Browser, home: Home, size: Size
) -> None:
    models = planned(proposing(FIRST), proposing(SECOND, action=PlanActionType.revise))
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("write the report")
        card = await device.sees_a_card("Write the long report")
        await card.get_by_role("button", name="Ask for changes").click()
        await card.get_by_test_id("changes").fill("make it shorter")
        await card.get_by_test_id("send-changes").click()
        await expect(device.at("active-card")).to_contain_text("Write the short report")
        await device.declines()
        await device.comes_back()
        said = device.at("said").locator(".text")
        await expect(said).to_have_text(["write the report", "make it shorter"])
        events = await cockpit.events()
    assert "plan_approved" not in events
    assert "make it shorter" in models["planner"].requests[1].text
