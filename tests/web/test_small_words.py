"""Nothing stands on the page where there is nothing to say."""

from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, NewDevice
from tests.web.support.library import COPY

pytestmark = in_a_browser

_LOOSE = "(one) => [...one.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data)"


async def test_a_result_without_changed_checks_says_nothing_in_their_place(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, PHONE)
    await device.says(COPY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await device.comes_back()
    result = device.at("result")
    await expect(result).to_contain_text("Done")
    assert await result.evaluate(_LOOSE) == []
