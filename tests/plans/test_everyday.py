"""The everyday runbooks, from the request to what it printed and left, in the real sandbox."""

import ast
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from silas.channels.text import render_card
from silas.errors import PlanFamilyError
from silas.plans import (
    LibraryPlan,
    PlanError,
    PlanLibrary,
    PlanParser,
    WorkItemStatus,
    shipped_plans,
)
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon

SHIPPED = PlanLibrary([shipped_plans()])
EVERYDAY = [plan for plan in SHIPPED.plans() if plan.sentences]
WITH_BLANKS = [(plan, name) for plan in EVERYDAY for name in plan.parameters if name != "workspace"]

FOLDER = {
    "notes.txt": "# Plan\n\nBuy bread. It is for Odile.\n\nThen rest. Sleep well.\n",
    "copy.txt": "# Plan\n\nBuy cake. It is for Odile.\n\nThen rest. Sleep well.\n",
    "sub/same.txt": "# Plan\n\nBuy bread. It is for Odile.\n\nThen rest. Sleep well.\n",
    "fruit.txt": "pear\napple\npear\n",
    "prices.csv": "thing,price\nbread,3.10\nmilk,0.95\nsalt,unknown\n",
    "people.csv": 'name,town\nOdile,"Metz, Moselle"\nJan,Ghent\n',
    "rows.json": '[{"name": "Odile", "age": 41}, {"name": "Jan", "town": "Ghent"}]\n',
}


class Case(NamedTuple):
    """A request, what is printed, the files that are there afterwards and were not, or are gone,
    and what lies there besides.
    """

    request: str
    shown: tuple[str, ...]
    made: dict[str, str] = {}  # noqa: RUF012 - never changed
    gone: tuple[str, ...] = ()
    beside: dict[str, str] = {}  # noqa: RUF012 - never changed


LIST = {"list.txt": "- [ ] milk\n2. Milk\n- oat milk\nrad putzen\n"}
CASES = [
    Case(
        "back up fruit.txt",
        ("fruit.txt.bak is a copy of fruit.txt, 16 bytes",),
        {"fruit.txt.bak": FOLDER["fruit.txt"]},
    ),
    Case("find files named same", ("sub/same.txt", "1 file found")),
    Case("Please find all files called *.csv here.", ("people.csv", "2 files found")),
    Case('find the text "for odile"', ("notes.txt:3: Buy bread.", "3 lines found")),
    Case("find the word apple in fruit.txt", ("fruit.txt:2: apple", "1 line found")),
    Case("how many files are there?", ("7 files", "7 of them are text")),
    Case("count the words in notes.txt", ("12 words, 5 lines",)),
    Case("what is the biggest file here?", ("rows.json",)),
    Case("show me the newest files", ("UTC", "7 files")),
    Case("how big is this folder?", ("bytes in all", "sub/")),
    Case("show me notes.txt", ("Buy bread. It is for Odile.",)),
    Case("compare notes.txt and copy.txt", ("-Buy bread", "+Buy cake")),
    Case("are notes.txt and sub/same.txt identical?", ("hold the same",)),
    Case("summarise notes.txt", ("An extract, not a summary", "- Buy bread.", "- Then rest.")),
    Case(
        "add all csv files to list.txt",
        ("2 names are new in list.txt",),
        {"list.txt": "people.csv\nprices.csv\n"},
    ),
    Case(
        "write a list of all TXTs to fruit.txt",
        ("3 names are new in fruit.txt",),
        {"fruit.txt": "pear\napple\npear\ncopy.txt\nnotes.txt\nsub/same.txt\n"},
    ),
    Case(
        "füge alle csv Dateien zu liste.txt hinzu",
        ("2 names are new in liste.txt",),
        {"liste.txt": "people.csv\nprices.csv\n"},
    ),
    Case("find duplicate files", ("notes.txt", "sub/same.txt", "1 group of files holds")),
    Case("find duplicates in sub", ("0 groups of files hold",)),
    Case(
        'remove "milk" from list.txt',
        ("2 lines removed from list.txt: milk",),
        {"list.txt": "- oat milk\nrad putzen\n"},
        beside=LIST,
    ),
    Case(
        "streiche Rad putzen von list.txt",
        ("1 line removed from list.txt: Rad putzen",),
        {"list.txt": "- [ ] milk\n2. Milk\n- oat milk\n"},
        beside=LIST,
    ),
    Case(
        "copy all pdfs from scans to backup",
        ("2 files were copied to backup: one.pdf, two.PDF",),
        {"backup/one.pdf": "one\n", "backup/two.PDF": "two\n"},
        beside={"scans/one.pdf": "one\n", "scans/two.PDF": "two\n"},
    ),
    Case(
        "kopiere alle TXTs nach sub",
        ("3 files were copied to sub",),
        {f"sub/{one}": FOLDER[one] for one in ("copy.txt", "fruit.txt", "notes.txt")},
    ),
    Case(
        "put milk on my shopping list",
        ("shopping.txt ends with: milk",),
        {"shopping.txt": "eggs\nmilk\n"},
        beside={"shopping.txt": "eggs\n"},
    ),
    Case(
        "setz Hafermilch auf die Einkaufsliste",
        ("Einkaufsliste.txt ends with: Hafermilch",),
        {"Einkaufsliste.txt": "Hafermilch\n"},
    ),
    Case(
        "cross eggs off my shopping list",
        ("1 line removed from shopping.txt: eggs",),
        {"shopping.txt": "milk\n"},
        beside={"shopping.txt": "eggs\nmilk\n"},
    ),
    Case("create a file called ideas.txt", ("ideas.txt is made, and empty",), {"ideas.txt": ""}),
    Case(
        "sort the lines of fruit.txt",
        ("3 lines are in order",),
        {"fruit.txt": "apple\npear\npear\n"},
    ),
    Case(
        "remove the duplicate lines from fruit.txt",
        ("1 line was removed",),
        {"fruit.txt": "pear\napple\n"},
    ),
    Case(
        "convert people.csv to JSON",
        ("2 rows are in people.json",),
        {
            "people.json": '[\n  {\n    "name": "Odile",\n    "town": "Metz, Moselle"\n  },\n'
            '  {\n    "name": "Jan",\n    "town": "Ghent"\n  }\n]\n'
        },
    ),
    Case(
        "convert rows.json to CSV",
        ("2 rows are in rows.csv",),
        {"rows.csv": "name,age,town\nOdile,41,\nJan,,Ghent\n"},
    ),
    Case(
        "rename all *.txt files to *.md",
        ("3 files were renamed",),
        {f"{one}.md": FOLDER[f"{one}.txt"] for one in ("notes", "copy", "fruit")},
        ("notes.txt", "copy.txt", "fruit.txt"),
    ),
    Case(
        "rename all .txt to .md",
        ("3 files were renamed",),
        {f"{one}.md": FOLDER[f"{one}.txt"] for one in ("notes", "copy", "fruit")},
        ("notes.txt", "copy.txt", "fruit.txt"),
    ),
    Case(
        "copy fruit.txt to more.txt",
        ("more.txt is a copy of fruit.txt, 16 bytes",),
        {"more.txt": FOLDER["fruit.txt"]},
    ),
    Case(
        "move fruit.txt into the folder sub",
        ("fruit.txt is now sub/fruit.txt",),
        {"sub/fruit.txt": FOLDER["fruit.txt"]},
        ("fruit.txt",),
    ),
    Case(
        "verschiebe fruit.txt in den ordner obst",
        ("fruit.txt is now obst/fruit.txt",),
        {"obst/fruit.txt": FOLDER["fruit.txt"]},
        ("fruit.txt",),
    ),
    Case(
        "move all .csv files into a new folder called tables",
        ("2 files are in tables now: people.csv, prices.csv",),
        {f"tables/{one}.csv": FOLDER[f"{one}.csv"] for one in ("people", "prices")},
        ("people.csv", "prices.csv"),
    ),
    Case("delete fruit.txt", ("fruit.txt is deleted",), gone=("fruit.txt",)),
    Case(
        'add "it\'s late" to fruit.txt',
        ("fruit.txt ends with: it's late",),
        {"fruit.txt": FOLDER["fruit.txt"] + "it's late\n"},
    ),
    Case(
        "add buy eggs to fruit.txt",
        ("fruit.txt ends with: buy eggs",),
        {"fruit.txt": FOLDER["fruit.txt"] + "buy eggs\n"},
    ),
    Case(
        "schreibe Eier, Milch und Brot kaufen in todo.txt",
        ("todo.txt ends with: Eier, Milch und Brot kaufen",),
        {"todo.txt": "Eier, Milch und Brot kaufen\n"},
    ),
    Case(
        'create a file shopping.txt with "milk, eggs"',
        ("shopping.txt holds: milk, eggs",),
        {"shopping.txt": "milk, eggs\n"},
    ),
    Case(
        'replace "pear" with "plum" in fruit.txt',
        ("2 places were changed in fruit.txt",),
        {"fruit.txt": "plum\napple\nplum\n"},
    ),
    Case(
        "sort people.csv by town",
        ("2 rows are in order by town",),
        {"people.csv": 'name,town\nJan,Ghent\nOdile,"Metz, Moselle"\n'},
    ),
    Case(
        "what is the sum of the price column in prices.csv",
        ("price: 4.05 in 2 rows", "left out: row 4 (unknown)"),
    ),
    Case(
        "move everything from scans to sub",
        ("2 files are in sub now: one.pdf, same.txt as same (2).txt", "links: deep"),
        {"sub/one.pdf": "one\n", "sub/same (2).txt": "other\n"},
        ("scans/one.pdf", "scans/same.txt"),
        beside={"scans/one.pdf": "one\n", "scans/same.txt": "other\n", "scans/deep/x.txt": "x"},
    ),
    Case(
        "verschiebe alle Dateien aus scans nach ablage/2026",
        ("1 file is in ablage/2026 now: one.pdf",),
        {"ablage/2026/one.pdf": "one\n"},
        ("scans/one.pdf",),
        beside={"scans/one.pdf": "one\n"},
    ),
    Case(
        "delete the last line of fruit.txt",
        ("Line 3 is removed from fruit.txt: pear",),
        {"fruit.txt": "pear\napple\n"},
    ),
    Case(
        "lösche Zeile 2 aus fruit.txt",
        ("Line 2 is removed from fruit.txt: apple",),
        {"fruit.txt": "pear\npear\n"},
    ),
    Case(
        "make a list: milk, eggs and bread",
        ("list.txt holds: milk, eggs, bread",),
        {"list.txt": "milk\neggs\nbread\n"},
    ),
    Case(
        "mach eine Einkaufsliste: Milch, Eier, Brot",
        ("Einkaufsliste.txt holds: Milch, Eier, Brot",),
        {"Einkaufsliste.txt": "Milch\nEier\nBrot\n"},
    ),
    Case(
        "rename notes.txt to plan.txt",
        ("notes.txt is now plan.txt",),
        {"plan.txt": FOLDER["notes.txt"]},
        ("notes.txt",),
    ),
]


def filled_folder(place: Path, beside: Mapping[str, str] = {}) -> dict[str, str]:
    """The files of a folder, made there."""
    for name, text in {**FOLDER, **beside}.items():
        (place / name).parent.mkdir(exist_ok=True, parents=True)
        (place / name).write_text(text, encoding="utf-8")
    return files_of(place)


def files_of(place: Path) -> dict[str, str]:
    """What a folder holds, by name."""
    return {
        str(path.relative_to(place)): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.request)
async def test_a_request_is_done_and_checked(case: Case, tmp_path: Path) -> None:
    """What changes nothing is asked about a folder elsewhere: in this one it needs no plan."""
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    before = filled_folder(place, case.beside)
    channel = ScriptedChannel(saying_yes)
    looks = not case.made and not case.gone
    asked = f"{case.request.rstrip('?.').removesuffix(' here')} in '{place}'"
    async with Harness(channel, home=home) as h:
        text, where = (asked, home) if looks else (case.request, place)
        reply = await soon(h.silas.ask(text, workspace=where))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
        assert done is not None
        assert done.status is WorkItemStatus.done, channel.texts
        printed = "\n".join(channel.texts)
    assert [one for one in case.shown if one not in printed] == [], printed
    kept = {name: text for name, text in before.items() if name not in case.gone}
    assert files_of(place) == {**kept, **case.made}


async def test_a_plan_of_the_library_is_not_marked_as_read_however_often_it_is_asked_for(
    tmp_path: Path,
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    filled_folder(place)
    channel = ScriptedChannel()
    async with Harness(channel, home=home) as h:
        for _ in range(2):
            await soon(h.silas.ask("sort the lines of fruit.txt", workspace=place))
    shown = [render_card(card) for card in channel.cards]
    assert [("read elsewhere" in one, "repeat what was" in one) for one in shown] == [
        (False, False),
        (False, False),
    ]


async def test_an_archive_is_unpacked_and_no_name_in_it_leads_out(tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    filled_folder(place)
    with ZipFile(place / "more.zip", "w") as archive:
        archive.writestr("sub/one.txt", "one")
        archive.writestr("../out.txt", "out")
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask("unzip more.zip", workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.done, channel.texts
    assert (place / "unpacked/sub/one.txt").read_text() == "one"
    assert list(tmp_path.rglob("out.txt")) == []


async def test_a_back_up_is_an_archive_of_every_file(tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    before = filled_folder(place)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask("back up this folder", workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.done, channel.texts
    (made,) = (place / "backups").iterdir()
    with tarfile.open(made) as archive:
        assert sorted(one.removeprefix("./") for one in archive.getnames()) == sorted(before)


@pytest.mark.parametrize("words", ["zip the sub folder", "compress sub", "back up my folder sub"])
async def test_a_folder_is_put_into_a_zip_file_beside_it(words: str, tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    before = filled_folder(place)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(words, workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.done, channel.texts
    with ZipFile(place / "sub.zip") as archive:
        assert archive.read("sub/same.txt").decode() == FOLDER["sub/same.txt"]
        assert archive.namelist() == ["sub/same.txt"]
    assert {name: text for name, text in files_of(place).items() if name != "sub.zip"} == before


@pytest.mark.parametrize("words", ["delete empty folders in sub", "delete empty folders"])
async def test_empty_folders_go_and_come_back(words: str, tmp_path: Path) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    before = filled_folder(place)
    (place / "sub/old/older").mkdir(parents=True)
    (place / "sub/.hidden/kept").mkdir(parents=True)
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(words, workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
        assert done is not None
        assert done.status is WorkItemStatus.done, channel.texts
        assert not (place / "sub/old").exists()
        assert (place / "sub/.hidden/kept").is_dir()
        await h.silas.undo(reply.plan.id)
        assert (place / "sub/old/older").is_dir()
    assert files_of(place) == before


HOSTILE = (
    "'; rm -rf ~ #.txt",
    '"; rm -rf ~ #.txt',
    "$(touch owned).txt",
    "`touch owned`.txt",
    "a.txt\nimport os",
    "a.txt\n```\n```sh\ntouch owned",
    "--help.txt",
    "-rf.txt",
    '"""+__import__("os").system("id")+""".txt',
    "a.txt && touch owned.txt",
    "$workspace.txt",
    "{x}.txt",
    "../../etc/x.txt",
    "a\\",
    "*.txt",
    "**",
)


WITH_PATTERNS = {
    "rename-by-ending": "*.$old",
    "back-up": "backups/*.tar.gz",
    "copy-by-ending": "$folder/*",
    "move-file": "$folder/*",
    "move-by-ending": "*.$ending",
    "move-between-folders": "$source/*.$ending",
    "move-all": "$source/*",
    "delete-empty-folders": "$folder/**",
    "move-plural-ending": "*.$small",
    "move-pictures": "*.jpg",
    "number-pictures": "*.jpg",
    "sort-by-type": "*/*",
    "unpack-archive": "unpacked/**",
}
"""Runbooks that may change more than the paths that are named, and a pattern of theirs."""


def shape_of(text: str, value: str, plain: str) -> tuple[object, ...]:
    """A filled plan without its value: commands as words, code as a tree, what it may touch."""
    item = PlanParser().parse(text)
    (code,) = [part.split("\n```")[0] for part in item.body.split("```python\n")[1:]]
    tree = ast.dump(ast.parse(code)).replace(repr(value), repr(plain))
    words = [[plain if one == value else one for one in shlex.split(c.run)] for c in item.verify]
    other = item.model_dump(exclude={"body", "verify", "writes", "title"})
    return tree, words, other, item.body.count("```")


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize(("plan", "name"), WITH_BLANKS, ids=lambda one: getattr(one, "name", one))
def test_what_the_owner_says_is_data_or_refused(plan: LibraryPlan, name: str, value: str) -> None:
    values = {
        one: blank.default if blank.default is not None else blank.example
        for one, blank in plan.parameters.items()
    }
    plain = "PLAIN"
    try:
        text = SHIPPED.fill(plan, {**values, name: value}, "task-1")
    except (PlanFamilyError, PlanError):
        return
    assert "\n" not in value
    item = PlanParser().parse(text)
    for entry in item.writes or ():
        assert ".." not in entry
        assert "*" not in entry or plan.name in WITH_PATTERNS
    stand_in = plan.parameters[name].example or plain
    example = SHIPPED.fill(plan, {**values, name: stand_in}, "task-1")
    assert shape_of(text, value, plain) == shape_of(example, stand_in, plain)


@pytest.mark.parametrize(
    ("request_text", "name"),
    [
        ("find files named report", "find-files"),
        ("Where is the file report.pdf?", "find-files"),
        ("search the files for TODO", "find-text"),
        ("which files contain 'hello world'?", "find-text"),
        ("count all files in /srv/x", "count-files"),
        ("How many lines of code are there?", "count-files"),
        ("how many words are in notes.txt?", "count-words"),
        ("what are the largest files?", "biggest-files"),
        ("Show me the latest files, please.", "newest-files"),
        ("how much space does this folder use?", "disk-use"),
        ("open notes.txt", "show-file"),
        ("what's in README?", "show-file"),
        ("diff a.txt b.txt", "compare-files"),
        ("what is the difference between a.txt and b.txt", "compare-files"),
        ("Could you summarize the file notes.txt for me?", "summarise-file"),
        ("find the duplicates", "find-duplicates"),
        ("sort fruit.txt", "sort-lines"),
        ("remove repeated lines in fruit.txt", "unique-lines"),
        ("turn people.csv into JSON", "csv-to-json"),
        ("convert rows.json to a CSV file", "json-to-csv"),
        ("rename .txt files to .md", "rename-by-ending"),
        ("rename the file a.txt to b.txt", "rename-file"),
        ("zip the photos", "zip-folder"),
        ("compress invoices", "zip-folder"),
        ("make a zip of my photos folder", "zip-folder"),
        ("zip everything", "back-up"),
        ("zip this folder", "back-up"),
        ("make a backup of everything", "back-up"),
        ("back up this folder", "back-up"),
        ("zip it", None),
        ("zip notes.txt", None),
        ("zip the photos and delete them", None),
        ("which of these are duplicates", "find-duplicates"),
        ("save a list of all files to files.txt", "list-to-file"),
        ("show files from last week", None),
        ("please make a backup of my files", "back-up"),
        ("sort my photos into folders by year", None),
        ("write a script that backs up /srv/x every night", None),
        ("rename the function answer to result everywhere in /srv/x", None),
        ("list the files", "list-files"),
        ("list the files of whoever wrote notes.txt", None),
        ("list files except csv", None),
        ("back up notes.txt", "back-up-file"),
        ("make a backup copy of the file notes.txt", "back-up-file"),
        ("mach eine Sicherungskopie von notes.txt", "back-up-file"),
        ("back up notes", "zip-folder"),
        ("show the files", "list-files"),
        ("run the tests", "run-tests"),
        ("fix the failing test", "lint-fix"),
        ("fix the comparisons", "fix-comparisons"),
        ("remember that my landlord is called Odile", None),
        ("find duplicates in Downloads", "find-duplicates"),
        ("find duplicate files in my downloads folder", "find-duplicates"),
        ("finde Duplikate in Downloads", "find-duplicates"),
        ("gibt es doppelte Dateien in meinen Downloads?", "find-duplicates"),
        ("find duplicates in prices.csv", None),
        ("find duplicate lines in notes.txt", None),
        ("find duplicates in the list", None),
        ("cross milk off todo.txt", "remove-line"),
        ("cross off pay rent from todo.txt", "remove-line"),
        ("lösche Milch aus todo.txt", "remove-line"),
        ("remove the last line from notes.txt", "remove-line-at"),
        ("move all files from Downloads to Papers", "move-all"),
        ("move all pdf files from Downloads to Papers", "move-between-folders"),
        ("lösche die leeren Ordner in Downloads", "delete-empty-folders"),
        ("delete empty folders", "delete-empty-folders"),
        ("entferne alle leeren Ordner hier", "delete-empty-folders"),
        ("delete empty files", None),
        ("remove all spaces from notes.txt", None),
        ("remove spaces from notes.txt", None),
        ("remove empty lines from notes.txt", None),
        ("remove duplicates from fruit.txt", None),
        ("remove the word milk from notes.txt", None),
        ("remove it from todo.txt", None),
        ("remove error handling from app.py", None),
        ("remove the price column from prices.csv", None),
        ("remove milk from a.txt and eggs from b.txt", None),
        ("kopiere alle PDFs nach backup", "copy-by-ending"),
        ("copy all pdf files into a folder called safe", "copy-by-ending"),
        ("copy all pdfs to the cloud", None),
        ("copy all pdfs to my usb stick", None),
        ("copy all files to backup", None),
        ("copy the notes to Anna", None),
        ("create a file report.pdf", None),
        ("create a file ideas.txt and open it", None),
        ("make a file with all names", None),
        ("lege eine Datei ideen.txt an", "make-file"),
        ("how many lines in todo.txt", "count-words"),
        ("delete everything", None),
        ("delete notes.txt", "delete-file"),
        ("lösche notes.txt", "delete-file"),
        ("create a folder called archive", "make-folder"),
        ("erstelle einen Ordner Archiv", "make-folder"),
        ("kopiere notes.txt nach copy.txt", "copy-file"),
        ("ersetze Milch durch Brot in notes.txt", "replace-text"),
        ("unzip photos.zip", "unpack-archive"),
        ("add call the dentist and buy milk to todo.md", "add-line"),
        ("please add meet Bob at the end of the day to my todo.txt", "add-line"),
        ("füge Miete überweisen zu todo.txt hinzu", "add-line"),
        ('write "a poem about rain" to poem.txt', "add-line"),
        ("write a poem about rain to poem.txt", None),
        ("add the date of today to notes.txt", None),
        ("add milk to a.txt and eggs to b.txt", None),
        ("add error handling to app.py", None),
        ("add the line buy eggs to notes.txt", "add-line"),
        ('add the text "the rent" to notes.txt', "add-line"),
        ("schreibe ein Gedicht in gedicht.txt", None),
        ("add buy eggs; buy milk to todo.txt", None),
        ("sortiere fruit.txt", "sort-lines"),
        ("entferne doppelte Zeilen aus fruit.txt", "unique-lines"),
        ("benenne notes.txt in plan.txt um", "rename-file"),
        ("benenne alle .txt Dateien in .md um", "rename-by-ending"),
        ("rename all txt files to md", "rename-by-ending"),
        ("wandle people.csv in JSON um", "csv-to-json"),
        ("mach ein Backup von diesem Ordner", "back-up"),
        ("wie groß ist dieser Ordner?", "disk-use"),
        ("delete all files", None),
        ("delete notes.txt and everything else", None),
        ("add milk to the list", None),
        ("make a folder for each year", None),
        ("show notes.txt and delete it", None),
        ("send an email to Bob", None),
        ("open google.com", None),
        ("search the web for cats", None),
        ("search for a flat in Berlin", None),
        ("find me a hotel", None),
        ("where is Bob?", None),
        ("find the bug", None),
        ("compare Rust and Go", None),
        ("what is the difference between a list and a tuple?", None),
        ("summarise our talk", None),
        ("show me the money", None),
        ("read the news", None),
        ("how big is the moon?", None),
        ("how many people live in Ghent?", None),
        ("count to ten", None),
        ("don't show notes.txt", None),
        ("do not count the files", None),
        ("what is the latest news?", None),
        ("is the backup done?", None),
        ("move notes.txt to /tmp", "move-file"),
        ("upload notes.txt", None),
    ],
)
def test_an_everyday_sentence_finds_its_runbook_or_none(
    request_text: str, name: str | None
) -> None:
    found = SHIPPED.find(request_text)
    assert (found.name if found else None) == name
