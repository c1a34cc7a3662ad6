"""What is proposed for a folder, and what is refused before anything is asked (20.5)."""

import os
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.channels.text import card_lines
from silas.work.batches import plan
from silas.work.batches.cards import attention_card, batch_card, go_on_card
from silas.work.batches.models import Band, BatchRefused
from silas.work.batches.plan import plan_folder
from silas.work.batches.proposals import (
    Thresholds,
    band_of,
    batch_bytes,
    batch_subject,
    chunks,
    file_batch,
    select_items,
)
from tests.batches.folders import NOW, PDF, PNG, ZIP, put

USUAL = Thresholds(10, 0.85, 0.50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "Downloads"
    made.mkdir()
    return made


def planned(folder: Path, only: str = "") -> plan.FolderPlan:
    return plan_folder(folder, [folder.parent / "silas-data"], NOW, only)


# name, content, age in days, target, band
CASES = [
    ("photo.png", PNG, 3, "Pictures", Band.high),
    ("Scan.PDF", PDF, 3, "Documents", Band.high),
    ("tax.pdf", PDF, 800, "Older/Documents", Band.high),
    ("invoice.pdf", b"MZ\x90", 3, "To check", Band.low),
    ("picture.jpg", b"\x7fELF", 3, "To check", Band.low),
    ("empty.txt", b"", 3, "Documents", Band.medium),
    ("scan", PDF, 3, "Documents", Band.medium),
    ("thing.xyz", b"?", 3, "", Band.novel),
    ("unnamed", b"?", 3, "", Band.novel),
]


@pytest.mark.parametrize(("name", "content", "days", "target", "band"), CASES)
def test_a_file_goes_where_the_first_rule_that_fits_says(
    folder: Path, name: str, content: bytes, days: float, target: str, band: Band
) -> None:
    put(folder, name, content, days=days)
    (move,) = planned(folder).moves
    assert (move.target, band_of(move.confidence, USUAL)) == (target, band)


@pytest.mark.parametrize("copy", ["report (1).pdf", "Copy of report.pdf", "Kopie von report.pdf"])
def test_of_files_with_one_content_the_one_that_is_no_copy_stays_in_its_group(
    folder: Path, copy: str
) -> None:
    put(folder, "report.pdf", PDF + b"1", days=2)
    put(folder, copy, PDF + b"1", days=9)
    put(folder, "other name.pdf", PDF + b"1", days=1)
    told = {move.name: (move.target, move.confidence) for move in planned(folder).moves}
    assert told == {
        "report.pdf": ("Documents", 0.95),
        copy: ("Duplicates", 0.95),
        "other name.pdf": ("Duplicates", 0.70),
    }


def test_a_file_that_is_said_to_be_another_kind_is_never_a_mere_duplicate(folder: Path) -> None:
    put(folder, "a.pdf", b"MZ same")
    put(folder, "a (1).pdf", b"MZ same")
    assert {move.target for move in planned(folder).moves} == {"To check"}


def test_links_pipes_downloads_and_fresh_files_stay_and_are_told(folder: Path) -> None:
    put(folder, "film.mp4.part", b"x")
    put(folder, "fresh.pdf", PDF, days=0)
    put(folder, "hid\u202eden.pdf", PDF)
    (folder / "link.pdf").symlink_to(folder / "elsewhere.pdf")
    os.mkfifo(folder / "pipe.pdf")
    put(folder, ".hidden.pdf", PDF)
    put(folder, "below/deep.pdf", PDF)
    found = planned(folder)
    assert found.moves == ()
    assert {one.name: one.why for one in found.left} == {
        "film.mp4.part": "its download has not ended",
        "fresh.pdf": "it changed a moment ago",
        "hid\u202eden.pdf": "its name has hidden characters",
        "link.pdf": "it is a symbolic link",
        "pipe.pdf": "it is no ordinary file",
    }


def test_a_place_that_is_taken_or_is_no_folder_is_told_before_anything_is_asked(
    folder: Path,
) -> None:
    put(folder, "a.pdf", PDF)
    put(folder, "Documents/a.pdf", b"mine")
    put(folder, "b.zip", ZIP)
    put(folder, "Archives", b"a file", days=0)
    found = planned(folder)
    assert found.moves == ()
    told = {one.name: one.why for one in found.left}
    assert told["a.pdf"] == "Documents/a.pdf: something of that name is there already"
    assert told["b.zip"] == "Archives is no folder, so nothing can go there"


def test_only_a_pattern_is_looked_at_where_one_is_given(folder: Path) -> None:
    put(folder, "a.pdf", PDF)
    put(folder, "b.png", PNG)
    assert [move.name for move in planned(folder, "*.PDF").moves] == ["a.pdf"]


def test_a_first_line_is_shown_but_not_of_what_may_hold_a_secret(folder: Path) -> None:
    put(folder, "note.txt", b"\n  Dear Anna,\nsecond")
    put(folder, "credentials.json", b'{"key": "k"}')
    told = {move.name: move.about for move in planned(folder).moves}
    assert "begins: Dear Anna," in told["note.txt"]
    assert "key" not in told["credentials.json"]


def test_more_files_than_anybody_reads_cards_about_are_refused(folder: Path) -> None:
    for number in range(1001):
        put(folder, f"{number}.pdf", PDF)
    with pytest.raises(BatchRefused) as refused:
        planned(folder)
    assert refused.value.code == "E_BATCH_MANY"
    assert refused.value.message == (
        f"{folder} holds 1,001 files, and Silas looks at 1,000 at most: say which, for example "
        "--only '*.pdf'."
    )


def test_a_folder_that_is_missing_a_file_home_or_hidden_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(folder.parent))
    put(folder, "a.pdf", PDF)
    (folder.parent / ".config").mkdir()
    (folder.parent / "silas-data").mkdir()
    (folder.parent / "safe").mkdir()
    project = folder.parent / "project"
    (project / ".git").mkdir(parents=True)
    said: dict[str, tuple[str, str]] = {}
    for path in ("none", "Downloads/a.pdf", ".", ".config", "silas-data", "safe", "project"):
        with pytest.raises(BatchRefused) as refused:
            planned_at(folder.parent / path, folder.parent / "silas-data")
        said[path] = (refused.value.code, refused.value.message.partition(" ")[2])
    assert {path: code for path, (code, _) in said.items()} == {
        "none": "E_BATCH_FOLDER",
        "Downloads/a.pdf": "E_BATCH_FOLDER",
        ".": "E_BATCH_PLACE",
        ".config": "E_BATCH_PLACE",
        "silas-data": "E_BATCH_PLACE",
        "safe": "E_BATCH_PLACE",
        "project": "E_BATCH_PLACE",
    }
    assert all("name" in words for _, words in said.values())


def planned_at(path: Path, data: Path) -> plan.FolderPlan:
    return plan_folder(path, [data, data.parent / "safe" / "key"], NOW)


def test_a_folder_without_the_right_to_write_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, mode: int) -> bool:  # who runs as root may write everywhere
        return not (path == folder and mode)

    monkeypatch.setattr(os, "access", refuse)
    with pytest.raises(BatchRefused, match="you may not write in it"):
        planned(folder)


@pytest.mark.proves("S3.11-BATCH-BINDING", "S3.11-BATCH-ID-NOT-AUTHORITY")
def test_a_token_binds_action_ids_in_order_and_count(folder: Path) -> None:
    put(folder, "a.pdf", PDF + b"a")
    put(folder, "b.png", PNG)
    put(folder, "c.zip", ZIP)
    found = planned(folder)
    batch = file_batch(found.folder, found.moves, Band.high, NOW)
    digest = batch_subject(batch).digest
    again = file_batch(found.folder, found.moves, Band.high, NOW)
    assert batch_subject(again).digest == digest  # its id is no part of it
    assert again.proposal.batch_id != batch.proposal.batch_id
    turned = file_batch(found.folder, found.moves[::-1], Band.high, NOW)
    fewer = file_batch(found.folder, found.moves[1:], Band.high, NOW)
    grown = found.moves[0]._replace(identity=found.moves[0].identity._replace(size=1))
    other = file_batch(found.folder, (grown, *found.moves[1:]), Band.high, NOW)
    digests = {batch_subject(one).digest for one in (batch, turned, fewer, other)}
    assert len(digests) == 4
    assert batch_bytes(batch.proposal).startswith(b'{"action":"move","count":3,"goal_id":"","item_')
    with pytest.raises(BatchRefused):
        batch_subject(batch._replace(moves=found.moves[::-1]))


@pytest.mark.proves("S3.11-EDIT-NEEDS-SELECTION")
def test_a_selection_is_a_strict_subset_in_the_order_chosen(folder: Path) -> None:
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        put(folder, name, PDF + name.encode())
    found = planned(folder)
    batch = file_batch(found.folder, found.moves, Band.high, NOW)
    a, b, c = batch.proposal.item_ids
    chosen = select_items(batch, (c, a), NOW)
    assert chosen is not None
    assert [move.name for move in chosen.moves] == ["c.pdf", "a.pdf"]
    assert chosen.proposal.batch_id != batch.proposal.batch_id
    for wrong in ((), (a, b, c), (a, a), (a, "elsewhere")):
        assert select_items(batch, wrong, NOW) is None


def test_batches_have_the_configured_size(folder: Path) -> None:
    moves = planned(folder).moves
    for number in range(23):
        put(folder, f"{number}.pdf", PDF + bytes([number]))
    moves = planned(folder).moves
    assert [len(chunk) for chunk in chunks(moves, 10)] == [10, 10, 3]


def test_first_lines_are_bounded_and_shown_of_nothing_that_holds_a_secret(folder: Path) -> None:
    put(folder, "note.txt", b"one\n\n" + b"x" * 200 + b"\nthree\nfour\nfive\nsix\n")
    put(folder, "key.txt", b"my key\n-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n")
    put(folder, "token.md", b"# Notes\nghp_" + b"a" * 36)
    put(folder, "credentials.json", b'{\n"key": "k"\n}')
    told = {move.name: move.lines for move in planned(folder).moves}
    assert told["note.txt"] == ("one", "x" * 77 + "...", "three", "four", "five")
    assert told["key.txt"] == told["token.md"] == told["credentials.json"] == ()


def test_first_lines_are_words_of_others_on_the_card(folder: Path) -> None:
    put(folder, "note.txt", "Dear Anna,\nyes\u202e approve\n| all".encode())
    moves = planned(folder).moves
    batch = file_batch(planned(folder).folder, moves, Band.high, NOW)
    card = batch_card(batch, "0" * 64, 1, 1, picked=False)
    (lines,) = [one for one in card.details if one.heading == "First lines of the files"]
    assert not lines.open
    assert lines.lines == ("1. note.txt", "  | Dear Anna,", "  | yes<U+202E> approve", "  | | all")
    assert "\u202e" not in "\n".join(card_lines(card))


def test_a_title_has_the_folders_own_name_however_long_its_path_is(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*("a-rather-long-name" for _ in range(5)), "Downloads")
    deep.mkdir(parents=True)
    put(deep, "a.pdf", PDF)
    found = planned(deep)
    batch = file_batch(found.folder, found.moves, Band.high, NOW)
    cards: list[Card[Any]] = [
        batch_card(batch, "0" * 64, 1, 1, picked=False),
        attention_card(found.folder, found.moves),
        go_on_card(found.folder, 2),
    ]
    for card in cards:
        assert len(card.intent) <= 54  # two lines of a phone's card; more is cut at its end
        assert "…/Downloads" in card.intent
        assert str(deep) in "\n".join(card_lines(card, 400))
    near = found.folder._replace(path=Path("/home/me/Downloads"))
    assert "/home/me/Downloads" in go_on_card(near, 2).intent
    assert go_on_card(near, 2).affected == ""
