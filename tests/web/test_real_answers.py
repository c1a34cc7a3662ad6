"""“Stop this answer” and “Ask for changes”, pressed in the page of a whole Silas."""

import asyncio
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from silas.agents import PlanActionType
from silas.channels.web.questions import ApprovalRequest
from silas.testing import ScriptedModel, plan_text
from tests.stream.kit import direct, planned, proposing, to_planner
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import SIZES, Size, devices

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
FIRST = plan_text(title="Write the long report")
SECOND = plan_text(id="task-shorter", title="Write the short report")


class _Thinking(ScriptedModel):
    """Thinks about a question until it is stopped, or goes on.

    Args:
        at: About which one; those before it are answered by `first`.

    Attributes:
        thinks: Set once it does.
    """

    def __init__(self, steps: Any, *, at: int = 0, first: Any = None) -> None:
        super().__init__([*([first] * at), *steps])
        self._at = at
        self._on = asyncio.Event()
        self._asked = 0
        self.thinks = asyncio.Event()

    def goes_on(self) -> None:
        """It has thought."""
        self._on.set()

    async def request(self, *asked: Any, **more: Any) -> Any:
        self._asked += 1
        if self._asked == self._at + 1:
            self.thinks.set()
            await self._on.wait()
        return await super().request(*asked, **more)


_ASK = """async (id) => {
  const { postJson } = await import("/static/api.js");
  await postJson(`/work/${encodeURIComponent(id)}/ask`).catch(() => null);
}"""
"""Ask about a plan as the page's own button does, which is not there just then."""


@_EACH_SIZE
async def test_an_answer_is_stopped_and_the_next_message_is_answered(
    browser: Browser, home: Home, size: Size
) -> None:
    models = {"proxy": _Thinking([direct("It is nine.")])}
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


@_EACH_SIZE
async def test_one_answer_is_stopped_and_a_plan_that_waits_goes_on_waiting(
    browser: Browser, home: Home, size: Size
) -> None:
    models = {
        "proxy": _Thinking([direct("never")], at=1, first=to_planner()),
        "planner": ScriptedModel([proposing(FIRST)]),
    }
    async with a_cockpit(home, models=models) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("write the report")
        await device.sees_a_card("Write the long report")
        await device.comes_back()
        await device.says("think about everything")
        await device.at("stop-answer").click()
        await expect(device.at("heard").last).to_contain_text("You stopped this answer")
        await device.sees_a_card("Write the long report")
        await expect(device.at("action-recommended")).to_be_enabled()
        await device.declines()
        await expect(device.no_card()).to_be_attached()
        assert not cockpit.stopped()


@_EACH_SIZE
async def test_while_a_plan_is_changed_it_is_in_view_and_cannot_be_approved_or_asked_about(
    browser: Browser, home: Home, size: Size
) -> None:
    models = planned(proposing(FIRST), proposing(SECOND))
    models["planner"] = planner = _Thinking(
        [proposing(SECOND, action=PlanActionType.revise)], at=1, first=proposing(FIRST)
    )
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new, size)
        await device.says("write the report")
        card = await device.sees_a_card("Write the long report")
        (asked,) = cockpit.channel.cards
        await card.get_by_role("button", name="Ask for changes").click()
        await card.get_by_test_id("changes").fill("make it shorter")
        await card.get_by_test_id("send-changes").click()
        await expect(card).to_have_attribute("data-stays", "changing")
        await expect(card).to_contain_text("Write the long report")
        await expect(card).to_contain_text("this one cannot be approved")
        await expect(card.get_by_role("button")).to_have_count(0)
        await asyncio.wait_for(planner.thinks.wait(), SECONDS)
        assert isinstance(asked, ApprovalRequest)
        device.expected.append("409")
        async with device.page.expect_response("**/ask") as answering:
            await device.page.evaluate(_ASK, asked.work_item_id)
        assert (await answering.value).status == 409
        planner.goes_on()
        await expect(device.at("active-card")).to_contain_text("Write the short report")
        assert "plan_approved" not in await cockpit.events()


async def test_changes_that_bring_no_new_plan_leave_the_old_one_to_be_shown_again(
    browser: Browser, home: Home
) -> None:
    models = planned(proposing(FIRST))
    models["proxy"] = ScriptedModel([to_planner(), direct("Because it is thorough.")])
    async with a_cockpit(home, models={**models}) as cockpit, devices(browser, "block") as new:
        device = await cockpit.paired(new)
        await device.says("write the report")
        card = await device.sees_a_card("Write the long report")
        await card.get_by_role("button", name="Ask for changes").click()
        await card.get_by_test_id("changes").fill("why is it so long?")
        await card.get_by_test_id("send-changes").click()
        await expect(card).to_have_attribute("data-stays", "answered")
        await card.get_by_test_id("show-again").click()
        await expect(device.at("action-recommended")).to_be_visible()
        await expect(device.at("active-card")).to_contain_text("Write the long report")
        await device.declines()
        await expect(device.no_card()).to_be_attached()
