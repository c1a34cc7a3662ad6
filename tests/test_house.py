"""The figures of the house are read from the house: `scripts/house.py` on small packages."""

from pathlib import Path

from scripts.house import ROOT, Widest, doubled, figures, rooms_of, widest

_ONE = """
class Found:
    a: int
    b: str

class _Own:
    pass
"""
_TWO = """
class Found:
    def __init__(self, one, two, *, three):
        pass

class _Own:
    pass
"""


def test_names_of_two_files_and_the_widest_class_are_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(_ONE, encoding="utf-8")
    assert doubled(tmp_path) == []
    assert widest(tmp_path) == Widest("Found", 2)
    (tmp_path / "two.py").write_text(_TWO, encoding="utf-8")
    assert doubled(tmp_path) == ["Found"]
    assert widest(tmp_path) == Widest("Found", 3)


def test_a_commit_counts_the_rooms_of_the_package_alone() -> None:
    paths = ["silas/work/a.py", "silas/work/b.py", "silas/db.py", "tests/work/test_a.py"]
    assert rooms_of(paths) == {"work", "db.py"}


def test_every_figure_of_the_page_is_one_that_is_measured() -> None:
    page = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.count(" | ") == 2]
    told = {row.split(" | ")[0].removeprefix("| ") for row in rows}
    measured = figures(ROOT).keys() - {"longest file"}
    assert measured <= told
