"""What stands in the way of files that move is said in a sentence before anybody is asked."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from silas.plans import WorkItemStatus
from silas.plans.runbooks.move_places import move_fault
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon

ASKED = "move all pdf files from Downloads to {}"


def a_file(name: str) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        (place / name).write_text("no folder")

    return make


def a_link(name: str, target: str) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        (place / "Real").mkdir()
        (place / name).symlink_to(target)

    return make


def no_source(place: Path) -> None:
    (place / "Downloads" / "a.pdf").rename(place / "a.pdf")
    (place / "Downloads").rmdir()


def a_file_as_source(place: Path) -> None:
    no_source(place)
    (place / "Downloads").touch()


CASES = [
    (ASKED.format("Papers"), no_source, "There is no folder Downloads in "),
    (ASKED.format("Papers"), a_file_as_source, "Downloads is a file and no folder."),
    (ASKED.format("Papers"), a_file("Papers"), "Papers is a file, and no folder of this name can"),
    (ASKED.format("Papers/new"), a_file("Papers"), "Papers is a file, and no folder of this name"),
    (ASKED.format("Papers/new"), a_link("Papers", "Real"), "Papers is a link to Real; name the"),
    (ASKED.format("Papers"), a_link("Papers", "/etc"), "Papers is a link to /etc; name the"),
    (ASKED.format("Papers"), a_link("Papers", "gone"), "Papers is a link to gone; name the"),
    (ASKED.format("Downloads"), None, "The files are in Downloads already; name another"),
    (ASKED.format("./Downloads/"), None, "The files are in Downloads already; name another"),
    ("move all *.pdf files into Papers", a_file("Papers"), "Papers is a file, and no folder of"),
    ("move all pdfs into Papers", a_file("Papers"), "Papers is a file, and no folder of"),
    ("move the pictures to Papers", a_link("Papers", "Real"), "Papers is a link to Real; name"),
]


async def say_before_a_card(
    said: str, make: Callable[[Path], None] | None, sentence: str, tmp_path: Path
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    (place / "Downloads").mkdir(parents=True)
    (place / "Downloads" / "a.pdf").write_text("a")
    if make:
        make(place)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(said, workspace=place))
    assert sentence in reply.text
    assert reply.plan is None
    assert channel.cards == []
    assert len(list(place.rglob("a.pdf"))) == 1


@pytest.mark.parametrize(("said", "make", "sentence"), CASES)
async def test_what_stands_in_the_way_is_said_before_a_card(
    said: str, make: Callable[[Path], None] | None, sentence: str, tmp_path: Path
) -> None:
    await say_before_a_card(said, make, sentence, tmp_path)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (ASKED.format("../Papers"), "The folder ../Papers lies outside "),
        (ASKED.format("Real/../../Papers"), "The folder ../Papers lies outside "),
        (ASKED.format("/etc/Papers"), "The folder /etc/Papers lies outside "),
        (ASKED.format("~/Papers"), "The folder ~/Papers lies outside "),
        ("move pdf files from /etc to Papers", "The folder /etc lies outside "),
        ("move *.pdf files from Downloads into '/my etc'", "The folder /my etc lies outside "),
        ("move all *.pdf files into ../Papers", "The folder ../Papers lies outside "),
        ("move all pdfs into /etc", "The folder /etc lies outside "),
        ("move the pictures to /etc/Papers", "The folder /etc/Papers lies outside "),
        ("put the pictures in /etc/Papers", "The folder /etc/Papers lies outside "),
        ("move notes.txt to /tmp", "The folder /tmp lies outside "),
        ("move all jpgs into ../photos", "The folder ../photos lies outside "),
        ("move notes.txt into ../Papers", "The folder ../Papers lies outside "),
        ("every morning move pdf files from Downloads to /etc", "The folder /etc lies outside "),
        ("verschiebe alle pdf Dateien von Downloads in /etc", "The folder /etc lies outside "),
        ("verschiebe alle pdf Dateien von Downloads nach ../X", "The folder ../X lies outside "),
    ],
)
async def test_a_folder_outside_of_the_workspace_is_told_before_a_card(
    said: str, sentence: str, tmp_path: Path
) -> None:
    await say_before_a_card(said, None, sentence, tmp_path)


def nothing_that_moves(place: Path) -> None:
    (place / "Downloads" / "a.pdf").rename(place / "Downloads" / ".a.pdf")
    (place / "Downloads" / "dir.pdf").mkdir()
    (place / "Downloads" / "link.pdf").symlink_to(".a.pdf")
    (place / "notes.txt").write_text("notes")


NOTHING = "No file in {} itself ends with {}, so there is nothing to move; name another"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (ASKED.format("Papers"), NOTHING.format("Downloads", ".pdf")),
        (ASKED.format("Papers").replace("pdf", "PDF"), NOTHING.format("Downloads", ".pdf")),
        ("move all .odt files into letters", NOTHING.format("{place}", ".odt")),
        ("move all pdfs into letters", NOTHING.format("{place}", ".pdf")),
        (
            "move the pictures to photos",
            NOTHING.format("{place}", ".jpg, .jpeg, .png, .gif, .webp, .heic"),
        ),
        (
            "verschiebe alle Bilder in bilder",
            NOTHING.format("{place}", ".jpg, .jpeg, .png, .gif, .webp, .heic"),
        ),
    ],
)
async def test_that_there_is_nothing_to_move_is_said_before_a_card(
    said: str, sentence: str, tmp_path: Path
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    (place / "Downloads").mkdir(parents=True)
    (place / "Downloads" / "a.pdf").write_text("a")
    nothing_that_moves(place)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(said, workspace=place))
    assert sentence.format(place=place) in reply.text
    assert (reply.plan, channel.cards) == (None, [])


@pytest.mark.parametrize("said", [ASKED.format("Papers"), "move the pictures to photos"])
async def test_a_goal_may_begin_with_nothing_to_move(said: str, tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    (place / "Downloads").mkdir(parents=True)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(f"every morning {said}", workspace=place))
        assert reply.plan is not None, reply.text
    assert len(channel.cards) == 1


@pytest.mark.parametrize("name", ["a.pdf", "a.PDF", "a.Pdf"])
async def test_an_ending_is_there_however_it_is_written(name: str, tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    place.mkdir()
    (place / name).write_text("a")
    async with Harness(ScriptedChannel(saying_yes), home=home) as h:
        reply = await soon(h.silas.ask("move all pdfs into Papers", workspace=place))
        assert reply.plan is not None, reply.text
        await soon(h.silas.wait(reply.plan.id))
    assert (place / "Papers" / name).exists()


@pytest.mark.parametrize(
    ("said", "there"),
    [
        (ASKED.format("X/Y/Z"), "X/Y/Z/a.pdf"),
        (ASKED.format("Downloads/old"), "Downloads/old/a.pdf"),
        ("move all pdf files from ./Downloads/ to X", "X/a.pdf"),
        ("move all pdf files from Downloads/old/.. to X", "X/a.pdf"),
        (ASKED.format("'{place}/X'"), "X/a.pdf"),
        ("move all pdf files from '{place}/Downloads' to '../my folder/X'", "X/a.pdf"),
    ],
)
async def test_missing_folders_are_made_and_a_folder_may_be_inside_the_other(
    said: str, there: str, tmp_path: Path
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    (place / "Downloads").mkdir(parents=True)
    (place / "Downloads" / "a.pdf").write_text("a")
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(said.format(place=place), workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.done, channel.texts
    assert [str(one.relative_to(place)) for one in place.rglob("*.pdf")] == [there]
    assert len(channel.cards) == 1


@pytest.mark.parametrize("closed", ["Downloads", "Papers"])
def test_a_folder_that_may_not_be_changed_is_named(
    closed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Downloads").mkdir()
    (tmp_path / "Papers").mkdir()
    allowed = os.access

    def access(path: Path, mode: int) -> bool:  # root may change everything
        return allowed(path, mode) and Path(path).name != closed

    monkeypatch.setattr(os, "access", access)
    fault = move_fault(tmp_path, "Downloads", "Papers/2026")
    assert fault.startswith(f"You may not change {tmp_path / closed}; give yourself the right")
