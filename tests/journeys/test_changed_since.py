"""“Tell me what changed”, by the clock: what is new or changed since the last time, and no more."""

import os
import time
from pathlib import Path

import pytest

from silas.language.catalogue import speaking_as_asked
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import START, until, yes

DAY = 24 * 3600


def aged(folder: Path, name: str, days: float) -> None:
    """A file that was changed so many days ago."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(name)
    at = time.time() - days * DAY
    os.utime(folder / name, (at, at))


async def told_once(said: str, folder: Path, language: str = "en") -> tuple[str, str, str]:
    """The goal's title, its card, and what its first cycle tells."""
    channel, clock = ScriptedChannel(yes), MockClock(START)
    with speaking_as_asked(language):
        async with a_house(channel, clock=clock) as cockpit:
            silas = cockpit.harness.silas
            reply = await silas.ask(said, workspace=folder)
            assert reply.plan is not None, reply.text
            (card,) = channel.cards
            goals = cockpit.parts.goals()
            goals.run_now(reply.plan.id)
            goal, history = reply.plan.id, goals.store.history
            await until(lambda: any(one.ended_at for one in history(goal, 1)))
            (cycle,) = history(goal, 1)
            result = await cockpit.harness.store.get_result(cycle.task_id)
            assert result is not None, cycle
            return reply.plan.title, card.model_dump_json(), str(result.model_dump(mode="json"))


@pytest.mark.parametrize(
    ("said", "language", "title", "counted", "unseen"),
    [
        (
            "every morning at seven, tell me what changed in this folder",
            "en",
            "Tell what changed in the last 24 hours",
            "1 file is new or changed in the last 24 hours:",
            "Files that were deleted are not seen.",
        ),
        (
            "every Monday at nine tell me what changed this week",
            "en",
            "Tell what changed in the last 7 days",
            "2 files are new or changed in the last 7 days:",
            "Files that were deleted are not seen.",
        ),
        (
            "jeden Morgen um sieben sag mir, was sich in diesem Ordner geändert hat",
            "de",
            "Sagen, was sich in den letzten 24 Stunden geändert hat",
            "1 Datei ist neu oder geändert in den letzten 24 Stunden:",
            "Gelöschte Dateien sehe ich nicht.",
        ),
        (
            "jeden Montag um neun, was hat sich diese Woche geändert",
            "de",
            "Sagen, was sich in den letzten 7 Tagen geändert hat",
            "2 Dateien sind neu oder geändert in den letzten 7 Tagen:",
            "Gelöschte Dateien sehe ich nicht.",
        ),
    ],
)
async def test_it_tells_what_changed_since_the_last_time(
    said: str, language: str, title: str, counted: str, unseen: str, tmp_path: Path
) -> None:
    folder = tmp_path / "Papers"
    for name, days in (("today.txt", 0.1), ("tuesday.txt", 3), ("old.txt", 30)):
        aged(folder, name, days)
    called, card, told = await told_once(said, folder, language)
    assert called == title
    assert title in card
    assert "deleted is not seen" in card
    assert counted in told
    assert unseen in told
    assert "today.txt" in told
    assert ("tuesday.txt" in told) is ("7" in title)
    assert "old.txt" not in told


@pytest.mark.parametrize(
    ("language", "nothing"),
    [
        ("en", "Nothing changed in the last 24 hours."),
        ("de", "In den letzten 24 Stunden hat sich nichts geändert."),
    ],
)
async def test_where_nothing_changed_it_says_so(
    language: str, nothing: str, tmp_path: Path
) -> None:
    aged(tmp_path / "Papers", "old.txt", 2)
    said = "every morning at seven, tell me what changed in this folder"
    _, _, told = await told_once(said, tmp_path / "Papers", language)
    assert nothing in told
    assert "old.txt" not in told


async def test_of_many_it_names_twenty_and_says_how_many_more(tmp_path: Path) -> None:
    for number in range(23):
        aged(tmp_path / "Papers", f"{number:02}.txt", number / 100)
    said = "every morning at seven, tell me what changed in this folder"
    _, _, told = await told_once(said, tmp_path / "Papers")
    assert "23 files are new or changed" in told
    assert "19.txt" in told
    assert "20.txt" not in told
    assert "and 3 more" in told
