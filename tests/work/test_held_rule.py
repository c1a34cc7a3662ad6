"""The rule about which changes wait: what counts as named, that nothing outside passes (B22)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.plans.writes import matches_any
from silas.work.changes.held_rules import Rules as AllRules
from silas.work.changes.held_rules import held_changes, name_words
from silas.workspace.content import ChangedContent
from silas.workspace.journal import Change
from silas.workspace.tree import TreeEntry

FILE = TreeEntry("file", 0o644, "1" * 64, 9)
OTHER = TreeEntry("file", 0o644, "2" * 64, 9)
FOLDER = TreeEntry("dir", 0o755, "", 0)
PLAIN = ChangedContent()


SAID = name_words(["Move a.txt: it becomes b.txt, in `old/`"])
"""What the plans of this page say."""


def Rules(writes: list[str] | None, checked: bool, led: bool) -> AllRules:
    return AllRules(writes, checked, led, runs={}, demands={}, words=SAID)


def deleted(path: str, entry: TreeEntry = FILE) -> Change:
    return Change(path, entry, None)


def waits(change: Change, writes: list[str] | None, content: ChangedContent = PLAIN) -> bool:
    """Whether one change waits after something was read, in a plan with checks."""
    rules = Rules(writes, checked=True, led=True)
    return bool(held_changes([change], rules, {change.path: content}))


@pytest.mark.parametrize(
    ("writes", "path", "named"),
    [
        (None, "a.txt", False),
        (["**"], "a.txt", False),
        (["*"], "a.txt", False),
        (["a.txt"], "a.txt", True),
        (["logs/**"], "logs/a.log", False),
        (["logs/*"], "logs/a.log", False),
        (["logs/*.log"], "logs/a.log", True),
        (["**/*.log"], "logs/a.log", False),
        (["build/**/*.o"], "build/x/y.o", True),
        (["src/*.py"], "src/app.py", False),
        (["src/a*.py"], "src/app.py", False),
        (["data/*.csv"], "data/a.csv", False),
    ],
)
def test_a_deleted_file_is_named_by_its_path_or_by_a_pattern_for_what_is_made_again(
    writes: list[str] | None, path: str, named: bool
) -> None:
    assert waits(deleted(path), writes) is not named


@pytest.mark.parametrize(
    ("writes", "path", "named"),
    [
        (["**"], "conftest.py", False),
        (["*.py"], "conftest.py", False),
        (["tests/**"], "tests/conftest.py", False),
        (["tests/*.py"], "tests/conftest.py", False),
        (["tests/conftest.py"], "tests/conftest.py", True),
        ([".github/**"], ".github/workflows/ci.yml", False),
        ([".github/*/ci.yml"], ".github/workflows/ci.yml", False),
        ([".github/workflows/ci.yml"], ".github/workflows/ci.yml", True),
        (["**"], ".github/workflows/ci.yml", False),
        (["**"], "sub/Makefile", False),
        (["sub/Makefile"], "sub/Makefile", True),
        (["**"], "CONFTEST.PY", False),
        (["**"], "jest.config.js", False),
        (["**"], ".env", False),
        (["**"], "requirements-dev.txt", False),
    ],
)
def test_what_configures_is_named_by_its_path_alone(
    writes: list[str] | None, path: str, named: bool
) -> None:
    assert waits(Change(path, FILE, OTHER), writes) is not named


def test_an_edit_waits_only_where_hardly_anything_is_left() -> None:
    edit = Change("notes/a.md", FILE, OTHER)
    assert not waits(edit, None)
    assert waits(edit, None, ChangedContent(emptied=True))
    assert waits(edit, ["notes/**"], ChangedContent(emptied=True))
    assert waits(edit, None, ChangedContent(known=False))
    assert waits(edit, ["notes/*.md"], ChangedContent(emptied=True))
    assert not waits(edit, ["notes/a.md"], ChangedContent(emptied=True))


def ruled(change: Change, content: ChangedContent = PLAIN, **rules: Any) -> bool:
    """Whether one change waits after something was read, in a checked plan that names no path."""
    given: dict[str, Any] = {"runs": {}, "demands": {}, "words": SAID, **rules}
    whole = AllRules(given.pop("writes", None), checked=True, led=True, **given)
    return bool(held_changes([change], whole, {change.path: content}))


@pytest.mark.parametrize("after", [OTHER, None], ids=["changed", "deleted"])
def test_what_a_check_runs_waits_unless_its_path_is_named(after: TreeEntry | None) -> None:
    change = Change("ok.py", FILE, after)
    assert ruled(change, runs={"ok.py": "a check of the plan runs it"})
    assert ruled(change, runs={"ok.py": "a check of the plan runs it"}, writes=["*.py"])
    assert not ruled(change, runs={"ok.py": "a check of the plan runs it"}, writes=["ok.py"])


@pytest.mark.parametrize(
    ("path", "added", "waiting"),
    [
        ("pyproject.toml", "attrs", False),
        ("pyproject.toml", "attrs2", True),
        ("pyproject.toml", "", True),
        ("setup.cfg", "attrs", True),
        (".github/workflows/ci.yml", "attrs", True),
    ],
)
def test_a_check_that_looks_for_one_word_names_what_adds_that_word_alone(
    path: str, added: str, waiting: bool
) -> None:
    demands = {one: frozenset({"attrs"}) for one in ("pyproject.toml", ".github/workflows/ci.yml")}
    change = Change(path, FILE, OTHER)
    assert ruled(change, ChangedContent(added=added), demands=demands) is waiting
    assert ruled(change, ChangedContent(added=added))


def test_a_folder_is_judged_by_what_it_holds() -> None:
    rules = Rules(["new/a.txt"], checked=True, led=True)
    inside = [Change("new", None, FOLDER), Change("new/a.txt", None, FILE)]
    assert held_changes(inside, rules, {}) == ()
    empty = [Change("other", None, FOLDER)]
    assert [held.path for held in held_changes(empty, rules, {})] == ["other"]


def test_a_file_that_stands_elsewhere_unchanged_is_not_deleted_and_one_that_changed_is() -> None:
    rules = Rules(None, checked=True, led=True)
    moved = [deleted("a.txt"), Change("b.txt", None, FILE)]
    assert held_changes(moved, rules, {}) == ()
    hidden = [deleted("a.txt"), Change(".b/a.txt", None, FILE)]
    assert [held.path for held in held_changes(hidden, rules, {})] == ["a.txt"]
    over = [deleted("a.txt"), Change("b.txt", OTHER, FILE)]
    assert [held.path for held in held_changes(over, rules, {})] == ["a.txt"]
    changed = [deleted("a.txt"), Change("b.txt", None, OTHER)]
    assert [held.path for held in held_changes(changed, rules, {})] == ["a.txt"]


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ("ledger.csv", "ledger.csv.locked", False),
        ("src/ledger.csv", "away/ledger.csv", False),
        ("src/ledger.csv", "ledger.csv", False),
        ("ledger.csv", "1", False),
        ("ledger.csv", "old/ledger.csv", True),
        ("ledger.csv", "old/2025/ledger-01.csv", True),
        ("a.txt", "B.txt", True),
        ("old/a.txt", "a.txt", True),
    ],
)
@pytest.mark.parametrize("writes", [None, ["**"]], ids=str)
def test_a_file_is_moved_only_where_the_plan_s_own_words_say_to(
    writes: list[str] | None, old: str, new: str, moved: bool
) -> None:
    changes = [deleted(old), Change(new, None, FILE)]
    held = held_changes(changes, Rules(writes, checked=True, led=True), {})
    assert [one.path for one in held] == ([] if moved else [old])


PATHS = st.sampled_from(["a", "b", "a/b", "a/c", "c/d/e", ".env", "conftest.py"])
SIDES = st.sampled_from([None, FILE, OTHER, TreeEntry("file", 0o755, "3" * 64, 1)])
CHANGES = st.lists(
    st.builds(Change, PATHS, SIDES, SIDES).filter(lambda change: change.before != change.after),
    unique_by=lambda change: change.path,
    max_size=5,
)
WRITES = st.none() | st.lists(st.sampled_from(["a", "a/**", "**", "*", "c/d/e"]), max_size=3)


@given(CHANGES, WRITES, st.booleans(), st.booleans())
def test_nothing_outside_passes_and_reading_never_lets_more_through(
    changes: list[Change], writes: list[str] | None, checked: bool, led: bool
) -> None:
    held = {one.path for one in held_changes(changes, Rules(writes, checked, led), {})}
    closer = {one.path for one in held_changes(changes, Rules(writes, checked, True), {})}
    assert held <= closer
    if not checked:
        assert held == {change.path for change in changes}
    if writes is not None:
        assert {change.path for change in changes if not matches_any(writes, change.path)} <= held
