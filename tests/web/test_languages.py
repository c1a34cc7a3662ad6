"""The cockpit in its owner's language: every screen in German, and laid out from the right."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.language import speak
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import PHONE, SIZES, Device, NewDevice, Size
from tests.web.support.library import COPY
from tests.web.support.screens import SCREENS

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)

_PLACES = [screen for screen in SCREENS if not screen.name.startswith(("card-", "review-"))]

_ENGLISH = """
() => {
  const own = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  const english = /\\b(the|and|you|your|what|is|are|of|with|nothing|this|it|not|yet|no|to)\\b/i;
  const raw = /\\b(act_and_report|default_and_offer|verification_failed|approved|full plan)\\b/i;
  const states = /\\b(standing|running|done|failed|stuck|blocked|paused)\\b/i;
  const levels = /\\b(low|medium|high|middling|very)\\b/i;
  while (own.nextNode()) {
    const node = own.currentNode, at = node.parentElement;
    const others = at.closest("[dir=auto], code, pre, script, noscript, .hash, #live");
    if (others || !at.checkVisibility()) continue;
    const all = [english, raw, states, levels];
    if (all.some((one) => one.test(node.data))) found.push(node.data.trim());
  }
  return found;
}
"""
"""The page's own words with an English one among them; what anybody said stands in `dir=auto`."""

_OWN_AMONG = ".findings p, .check-words, [role=alert], .field-problem, .warning, .toast"
"""Silas's own words in places whose direction follows their text; what is found of the sandbox
depends on the kernel, and rare findings are told in English."""

_ENGLISH_THERE = """
(places) => [...document.querySelectorAll(places)]
  .filter((one) => one.checkVisibility() && !one.closest("pre, code"))
  .filter((one) => !/^Sandbox/.test(one.closest("li")?.textContent ?? ""))
  .map((one) => one.textContent.trim())
  .filter((text) => /\\b(the|and|is|are|with|nothing|not|expected|open|offers)\\b/i.test(text))
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home whose owner reads German; the language is the whole process's, until the test ends."""
    made = Home(tmp_path)
    file = made.home / "config.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('{"silas": {', '{"silas": {"language": "de", '), encoding="utf-8")
    yield made
    speak("en")


async def _lived_in(cockpit: Cockpit, new_device: NewDevice, size: Size) -> Device:
    device = await cockpit.paired(new_device, size)
    await expect(device.page.locator("html")).to_have_attribute("lang", "de")
    await device.says(COPY)
    await device.sees_a_card()
    await device.answers("Genehmigen und einmal ausführen")
    await device.comes_back()
    await expect(device.at("result")).to_contain_text("Erledigt")
    return device


async def _protection_in_german(device: Device) -> list[str]:
    """What is missing of the words that Silas says of its own state."""
    body = device.page.locator("#more-body")
    verdict, told = await body.locator(".verdict").inner_text(), await body.inner_text()
    wanted = {
        "Braucht deine Aufmerksamkeit: Schlüssel": verdict,
        "nicht angehalten; „Stopp“ auf jeder Seite oder eine Datei": told,
    }
    return [f"it does not say: {words}" for words, text in wanted.items() if words not in text]


async def _wider_than_the_screen(device: Device) -> list[str]:
    """As it stands, and as a language is laid out that is written from the right."""
    found: list[str] = []
    for side in ("rtl", "ltr"):  # ends as it was
        await device.page.evaluate("(side) => { document.documentElement.dir = side; }", side)
        if await device.overflow():
            found.append(f"it is wider than the screen ({side})")
    return found


@_EACH_SIZE
async def test_every_screen_speaks_german_and_fits_also_when_written_from_the_right(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await _lived_in(cockpit, new_device, size)
    await expect(device.page.locator(".check-words")).to_have_text("Exit-Code 0, wie erwartet")
    wrong: list[str] = []
    for screen in _PLACES:
        await screen.arrive(cockpit, device)
        found = await device.page.evaluate(_ENGLISH)
        found += await device.page.evaluate(_ENGLISH_THERE, _OWN_AMONG)
        if screen.name == "more-protection":
            found += await _protection_in_german(device)
        if screen.name == "more-work-item":
            for word in ("Genehmigt", "Dieser Plan"):
                await expect(device.page.locator("#more-body")).to_contain_text(word)
        found += await _wider_than_the_screen(device)
        wrong += [f"{screen.name}: {text}" for text in found]
        await device.page.keyboard.press("Escape")
        await device.comes_back()
    assert not wrong, "\n".join(wrong)


async def test_a_result_that_is_there_already_is_told_in_the_language_of_now(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await _lived_in(cockpit, new_device, PHONE)
    result = device.at("result")
    told = {
        "de": ("Erledigt und geprüft: result_is_there.", "Exit-Code 0, wie erwartet"),
        "en": ("Done and verified: result_is_there.", "exit code 0, as expected"),
    }
    for language in ("de", "en", "de"):
        speak(language)
        await device.page.evaluate("(one) => localStorage['silas.language'] = one", language)
        await device.page.reload()
        await device.is_connected()
        summary, check = told[language]
        await expect(result.locator(".result-summary")).to_have_text(summary)
        await expect(result.locator(".check-words")).to_have_text(check)
        await device.opens("#/more/work")
        await expect(device.page.locator("#more-body")).to_contain_text(summary)
        await device.comes_back()


_LINES = """
(banner) => {
  const words = banner.querySelector("p"), lines = document.createRange();
  lines.selectNodeContents(words);
  const tops = [...lines.getClientRects()].map((one) => Math.round(one.top / 4));
  return [new Set(tops).size, words.innerText];
}
"""


async def test_the_banner_of_a_stop_takes_at_most_three_lines_of_a_phone(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device, PHONE)
    await device.at("stop").click()
    await device.at("stop-now").click()
    banner = device.page.locator("#stopped")
    await expect(banner).to_be_visible()
    lines, words = await banner.evaluate(_LINES)
    assert lines <= 3, words
    assert words.startswith("Silas ist angehalten seit ")
    await expect(device.at("resume")).to_be_visible()
    await device.at("resume").click()
    await expect(banner).to_be_hidden()
