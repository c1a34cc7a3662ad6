"""The quick tier leaves out what is listed, and the list stays true."""

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from scripts.quick import changed_files
from tests.support.quick import MOST_SECONDS, SLOW, Cost, learnt, slow_in, summed
from tests.support.waits import SECONDS

ROOT = Path(__file__).parent.parent
LINES = sorted(slow_in(ROOT / SLOW))
_LITTLE = Cost(0.01, processes=False)
_CONFTEST = """
from functools import cache
from pathlib import Path
from tests.support.quick import Quick

def pytest_configure(config):
    slow = frozenset({"test_a.py::test_slow", "test_b.py"})
    config.pluginmanager.register(Quick(slow, Path.cwd()))
"""
_TESTS = """
def test_slow():
    raise AssertionError("it was left out")

def test_plain():
    pass
"""


@cache
def _functions(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds)}


def test_what_is_listed_as_slow_exists() -> None:
    gone = list[str]()
    for line in LINES:
        name, *within = line.split("::")
        file = ROOT / name
        if not file.exists() or (within and within[-1] not in _functions(file)):
            gone.append(line)
    assert gone == []


def test_the_list_is_sorted_and_names_no_test_of_a_file_that_it_names_whole() -> None:
    text = (ROOT / SLOW).read_text(encoding="utf-8")
    assert text == "".join(f"{line}\n" for line in LINES)
    assert not [line for line in LINES if "::" in line and line.partition("::")[0] in LINES]


@pytest.mark.parametrize(
    ("cost", "slow"),
    [
        (_LITTLE, False),
        (Cost(MOST_SECONDS, processes=False), False),
        (Cost(MOST_SECONDS + 0.1, processes=False), True),
        (Cost(0.01, processes=True), True),
    ],
)
def test_slow_is_what_starts_a_process_or_takes_long(cost: Cost, slow: bool) -> None:
    costs = {"tests/a.py::test_one": cost, "tests/a.py::test_two": _LITTLE}
    assert learnt(frozenset(), costs) == (["tests/a.py::test_one"] if slow else [])


def test_what_was_measured_is_listed_anew_and_the_rest_stays() -> None:
    before = frozenset({"tests/a.py::test_was_slow", "tests/b.py", "tests/c.py::test_three"})
    costs = {"tests/a.py::test_was_slow": _LITTLE, "tests/c.py::test_three": Cost(9, True)}
    assert learnt(before, costs) == ["tests/b.py", "tests/c.py"]


def test_all_parameters_of_a_test_count_together() -> None:
    assert summed([Cost(0.5, False), Cost(0.25, True)]) == Cost(0.75, True)


def test_listed_tests_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_a.py").write_text(_TESTS)
    (tmp_path / "test_b.py").write_text("raise AssertionError('it is not even imported')")
    words = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert "1 passed, 1 deselected" in done.stdout, done.stdout + done.stderr


def test_what_changed_is_committed_changed_and_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for name in ("kept.py", "changed.py", "gone.py", "words.md"):
        Path(name).write_text("1\n")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)
    Path("changed.py").write_text("2\n")
    Path("gone.py").unlink()
    Path("new.py").write_text("3\n")
    assert changed_files("*.py") == ["changed.py", "new.py"]
    subprocess.run([*git, "update-ref", "refs/remotes/origin/main", "HEAD"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "second"], check=True)
    assert changed_files("*.py") == ["changed.py", "new.py"]
