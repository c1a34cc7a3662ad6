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
