"""A journal cannot be read: nothing is built on its files before the owner has looked."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos.test_every_door import House


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Killed half-way."""
    found = House(tmp_path)
    found.killed()
    return found


def _cut_off(journal: Path) -> None:
    journal.write_bytes(journal.read_bytes()[:200])


def _strange_phase(journal: Path) -> None:
    journal.write_text(journal.read_text().replace('"applying"', '"somehow"'))


def _emptied(journal: Path) -> None:
    journal.write_bytes(b"")


def _another_thing(journal: Path) -> None:
    journal.unlink()
    journal.mkdir()


DAMAGE: dict[str, Callable[[Path], None]] = {
    "cut off": _cut_off,
    "a phase that is none": _strange_phase,
    "emptied": _emptied,
    "a directory": _another_thing,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_change_whose_journal_cannot_be_read_is_refused_named_and_left_to_the_owner(
    house: House, damage: str
) -> None:
    DAMAGE[damage](house.place / "journal.json")
    half = house.files
    words = "The record of what cut-short changed"
    end = "silas undo cut-short --keep-files"
    later = house.plan("later", "cp a later.txt")
    for door in (house.approved(later), ["undo", "cut-short"]):
        refused = house.command(*door)
        assert refused.code != 0
        assert words in refused.err
        assert end in refused.err
    assert words in house.command("ask", "hello").out
    assert words in house.command("status").out
    doctor = house.command("doctor")
    assert doctor.code != 0
    assert words in doctor.out
    assert house.files == half
    assert house.command("undo", "cut-short", "--keep-files").code == 0
    assert words not in house.command("doctor").out + house.command("status").out
    assert house.files == half
    done = house.command(*house.approved(later))
    assert done.code == 0, done.err


def test_a_journal_that_still_names_its_directory_stops_work_in_no_other(house: House) -> None:
    _cut_off(house.place / "journal.json")
    [row] = json.loads(house.command("status", "--json").out)
    assert row["half_changed"] == str(house.work)
    house.work = house.folder / "other"
    house.work.mkdir()
    (house.work / "a").write_text("other\n")
    done = house.command(*house.approved(house.plan("elsewhere", "cp a b")))
    assert done.code == 0, done.err
