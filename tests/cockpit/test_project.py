"""A project in the cockpit: shown with its tasks, and taken back as a whole."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from silas.cards import PlanCard
from silas.language.calendar import moment_words
from silas.services.cockpit.undone import UndoneEntries
from silas.services.mcp_server import Services
from silas.testing import ScriptedChannel
from silas.workspace.journal import Journal, read_journal, write_journal
from tests.cockpit.house import a_house
from tests.projects.kit import PROJECT, project_text
from tests.projects.test_held import Owner, tasks
from tests.work.kit import owner


def _writes(place: Path, name: str, after: list[str]) -> dict[str, object]:
    return {
        "workspace": str(place),
        "depends_on": after,
        "verify": [{"name": "right", "run": f"test -s {name}", "expect": {"exit_code": 0}}],
        "body": f"Do it.\n\n```sh\necho {name} > {name}\n```",
    }


async def test_it_is_shown_with_its_tasks_and_taken_back_as_a_whole(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    text = project_text({"a": _writes(place, "a", []), "b": _writes(place, "b", ["a"])})
    channel = owner()
    async with a_house(channel) as house:
        result = await house.harness.silas.run(text)
        assert result.status == "done", result.summary
        assert (place / "a").exists()
        one = await house.get(f"/work/{PROJECT}")
        headings = [section["heading"] for section in one["plan"]]
        assert headings[0] == "Its tasks, and what each of them does"
        assert "Task 1: Do a" in headings
        assert "Task 2: Do b" in headings
        assert "of which 2 may change your files" in one["affected"]
        assert len(one["budget"]) == 3
        rows = {row["id"]: row for row in await house.get("/work")}
        assert (rows[PROJECT]["undoable"], rows["a"]["undoable"]) == (True, True)
        undoings = UndoneEntries(house.parts.audit, house.parts.undoing, house.parts.store)
        before = await undoings.newest()
        assert await undoings.is_undone(PROJECT) is False
        done = await house.signed(f"/work/{PROJECT}/undo")
        assert done.status_code == 200, done.text
        assert done.json()["words"] == "Taken back, in this order: b, a."
        assert list(place.iterdir()) == []
        assert (await undoings.since(before)).work == ("b", "a", PROJECT)
        assert await undoings.is_undone(PROJECT) is True
        place_of = house.harness.config.data_dir / "undo" / "a" / "000001"
        undone = read_journal(place_of)
        write_journal(place_of, replace(undone, phase="undoing"))  # a crash left half of it
        assert await undoings.is_undone(PROJECT) is False
        (half,) = [row for row in await house.get("/work") if row["id"] == PROJECT]
        assert half["taken_back"].startswith(
            "What it changed was taken back in part: b; the last of it "
        )
        write_journal(place_of, undone)
        again = await house.signed(f"/work/{PROJECT}/undo")
        assert again.status_code == 409
        rows = {row["id"]: row for row in await house.get("/work")}
        assert rows[PROJECT]["undoable"] is False
        whole = _taken_back(undone)
        assert (rows[PROJECT]["taken_back"], rows["a"]["taken_back"]) == (whole, whole)
    assert isinstance(channel, ScriptedChannel)
    assert [isinstance(card, PlanCard) for card in channel.cards] == [True]


def _taken_back(journal: Journal) -> str:
    """By the clock of the house's owner."""
    at = datetime.fromtimestamp(journal.undone / 1e9, UTC)
    return f"What it changed was taken back: {moment_words(at, ZoneInfo('Europe/Vienna'))}."


async def test_every_door_says_when_it_was_taken_back(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    text = project_text({"a": _writes(place, "a", []), "b": _writes(place, "b", ["a"])})
    async with a_house(owner()) as house:
        silas = house.harness.silas
        status = Services(silas, silas.ahead).plan_status
        await silas.run(text)
        assert (await status({"id": PROJECT})).startswith(f"{PROJECT} is done: All 2 tasks")
        await silas.undo(PROJECT)
        place_of = house.harness.config.data_dir / "undo" / "a" / "000001"
        undone = read_journal(place_of)
        whole = _taken_back(undone)
        told = await status({"id": PROJECT})
        assert told.startswith(
            f"{PROJECT} is taken back. {whole}\n\nBefore that: All 2 tasks are done"
        )
        assert (await status({"id": "a"})).startswith(f"a is taken back. {whole}\n\nBefore that: ")
        item = await house.parts.store.get("a")
        assert item is not None
        assert silas.taken_back(item) == whole
        write_journal(place_of, replace(undone, undone=0))  # as an earlier version wrote it
        (row,) = [row for row in await house.get("/work") if row["id"] == "a"]
        assert (row["taken_back"], row["status"]) == ("What it changed was taken back.", "undone")
        assert (await house.get("/work/a"))["status"] == "undone"
        assert (await house.get(f"/work/{PROJECT}"))["status"] == "undone"


async def test_what_failed_and_was_taken_back_is_no_longer_failed(tmp_path: Path) -> None:
    (place := tmp_path / "place").mkdir()
    fails = _writes(place, "b", ["a"]) | {
        "verify": [{"name": "wrong", "run": "test -s nowhere", "expect": {"exit_code": 0}}],
        "budget": {"max_attempts": 1},
    }
    async with a_house(owner()) as house:
        result = await house.harness.silas.run(
            project_text({"a": _writes(place, "a", []), "b": fails})
        )
        assert result.status != "done"
        before = {row["id"]: row["status"] for row in await house.get("/work")}
        assert before[PROJECT] == result.status
        assert (await house.signed(f"/work/{PROJECT}/undo")).status_code == 200
        assert list(place.iterdir()) == []
        rows = {row["id"]: row["status"] for row in await house.get("/work")}
        assert (rows[PROJECT], rows["a"], rows["b"]) == ("undone", "undone", before["b"])
        assert (await house.get(f"/work/{PROJECT}"))["status"] == "undone"


async def test_where_one_task_was_taken_back_it_says_so(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    text = project_text({"a": _writes(place, "a", []), "b": _writes(place, "b", ["a"])})
    async with a_house(owner()) as house:
        await house.harness.silas.run(text)
        assert (await house.get(f"/work/{PROJECT}"))["taken_back"] == ""
        assert (await house.signed("/work/b/undo")).status_code == 200
        rows = {row["id"]: row for row in await house.get("/work")}
    part = "What it changed was taken back in part: b; the last of it "
    assert rows[PROJECT]["taken_back"].startswith(part)
    assert (rows[PROJECT]["undoable"], rows["a"]["taken_back"]) == (True, "")
    assert [rows[name]["status"] for name in (PROJECT, "a", "b")] == ["done", "done", "undone"]


async def test_changes_that_wait_are_told_with_the_page_that_asks(tmp_path: Path) -> None:
    async with a_house(Owner("keep").channel) as house:
        await house.harness.silas.run(project_text(tasks(tmp_path)))
        rows = {row["id"]: row for row in await house.get("/work")}
    assert rows["second"]["summary"].startswith(
        "Nothing of it is applied yet: 1 change waits for your yes, because of second.txt: "
    )
    assert rows["second"]["summary"].endswith(" Look at them, then apply or drop them: “Review”.")
    assert rows[PROJECT]["summary"].startswith(
        "The changes of its task second wait for your yes (“Review”). On a yes the project goes on"
    )
