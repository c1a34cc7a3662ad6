"""A page under More that goes on by itself: never under a finger."""

from playwright.async_api import expect

from tests.support.clocks import far_hour
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import DESKTOP, Device, NewDevice

pytestmark = in_a_browser

_HAPPENED = "import('/static/state.js').then(({ emit }) => emit('happened'))"
_ANSWERED = (
    "import('/static/api.js').then(({ getJson }) => getJson('/ahead?days=7')).then(() => null)"
)


async def _ahead(cockpit: Cockpit, new_device: NewDevice) -> Device:
    """A device whose time passes when the test says so, with a goal on its page Ahead."""
    device = await cockpit.paired(new_device, DESKTOP)
    at = f"{far_hour(cockpit.config.scheduler.zone):02}:00"
    await device.says(f"every day at {at}, copy the notes")
    await device.sees_a_card()
    await device.answers("Approve this goal")
    await expect(device.no_card()).to_be_attached()
    await device.page.clock.install()
    await device.page.evaluate("location.hash = '#/more/ahead'")
    await expect(device.at("coming").locator("> li")).to_contain_text(at)
    return device


async def test_what_a_finger_is_on_stays_there_until_it_is_lifted(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await _ahead(cockpit, new_device)
    pause = device.page.locator("#more-body").get_by_role("button", name="Pause")
    await pause.hover()
    await device.page.mouse.down()
    await device.page.evaluate(_HAPPENED)
    await device.page.clock.run_for(1000)
    await device.page.evaluate(_ANSWERED)
    await device.page.evaluate(_ANSWERED)
    await device.page.mouse.up()
    await device.page.clock.run_for(1000)
    await expect(device.at("paused").locator("> li")).to_have_count(1)


async def test_a_menu_that_took_the_buttons_lifting_holds_the_page_no_longer(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await _ahead(cockpit, new_device)
    row = device.at("coming").locator("> li")
    await row.evaluate("(row) => { row.dataset.former = 'yes'; }")
    await row.hover()
    await device.page.mouse.down(button="right")  # the menu that opens is told of its lifting
    await device.page.evaluate(_HAPPENED)
    await device.page.clock.run_for(1000)
    await expect(device.page.locator("[data-former]")).to_have_count(0)
    await expect(row).to_contain_text(":00")
