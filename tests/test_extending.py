"""docs/extending.md is executed: its files and changes in a copy of the package, and its tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.waits import SECONDS

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
_BLOCK = re.compile(
    r"^[^`\n]*\b(New|Changed), `([^`\n]+)`[^\n]*$|^```(?:python|diff)\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Change(NamedTuple):
    """One block of the page: a whole new file, or lines of one that exists."""

    path: str
    new: bool
    text: str

    def applied(self, before: str) -> str:
        """The file afterwards. Raises `AssertionError` unless the page fits it."""
        if self.new:
            assert not before, f"{self.path} exists"
            return self.text
        lines = self.text.splitlines(keepends=True)
        old = "".join(line[1:] for line in lines if line[0] in " -")
        new = "".join(line[1:] for line in lines if line[0] in " +")
        assert before.count(old) == 1, f"{self.path} has not once:\n{old}"
        return before.replace(old, new)


def changes_of(text: str) -> list[Change]:
    """The blocks of a section; each belongs to the file that was named last."""
    found: list[Change] = []
    path, new = "", False
    for kind, named, body in _BLOCK.findall(text):
        if named:
            path, new = named, kind == "New"
        else:
            assert path, body
            found.append(Change(path, new, body))
    return found


EXAMPLES = {
    title: changes
    for title, _, text in (part.partition("\n") for part in PAGE.split("\n## ")[1:])
    for title, changes in [(title, changes_of(text))]
}


def test_the_page_has_its_four_examples() -> None:
    assert list(EXAMPLES) == ["A tool", "A gate", "A channel", "A command"]


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_touches_two_rooms_at_most(title: str) -> None:
    rooms = {
        change.path.split("/")[1] for change in EXAMPLES[title] if change.path.startswith("silas/")
    }
    assert 1 <= len(rooms) <= 2


@pytest.mark.parametrize("title", EXAMPLES)
def test_an_example_works_as_it_stands_on_the_page(title: str, tmp_path: Path) -> None:
    for name in ("silas", "web", "plans", "config"):
        shutil.copytree(ROOT / name, tmp_path / name)
    tests: list[str] = []
    for change in EXAMPLES[title]:
        file = tmp_path / change.path
        file.parent.mkdir(parents=True, exist_ok=True)
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(change.applied(before), encoding="utf-8")
        tests += [change.path] if change.path.startswith("tests/") else []
    assert tests
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    done = subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(tmp_path), *tests],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=12 * SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_a_change_that_does_not_fit_its_file_fails() -> None:
    change = Change("a.py", new=False, text=" one\n-two\n+three\n")
    assert change.applied("zero\none\ntwo\n") == "zero\none\nthree\n"
    for before in ("", "one\nthree\n", "one\ntwo\none\ntwo\n"):
        with pytest.raises(AssertionError, match="has not once"):
            change.applied(before)
