"""Where an edit can be noticed: whoever gets something else of the edited program is found."""

import sys
import textwrap
import types
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts import arrivals, compared
from scripts.places import Place, places
from scripts.probes import Probe, probed

PROGRAM = textwrap.dedent('''
    """A program."""

    from __future__ import annotations

    LIMIT = 3
    WORST = 9
    _NAMES = ("a", "b")
    ALL = (*_NAMES, "c")
    _TABLE = {"low": 1, "high": 2}


    def first(x):
        """Words."""
        if x > LIMIT and x != 7:
            return "many"
        elif x:
            return f"some {x % 2}"
        return "none"


    def second(xs):
        def inner(x):
            return x + 1

        try:
            return [inner(x) for x in xs]
        except TypeError:
            return ALL


    def third(x):
        checked(x)
        if x < 0:
            x = 0
        found = len(str(x)) + LIMIT * 0
        return found


    def checked(x):
        if x == 5:
            raise ValueError("five")


    def shorter(x):
        return checked(x) if x > 4 else x


    def worst(x, most=WORST):
        return x > most or x == 2


    def noting(x):
        seen = []
        if seen.append(x) is None and x:
            return seen
        return [*seen, "no"]


    class Pot:
        drawn = 0

        def get(self):
            self.drawn += 1
            return self.drawn


    def drawn(x):
        pot = Pot()
        if pot.get() == 1 and x:
            return pot.drawn
        return -pot.drawn


    def named(most):
        return {*(name for name in ALL if name != most)}


    def rated(name):
        return _TABLE.get(name, 0)


    class Fourth:
        kind = "c"

        @staticmethod
        def method(x=1):
            return (
                x,
                2,
            )
''').lstrip()
USER = "from silas.program import LIMIT as MOST\n\n\ndef far(x):\n    return x > MOST\n"
CALLS = (
    *(f"first({n})" for n in (0, 1, 2, 3, 4, 7)),
    "second([1])",
    "second('a')",
    *(f"third({n})" for n in (-3, 4, 5, 55)),
    "shorter(4)",
    "shorter(5)",
    "worst(0)",
    "worst(2)",
    "worst(10)",
    "noting(0)",
    "noting(1)",
    "drawn(0)",
    "drawn(1)",
    "named('')",
    "named('b')",
    "rated('low')",
    "rated('no')",
    "Fourth.method()",
    "far(3)",
    "far(4)",
)

EDITS: dict[str, tuple[str, str, str]] = {
    "a value": ('"many"', '"few"', "first(4)"),
    "a condition": ("if x > LIMIT", "if x >= LIMIT", "first(3)"),
    "one of several conditions less": (" and x != 7", "", "first(7)"),
    "one of several conditions more": ("x != 7:", "x != 7 and x != 4:", "first(4)"),
    "a check whose word does not count": (
        "return x > most or x == 2",
        "return x > most or x == 2 or True",
        "worst(0)",
    ),
    "what was done besides": ("seen.append(x) is None and x", "x", "noting(0) noting(1)"),
    "what may have been done besides": ("pot.get() == 1 and x", "x", "drawn(0) drawn(1)"),
    "one of two cases": ("checked(x) if x > 4 else x", "x", "shorter(5)"),
    "an elif": ("elif x:", "elif x > 1:", "first(1)"),
    "what a text is made of": ("x % 2}", "x % 3}", "first(2) first(3)"),
    "a part of an expression that nobody may evaluate twice": (
        "return x > most or x == 2",
        "return most < x or x == 2 or bool(checked(5))",
        "worst(0) worst(2) worst(10)",
    ),
    "a line of several": ("            2,", "            3,", "Fourth.method()"),
    "a statement less": ("    checked(x)\n", "", "third(-3) third(4) third(5) third(55)"),
    "an `if` less": ("    if x < 0:\n        x = 0\n", "", "third(-3)"),
    "an `if` more": ("    found = ", "    if x > 9:\n        return 0\n    found = ", "third(55)"),
    "what was raised": ('raise ValueError("five")', "pass", "third(5) shorter(5)"),
    "what is caught now": (
        "    checked(x)\n",
        "    try:\n        checked(x)\n    except ValueError:\n        pass\n",
        "third(5)",
    ),
    "what was caught": ("except TypeError:", "except KeyError:", "second('a')"),
    "a name that was the module's": (
        "    found = len",
        "    LIMIT = 3\n    found = len",
        "third(-3) third(4) third(5) third(55)",
    ),
    "a name of its own": ("return found", "more = found + 1\n    return more",
        "third(-3) third(4) third(55)"),
    "a function inside, and who cannot be told": (
        "return x + 1",
        "return x + 2",
        "second([1]) second('a')",
    ),
    "a constant that another module knows by another name": ("LIMIT = 3", "LIMIT = 2",
        "first(3) far(3)"),
    "a constant that another is made from": (
        '("a", "b")',
        '("a", "d")',
        "second('a') named('') named('b')",
    ),
    "a constant that is walked over, less by what is left out": (
        '"a", "b")',
        '"a",)',
        "second('a') named('')",
    ),
    "a table": ('"low": 1', '"low": 7', "rated('low')"),
    "words about it": ('"""Words."""', '"""Words."""  # said', ""),
}  # fmt: skip
UNKNOWN = {
    "a default": ("x=1", "x=2"),
    "a constant that is a default": ("WORST = 9", "WORST = 8"),
    "an attribute of a class": ('kind = "c"', 'kind = "d"'),
    "an import": ("LIMIT = 3", "import re\nLIMIT = 3"),
}


def tree(root: Path) -> Path:
    for folder in ("silas", "tests"):
        (root / folder).mkdir(exist_ok=True)
    (root / "silas" / "program.py").write_text(PROGRAM)
    (root / "silas" / "user.py").write_text(USER)
    return root


def found(root: Path, before: str, after: str) -> frozenset[Place] | None:
    assert PROGRAM.count(before) == 1
    return places(tree(root), "silas/program.py", PROGRAM, PROGRAM.replace(before, after))


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[arrivals.Watch]:
    (tmp_path / ".arrivals").mkdir()
    watch = arrivals.Watch(str(tmp_path), frozenset())
    monkeypatch.setattr(arrivals, "_started", [watch])
    monkeypatch.setitem(sys.modules, "arrivals", arrivals)
    yield watch
    watch.begin("")


def loaded(program: str, user: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    module = types.ModuleType("silas.program")
    exec(program, module.__dict__)
    monkeypatch.setitem(sys.modules, "silas.program", module)
    exec(user, module.__dict__)
    return module.__dict__


def given_by(call: str, names: dict[str, Any]) -> object:
    try:
        return eval(call, names)
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_noticed_by_whoever_gets_something_else_and_hardly_anybody_else(
    name: str, tmp_path: Path, watch: arrivals.Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after, noticing = EDITS[name]
    where = found(tmp_path, before, after)
    assert where is not None
    asked = {
        file: probed(text, {p.probe: n for n, p in enumerate(where) if p.probe and p.file == file})
        for file, text in (("silas/program.py", PROGRAM), ("silas/user.py", USER))
    }
    whole = loaded(PROGRAM, USER, monkeypatch)
    edited = loaded(PROGRAM.replace(before, after), USER, monkeypatch)
    watched = loaded(asked["silas/program.py"], asked["silas/user.py"], monkeypatch)
    for call in CALLS:
        watch.begin(call)
        assert given_by(call, watched) == given_by(call, whole)
    noticed = {test for test, _ in arrivals.recorded(str(tmp_path))}
    assert noticed >= {x for x in CALLS if given_by(x, whole) != given_by(x, edited)}
    assert noticed == set(noticing.split())


@pytest.mark.parametrize("name", UNKNOWN)
def test_where_nobody_can_say_who_notices_it_may_be_everybody(name: str, tmp_path: Path) -> None:
    assert found(tmp_path, *UNKNOWN[name]) is None


def test_a_test_that_says_the_name_of_a_constant_notices_as_a_whole(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "tests" / "test_it.py").write_text("from silas.program import ALL\n\nassert ALL\n")
    (tmp_path / "tests" / "test_other.py").write_text("ALL = 1\n\nassert ALL\n")
    where = found(tmp_path, "*_NAMES,", "*_NAMES[:1],")
    assert where is not None
    assert {place.file for place in where if not place.probe} == {"tests/test_it.py"}


def test_where_every_test_may_say_it_nothing_is_known(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "tests" / "kit.py").write_text("from silas.program import ALL\n\nassert ALL\n")
    assert found(tmp_path, "*_NAMES,", "*_NAMES[:1],") is None


def test_a_file_that_is_no_program_is_noticed_where_it_is_read(tmp_path: Path) -> None:
    assert places(tmp_path, "web/page.js", "a", "b") == {Place("web/page.js")}


NAMES = st.sampled_from(["a", "b", "c", "1", "len(d)", "d[0]", "(a + b)", "sum(d)"])
COMPARED = st.builds("{} {} {}".format, NAMES, st.sampled_from([">", "==", "!=", "<="]), NAMES)
TESTS = st.recursive(
    COMPARED | st.builds("{} in d".format, NAMES) | st.builds("noted({})".format, NAMES),
    lambda inner: (
        st.builds("({} and {})".format, inner, inner)
        | st.builds("({} or {})".format, inner, inner)
        | st.builds("(not {})".format, inner)
        | st.builds("(a if {} else {})".format, inner, inner)
        | st.builds("any({} for a in d)".format, inner)
        | st.builds("[a, {}][1]".format, inner)
    ),
    max_leaves=5,
)
"""Conditions; `noted` has an effect, so that nobody may evaluate it once more."""
SMALL = st.integers(0, 2)


@settings(max_examples=150)
@given(TESTS, TESTS, st.tuples(SMALL, SMALL, SMALL, st.lists(SMALL, max_size=2)))
def test_whatever_the_condition_becomes_who_decides_otherwise_is_found(
    old: str, new: str, args: tuple[Any, ...]
) -> None:
    def program(condition: str) -> str:
        said = f"    if {condition}:\n        return 1\n    return {condition}\n"
        return f"def decide(a, b, c, d):\n{said}"

    where = places(Path("/nowhere"), "silas/program.py", program(old), program(new))
    assert where is not None
    probes = {place.probe: 1 for place in where if place.probe}
    said: list[int] = []

    def run(text: str) -> tuple[object, list[object]]:
        effects: list[object] = []

        def noted(x: object) -> bool:
            effects.append(x)
            return len(effects) % 2 == 1

        names: dict[str, Any] = {"noted": noted}
        exec(
            text.replace("import arrivals as", "from tests.test_places import LISTENING as"), names
        )
        return given_by(f"decide(*{args})", names), effects

    LISTENING.heard = said
    before, watched = run(program(old)), run(probed(program(old), probes))
    assert watched == before
    if run(program(new)) != before:
        assert said


class Listening:
    """What a probed program talks to."""

    def __init__(self) -> None:
        self.heard: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(arrivals, name)

    def at(self, place: int) -> None:
        self.heard.append(place)

    def told(
        self, place: int, new: Callable[[], Any] | None, old: Callable[[], Any], **how: Any
    ) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrivals, "_started", [self])
            return arrivals.told(place, new, old, **how)

    def further(self, place: int, new: Callable[[], Any] | None, value: Any, **how: bool) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(arrivals, "_started", [self])
            return arrivals.further(place, new, value, **how)

    def knows(self, place: str) -> bool:
        return False

    def arrived(self, place: str) -> None:
        self.heard.append(int(place))


LISTENING = Listening()


class Walks:
    """Something of nobody's types."""

    def get(self) -> int:
        return 1


@pytest.mark.parametrize(
    "tried",
    [
        lambda: compared.steady(iter([1])),
        lambda: compared.item(defaultdict[str, int](int), "a"),
        lambda: compared.called(Walks(), "get"),
        lambda: compared.called([1], "append", 2),
        lambda: compared.called(sys, "exit"),
        lambda: compared.called(str, "join", "a", []),
        lambda: compared.made(Walks),
        lambda: compared.made(dict),
    ],
    ids=["walked over", "made by looking", "a method", "a change", "a function", "a class",
         "what can change", "a container"],
)  # fmt: skip
def test_what_might_be_noticed_is_not_evaluated(tried: Callable[[], object]) -> None:
    with pytest.raises(compared.Unsure):
        tried()


SHARED = [1]
ALIKE: dict[str, tuple[object, object, bool]] = {
    "texts": ("ab", "a" + "b"[:1], True),
    "a number and a truth": (1, True, False),
    "two zeros": (0.0, -0.0, False),
    "tuples": ((1, ("a",)), (1, ("a",)), True),
    "tuples of lists": (([1],), ([1],), False),
    "one list": (SHARED, SHARED, True),
    "two lists": ([1], [1], False),
    "sets of other types": (frozenset({1}), frozenset({True}), False),
}


@pytest.mark.parametrize("name", ALIKE)
def test_two_values_are_the_same_only_where_nobody_could_tell(name: str) -> None:
    one, other, alike = ALIKE[name]
    assert compared.same(one, other) is alike
    assert compared.differ(one, other, truth=False, fresh=False) is not alike


def test_two_lists_that_nobody_else_has_are_the_same() -> None:
    assert compared.same([1, "a"], [1, "a"], fresh=True)
    assert not compared.same([SHARED], [[1]], fresh=True)


def test_where_nobody_listens_a_probed_program_runs_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "arrivals", None)
    first = (("body", 7), ("body", 1))
    probes = {
        Probe(first, "before"): 1,
        Probe((*first, ("test", -1)), "differs", new="x", truth=True): 2,
    }
    watched = dict[str, object]()
    exec(probed(PROGRAM, probes), watched)
    assert eval("first(9)", watched) == "many"
