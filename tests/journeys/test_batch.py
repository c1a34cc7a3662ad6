"""A full Downloads folder with real commands: approve, choose, undo one, undo all, a kill."""

import json
import os
import signal
import sqlite3
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.batches.folders import PDF, PNG, ZIP, listed
from tests.support.command import Ended, environment, person, run, silas

KINDS = [("pdf", PDF), ("png", PNG), ("zip", ZIP), ("txt", b"Dear Anna,\n"), ("csv", b"a,b\n")]
MANY = 214


def two_days_ago() -> float:
    return time.time() - 172_800


class Downloads:
    """A home, and a folder with 214 files of two days ago."""

    def __init__(self, base: Path) -> None:
        self.place = base / "Downloads"
        self.place.mkdir()
        self.env = environment(base / "home", HOME=str(base))
        for number in range(MANY):
            ending, content = KINDS[number % len(KINDS)]
            path = self.place / f"file-{number:03d}.{ending}"
            path.write_bytes(content + str(number).encode())
            os.utime(path, (two_days_ago(), two_days_ago()))

    def silas(self, *words: str | Path) -> Ended:
        return run(silas(*words), self.env)

    def json(self, *words: str | Path) -> Any:
        ended = self.silas(*words, "--json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out)


@pytest.fixture
def downloads(tmp_path: Path) -> Downloads:
    made = Downloads(tmp_path)
    assert made.silas("init").code == 0
    return made


def test_a_dry_run_shows_all_and_moves_nothing(downloads: Downloads) -> None:
    before = listed(downloads.place)
    shown = downloads.json("batch", downloads.place, "--dry-run")
    assert len(shown["files"]) == MANY
    assert {Path(row["to"]).parent.name for row in shown["files"]} == {
        "Archives",
        "Documents",
        "Pictures",
        "Tables",
    }
    said = downloads.silas("batch", downloads.place, "--dry-run")
    assert said.out.startswith(f"{MANY} files in {downloads.place} would be asked about in 22 batc")
    assert listed(downloads.place) == before


def test_where_nobody_can_answer_nothing_is_moved(downloads: Downloads) -> None:
    before = listed(downloads.place)
    ended = downloads.silas("batch", downloads.place)
    assert (ended.code, listed(downloads.place)) == (3, before)
    assert "Nothing was moved in" in ended.out
    assert downloads.json("batch", "list") == []


def test_batches_are_approved_chosen_from_declined_and_taken_back(downloads: Downloads) -> None:
    before = listed(downloads.place)
    with person(silas("batch", downloads.place), downloads.env) as owner:
        owner.waits_for("(1 of 22)")
        owner.waits_for("or say which")
        owner.types("1\r")
        owner.waits_for("(2 of 22)")
        owner.waits_for("or say which")
        owner.types("only 1 3-4\r")
        owner.waits_for("Move 3 files")  # others than those shown: a card of its own
        owner.waits_for("or say which")
        owner.types("1\r")
        for number in (3, 4):
            owner.waits_for(f"({number} of 22)")
            owner.waits_for("or say which")
            owner.types("no\r")
        owner.waits_for("Show the other 18 batches")
        owner.waits_for("End here")
        owner.types("2\r")
        assert owner.leaves() == 0
        assert "Moved 13 files in" in owner.seen
    now = listed(downloads.place)
    assert len(now) == MANY
    assert sorted(now.values()) == sorted(before.values())
    second, first = downloads.json("batch", "list")
    assert (first["moved"], second["moved"]) == (10, 3)
    undone = downloads.json("batch", "undo", second["id"][:14], "2")
    assert len(undone["undone"]) == 1
    assert (downloads.place / undone["undone"][0]).exists()
    assert len(downloads.json("batch", "undo", second["id"])["undone"]) == 2
    assert len(downloads.json("batch", "undo", first["id"])["undone"]) == 10
    assert listed(downloads.place) == before
    assert [path for path in downloads.place.iterdir() if path.is_dir()] == []
    assert downloads.silas("batch", "undo", first["id"]).code == 2
    assert downloads.silas("audit", "verify").code == 0
    shown = downloads.silas("audit", "show", "--json").out
    for event in ("batch_reviewed", "batch_moving", "batch_moved", "batch_undone"):
        assert f'"{event}"' in shown


def test_all_batches_go_back_by_one_command(downloads: Downloads) -> None:
    before = listed(downloads.place)
    with person(silas("batch", downloads.place, "--only", "*.csv"), downloads.env) as owner:
        for number in (1, 2):
            owner.waits_for(f"({number} of 5)")
            owner.waits_for("or say which")
            owner.types("1\r")
        for number in (3, 4):
            owner.waits_for(f"({number} of 5)")
            owner.waits_for("or say which")
            owner.types("no\r")
        owner.waits_for("End here")
        owner.types("no\r")
        assert owner.leaves() == 0
    moved = listed(downloads.place)
    stays = downloads.place / "Tables" / next(n for n in moved if n.startswith("Tables/"))[7:]
    (downloads.place / stays.name).write_bytes(b"another of this name")
    part = downloads.silas("batch", "undo", "all")
    assert part.code == 1
    assert part.out.startswith("All batches: 19 files back where they were.\n")
    assert f"stays: Tables/{stays.name}: " in part.out
    (downloads.place / stays.name).unlink()
    rest = downloads.json("batch", "undo", "all")
    assert (rest["id"], rest["undone"], rest["left"]) == ("all", [stays.name], [])
    assert listed(downloads.place) == before
    none = downloads.silas("batch", "undo", "all")
    assert (none.code, none.out) == (2, "")
    assert none.err.startswith("No batch can be taken back any more")
    assert downloads.silas("batch", "undo", "all", "3").code == 2  # a number is of one batch


def _signals(downloads: Downloads) -> list[str]:
    place = next(downloads.place.parent.rglob("silas.db"))
    with sqlite3.connect(place) as db:
        rows = db.execute("SELECT outcome FROM behavior_signals WHERE family = 'batch:files'")
        return [row[0] for row in rows]


def test_each_verdict_is_a_signal(downloads: Downloads) -> None:
    with person(silas("batch", downloads.place, "--only", "*.csv"), downloads.env) as owner:
        owner.waits_for("(1 of 5)")
        owner.waits_for("or say which")
        owner.types("without 2-10\r")
        owner.waits_for("Move 1 file in")
        owner.waits_for("none of them")
        owner.types("1\r")
        for _ in range(2):
            owner.waits_for("or say which")
            owner.types("no\r")
        owner.waits_for("End here")
        owner.types("no\r")
        assert owner.leaves() == 0
    there = {**downloads.env, "TZ": "Asia/Kathmandu"}
    for words in (("list",), ("show", "last")):
        told = run(silas("batch", *words), there).out
        assert "(Asia/Kathmandu, UTC+05:45)" in told, told
        assert "+00:00" not in told
    assert downloads.silas("batch", "undo", "last").code == 0
    assert _signals(downloads) == ["edit_selection", "approved", "declined", "declined", "undo"]


def test_a_kill_in_the_middle_is_found_out_about_and_taken_back(downloads: Downloads) -> None:
    before = listed(downloads.place)
    slowly = [sys.executable, "-c", _SLOW, "batch", str(downloads.place)]
    with person(slowly, downloads.env) as owner:
        owner.waits_for("(1 of 22)")
        owner.waits_for("or say which")
        owner.types("1\r")
        owner.waits_for("MOVED 4")
        os.kill(owner.pid, signal.SIGKILL)
        owner.leaves()
    half = listed(downloads.place)
    assert sorted(half.values()) == sorted(before.values())
    assert sum("/" in name for name in half) == 4
    (kept,) = downloads.json("batch", "list")
    assert (kept["phase"], kept["moved"]) == ("moving", 0)
    assert len(downloads.json("batch", "undo", kept["id"])["undone"]) == 4
    assert listed(downloads.place) == before
    states = [row["state"] for row in downloads.json("batch", "show", kept["id"])["files"]]
    assert states == ["undone"] * 4 + ["left"] * 6


_SLOW = """
import time
from silas.work.batches import mover
really, made = mover.move_file, []

def move_file(root, move):
    if len(made) == 4:
        time.sleep(600)  # until it is killed
    made.append(move)
    told = really(root, move)
    print(f"MOVED {len(made)}", flush=True)
    return told

mover.move_file = move_file
from silas.main.app import cli
cli()
"""


@pytest.mark.parametrize(
    ("folder", "code", "words"),
    [
        ("none", 2, "There is no folder"),
        ("Downloads/file-000.pdf", 2, "is a file and no folder"),
        (".", 2, "holds folders that programs look for"),
    ],
)
def test_a_folder_that_cannot_be_tidied_is_one_sentence(
    downloads: Downloads, folder: str, code: int, words: str
) -> None:
    ended = downloads.silas("batch", downloads.place.parent / folder)
    assert (ended.code, words in ended.err) == (code, True)
    assert len(ended.err.strip().splitlines()) == 1


def test_ten_thousand_files_are_one_sentence_before_anything_is_asked(downloads: Downloads) -> None:
    for number in range(10_000 - MANY):
        path = downloads.place / f"more-{number}.pdf"
        path.touch()
        os.utime(path, (two_days_ago(), two_days_ago()))
    ended = downloads.silas("batch", downloads.place)
    assert ended.code == 2
    assert "holds 10,000 files, and Silas looks at 1,000 at most: say which" in ended.err
    assert "Intent" not in ended.out


def test_an_empty_folder_has_nothing_to_tidy(downloads: Downloads) -> None:
    empty = downloads.place.parent / "empty"
    empty.mkdir()
    ended = downloads.silas("batch", empty)
    assert (ended.code, "There is nothing to tidy" in ended.out) == (0, True)
