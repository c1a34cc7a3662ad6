"""Which differences of bound files finished tasks explain (decision D530)."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from silas.plans.bound_files import tree_digest, tree_entries
from silas.work.projects.files_left import MadeChange, is_explained
from silas.workspace.tree import TreeEntry


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _entry(text: str | None) -> TreeEntry | None:
    return None if text is None else TreeEntry("file", 0o644, _sha(text), len(text))


def _facts(text: str | None) -> dict[str, Any]:
    if text is None:
        return {"kind": "missing"}
    return {"kind": "file", "size": len(text), "sha256": _sha(text)}


# signed, now, what the tasks made of it (before, after), whether that is taken
FILES: dict[str, tuple[str | None, str | None, tuple[str | None, str | None] | None, bool]] = {
    "made by a task": ("old", "new", ("old", "new"), True),
    "created by a task": (None, "new", (None, "new"), True),
    "removed by a task": ("old", None, ("old", None), True),
    "by somebody else": ("old", "new", None, False),
    "by somebody else after a task": ("old", "evil", ("old", "new"), False),
    "by somebody else before a task": ("old", "new", ("evil", "new"), False),
    "removed by somebody else": ("old", None, ("old", "new"), False),
}


@pytest.mark.parametrize("name", FILES)
def test_a_difference_is_taken_only_where_finished_tasks_made_all_of_it(name: str) -> None:
    signed, now, change, wanted = FILES[name]
    made = {} if change is None else {"/w/f": MadeChange(*map(_entry, change))}
    assert is_explained("/w/f", _facts(signed), _facts(now), made) is wanted


TREES: dict[str, tuple[dict[str, str], dict[str, tuple[str | None, str | None]], bool]] = {
    "one changed": ({"a.py": "new", "b.py": "b", "in/c.py": "c"}, {"a.py": ("a", "new")}, True),
    "one added": (
        {"a.py": "a", "b.py": "b", "in/c.py": "c", "in/d.py": "d"},
        {"in/d.py": (None, "d")},
        True,
    ),
    "one removed": ({"a.py": "a", "in/c.py": "c"}, {"b.py": ("b", None)}, True),
    "another changed, too": (
        {"a.py": "new", "b.py": "evil", "in/c.py": "c"},
        {"a.py": ("a", "new")},
        False,
    ),
    "changed again": ({"a.py": "evil", "b.py": "b", "in/c.py": "c"}, {"a.py": ("a", "new")}, False),
    "one more": (
        {"a.py": "new", "b.py": "b", "in/c.py": "c", "x.py": "x"},
        {"a.py": ("a", "new")},
        False,
    ),
}


@pytest.mark.parametrize("name", TREES)
def test_a_directory_is_taken_where_it_is_as_signed_without_their_changes(
    name: str, tmp_path: Path
) -> None:
    before = {"a.py": "a", "b.py": "b", "in/c.py": "c"}
    now, changes, wanted = TREES[name]
    signed = {"kind": "tests", "sha256": _tree(tmp_path / "signed", before)}
    found = {"kind": "tests", "sha256": _tree(tmp_path / "now", now)}
    place = str(tmp_path / "now")
    made = {f"{place}/{path}": MadeChange(*map(_entry, change)) for path, change in changes.items()}
    assert is_explained(place, signed, found, made) is wanted


def _tree(place: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    entries = tree_entries(str(place))
    assert entries is not None
    return tree_digest(entries)
