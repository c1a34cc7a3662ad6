"""Work whose question got no answer is asked about anew by its buttons, and runs after a yes."""

import asyncio
from typing import Literal

import pytest
from playwright.async_api import Browser, Locator, expect

from silas.agents.models import ExecutorAgentOutput
from silas.clock import SystemClock
from silas.testing import CallTool, plan_text
from tests.stream.kit import planned, proposing
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import DESKTOP, PHONE, Device, Size, devices
from tests.work.kit import DONE

pytestmark = in_a_browser
_LONG = 300.0
_ASKS = CallTool("ask_owner", {"question": "Which colour?", "options": ["red", "blue"]})
_WRITES = CallTool("shell_exec", {"argv": ["sh", "-c", "echo blue > out.txt"]})
_BLOCKED = ExecutorAgentOutput(summary="No colour was named.", status="blocked")


class _Patient(SystemClock):
    """A clock whose long waits end when a test says so."""

    def __init__(self) -> None:
        self._over = asyncio.Event()

    def passes(self) -> None:
        """Those who wait now have waited; whoever begins after this waits anew."""
        self._over.set()
        self._over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await (self._over.wait() if seconds >= _LONG else super().sleep(seconds))


async def _usable(device: Device) -> None:
    assert await device.overflow() == 0
    assert await device.violations() == []


async def _button(device: Device, door: Literal["result", "work"]) -> Locator:
    if door == "result":
        await device.comes_back()
        return device.at("result").last.get_by_test_id("ask-anew")
    await device.page.evaluate("location.hash = '#/more/work'")
    await device.page.locator("#more-body a[href='#/more/work/paint']").click()
    return device.page.locator("#more-body").get_by_test_id("ask")


@pytest.mark.parametrize(
    ("size", "door"), [(PHONE, "result"), (DESKTOP, "work")], ids=["phone-result", "desktop-work"]
)
async def test_work_without_an_answer_is_asked_about_again_and_a_yes_runs_it(
    home: Home, browser: Browser, size: Size, door: Literal["result", "work"]
) -> None:
    check = {"name": "right", "run": "grep -q blue out.txt", "expect": {"exit_code": 0}}
    plan = plan_text(
        id="paint", title="Paint it", workspace=str(home.workspace), body="Do it.", verify=[check]
    )
    models = planned(proposing(plan), executor=[_ASKS, _BLOCKED, _ASKS, _WRITES, DONE])
    clock = _Patient()
    async with (
        a_cockpit(home, models={**models}, clock=clock) as cockpit,
        devices(browser, "block") as new,
    ):
        device = await cockpit.paired(new, size)
        await device.says("paint it")
        await device.sees_a_card("Paint it")
        await device.answers("Approve and run once")
        await device.sees_a_card("Which colour?")
        clock.passes()
        await expect(device.no_card()).to_be_attached()
        button = await _button(device, door)
        await expect(button).to_have_text("Ask about it again")
        await _usable(device)
        await button.click()
        await device.sees_a_card("Paint it")
        await expect(device.at("active-card")).to_have_count(1)
        await _usable(device)
        await device.declines()
        await expect(device.no_card()).to_be_attached()
        button = await _button(device, door)  # a no leaves it as it ended
        await expect(button).to_be_enabled()
        await button.click()
        card = await device.sees_a_card("Paint it")
        await expect(card).to_contain_text("its question got no answer in time")
        await device.answers("Approve and run once")
        await device.sees_a_card("Which colour?")
        await device.answers("blue")
        await device.comes_back()
        await expect(device.at("result").last).to_contain_text("Done")
        assert (home.workspace / "out.txt").read_text(encoding="utf-8") == "blue\n"
        await expect(device.at("ask-anew")).to_have_count(0)
        await device.page.evaluate("location.hash = '#/more/work/paint'")
        await expect(device.page.locator("#more-body .status").first).to_have_text("Done")
        await expect(device.page.locator("#more-body").get_by_test_id("ask")).to_have_count(0)
        await _usable(device)
