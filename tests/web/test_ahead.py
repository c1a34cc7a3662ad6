"""The page Ahead under More: a goal that was asked for in words, paused, resumed and taken back."""

import pytest
from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import SIZES, NewDevice, Size

pytestmark = in_a_browser


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_goal_is_looked_after_on_the_page_ahead(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says("every morning at seven, copy the notes")
    await device.sees_a_card()
    await device.answers("Approve this goal")
    await expect(device.no_card()).to_be_attached()
    await device.goes_to("more")
    await device.page.locator("#more-body a[href='#/more/ahead']").click()
    coming = device.at("coming").locator("> li")
    await expect(coming).to_contain_text("07:00")
    await expect(coming).to_contain_text("every day at 07:00")
    await expect(device.at("alone").locator("> li")).to_contain_text("20 of 20 times left")
    await expect(device.at("alone")).not_to_contain_text("`")
    await expect(device.at("alone").locator("code").first).to_be_visible()
    assert await device.violations() == []
    assert await device.overflow() == 0
    body = device.page.locator("#more-body")
    await body.get_by_role("button", name="Pause").click()
    await expect(device.at("paused").locator("> li")).to_have_count(1)
    await expect(device.at("coming")).to_have_count(0)
    await body.get_by_role("button", name="Resume").click()
    await expect(coming).to_contain_text("07:00")
    await body.get_by_role("button", name="Take back").click()
    await body.get_by_role("button", name="Yes, ask me again").click()
    await expect(device.at("alone")).to_have_count(0)
    await expect(body).to_contain_text("Each piece of work asks you first.")
    assert await device.violations() == []
    assert "approval.revoked" in await cockpit.events()
