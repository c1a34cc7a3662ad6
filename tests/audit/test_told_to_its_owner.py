"""What the record says to its owner is what a person says, in his language; its facts stay."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from silas.audit.narrate import entry_details, narrate
from silas.language import speak
from silas.services.setup.saved_settings import SETTINGS

ITEM = {"work_item_id": "“Tidy up”"}
CHECKS = {"tests": False, "lint": True, "types": False}
SPOKEN: tuple[tuple[str, Mapping[str, Any], str, str], ...] = (
    (
        "verification_finished",
        {**ITEM, "all_passed": True, "checks": {"tests": True}},
        "All checks of “Tidy up” passed.",
        "Alle Prüfungen von “Tidy up” sind bestanden.",
    ),
    (
        "verification_finished",
        {**ITEM, "all_passed": False, "checks": CHECKS},
        "Checks of “Tidy up” failed: tests, types.",
        "Prüfungen von “Tidy up” sind nicht bestanden: tests, types.",
    ),
    (
        "tool_call.succeeded",
        {"tool": "workspace_read"},
        "Silas used workspace_read.",
        "Silas hat workspace_read benutzt.",
    ),
    (
        "onboarded",
        {"provider": "runbook"},
        "You chose who answers: Silas's built-in answers.",
        "Du hast gewählt, wer antwortet: Silas' eingebaute Antworten.",
    ),
    (
        "models_chosen",
        {"provider": "local", "models": ["qwen3"]},
        "You changed who answers, to qwen3.",
        "Du hast geändert, wer antwortet: qwen3.",
    ),
    (
        "device.paired",
        {"device": "Firefox", "device_id": "device-8e71", "level": "owner"},
        "The device Firefox was paired and can say yes for you.",
        "Das Gerät Firefox wurde gekoppelt und kann für dich ja sagen.",
    ),
    (
        "device.paired",
        {"device": "Firefox", "device_id": "device-8e71", "level": "auth"},
        "The device Firefox was paired.",
        "Das Gerät Firefox wurde gekoppelt.",
    ),
    (
        "settings_saved",
        {"names": ["quiet_hours.start", "language"]},
        "You changed “Quiet hours from”, “Language of cards and results”.",
        "Du hast „Ruhezeit von“, „Sprache der Karten und Ergebnisse“ geändert.",
    ),
    (
        "web.refused",
        {"who": "127.0.0.1", "reason": "no session", "unsaid": 0},
        "The cockpit refused 127.0.0.1: no session.",
        "Das Cockpit wies 127.0.0.1 ab: ohne Anmeldung.",
    ),
    (
        "web.refused",
        {"who": "127.0.0.1", "reason": "no session", "unsaid": 1200},
        "The cockpit refused 127.0.0.1: no session. 1,200 more refusals before it were only"
        " counted.",
        "Das Cockpit wies 127.0.0.1 ab: ohne Anmeldung. 1.200 weitere Abweisungen davor wurden"
        " nur gezählt.",
    ),
    (
        "attachment.added",
        {"name": "a.csv", "size": 36372, "conversation": "“Tax”", "device": "Firefox"},
        "a.csv (36,372 bytes) was attached to “Tax” on Firefox.",
        "a.csv (36.372 Byte) wurde auf Firefox an “Tax” angehängt.",
    ),
    (
        "attachment.added",
        {"name": "a.csv", "size": 2_340_000, "conversation": "“Tax”", "device": "Firefox"},
        "a.csv (2.3 MB) was attached to “Tax” on Firefox.",
        "a.csv (2,3 MB) wurde auf Firefox an “Tax” angehängt.",
    ),
    (
        "network_opened",
        {**ITEM, "purpose": "task", "host": "example.org", "port": 8443},
        "“Tidy up” (task) connected to example.org:8443 for the first time.",
        "“Tidy up” (task) verband sich zum ersten Mal mit example.org:8443.",
    ),
    (
        "conversation.deleted",
        {"conversation": "c-1", "messages": 1, "files": 0, "memories": 2},
        "You deleted the conversation c-1 for good: 1 message, 0 files, 2 memories of what was"
        " said.",
        "Du hast die Unterhaltung c-1 endgültig gelöscht: 1 Nachricht, 0 Dateien, 2 Erinnerungen"
        " an Gesagtes.",
    ),
    (
        "goal.paused",
        {**ITEM, "by_owner": True},
        "You paused the goal “Tidy up”.",
        "Du hast das Ziel “Tidy up” angehalten.",
    ),
    (
        "goal.paused",
        {**ITEM, "by_owner": False},
        "The goal “Tidy up” was paused.",
        "Das Ziel “Tidy up” wurde angehalten.",
    ),
    (
        "tool_call.settled",
        {**ITEM, "tool": "shell_exec", "happened": False},
        "You said that the call of shell_exec for “Tidy up” had no effect.",
        "Du hast gesagt, dass der Aufruf von shell_exec für “Tidy up” nicht gewirkt hat.",
    ),
    (
        "owner_asked",
        {**ITEM, "chosen": 0},
        "“Tidy up” asked you to choose; you chose nothing.",
        "“Tidy up” ließ dich wählen; du hast nichts gewählt.",
    ),
    (
        "plan_answered_elsewhere",
        {**ITEM, "approved": True},
        "You approved “Tidy up” elsewhere, so its question here was closed.",
        "Du hast “Tidy up” anderswo genehmigt, also wurde die Frage hier geschlossen.",
    ),
    (
        "workspace_look_asked",
        {"answer": "never"},
        "You let no model look at your files.",
        "Du lässt kein Modell deine Dateien ansehen.",
    ),
    (
        "changes_answered",
        {**ITEM, "answer": "drop"},
        "You said no to the changes of “Tidy up”.",
        "Du hast zu den Änderungen von “Tidy up” nein gesagt.",
    ),
    (
        "plan_approved",
        ITEM,
        "You approved the plan “Tidy up”.",
        "Du hast den Plan “Tidy up” genehmigt.",
    ),
    (
        "clock.confirmed",
        {"at": "2026-11-28T18:40:00.123+00:00"},
        "You said that the machine's clock is right: Saturday 28 November 2026, 18:40 UTC.",
        "Du hast gesagt, dass die Uhr des Rechners stimmt: Samstag, 28. November 2026, 18:40 UTC.",
    ),
)


@pytest.fixture(autouse=True)
def _english_after() -> Iterator[None]:
    yield
    speak("en")


@pytest.mark.parametrize(("event", "data", "english", "german"), SPOKEN)
def test_an_entry_is_told_as_a_person_tells_it(
    event: str, data: Mapping[str, Any], english: str, german: str
) -> None:
    assert narrate(event, data) == english
    speak("de")
    assert narrate(event, data) == german


def test_every_setting_is_told_by_the_name_that_the_page_gives_it() -> None:
    for one in SETTINGS:
        assert one.label in narrate("settings_saved", {"names": [one.name]})


def test_the_terminal_keeps_the_id_of_a_device_behind_the_sentence() -> None:
    assert "device-8e71" in entry_details("device.paired", {"device_id": "device-8e71"})
