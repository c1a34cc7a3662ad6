"""How Silas speaks, on the page: presets by a tap, feedback that lasts where a key signed it."""

from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import NewDevice

pytestmark = in_a_browser


async def test_a_tap_takes_a_preset_and_feedback_lasts(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    await device.opens("#/more/speech")
    told = device.at("directives")
    await expect(told).to_contain_text("How to speak.")
    before = await told.text_content()
    await device.page.get_by_role("button", name="Chill", exact=True).click()
    await expect(device.page.get_by_role("button", name="Chill", exact=True)).to_have_attribute(
        "aria-pressed", "true"
    )
    await expect(told).not_to_have_text(before or "")
    await device.page.get_by_role("button", name="Too harsh").click()
    await expect(device.page.locator("#toasts").get_by_text("Noted.")).to_be_visible()
    state = await device.page.evaluate(
        """async () => (await fetch("/persona/state",
          {headers: {"X-Silas-Page": localStorage.getItem("silas.page")}})).json()"""
    )
    assert (state["preset"], state["baseline"]["assertiveness"]) == ("chill", 0.7)
    assert await device.violations() == []
    assert not await device.overflow()
