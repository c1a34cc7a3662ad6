"""A key that the provider knows, and one that it refuses, entered under More as its owner does."""

import json
import ssl
from collections.abc import Iterator

import pytest
from playwright.async_api import Browser, expect

from silas.language import speak
from tests.support.web import PUBLIC, Asked, answer, serving, trusting
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import PHONE, Device, Size, devices

pytestmark = in_a_browser

GOOD, BAD = "sk-or-v1-the-good-key", "sk-or-v1-the-bad-key"
_REFUSED = "OpenRouter does not know this key; copy it again from openrouter.ai/keys."


class Provider:
    """What OpenRouter answers when it is asked about a key."""

    def __init__(self) -> None:
        self.known = {GOOD}

    def __call__(self, asked: Asked) -> bytes:
        assert asked.line == "GET /api/v1/key HTTP/1.1"
        if asked.headers["authorization"].removeprefix("Bearer ") in self.known:
            told = {"data": {"label": "sk-or-v1-the...key", "usage": 0, "limit": None}}
            return answer(json.dumps(told), kind="application/json")
        error = {"error": {"message": "No auth credentials found", "code": 401}}
        return answer(json.dumps(error), 401, kind="application/json")


def _any_name() -> ssl.SSLContext:
    """The tests' certificate, which names other hosts."""
    made = trusting()
    made.check_hostname = False
    return made


async def _enters(device: Device, key: str) -> None:
    await device.at("enter-key").click()
    field = device.page.get_by_label("OpenRouter key")
    await field.fill(key)
    await device.page.keyboard.press("Enter")


@pytest.mark.parametrize("size", [PHONE], ids=lambda size: size.name)
async def test_a_key_that_the_provider_refuses_is_not_kept_and_one_that_it_knows_is(
    browser: Browser, home: Home, size: Size
) -> None:
    home.write_by_hand()
    provider = Provider()
    async with serving(provider) as site:
        web = site.web({"openrouter.ai": [PUBLIC]}, _any_name)
        async with a_cockpit(home, web=web) as cockpit, devices(browser, "block") as new:
            device = await cockpit.paired(new, size)
            device.expected.append("400")  # the key that is refused
            await device.goes_to("more")
            await device.page.locator("#more-body a[href='#/more/answering']").click()
            await device.is_quiet()
            standing, problem = (
                device.at("key-standing"),
                device.at("openrouter").get_by_role("alert"),
            )
            await expect(standing).to_contain_text("There is no key.")
            await _enters(device, BAD)
            await expect(problem.filter(has_text=_REFUSED)).to_be_visible()
            await expect(standing).to_contain_text("There is no key.")
            await expect(device.page.get_by_label("OpenRouter key")).to_be_editable()
            assert await device.violations() == []
            assert await device.overflow() == 0
            await _enters(device, GOOD)
            await expect(standing).to_have_text("The key is kept. OpenRouter knew it today.")
            await _enters(device, BAD)
            await expect(problem.filter(has_text=_REFUSED)).to_be_visible()
            await expect(standing).to_have_text("The key is kept. OpenRouter knew it today.")
            await device.at("check-key").click()
            await expect(device.at("key-said")).to_contain_text("OpenRouter knows")
            provider.known.clear()  # its owner takes the key back at the provider
            await device.at("check-key").click()
            await expect(device.at("key-said")).to_have_text(_REFUSED)
            await expect(standing).to_have_text(
                "The key is kept, but OpenRouter does not know it: replace it."
            )
            provider.known.add(GOOD)
            await device.at("check-key").click()
            await expect(standing).to_contain_text("knew it today")
            await device.at("use-openrouter").click()
            await device.sees_a_card("OpenRouter")
            await device.answers("Let it answer")
            await device.comes_back()
            await expect(device.at("heard")).to_contain_text("answers from now on")
            record = "\n".join(await cockpit.record())
            page = await device.page.content()
    assert GOOD not in record + page
    assert BAD not in record + page
    assert [one.headers["host"] for one in site.asked] == ["openrouter.ai"] * 6


@pytest.fixture
def german_home(home: Home) -> Iterator[Home]:
    """The language is the whole process's, until the test ends."""
    file = home.home / "config.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('{"silas": {', '{"silas": {"language": "de", '), encoding="utf-8")
    yield home
    speak("en")


async def test_a_refused_key_is_told_in_german(browser: Browser, german_home: Home) -> None:
    async with serving(Provider()) as site:
        web = site.web({"openrouter.ai": [PUBLIC]}, _any_name)
        async with a_cockpit(german_home, web=web) as cockpit, devices(browser, "block") as new:
            device = await new(cockpit.origin)
            await device.page.goto(await cockpit.link())
            await device.at("pair").click()
            # the page learns the language, and is loaded once more in it
            await expect(device.page.locator("html")).to_have_attribute("lang", "de")
            await device.is_connected()
            device.expected.append("400")
            await device.page.evaluate("() => { location.hash = '#/more/answering'; }")
            await device.at("enter-key").click()
            await device.page.locator("#new-key").fill(BAD)
            await device.page.keyboard.press("Enter")
            await expect(device.at("openrouter").get_by_role("alert").last).to_have_text(
                "Nichts wurde gespeichert: OpenRouter kennt diesen Schlüssel nicht; "
                "kopiere ihn noch einmal von openrouter.ai/keys."
            )
