"""Pairing, as its owner does it: open the link, tap once."""

from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import NewDevice

pytestmark = in_a_browser


async def test_a_link_pairs_a_browser_and_leaves_no_token_in_its_address_or_history(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await new_device(cockpit.origin)
    link = await cockpit.link()
    await device.pair(link)
    assert device.page.url.rstrip("/#stream") in (cockpit.origin, cockpit.origin.rstrip("/"))
    token = link.partition("#")[2]
    assert not [url for url in device.requested if token in url]
    await device.page.go_back()
    assert token not in device.page.url
    (paired,) = cockpit.running.door.devices()
    assert paired.name == "Test device"
    other = await new_device(cockpit.origin)
    await other.page.goto(link)
    await other.at("pair").click()
    refused = other.page.locator(".field-problem")
    await expect(refused).to_contain_text("was used already")
    await expect(refused.locator("code").first).to_have_text("silas devices link")
    assert "`" not in await refused.inner_text()
    other.expects_anything()
