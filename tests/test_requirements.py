"""The manifest and the tests agree, both ways; and the check itself can fail."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.requirements import REQUIREMENTS, Requirement, gather

TESTS = Path(__file__).parent
ID = re.compile(r"(?:S\d+(?:\.\d+)*|[AB]\d+|C|TR|TP|WP)(?:-\d+(?:\.\d+)?)?(?:-[A-Z0-9]+)+")
EXCUSES = re.compile(r"(?=.{20})(?:later|policy|process): \S.*")  # 20 characters at least
AWAITED = re.compile(r"`(silas/[\w/]+(?:\.py|/))`")

# ---------------------------------------------------------------------------------- the scanner


def _ids(marker: ast.expr) -> Iterator[str]:
    """The ids of one `pytest.mark.proves(...)`; nothing for any other expression.

    An id that is not written out as a string cannot be read without running the test; it is
    given as source, which no requirement is called.
    """
    if not isinstance(marker, ast.Call) or ast.unparse(marker.func) != "pytest.mark.proves":
        return
    for argument in marker.args:
        match argument:
            case ast.Constant(value=str(written)):
                yield written
            case _:
                yield ast.unparse(argument)


def _marks_of(value: ast.expr) -> Iterator[ast.expr]:
    """The marks in a `pytestmark`: one, or a list or tuple of them."""
    if isinstance(value, ast.List | ast.Tuple):
        yield from value.elts
    else:
        yield value


def _assigned_marks(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    else:
        return
    if any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in targets):
        yield from _marks_of(value)


def _parameter_marks(decorator: ast.expr) -> Iterator[ast.expr]:
    """Marks on single cases: `pytest.param(..., marks=pytest.mark.proves(...))`."""
    for node in ast.walk(decorator):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.param":
            for keyword in node.keywords:
                if keyword.arg == "marks":
                    yield from _marks_of(keyword.value)


def _is_test(node: ast.stmt) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name.startswith("test")
    return isinstance(node, ast.ClassDef) and node.name.startswith("Test") and _has_test(node.body)


def _has_test(body: Iterable[ast.stmt]) -> bool:
    return any(_is_test(node) for node in body)


def proved_in(body: list[ast.stmt], where: str) -> Iterator[tuple[str, str]]:
    """(id, test) for every marker in a module or class that really is on a test.

    A marker on a helper, or a `pytestmark` where no test is, proves nothing and is not counted.
    """
    for node in body:
        if _has_test(body):
            for mark in _assigned_marks(node):
                for found in _ids(mark):
                    yield found, where
        if _is_test(node):
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            name = f"{where}::{node.name}"
            for decorator in node.decorator_list:
                for mark in (decorator, *_parameter_marks(decorator)):
                    for found in _ids(mark):
                        yield found, name
            if isinstance(node, ast.ClassDef):
                yield from proved_in(node.body, name)


def scan(root: Path) -> dict[str, list[str]]:
    """Which tests say that they prove which id, over all test files below a directory."""
    proofs: dict[str, list[str]] = defaultdict(list)
    for path in sorted(root.rglob("test_*.py")):
        if path == Path(__file__):
            continue  # its samples are about the scanner, not about Silas
        module = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for found, test in proved_in(module.body, str(path.relative_to(root))):
            proofs[found].append(test)
    return proofs


def overtaken(excuse: str, root: Path) -> str:
    """Why an excuse that says "later" counts no more; empty while all it waits for is missing."""
    if not excuse.startswith("later:"):
        return ""
    awaited = AWAITED.findall(excuse)
    if not awaited:
        return "names no file that it waits for"
    there = [name for name in awaited if (root / name).exists()]
    return f"{', '.join(there)} is there" if there else ""


def faults(
    requirements: Mapping[str, Requirement], proofs: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Everything in which manifest and tests disagree, by kind."""
    return {
        "unknown": [
            f"{name}: {tests}" for name, tests in proofs.items() if name not in requirements
        ],
        "unproved": [
            one.id for one in requirements.values() if not one.excused and one.id not in proofs
        ],
        "stale excuse": [
            one.id for one in requirements.values() if one.excused and one.id in proofs
        ],
        "bad excuse": [
            f"{one.id}: {one.excused}"
            for one in requirements.values()
            if one.excused and not EXCUSES.fullmatch(one.excused)
        ],
        "overtaken excuse": [
            f"{one.id}: {why}"
            for one in requirements.values()
            if (why := overtaken(one.excused, TESTS.parent))
        ],
    }


# ----------------------------------------------------------------------- manifest against tests


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    return faults(REQUIREMENTS, scan(TESTS))


def test_every_marker_names_a_requirement(found: dict[str, list[str]]) -> None:
    assert not found["unknown"], "\n".join(found["unknown"])


def test_every_requirement_is_proved_or_excused(found: dict[str, list[str]]) -> None:
    assert not found["unproved"], "\n".join(found["unproved"])


def test_no_excuse_outlives_its_proof(found: dict[str, list[str]]) -> None:
    assert not found["stale excuse"], "\n".join(found["stale excuse"])


def test_every_excuse_says_why(found: dict[str, list[str]]) -> None:
    assert not found["bad excuse"], "\n".join(found["bad excuse"])


def test_no_excuse_waits_for_what_is_there(found: dict[str, list[str]]) -> None:
    assert not found["overtaken excuse"], "\n".join(found["overtaken excuse"])


def test_an_excuse_names_what_it_waits_for_and_counts_until_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "silas" / "work").mkdir(parents=True)
    (tmp_path / "silas" / "work" / "goal.py").touch()
    assert overtaken("later: the room of goals", tmp_path) == "names no file that it waits for"
    assert overtaken("later: `silas/work/goal.py`", tmp_path) == "silas/work/goal.py is there"
    assert overtaken("later: `silas/work/`; no goals", tmp_path) == "silas/work/ is there"
    assert overtaken("later: `silas/work/batch.py`", tmp_path) == ""
    assert overtaken("policy: A1 - rooms replace the layout", tmp_path) == ""


# ---------------------------------------------------------------------------- the manifest itself


def test_ids_are_readable_and_sit_where_their_prefix_says() -> None:
    prefixes = {"TR": "tool-runtime", "TP": "toolset-plugins", "WP": "worker-approval-policy"}
    for requirement in REQUIREMENTS.values():
        assert ID.fullmatch(requirement.id), requirement.id
        prefix = requirement.id.split("-")[0].removeprefix("S")
        sections = requirement.section.split(", ")
        assert prefixes.get(prefix, prefix) in sections, requirement
        assert 20 <= len(requirement.sentence) <= 140, requirement
        assert requirement.sentence.endswith("."), requirement


def test_every_decision_and_every_never_has_an_entry() -> None:
    prefixes = {name.split("-")[0] for name in REQUIREMENTS}
    expected = {f"A{n}" for n in range(1, 26)} | {f"B{n}" for n in range(1, 13)}
    assert expected | {"C", "TR", "TP", "WP"} <= prefixes
    nevers = [name for name in REQUIREMENTS if name.startswith("S15-NEVER-")]
    assert len(nevers) == 17  # the lines of section 15, counted there


def test_two_requirements_cannot_have_one_id() -> None:
    one = Requirement("C-TWICE", "C", "Something must hold here.")
    with pytest.raises(ValueError, match="C-TWICE"):
        gather([one, one])


# ------------------------------------------------------------------------- the check can fail

SAMPLE = """
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.proves("S1-WHOLE-MODULE")]
NAME = "A1-COMPUTED"

@pytest.mark.proves("A6-ONE", "A6-TWO")
async def test_two() -> None: ...

@pytest.mark.proves(NAME)
def test_not_written_out() -> None: ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.proves("B1-CASE")), 2])
def test_cases(n: int) -> None: ...

@pytest.mark.proves("C-HELPER")
def helper() -> None: ...

@pytest.mark.proves("C-CLASS")
class TestDoor:
    pytestmark = pytest.mark.proves("C-INSIDE")

    @pytest.mark.proves("C-METHOD")
    def test_method(self) -> None: ...

@pytest.mark.proves("C-EMPTY-CLASS")
class TestNothing:
    pass
"""


def test_the_scanner_reads_markers_on_modules_classes_functions_and_cases() -> None:
    proofs = set(proved_in(ast.parse(SAMPLE).body, "t.py"))
    assert proofs == {
        ("S1-WHOLE-MODULE", "t.py"),
        ("A6-ONE", "t.py::test_two"),
        ("A6-TWO", "t.py::test_two"),
        ("NAME", "t.py::test_not_written_out"),
        ("B1-CASE", "t.py::test_cases"),
        ("C-CLASS", "t.py::TestDoor"),
        ("C-INSIDE", "t.py::TestDoor"),
        ("C-METHOD", "t.py::TestDoor::test_method"),
    }


def test_a_module_mark_without_a_test_proves_nothing() -> None:
    lonely = 'pytestmark = pytest.mark.proves("C-ONE")\ndef check() -> None: ...\n'
    assert list(proved_in(ast.parse(lonely).body, "t.py")) == []


def test_files_are_scanned_wherever_they_lie(tmp_path: Path) -> None:
    room = tmp_path / "room" / "deeper"
    room.mkdir(parents=True)
    marked = '@pytest.mark.proves("C-ONE")\ndef test_it() -> None: ...\n'
    (room / "test_it.py").write_text(marked)
    (room / "helpers.py").write_text(marked)
    assert scan(tmp_path) == {"C-ONE": ["room/deeper/test_it.py::test_it"]}


@pytest.mark.parametrize(
    ("excused", "proved", "kinds"),
    [
        pytest.param("", "C-ONE", set[str](), id="proved"),
        pytest.param("later: `silas/nowhere.py`", "", set[str](), id="excused"),
        pytest.param("", "", {"unproved"}, id="neither"),
        pytest.param("later: `silas/nowhere.py`", "C-ONE", {"stale excuse"}, id="both"),
        pytest.param("later: `silas/db.py` again", "", {"overtaken excuse"}, id="there"),
        pytest.param("later: soon", "", {"bad excuse", "overtaken excuse"}, id="no-reason"),
        pytest.param("because nobody had the time", "", {"bad excuse"}, id="no-kind"),
        pytest.param("", "C-TWO", {"unknown", "unproved"}, id="unknown-marker"),
    ],
)
def test_each_disagreement_is_found(excused: str, proved: str, kinds: set[str]) -> None:
    manifest = gather([Requirement("C-ONE", "C", "Something must hold here.", excused)])
    found = faults(manifest, {proved: ["t.py::test"]} if proved else {})
    assert {kind for kind, ones in found.items() if ones} == kinds
