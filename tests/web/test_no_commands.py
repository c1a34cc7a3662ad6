"""Nothing in the page says a terminal command where a button could be: every screen is read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.language import speak
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home
from tests.web.support.device import NewDevice
from tests.web.support.screens import SCREENS

pytestmark = in_a_browser

_COMMAND = re.compile(r"\bsilas [a-z][a-z-]*(?: --?[a-z-]+| [a-z-]+)?")
_TERMINAL_ONLY = {
    "silas init": "makes the key and the directories, before any Silas runs that could show a page",
    "silas signer": "starts the key's own process as another user, which no page may do",
    "silas audit witness": "is for a second machine or medium, that this Silas cannot reach",
}
"""Commands that a page names all the same, and why no button can do what they do."""

_PLACES = [screen for screen in SCREENS if not screen.name.startswith(("card-", "review-"))]


def _is_terminal_only(named: str) -> bool:
    """Whether a command, with the word that follows it in its sentence, is one of these."""
    return any(f"{named} ".startswith(f"{one} ") for one in _TERMINAL_ONLY)


@pytest.fixture(params=["en", "de"])
def home(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Home]:
    """A home whose owner reads this language, the whole process's until the test ends."""
    made = Home(tmp_path)
    file = made.home / "config.yaml"
    text = file.read_text(encoding="utf-8")
    named = f'{{"silas": {{"language": "{request.param}", '
    file.write_text(text.replace('{"silas": {', named), encoding="utf-8")
    yield made
    speak("en")


async def test_no_page_names_a_command(
    cockpit: Cockpit, new_device: NewDevice, request: pytest.FixtureRequest
) -> None:
    device = await new_device(cockpit.origin)
    await device.page.goto(await cockpit.link())
    await device.at("pair").click()
    await device.is_connected()  # and loads again where Silas speaks another language
    language = request.node.callspec.params["home"]
    await expect(device.page.locator("html")).to_have_attribute("lang", language)
    await device.is_connected()
    found: dict[str, list[str]] = {}
    for screen in _PLACES:
        if screen.name in ("activity-entry", "more-work-item"):
            continue
        await screen.arrive(cockpit, device)
        await device.page.evaluate(
            "() => document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )
        await device.is_quiet()
        shown = await device.page.locator("body").inner_text()
        named = {one for line in shown.splitlines() for one in _COMMAND.findall(line)}
        if named := {one for one in named if not _is_terminal_only(one)}:
            found[screen.name] = sorted(named)
    assert found == {}
