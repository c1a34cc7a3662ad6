"""What a browser is told that comes with a link that is no good, and what the others are told."""

from pathlib import Path

import httpx
import pytest

from tests.cockpit.in_language import a_cockpit_in
from tests.cockpit.program_page import a_page

PLACE = {"en": "“Devices”", "de": "„Geräte“"}
USED = {"en": "was used already", "de": "wurde schon verwendet"}
PAIRED = {"en": "was paired just now", "de": "wurde gerade gekoppelt"}


@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_link_that_is_no_good_names_the_page_once_and_the_commands_once(
    tmp_path: Path, language: str
) -> None:
    async with a_cockpit_in(language, tmp_path) as (cockpit, page):
        link = await cockpit.link()
        async with a_page(cockpit.origin, link, key=False):
            assert PAIRED[language] in (await page.next("device_paired"))["words"]
        (_, used_by) = cockpit.running.door.devices()
        for wrong, commands in (
            (link, ("`silas devices link`", f"`silas devices revoke {used_by.id}`")),
            (f"{link}0", ("`silas devices link`",)),
        ):
            with pytest.raises(httpx.HTTPStatusError) as error:
                async with a_page(cockpit.origin, wrong, key=False):
                    pass
            said = error.value.response.json()["message"]
            assert said.count(PLACE[language]) == 1, said
            assert [said.count(one) for one in commands] == [1] * len(commands), said
            assert (USED[language] in said) is (wrong == link)


LINK = {"en": "This pairing link does not work", "de": "Dieser Link zum Koppeln"}
CLOSED = {"en": "This browser is not paired with Silas.", "de": "nicht mit Silas gekoppelt."}
NEEDS = {"en": "`token` is missing", "de": "`token` fehlt"}


@pytest.mark.parametrize(("silas", "browser"), [("en", "de"), ("de", "en")])
async def test_who_is_not_paired_is_told_in_the_language_of_his_browser(
    tmp_path: Path, silas: str, browser: str
) -> None:
    async with a_cockpit_in(silas, tmp_path) as (cockpit, _):
        asked = {"Accept-Language": f"fr, {browser}-XX;q=0.9", "Origin": cockpit.origin}
        async with httpx.AsyncClient(base_url=cockpit.origin, headers=asked) as page:
            closed = await page.get("/")
            unfit = await page.post("/pair", json={"name": "x"})
            other = await page.get("/", headers={"Host": "silas.example"})
            wrong = {"token": "0" * 64, "name": "x", "public_key": None, "signature": None}
            refused = await page.post("/pair", json={**wrong, "auth_token": ""})
            silently = await page.get("/", headers={"Accept-Language": "fr"})
    assert f'<html lang="{browser}">' in closed.text
    assert CLOSED[browser] in closed.text
    assert CLOSED[silas] in silently.text
    assert NEEDS[browser] in unfit.json()["message"]
    assert ("bekannt" in other.json()["message"]) is (browser == "de")
    assert refused.json()["message"].startswith(LINK[browser]), refused.text
