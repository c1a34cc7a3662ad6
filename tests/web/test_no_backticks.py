"""Every page under More: names in a type of their own and not in backticks, words side by side."""

from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, NewDevice
from tests.web.support.library import COPY

pytestmark = in_a_browser

PAGES = [
    "ahead",
    "answering",
    "batches",
    "connections",
    "devices",
    "memory",
    "protection",
    "reminders",
    "secrets",
    "settings",
    "setup",
    "speech",
    "tools",
    "work",
]


_TOO_LONG = """(body) => [...body.querySelectorAll(".facts dt")]
  .filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent)"""


async def test_no_page_under_more_shows_a_backtick_or_one_word_over_another(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, PHONE)
    await device.says(COPY)
    await device.sees_a_card("Copy the notes")
    await device.answers("Approve and run once")
    await device.goes_to("stream")
    await expect(device.at("result")).to_contain_text("Done")
    item = await device.at("result").get_attribute("data-work")
    body = device.page.locator("#more-body")
    for name in (*PAGES, f"work/{item}"):
        await device.page.evaluate("(name) => { location.hash = `#/more/${name}`; }", name)
        await expect(device.page.locator("#more")).not_to_have_attribute("aria-busy", "true")
        await expect(body).not_to_be_empty()
        assert "`" not in await body.inner_text(), name
        assert await body.evaluate(_TOO_LONG) == [], name
        assert await device.overflow() == 0
