"""How a project and a tidied folder ended, to who reads German."""

from pathlib import Path

import pytest

from silas.audit.narrate import narrate
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import entries_of, saying_yes

pytestmark = pytest.mark.usefixtures("german")


async def test_what_was_not_begun_of_a_project_is_told_in_german() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    ran.failing.add("check-b")
    async with Harness(channel, sandbox=ran.sandbox, settings={"language": "de"}) as h:
        result = await h.silas.run(project_text(chain("a", "b", "c")))
        left = await h.store.get_result("c")
        kept = [one["work_item_id"] for one in await entries_of(h, "work_item_not_begun")]
    assert [one for one in channel.texts if " erledigt)" in one] == [
        "in Arbeit: a ist erledigt (1 von 3 erledigt)",
        "in Arbeit: b ist festgefahren (1 von 3 erledigt)",
    ]
    assert result.status is WorkItemStatus.failed
    assert result.summary.startswith(
        "Die Aufgabe „Do b“ ist festgefahren:\nDie Prüfung „right“ ist"
    )
    assert "Exit-Code 1, erwartet war 0\n" in result.summary
    assert result.summary.endswith("\nNicht begonnen: „Do c“.")
    assert left is not None
    assert kept == ["c"]
    told = narrate("work_item_not_begun", {"work_item_id": "c", "status": "blocked"})
    assert told == "c wurde nie begonnen."
    assert left.summary == f"Nicht begonnen, weil das Projekt {PROJECT} fehlgeschlagen ist."


async def test_a_folder_with_nothing_to_tidy_is_told_in_german(tmp_path: Path) -> None:
    async with Harness(ScriptedChannel(), settings={"language": "de"}) as h:
        answer = await h.silas.ask(f"räume {tmp_path} auf")
    assert answer.text == f"In {tmp_path} gibt es nichts aufzuräumen."
