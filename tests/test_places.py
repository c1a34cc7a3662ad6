"""Where an edit can be noticed, and a program that says where it arrives."""

import sys
import textwrap
import types
from pathlib import Path

import pytest

from scripts.places import Place, places, probed

PROGRAM = textwrap.dedent('''
    """A program."""

    LIMIT = 3
    _NAMES = ("a", "b")
    ALL = (*_NAMES, "c")


    def first(x):
        """Words."""
        if x > LIMIT:
            return "many"
        elif x:
            return "some"
        return "none"


    def second(xs):
        def inner(x):
            return x + 1

        try:
            return [inner(x) for x in xs]
        except TypeError:
            return ALL


    class Third:
        kind = "c"

        @staticmethod
        def method(x=1):
            return (
                x,
                2,
            )
''').lstrip()
USER = "from silas.program import LIMIT as MOST\n\n\ndef far():\n    return MOST\n"


def line(text: str) -> int:
    return PROGRAM.splitlines().index(text) + 1


def tree(root: Path) -> Path:
    for folder in ("silas", "tests"):
        (root / folder).mkdir(exist_ok=True)
    (root / "silas" / "program.py").write_text(PROGRAM)
    (root / "silas" / "user.py").write_text(USER)
    return root


def found(root: Path, before: str, after: str) -> frozenset[Place] | None:
    assert PROGRAM.count(before) == 1
    return places(tree(root), "silas/program.py", PROGRAM, PROGRAM.replace(before, after))


def here(first: str, last: str = "") -> Place:
    return Place("silas/program.py", line(first), line(last or first))


FIRST = here("    if x > LIMIT:", '    return "none"')
SECOND = here("    def inner(x):", "        return ALL")
FAR = Place("silas/user.py", 5, 5)

EDITS: dict[str, tuple[str, str, frozenset[Place] | None]] = {
    "a value": ('"many"', '"few"', frozenset({here('        return "many"')})),
    "a condition": ("if x > LIMIT", "if x >= LIMIT", frozenset({here("    if x > LIMIT:")})),
    "an elif": ("elif x:", "elif x > 1:", frozenset({here("    elif x:")})),
    "a line of several": (
        "            2,",
        "            3,",
        frozenset({here("        return (", "        )")}),
    ),
    "a statement less": (
        '        return "many"\n    elif',
        "        pass\n    elif",
        frozenset({FIRST}),
    ),
    "a name that becomes the function's own": (
        '        return "many"',
        '        return (LIMIT := "many")',
        frozenset({FIRST}),
    ),
    "a statement more": (
        '    return "none"',
        '    x += 1\n    return "none"',
        frozenset({FIRST}),
    ),
    "what is caught": ("except TypeError:", "except KeyError:", frozenset({SECOND})),
    "a constant that another module knows by another name": (
        "LIMIT = 3",
        "LIMIT = 4",
        frozenset({FIRST, FAR}),
    ),
    "a constant that another is made from": (
        '("a", "b")',
        '("a", "d")',
        frozenset({SECOND}),
    ),
    "a default": ("x=1", "x=2", None),
    "an attribute of a class": ('kind = "c"', 'kind = "d"', None),
    "an import": ("LIMIT = 3", "import re\nLIMIT = 3", None),
    "no edit": ('"""Words."""', '"""Words."""  # said', frozenset()),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_noticed_where_control_arrives_at_it_or_uses_what_it_made(
    name: str, tmp_path: Path
) -> None:
    before, after, wanted = EDITS[name]
    assert found(tmp_path, before, after) == wanted


def test_a_test_that_says_the_name_of_a_constant_notices_as_a_whole(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "tests" / "test_it.py").write_text("from silas.program import ALL\n")
    assert found(tmp_path, "*_NAMES,", "*_NAMES[:1],") == {SECOND, Place("tests/test_it.py")}


def test_where_every_test_may_say_it_nothing_is_known(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "tests" / "kit.py").write_text("from silas.program import ALL\n")
    assert found(tmp_path, "*_NAMES,", "*_NAMES[:1],") is None


def test_a_file_that_is_no_program_is_noticed_where_it_is_read(tmp_path: Path) -> None:
    assert places(tmp_path, "web/page.js", "a", "b") == {Place("web/page.js")}


PROBES = {
    line("    if x > LIMIT:"): [1, 8],
    line('        return "many"'): [2],
    line("    elif x:"): [3],
    line('        return "some"'): [4],
    line("        return x + 1"): [5],
    line("        return ALL"): [6],
    line("        return ("): [7],
}


def test_a_probed_program_says_where_it_arrives_and_does_what_it_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[int] = []
    teller = types.ModuleType("arrivals")
    teller.__dict__["at"] = said.append
    monkeypatch.setitem(sys.modules, "arrivals", teller)
    whole, watched = dict[str, object](), dict[str, object]()
    exec(PROGRAM, whole)
    exec(probed(PROGRAM, PROBES), watched)

    def says(call: str) -> list[int]:
        said.clear()
        assert eval(call, whole) == eval(call, watched)
        return sorted(said)

    assert says("first(9)") == [1, 2, 3, 8]  # before an `elif` there is room above its `if` only
    assert says("first(1)") == [1, 3, 4, 8]
    assert says("first(0)") == [1, 3, 8]
    assert says("second([1, 2])") == [5, 5]
    assert says("second('a')") == [5, 6]
    assert says("Third.method()") == [7]


def test_where_nobody_listens_a_probed_program_runs_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "arrivals", None)
    watched = dict[str, object]()
    exec(probed(PROGRAM, PROBES), watched)
    assert eval("first(9)", watched) == "many"
