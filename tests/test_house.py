"""The figures of the house are read from the house: `scripts/house.py` on small packages."""

import ast
import re
from pathlib import Path

import pytest

from scripts.house import ROOT, Widest, doubled, figures, full_folders, rooms_of, widest

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


def told() -> dict[str, str]:
    """What the table of the page says of each thing now."""
    page = (ROOT / "docs" / "layout.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if line.count(" | ") == 2]
    return {what.removeprefix("| "): now.removesuffix(" |") for what, _, now in rows}


def test_folders_that_are_full_are_found(tmp_path: Path) -> None:
    for room, files in (("work", 30), ("plans", 31), ("stream", 40), ("channels/web", 40)):
        (tmp_path / room).mkdir(parents=True)
        for number in range(files):
            (tmp_path / room / f"m{number}.py").touch()
    assert full_folders(tmp_path) == ["plans"]


_WITHIN = 0.02
"""How far what grows with every commit may be from what the page says: package, wiring, pages."""

_GROW = {
    "files and lines of the package",
    "lines of this page, of decisions and of security",
    "`silas/wiring`",
}


def _numbers(figure: str) -> list[int]:
    return [int(one.replace(",", "")) for one in re.findall(r"[0-9](?:[0-9,]*[0-9])?", figure)]


def test_the_page_says_what_is_measured() -> None:
    page = told()
    measured = {what: now for what, now in figures(ROOT).items() if what != "longest file"}
    exact = {what: now for what, now in measured.items() if what not in _GROW}
    assert {what: page[what].partition(";")[0] for what in exact} == exact
    for what in _GROW:
        for said, found in zip(
            _numbers(page[what].replace(", ", " ")),
            _numbers(measured[what].replace(", ", " ")),
            strict=True,
        ):
            assert said == pytest.approx(found, rel=_WITHIN), what


_MOST_LINES = 400
_LONGEST = 70
_MOST_PARAMETERS = 12
_FOLDERS = ("silas", "scripts")


def _sources() -> list[Path]:
    return [path for name in _FOLDERS for path in sorted((ROOT / name).rglob("*.py"))]


def _fields(node: ast.ClassDef) -> int:
    """How many things a record is made from; models of Pydantic are data and mirror a table."""
    made = [ast.unparse(one) for one in (*node.decorator_list, *node.bases)]
    if not any(one.startswith(("dataclass", "NamedTuple")) for one in made):
        return 0
    return sum(isinstance(member, ast.AnnAssign) for member in node.body)


def too_long(name: str, source: str) -> list[str]:
    """What of a module is over the limits: the file, functions, constructors and records."""
    lines = source.count("\n")
    found = [f"{name}: {lines} lines"] if lines >= _MOST_LINES else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            parameters = len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) - 1
            if length > _LONGEST:
                found.append(f"{name}: {node.name} has {length} lines")
            if node.name == "__init__" and parameters > _MOST_PARAMETERS:
                found.append(f"{name}: a constructor of {parameters}")
        elif isinstance(node, ast.ClassDef) and (fields := _fields(node)) > _MOST_PARAMETERS:
            found.append(f"{name}: {node.name} has {fields} fields")
    return found


def test_files_functions_and_constructors_are_small() -> None:
    paths = _sources()
    assert len(paths) > 900
    found = [
        line
        for path in paths
        for line in too_long(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    ]
    assert found == []
    assert full_folders(ROOT / "silas") == []
    assert doubled(ROOT / "silas") == []


def test_what_is_too_long_is_found() -> None:
    body = "".join(f"    a{n} = 1\n" for n in range(_LONGEST))
    given = ", ".join(f"a{n}" for n in range(_MOST_PARAMETERS + 1))
    assert too_long("m", f"def f():\n{body}") == ["m: f has 71 lines"]
    assert too_long("m", f"async def f():\n{body}") == ["m: f has 71 lines"]
    assert too_long("m", "\n" * _MOST_LINES) == ["m: 400 lines"]
    assert too_long("m", "\n" * (_MOST_LINES - 1)) == []
    assert too_long("m", f"class C:\n    def __init__(self, *, {given}): ...\n") == [
        "m: a constructor of 13"
    ]
    fields = "".join(f"    a{n}: int\n" for n in range(_MOST_PARAMETERS + 1))
    for made in ("@dataclass(frozen=True)\nclass C:\n", "class C(NamedTuple):\n"):
        assert too_long("m", made + fields) == ["m: C has 13 fields"]
    assert too_long("m", f"class C(BaseModel):\n{fields}") == []
