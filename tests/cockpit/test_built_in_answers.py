"""In the cockpit the built-in model names what its owner does in the page, and no command (8.2)."""

import re
from pathlib import Path

import pytest

from tests.cockpit.in_language import a_cockpit_in

_COMMAND = re.compile(r"\bsilas [a-z]+")

SAID = {
    "en": {
        "hello": "“Who answers” under “More” connects",
        "stop": "“Stop” on every page",
        "undo that": "“Work” under “More” lists",
        "forget everything": "“Memory” under “More” finds",
        "what do you remember": "I remember nothing yet.",
        "what happened today?": "was paired",
        "what is planned?": "Nothing comes by the clock",
        "what can you do?": "“Who answers” under “More” connects",
        "sing a song": "“Who answers” under “More” connects",
    },
    "de": {
        "hallo": "„Wer antwortet“ unter „Mehr“ verbindet",
        "stopp": "„Stopp“ auf jeder Seite",
        "mach das rückgängig": "„Arbeit“ unter „Mehr“ zeigt",
        "vergiss alles": "„Gedächtnis“ unter „Mehr“ findet",
        "was weißt du über mich": "Ich weiß noch nichts.",
        "was ist heute passiert?": "wurde gekoppelt",
        "was steht heute an?": "Nach der Uhr kommt heute nichts",
        "was kannst du?": "„Wer antwortet“ unter „Mehr“ verbindet",
        "sing ein Lied": "„Wer antwortet“ unter „Mehr“ verbindet",
    },
}


@pytest.mark.parametrize("language", ["en", "de"])
async def test_what_the_built_in_model_says_names_a_place_in_the_page(
    tmp_path: Path, language: str
) -> None:
    async with a_cockpit_in(language, tmp_path) as (_, page):
        for asked, place in SAID[language].items():
            await page.say(asked)
            while (said := await page.next("message"))["sender"] == "owner":
                pass
            assert place in said["text"], asked
            assert not _COMMAND.search(said["text"]), said["text"]
