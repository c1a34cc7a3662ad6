"""What the owner answered about a folder is shown under What protects you, and taken back there."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.cockpit.test_showing import THEM, looking
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import SIZES, Device, NewDevice, Size

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
_INTENT = "Let the model look at files"


@pytest_asyncio.fixture(loop_scope="session")
async def cockpit(home: Home) -> AsyncGenerator[Cockpit]:
    """A cockpit whose proxy is a model elsewhere that looks in the first two turns of three."""
    async with a_cockpit(home, models={"proxy": looking(True, True, False)}) as running:
        yield running


async def _protection(device: Device) -> Locator:
    await device.goes_to("more")
    await device.page.locator("#more-body a[href='#/more/protection']").click()
    await device.is_quiet()
    return device.page.locator("#more-body")


async def _asks(device: Device, answer: str) -> None:
    """Ask something that the model looks for, and answer the question about it."""
    await device.says("what is here?")
    await device.sees_a_card(_INTENT)
    await device.answers(answer)


async def _is_usable(device: Device) -> None:
    assert await device.violations() == []
    assert await device.overflow() == 0


@_EACH_SIZE
async def test_a_never_is_shown_holds_and_is_taken_back_with_two_presses(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    place = str(cockpit.home.workspace)
    body = await _protection(device)
    await expect(body).to_contain_text("You were not asked about any.")
    await device.comes_back()
    await _asks(device, "Never show it this directory")
    await device.comes_back()
    body = await _protection(device)
    row = device.at("showing").locator("li")
    await expect(row).to_contain_text(place)
    await expect(row).to_contain_text(f"Never: {THEM} is shown nothing of it")
    await _is_usable(device)
    await row.get_by_role("button", name=f"Ask me again {place}").click()
    await expect(row.get_by_role("button", name="Yes, ask me again")).to_be_focused()
    await _is_usable(device)
    await row.get_by_role("button", name="Leave it").click()
    await expect(row.locator("[data-answer=never]")).to_be_visible()
    await row.get_by_role("button", name=f"Ask me again {place}").click()
    await row.get_by_role("button", name="Yes, ask me again").click()
    await expect(row).to_have_count(0)
    await expect(body).to_contain_text("You were not asked about any.")
    await device.comes_back()
    await _asks(device, "Let it look here")
    await device.comes_back()
    await _protection(device)
    await expect(row.locator("[data-answer=yes]")).to_contain_text(f"Yes: {THEM} may be shown")
    events = await cockpit.events()
    assert events.count("workspace_look_asked") == 2
    assert events.count("workspace_look_taken_back") == 1
