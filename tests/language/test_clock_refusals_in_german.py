"""What Silas refuses of reminders, goals, approvals and folders in a German conversation."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.goals.models import GoalState
from silas.goals.store import SqlGoalStore
from silas.plans import WorkItemType
from silas.testing import Harness, MockClock, ScriptedChannel, a_plan

pytestmark = pytest.mark.usefixtures("german")

NINE = datetime(2026, 11, 24, 8, 0, tzinfo=UTC)  # nine o'clock in Vienna, a Tuesday


class _Cockpit(ScriptedChannel):
    channel_name = "web"


def _house(channel: ScriptedChannel) -> Harness:
    return Harness(channel, clock=MockClock(NINE), settings={"language": "de"})


async def _answer(said: str, channel: ScriptedChannel) -> str:
    async with _house(channel) as h:
        return (await h.silas.ask(said)).text


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "erinnere mich gestern um neun an den Müll",
            "Montag, 23. November 2026, 09:00 ist vorbei; nenne eine Zeit, die noch kommt. "
            "Keine Erinnerung wurde angelegt oder geändert.",
        ),
        (
            "lösche Erinnerung 7",
            "Keine wartende Erinnerung heißt „7“; „Erinnerungen“ unter „Mehr“ zeigt sie. "
            "Keine Erinnerung wurde angelegt oder geändert.",
        ),
        (
            "pausiere das Ziel goal-site",
            "Ein Ziel „goal-site“ gibt es nicht; „Bevorstehend“ unter „Mehr“ zeigt sie.",
        ),
        (
            "widerrufe die Genehmigung von goal-site",
            "Es gibt keine Genehmigung für „goal-site“; „Arbeit“ unter „Mehr“ hat die Kennungen.",
        ),
        (
            "räume /nirgends/da auf",
            "Es gibt keinen Ordner /nirgends/da; nenne einen, den es gibt.",
        ),
        (
            "mach Stapel batch-12345678 rückgängig",
            "Es gibt keinen Stapel „batch-12345678“; „Verschobene Dateien“ unter „Mehr“ hat die "
            "Kennungen.",
        ),
    ],
)
async def test_a_refusal_is_german_and_names_a_page_in_the_cockpit(said: str, answer: str) -> None:
    assert await _answer(said, _Cockpit()) == answer


async def test_a_terminal_is_told_the_command() -> None:
    said = await _answer("pausiere das Ziel goal-site", ScriptedChannel())
    assert said == "Ein Ziel „goal-site“ gibt es nicht; `silas goals list` zeigt sie."


async def test_how_a_goal_stands_is_said_in_german() -> None:
    channel = _Cockpit()
    async with _house(channel) as h:
        await h.store.save(a_plan(id="goal-a", type=WorkItemType.goal))
        goals = SqlGoalStore(h.db)
        goals.save_approved("goal-a", "0 7 * * *", h.clock.now())
        goals.stands("goal-a", GoalState.paused)
        text = (await h.silas.ask("pausiere das Ziel goal-a")).text
    assert text == "goal-a ist schon pausiert."


async def test_a_file_is_no_folder_to_tidy(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a", encoding="utf-8")
    said = await _answer(f"räume {file} auf", _Cockpit())
    assert said == f"{file} ist eine Datei und kein Ordner; nenne den Ordner, in dem sie liegt."
