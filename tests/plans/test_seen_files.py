"""Checks of runbooks hold files to what they were when the plan was made, not only to the end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon

LIST = "bread\nmilk\nrent\n"


def one_more(place: Path) -> None:
    with (place / "list.txt").open("a") as file:
        file.write("call Anna\n")


def one_gone(place: Path) -> None:
    (place / "A" / "x").unlink()


def one_overwritten(place: Path) -> None:
    (place / "B" / "kept").unlink()


def one_renamed(place: Path) -> None:
    (place / "A" / "y").rename(place / "A" / "q")


def one_arrived(place: Path) -> None:
    (place / "A" / "z").write_text("z")


def a_folder(place: Path) -> None:
    (place / "A").mkdir(parents=True)
    (place / "B").mkdir()
    (place / "list.txt").write_text(LIST)
    for name in ("A/x", "A/y", "B/kept", "B/x"):
        (place / name).write_text(name)


def all_of(place: Path) -> dict[str, str]:
    files = [one for one in place.rglob("*") if one.is_file()]
    return {str(one.relative_to(place)): one.read_text() for one in files}


async def said_while(said: str, place: Path, meanwhile: Callable[[Path], None]) -> WorkItemStatus:
    """How the work ends where this happens while its card is read."""

    def answer(card: Any) -> Any:
        meanwhile(place)
        return saying_yes(card)

    async with Harness(ScriptedChannel(answer)) as h:
        reply = await soon(h.silas.ask(said, workspace=place))
        assert reply.plan is not None
        ended = await soon(h.silas.wait(reply.plan.id))
        assert ended is not None
        return ended.status


@pytest.mark.parametrize(
    ("said", "meanwhile"),
    [
        ("delete the last line of list.txt", one_more),
        ("move everything from A to B", one_gone),
        ("move everything from A to B", one_overwritten),
        ("move everything from A to B", one_renamed),
    ],
)
async def test_what_is_not_as_the_plan_saw_it_changes_nothing(
    said: str, meanwhile: Callable[[Path], None], tmp_path: Path
) -> None:
    place = tmp_path / "folder"
    a_folder(place)
    assert await said_while(said, place, meanwhile) is not WorkItemStatus.done
    seen = all_of(place)
    a_folder(other := tmp_path / "other")
    meanwhile(other)
    assert seen == all_of(other)


@pytest.mark.parametrize(
    ("said", "meanwhile", "left"),
    [
        ("delete the last line of list.txt", one_gone, {"list.txt": "bread\nmilk\n"}),
        (
            "move everything from A to B",
            one_arrived,
            {"B/kept": "B/kept", "B/x": "B/x", "B/x (2)": "A/x", "B/y": "A/y", "B/z": "z"},
        ),
    ],
)
async def test_what_comes_besides_stops_nothing(
    said: str, meanwhile: Callable[[Path], None], left: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "folder"
    a_folder(place)
    assert await said_while(said, place, meanwhile) is WorkItemStatus.done
    assert all_of(place).items() >= left.items()
