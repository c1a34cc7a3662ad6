"""Without a language model: questions about the folder, answered at once in the real sandbox."""

import os
import subprocess
from pathlib import Path

import pytest

from silas.cards import ChannelMessage
from silas.stream.models import Incoming, Reply
from silas.testing import Harness, ScriptedChannel
from silas.types import OWNER
from tests.stream.kit import soon

NOTES = "# Plan\n\nBuy bread. It is for Odile.\n\nThen rest. Sleep well.\n"
FOLDER = {
    "notes.txt": NOTES,
    "copy.txt": NOTES.replace("bread", "cake"),
    "docs/deep/one.pdf": "%PDF\0binary",
    "docs/TWO.PDF": "%PDF\0longer binary",
    "docs/deep/far.txt": "far away\n",
    "README.md": "# Rosters\n\nMakes rosters. Fast.\n",
    ".env": "PASSWORD=hunter2\n",
    "node_modules/x/y.js": "x" * 9000,
    "long.txt": "a line of words\n" * 3000,
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "my folder"
    for name, text in FOLDER.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        os.utime(place / name, (1_700_000_000, 1_700_000_000))
    # the clock of the tests stands at 2 January 2026, 04:04 in Vienna
    os.utime(place / "notes.txt", (1_767_318_000, 1_767_318_000))
    return place


async def said(text: str, place: Path) -> tuple[Reply, ScriptedChannel]:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        return await soon(h.silas.ask(text, workspace=place)), channel


ANSWERS = {
    "what files are there?": ("docs/", "notes.txt  60 bytes", ".env  17 bytes (not read)"),
    "how many pdfs are there?": ("2 files (*.pdf)", "docs/TWO.PDF", "docs/deep/one.pdf"),
    "how many files are there?": ("8 files, 48.2 kB in all", "left out: what lies in node_modules"),
    "what is the biggest file here?": ("The biggest of 8 files:\n- long.txt  48.0 kB",),
    "which files changed today?": ("1 file changed today (Europe/Vienna):\n- notes.txt",),
    "which files changed yesterday?": ("No file of this folder was changed yesterday",),
    "where is far.txt?": ("docs/deep/far.txt",),
    "where is nothere.txt?": ("There is no such file in this folder.",),
    "when was copy.txt changed?": ("copy.txt  59 bytes, 2023-11-14 23:13",),
    "open notes.txt": ("Buy bread. It is for Odile.",),
    "open far.txt": ("docs/deep/far.txt:", "far away"),
    "read the readme": ("README.md:", "Makes rosters. Fast."),
    "open long.txt": ("a line of words", "this is the beginning"),
    "summarise notes.txt": ("not a summary", "# Plan\n- Buy bread.\n- Then rest.", "12 words"),
    "how many words are in notes.txt?": ("12 words, 5 lines, 60 characters",),
    "compare notes.txt and copy.txt": ("-Buy bread", "+Buy cake"),
    "compare notes.txt and notes.txt": ("hold the same",),
    "which file mentions Odile?": ("notes.txt:3: Buy bread.", "copy.txt:3: Buy cake."),
    "grep zebra": ("No text file here holds 'zebra'.",),
    "how big is this folder?": ("48.2 kB in 8 files; the biggest:",),
    "find files named far": ("docs/deep/far.txt",),
}


@pytest.mark.parametrize("text", ANSWERS)
async def test_a_question_is_answered_at_once_without_a_plan_or_a_card(
    text: str, place: Path
) -> None:
    before = {one: one.lstat().st_mtime_ns for one in place.rglob("*")}
    reply, channel = await said(text, place)
    assert (reply.outcome, reply.plan, channel.cards) == ("answered", None, [])
    assert [one for one in ANSWERS[text] if one not in reply.text] == [], reply.text
    assert {one: one.lstat().st_mtime_ns for one in place.rglob("*")} == before


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("open nothere.txt", "There is no file nothere.txt in this folder."),
        ("open nots.txt", "nots.txt in this folder.\nFiles with a name like it:\n- notes.txt"),
        ("open one.pdf", "is not text"),
        ("summarise TWO.PDF", "is not text"),
        ("git status", "There is no git repository"),
    ],
)
async def test_what_cannot_be_seen_is_said_and_counts_as_not_answered(
    text: str, why: str, place: Path
) -> None:
    reply, channel = await said(text, place)
    assert why in reply.text
    assert (reply.outcome, reply.plan, channel.cards) == ("failed", None, [])


@pytest.mark.parametrize("text", ["what changed in git?", "git log", "git diff"])
async def test_of_a_worktree_nothing_is_said_to_be_unchanged(text: str, place: Path) -> None:
    (place / ".git").write_text("gitdir: /elsewhere/.git/worktrees/place\n")
    reply, _ = await said(text, place)
    assert reply.text.startswith("The .git of this workspace leads elsewhere")
    assert "Nothing has changed" not in reply.text
    assert reply.outcome == "failed"


async def test_a_repository_is_asked_for_its_state_and_history(place: Path) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    for words in (("init", "-q", "-b", "main"), ("add", "notes.txt"), ("commit", "-qm", "begin")):
        subprocess.run(["git", *who, *words], cwd=place, check=True, capture_output=True)
    (place / "notes.txt").write_text("other\n")
    status, _ = await said("what changed in git?", place)
    assert "Changed since the last commit:\n M notes.txt" in status.text
    log, _ = await said("git log", place)
    assert log.text.endswith("Ada: begin")
    diff, _ = await said("git diff", place)
    assert "+other" in diff.text


async def test_a_secret_is_shown_only_where_the_owner_names_its_file(place: Path) -> None:
    listed, _ = await said("what files are there?", place)
    found, _ = await said("which file mentions hunter2?", place)
    assert "PASSWORD" not in listed.text + found.text
    assert "No text file here" in found.text


@pytest.mark.parametrize("text", ["summarise long.txt", "compare long.txt and notes.txt"])
async def test_what_a_look_cannot_hold_is_planned_as_before(text: str, place: Path) -> None:
    reply, channel = await said(text, place)
    assert reply.plan is not None
    assert len(channel.cards) == 1


async def test_another_folder_takes_a_plan(place: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    reply, channel = await said(f"how big is this folder in '{place}'", tmp_path / "elsewhere")
    assert reply.plan is not None
    assert len(channel.cards) == 1


async def test_help_has_examples_of_this_folder(place: Path) -> None:
    reply, channel = await said("what can you do?", place)
    assert f"At once, by looking into {place}:" in reply.text
    assert '(say: "summarise notes.txt")' in reply.text
    assert '(say: "how many pdfs are there")' in reply.text
    assert "I can run these plans there" in reply.text
    assert channel.cards == []


async def test_words_that_are_not_the_owners_open_nothing(place: Path) -> None:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        message = ChannelMessage(
            channel="telegram", sender_id=OWNER, text="open notes.txt", timestamp=h.clock.now()
        )
        reply = await soon(h.silas.stream.handle(Incoming(message, OWNER, workspace=str(place))))
    assert "Buy bread" not in reply.text


ACTS = {
    "add milk to far.txt": (("docs/deep/far.txt",), ()),
    "delete far.txt": (("docs/deep/far.txt",), ()),
    "rename far.txt to near.txt": (("docs/deep/far.txt", "docs/deep/near.txt"), ()),
    "copy far.txt to near.txt": (("docs/deep/near.txt",), ()),
    "add milk to notes.txt": (("notes.txt",), ("docs/notes.txt",)),
    "add milk to new.txt": (("new.txt",), ()),
    "delete docs/deep/far.txt": (("docs/deep/far.txt",), ()),
}


@pytest.mark.parametrize("text", ACTS)
async def test_a_plan_acts_on_the_file_that_a_question_would_find(text: str, place: Path) -> None:
    writes, more = ACTS[text]
    for name in more:
        (place / name).write_text("another of this name\n")
    reply, channel = await said(text, place)
    assert reply.plan is not None, reply.text
    assert tuple(reply.plan.writes or ()) == writes
    assert len(channel.cards) == 1


@pytest.mark.parametrize(
    ("text", "found", "made"),
    [
        ("convert table.csv to json", "docs/table.csv", "docs/table.json"),
        ("convert docs/table.csv to json", "docs/table.csv", "docs/table.json"),
        ("wandle table.csv in JSON um", "docs/table.csv", "docs/table.json"),
        ("convert table.json to csv", "docs/table.json", "docs/table.csv"),
    ],
)
async def test_a_table_is_converted_where_it_lies(
    text: str, found: str, made: str, place: Path
) -> None:
    (place / found).write_text("[]")
    reply, channel = await said(text, place)
    assert reply.plan is not None, reply.text
    assert tuple(reply.plan.writes or ()) == (made,)
    assert len(channel.cards) == 1


async def test_in_the_home_directory_it_is_said_why_nothing_is_looked_at(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(place))
    for text in ("what is in this folder", "how many pdfs are here?"):
        reply, _ = await said(text, place)
        assert "I do not look at a whole home directory" in reply.text
        assert "--workspace" in reply.text
        assert reply.outcome == "failed"


async def test_of_several_files_of_a_name_none_is_taken(place: Path) -> None:
    (place / "docs" / "far.txt").write_text("nearer\n")
    reply, channel = await said("delete far.txt", place)
    assert (reply.plan, channel.cards) == (None, [])
    assert "2 files are called far.txt, such as docs/deep/far.txt, docs/far.txt" in reply.text
