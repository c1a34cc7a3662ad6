"""Every page under More: names in a type of their own and not in backticks, words side by side."""

from playwright.async_api import Browser, expect

from silas.language import speak
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import PHONE, NewDevice, devices
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
        await device.opens(f"#/more/{name}")
        await expect(body).not_to_be_empty()
        assert "`" not in await body.inner_text(), name
        assert await body.evaluate(_TOO_LONG) == [], name
        assert await device.overflow() == 0


async def test_what_is_said_of_how_silas_speaks_is_german_on_a_german_page(
    browser: Browser, home: Home
) -> None:
    file = home.home / "config.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('{"silas": {', '{"silas": {"language": "de", '), encoding="utf-8")
    try:
        async with a_cockpit(home) as cockpit, devices(browser, "block") as new:
            device = await cockpit.paired(new, PHONE)
            await expect(device.page.locator("html")).to_have_attribute("lang", "de")
            await device.opens("#/more/speech")
            body = device.page.locator("#more-body")
            await expect(body.get_by_role("button", name="Zu hart")).to_be_visible()
            await expect(body.locator(".facts")).to_contain_text("Bestimmtheit")
            assert "Too " not in await body.inner_text()
            assert await body.evaluate(_TOO_LONG) == []
    finally:
        speak("en")
