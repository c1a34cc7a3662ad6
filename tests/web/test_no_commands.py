"""Nothing in the page says a terminal command where a button could be: every screen is read."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from silas.audit.witness import read_head
from silas.language import COCKPIT, said_at, speak
from silas.services.cockpit.finding_words import FINDINGS, told_of_finding
from tests.cockpit.test_kept_head import log_of
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import PHONE, NewDevice
from tests.web.support.screens import SCREENS

pytestmark = in_a_browser

_COMMAND = re.compile(r"\bsilas [a-z][a-z-]*(?: --?[a-z-]+| [a-z-]+)?")
_TERMINAL_ONLY = {
    "silas init": ("before there is a page", "bevor es eine Seite gibt"),
    "silas signer": ("No page sets it up", "Keine Seite richtet ihn ein"),
    "silas audit accept": ("whose record is in doubt", "dessen Protokoll in Zweifel steht"),
}
"""Commands that a page names all the same, with what it says beside them: key and folders are older
than any page, a signer apart is kept from the process that serves the page, and so is the yes to a
record that somebody changed.
"""

_PLACES = [screen for screen in SCREENS if not screen.name.startswith(("card-", "review-"))]


def _is_explained(named: str, line: str) -> bool:
    """Whether a command, with the word that follows it in its sentence, is one of these, and the
    same paragraph says why.
    """
    return any(
        f"{named} ".startswith(f"{one} ") and any(why in line for why in whys)
        for one, whys in _TERMINAL_ONLY.items()
    )


def _unexplained(shown: str) -> set[str]:
    return {
        named
        for line in shown.splitlines()
        for named in _COMMAND.findall(line)
        if not _is_explained(named, line)
    }


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
        if named := _unexplained(shown):
            found[screen.name] = sorted(named)
    assert found == {}


@pytest.mark.parametrize("language", ["en", "de"])
async def test_no_finding_of_what_protects_you_names_a_command_without_a_reason(
    language: str,
) -> None:
    speak(language)
    try:
        told = [said_at(COCKPIT, told_of_finding(words)) for words in FINDINGS]
    finally:
        speak("en")
    assert {named: line for line in told for named in _unexplained(line)} == {}


async def test_the_newest_entry_is_signed_by_a_button_and_told_to_the_witness(
    tmp_path: Path, new_device: NewDevice
) -> None:
    kept = tmp_path / "elsewhere" / "heads"
    kept.parent.mkdir()
    (place := tmp_path / "silas").mkdir()
    async with a_cockpit(Home(place), SILAS_AUDIT__WITNESS=f'[{{"file": "{kept}"}}]') as cockpit:
        device = await cockpit.paired(new_device, PHONE)
        await device.opens("#/more/protection")
        before = len(kept.read_text(encoding="utf-8").splitlines()) if kept.exists() else 0
        await device.at("sign-entry").click()
        told = device.at("signed-entry")
        await expect(told).to_contain_text("Signed, and 1 witness was told.")
        line = await told.locator("code").inner_text()
        head = read_head(line, "the page")
        assert head is not None
        (entry,) = await log_of(cockpit).entries(head.head.seq - 1, 1)
        assert (entry.seq, entry.entry_hash) == head.head
        assert line in kept.read_text(encoding="utf-8").splitlines()[before:]
        assert await device.violations() == []
        assert await device.overflow() == 0
        await device.opens("#/more")
        await device.opens("#/more/protection")
        found = device.page.locator(".findings").get_by_text(f"was told entry {head.head.seq} at")
        await expect(found).to_be_visible()
