"""Files that are moved or renamed by their kind, from the request to what is in the folder."""

from pathlib import Path
from typing import NamedTuple

import pytest

from silas.plans import PlanLibrary, PlanParser, WorkItemStatus, shipped_plans
from silas.testing import Harness, ScriptedChannel
from tests.plans.test_everyday import files_of
from tests.stream.kit import saying_yes, soon

LIBRARY = PlanLibrary([shipped_plans()])
FOLDER = {
    "IMG_1.jpg": "one",
    "IMG_2.JPG": "two",
    "IMG_10.png": "ten",
    ".hidden.jpg": "hidden",
    "lease.pdf": "lease",
    "SCAN.PDF": "scan",
    "sales.csv": "name\n",
    "README": "read me",
    "photos/old.jpg": "old",
}


class Case(NamedTuple):
    """A request, what is printed, and where each file that moves is afterwards."""

    request: str
    shown: tuple[str, ...]
    moved: dict[str, str]


TO_PHOTOS = {one: f"photos/{one}" for one in ("IMG_1.jpg", "IMG_2.JPG", "IMG_10.png")}
TO_DOCS = {one: f"docs/{one}" for one in ("lease.pdf", "SCAN.PDF")}
BY_TYPE = {
    "IMG_1.jpg": "jpg/IMG_1.jpg",
    "IMG_2.JPG": "jpg/IMG_2.JPG",
    "IMG_10.png": "png/IMG_10.png",
    "lease.pdf": "pdf/lease.pdf",
    "SCAN.PDF": "pdf/SCAN.PDF",
    "sales.csv": "csv/sales.csv",
}


def numbered(*names: str) -> dict[str, str]:
    return dict(zip(("IMG_1.jpg", "IMG_2.JPG", "IMG_10.png"), names, strict=True))


CASES = [
    Case(
        "move all jpgs into photos",
        ("2 files are in photos now: IMG_1.jpg, IMG_2.JPG",),
        {one: TO_PHOTOS[one] for one in ("IMG_1.jpg", "IMG_2.JPG")},
    ),
    Case("move the pictures to photos", ("3 pictures are in photos now",), TO_PHOTOS),
    Case("verschiebe alle Bilder in photos", ("3 pictures are in photos now",), TO_PHOTOS),
    Case("put all PDFs in docs", ("2 files are in docs now: SCAN.PDF, lease.pdf",), TO_DOCS),
    Case("verschiebe alle pdfs in docs", ("2 files are in docs now",), TO_DOCS),
    Case("verschiebe alle PDFs in den Ordner docs", ("2 files are in docs now",), TO_DOCS),
    Case("verschiebe alle pdf-Dateien nach docs", ("2 files are in docs now",), TO_DOCS),
    Case("verschieb meine Pdf Dateien in den Ordner docs", ("2 files are in docs now",), TO_DOCS),
    Case("move all pdf-files into docs", ("2 files are in docs now",), TO_DOCS),
    Case(
        "sort the files by type into folders",
        ("IMG_2.JPG is now jpg/IMG_2.JPG", "6 files were sorted", "ending): .hidden.jpg, README"),
        BY_TYPE,
    ),
    Case("sortiere die Dateien nach Typ in Ordner", ("6 files were sorted",), BY_TYPE),
    Case(
        "rename the photos to holiday 1, holiday 2 ...",
        ("IMG_10.png is now holiday 3.png", "3 pictures are numbered"),
        numbered("holiday 1.jpg", "holiday 2.JPG", "holiday 3.png"),
    ),
    Case(
        "number the photos as holiday-1",
        ("3 pictures are numbered",),
        numbered("holiday-1.jpg", "holiday-2.JPG", "holiday-3.png"),
    ),
    Case(
        "rename the pictures to Rome 01, Rome 02 and so on",
        ("3 pictures are numbered",),
        numbered("Rome 01.jpg", "Rome 02.JPG", "Rome 03.png"),
    ),
    Case(
        "benenne die Fotos in Urlaub 1 um",
        ("3 pictures are numbered",),
        numbered("Urlaub 1.jpg", "Urlaub 2.JPG", "Urlaub 3.png"),
    ),
]


async def asked(request: str, place: Path, home: Path) -> tuple[WorkItemStatus, str]:
    home.mkdir(exist_ok=True)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(request, workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    return done.status, "\n".join(channel.texts)


def filled(place: Path, **more: str) -> dict[str, str]:
    for name, text in {**FOLDER, **more}.items():
        (place / name).parent.mkdir(exist_ok=True, parents=True)
        (place / name).write_text(text, encoding="utf-8")
    return files_of(place)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.request)
async def test_files_of_a_kind_go_where_they_are_wanted(case: Case, tmp_path: Path) -> None:
    place = tmp_path / "my folder"
    before = filled(place)
    status, printed = await asked(case.request, place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    assert [one for one in case.shown if one not in printed] == [], printed
    assert files_of(place) == {case.moved.get(name, name): text for name, text in before.items()}


@pytest.mark.parametrize(
    ("request_text", "taken", "why"),
    [
        ("sort the files by type into folders", "csv/sales.csv", "there is csv/sales.csv already"),
        ("sort the files by type into folders", "png", "there is png already"),
        ("number the photos as holiday-1", "holiday-2.jpg", "there is holiday-2.jpg already"),
        ("rename the photos to holiday 1, beach 2", "x", "not one name with the numbers"),
    ],
)
async def test_where_a_name_is_taken_nothing_is_changed(
    request_text: str, taken: str, why: str, tmp_path: Path
) -> None:
    place = tmp_path / "my folder"
    before = filled(place, **{taken: "there before"})
    status, printed = await asked(request_text, place, tmp_path / "home")
    assert status is not WorkItemStatus.done
    assert why in printed
    assert files_of(place) == before


@pytest.mark.parametrize(
    ("request_text", "taken", "moved"),
    [
        ("move all jpgs into photos", "photos/IMG_2.JPG", "IMG_2.JPG"),
        ("move the pictures to photos", "photos/IMG_10.png", "IMG_10.png"),
        ("move all csv files into tables", "tables/sales.csv", "sales.csv"),
    ],
)
async def test_a_file_whose_name_is_taken_gets_a_number_and_nothing_is_overwritten(
    request_text: str, taken: str, moved: str, tmp_path: Path
) -> None:
    place = tmp_path / "my folder"
    before = filled(place, **{taken: "there before", taken.replace(".", " (2)."): "and this"})
    status, printed = await asked(request_text, place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    numbered_name = taken.replace(".", " (3).")
    assert f"{moved} as {Path(numbered_name).name}" in printed
    after = files_of(place)
    assert after[taken] == "there before"
    assert after[taken.replace(".", " (2).")] == "and this"
    assert after[numbered_name] == before[moved]
    assert sorted(after.values()) == sorted(before.values())


@pytest.mark.parametrize(
    "said",
    [
        "move all pdf files from Downloads to Documents/Invoices",
        "move my *.pdf files from my Downloads into Documents/Invoices",
        "verschiebe alle pdf Dateien von Downloads nach Documents/Invoices",
        "verschiebe alle pdf-Dateien von Downloads nach Documents/Invoices",
    ],
)
async def test_files_go_from_a_named_folder_to_a_named_one(said: str, tmp_path: Path) -> None:
    place = tmp_path / "my folder"
    taken = {"Documents/Invoices/a.pdf": "an older one", "Downloads/a.pdf": "a new one"}
    before = filled(place, **taken, **{"Downloads/b.pdf": "b", "Downloads/c.txt": "c"})
    status, printed = await asked(said, place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    moved = {"Downloads/a.pdf": "a (2).pdf", "Downloads/b.pdf": "b.pdf"}
    assert files_of(place) == {
        f"Documents/Invoices/{moved[name]}" if name in moved else name: text
        for name, text in before.items()
    }


async def test_files_written_in_capitals_go_along_and_the_folder_above_is_made(
    tmp_path: Path,
) -> None:
    place = tmp_path / "my folder"
    filled(place, **{"Downloads/b.pdf": "b", "Downloads/C.PDF": "c", "Downloads/d.txt": "d"})
    before = files_of(place)
    said = "move all pdf files from Downloads to Documents/Invoices"
    status, printed = await asked(said, place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    there = {"Downloads/b.pdf": "b.pdf", "Downloads/C.PDF": "C.PDF"}
    assert files_of(place) == {
        f"Documents/Invoices/{there[name]}" if name in there else name: text
        for name, text in before.items()
    }


@pytest.mark.parametrize(
    ("folder", "folders"),
    [
        ("Papers", ["Papers"]),
        ("Documents/Papers", ["Documents", "Documents/Papers"]),
        ("A/B/C", ["A", "A/B", "A/B/C"]),
    ],
)
def test_the_card_names_each_place_that_may_change_once(folder: str, folders: list[str]) -> None:
    library = PlanLibrary([shipped_plans()])
    plan = library.plan_named("move-between-folders")
    assert plan is not None
    given = {"workspace": "/home/me", "ending": "pdf", "source": "Downloads", "folder": folder}
    item = PlanParser().parse(library.fill(plan, given, "task-1"))
    endings = [f"Downloads/*.{ending}" for ending in ("pdf", "PDF", "Pdf")]
    assert item.writes == [*endings, *folders, f"{folder}/*"]


@pytest.mark.parametrize("ending", ["pdf", "PDF", "Pdf"])
@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("move all *.{} files into docs", ""),
        ("move all {} files into docs", ""),
        ("verschiebe alle *.{} Dateien in docs", ""),
        ("move all {}s into docs", ""),
        ("move all {} files from in to docs", "in/"),
        ("verschiebe alle {} Dateien von in nach docs", "in/"),
    ],
)
async def test_an_ending_is_the_same_in_small_letters_and_in_capitals(
    said: str, source: str, ending: str, tmp_path: Path
) -> None:
    if ending == "Pdf" and "{}s" in said:
        return  # no plural that anybody says
    place = tmp_path / "my folder"
    place.mkdir()
    (place / "docs").mkdir()
    (place / "docs" / "a.pdf").write_text("there before")
    names = ("a.pdf", "A.PDF", "a.PDF", "b.Pdf", "c.pDf", "d.txt")
    (place / source).mkdir(exist_ok=True)
    for name in names:
        (place / source / name).write_text(name)
    status, printed = await asked(said.format(ending), place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    assert files_of(place) == {
        "docs/a.pdf": "there before",
        "docs/a (2).pdf": "a.pdf",
        "docs/A.PDF": "A.PDF",
        "docs/a.PDF": "a.PDF",
        "docs/b.Pdf": "b.Pdf",
        f"{source}c.pDf": "c.pDf",
        f"{source}d.txt": "d.txt",
    }
    assert "Left, because the ending is written in another way: c.pDf" in printed


async def test_an_ending_in_capitals_is_renamed_too(tmp_path: Path) -> None:
    place = tmp_path / "my folder"
    place.mkdir()
    for name in ("a.jpeg", "B.JPEG", "c.jpg"):
        (place / name).write_text(name)
    status, printed = await asked("rename all *.jpeg files to *.jpg", place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    assert files_of(place) == {"a.jpg": "a.jpeg", "B.jpg": "B.JPEG", "c.jpg": "c.jpg"}


async def test_two_files_never_become_one_by_another_ending(tmp_path: Path) -> None:
    place = tmp_path / "my folder"
    place.mkdir()
    for name in ("a.jpeg", "a.JPEG"):
        (place / name).write_text(name)
    status, printed = await asked("rename all *.jpeg files to *.jpg", place, tmp_path / "home")
    assert status is not WorkItemStatus.done
    assert "Two files would be 'a.jpg'; nothing was renamed." in printed
    assert files_of(place) == {"a.jpeg": "a.jpeg", "a.JPEG": "a.JPEG"}


@pytest.mark.parametrize("link", ["IMG_9.jpg"])
async def test_a_link_stays_where_it_is(link: str, tmp_path: Path) -> None:
    place = tmp_path / "my folder"
    filled(place)
    (place / link).symlink_to(place / "README")
    status, printed = await asked("move the pictures to photos", place, tmp_path / "home")
    assert status is WorkItemStatus.done, printed
    assert (place / link).is_symlink()


@pytest.mark.parametrize(
    "request_text",
    [
        "move all cats into box",
        "verschiebe alle Test-Dateien nach box",
        "verschiebe alle Test Dateien nach box",
        "verschiebe alle pdf-Ordner nach box",
        "verschiebe keine pdf-Dateien nach box",
        "verschiebe alle pdf-Dateien nicht nach box",
        "verschiebe alle pdf-Dateien von gestern nach box und lösche sie",
        "verschiebe alle PDFs in den Ordner",
        "move all pdfs into the folder",
        "move all things into box",
        "move the photos folder to backup",
        "move the pictures to photos and delete the rest",
        "sort my photos into folders by year",
        "sort the files by type into folders and delete the csv files",
        "rename the photos to holiday",
        "rename the photos to holiday 1 and delete the rest",
        "number the photos as holiday-1 and delete notes.md",
        "rename the photos to ../holiday 1",
    ],
)
def test_what_only_sounds_like_it_finds_no_runbook(request_text: str) -> None:
    assert LIBRARY.find(request_text) is None


def test_the_card_names_the_ending_in_both_ways_of_writing() -> None:
    plan = LIBRARY.plan_named("move-plural-ending")
    assert plan is not None
    filled_in = LIBRARY.fill(plan, {"workspace": "/w", "ending": "PDF", "folder": "docs"}, "task-1")
    assert PlanParser().parse(filled_in).writes == ["*.pdf", "*.PDF", "*.Pdf", "docs", "docs/*"]
