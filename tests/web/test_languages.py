"""The cockpit in its owner's language: every screen in German, and laid out from the right."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.language import speak
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import SIZES, Device, NewDevice, Size
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
  while (own.nextNode()) {
    const node = own.currentNode, at = node.parentElement;
    const others = at.closest("[dir=auto], code, pre, script, noscript, .hash, #live");
    if (others || !at.checkVisibility()) continue;
    if (english.test(node.data)) found.push(node.data.trim());
  }
  return found;
}
"""
"""The page's own words with an English one among them; what anybody said stands in `dir=auto`."""


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


@_EACH_SIZE
async def test_every_screen_speaks_german_where_its_owner_does(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await _lived_in(cockpit, new_device, size)
    wrong: list[str] = []
    for screen in _PLACES:
        await screen.arrive(cockpit, device)
        wrong += [f"{screen.name}: {text}" for text in await device.page.evaluate(_ENGLISH)]
        if await device.overflow():
            wrong.append(f"{screen.name}: it is wider than the screen")
        await device.page.keyboard.press("Escape")
        await device.comes_back()
    assert not wrong, "\n".join(wrong)


@_EACH_SIZE
async def test_a_page_written_from_the_right_stays_within_the_screen(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await _lived_in(cockpit, new_device, size)
    await device.page.evaluate("document.documentElement.dir = 'rtl'")
    wide: list[str] = []
    for screen in _PLACES:
        await screen.arrive(cockpit, device)
        if await device.overflow():
            wide.append(screen.name)
        await device.page.keyboard.press("Escape")
        await device.comes_back()
    assert not wide
