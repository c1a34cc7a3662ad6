"""Settings changed under More as their owner does it: shown, saved, or asked about in Review."""

import pytest
from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import SIZES, Device, NewDevice, Size

pytestmark = in_a_browser


async def _is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_what_changes_is_shown_then_saved_and_more_is_asked_about(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    file = cockpit.home.home / "config.yaml"
    await device.goes_to("more")
    await device.page.locator("#more-body a[href='#/more/settings']").click()
    await device.is_quiet()
    body, shown = device.page.locator("#more-body"), device.at("changes-shown")
    memory = body.get_by_label("Memory for one run (MB)")
    await expect(memory).to_have_value("512")
    await device.at("show-changes").click()
    await expect(body.locator("[role=alert]").first).to_contain_text("Nothing is changed yet.")
    for wrong in ("8", "64.5", ""):
        await memory.fill(wrong)
        await device.at("show-changes").click()
        problem = body.locator("[role=alert]").first
        await expect(problem).to_contain_text(
            "Memory for one run (sandbox.default_memory_mb) must be"
        )
        await expect(problem).to_contain_text("a whole number from 16 to 65536")
    device.forgets_troubles()
    await memory.fill("64")
    await device.at("show-changes").click()
    await expect(shown).to_contain_text("Memory for one run: 512 MB → 64 MB")
    await expect(device.at("save-changes")).to_be_focused()
    await _is_usable(device)
    assert "default_memory_mb" not in file.read_text(encoding="utf-8")
    await device.at("save-changes").click()
    await expect(body).to_contain_text("Counts from the next start on.")
    assert '"default_memory_mb": 64' in file.read_text(encoding="utf-8")
    await memory.fill("1024")
    await device.at("show-changes").click()
    await expect(shown).to_contain_text("This lets Silas do more: a card asks you first.")
    await device.at("save-changes").click()
    await expect(device.page.locator("#review")).to_be_visible()  # it leads there by itself
    await device.sees_a_card("Save settings that let Silas do more")
    await _is_usable(device)
    assert '"default_memory_mb": 64' in file.read_text(encoding="utf-8")
    await device.answers("Save them")
    await device.comes_back()
    await expect(device.at("heard")).to_contain_text("The settings are saved")
    assert '"default_memory_mb": 1024' in file.read_text(encoding="utf-8")
