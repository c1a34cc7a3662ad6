"""What is wrong in the settings is told in the owner's language, by a real command (spec 11)."""

import json
from pathlib import Path

import pytest

from silas.home.findings import DoctorFinding
from silas.language import speak
from silas.services.cockpit.finding_words import finding_words
from tests.support.command import environment, run, silas

_HEAD = "silas:\n  language: de\n"

WRONG = {
    "an unknown key": (
        "  channels:\n    web:\n      prot: 1\n",
        "Es gibt unter channels.web keinen Schlüssel prot; der nächste ist port "
        "(config.yaml, Zeile 5). [E_CFG_UNKNOWN_KEY]",
    ),
    "a value": (
        "  channels: { web: { port: many } }\n",
        "channels.web.port: muss eine ganze Zahl sein (config.yaml, Zeile 3). [E_CFG_WEB_AUTH]",
    ),
    "a variable": (
        "  plans_dirs: ['x${NOT_THERE}y']\n",
        "config.yaml, Zeile 3: die Umgebungsvariable NOT_THERE ist nicht gesetzt. [E_CFG_YAML]",
    ),
    "no YAML": (
        "  language: de\n",
        "config.yaml, Zeile 3, Spalte 3: der Schlüssel `language` steht zweimal da",
    ),
    "a quote that is open": (
        "  owner_id: 'me\n",
        "config.yaml, Zeile 3, Spalte 13: das YAML lässt sich nicht lesen: das Anführungszeichen, "
        "das hier öffnet, wird nie geschlossen; schließ es. [E_CFG_YAML]",
    ),
    "a second colon": (
        "  owner_id: me: you\n",
        "config.yaml, Zeile 3, Spalte 15: das YAML lässt sich nicht lesen: hier darf kein "
        "Doppelpunkt stehen; setze Text mit Doppelpunkt in Anführungszeichen",
    ),
    "a rule": (
        "  autonomy: { max_batch_review_size: 1 }\n",
        "autonomy.max_batch_review_size ist 1, weniger als batch_review.default_size",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_setting_is_told_in_german(tmp_path: Path, wrong: str) -> None:
    text, said = WRONG[wrong]
    (tmp_path / "config.yaml").write_text(_HEAD + text, encoding="utf-8")
    for command in (("status",), ("config", "validate"), ("doctor",)):
        ran = run(silas(*command), environment(tmp_path))
        assert ran.code == 2
        assert said in ran.err


def test_a_program_reads_it_in_english(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"{_HEAD}  prot: 1\n", encoding="utf-8")
    ran = run(silas("status", "--json"), environment(tmp_path))
    assert json.loads(ran.out)["error"]["words"].startswith("There is no key prot; the nearest")
    assert "Es gibt keinen Schlüssel prot; der nächste ist" in ran.err


def test_the_page_tells_the_finding_in_german() -> None:
    why = "suggestions.enabled needs scheduler.enabled; turn both on or suggestions off."
    found = DoctorFinding("configuration", "failed", why)
    speak("de")
    try:
        told = finding_words(found).words
    finally:
        speak("en")
    assert told.startswith("suggestions.enabled braucht scheduler.enabled;")
    assert finding_words(found) == found
