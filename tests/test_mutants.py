"""Every promise has one edit that breaks it; `make mutants` makes each and sees its test fail."""

import fnmatch
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.mutants import broken, failing_names
from scripts.promises import Edit, Mutant, mutants, promises
from tests.support.waits import SECONDS

ROOT = Path(__file__).resolve().parents[1]
ALL = mutants()


def test_each_promise_has_one_mutant_and_each_mutant_a_promise() -> None:
    named = [mutant.test for mutant in ALL]
    assert len(named) == len(set(named))
    assert set(named) == promises().keys()


def _misfit(mutant: Mutant) -> str:
    """Why its edits cannot be made, one after the other; empty where they can."""
    held = {edit.file: (ROOT / edit.file).read_text(encoding="utf-8") for edit in mutant.edits}
    try:
        for edit in mutant.edits:
            before, held[edit.file] = held[edit.file], edit.applied(held[edit.file])
            if held[edit.file] == before:
                return f"{edit.file}: the edit changes nothing"
        for file, text in held.items():
            if file.endswith(".py"):
                compile(text, file, "exec")  # a program that cannot be read proves nothing
    except (ValueError, SyntaxError) as error:
        return str(error)
    return ""


def test_what_a_mutant_breaks_stands_in_its_file_exactly_once() -> None:
    wrong = [f"{mutant.test}: {said}" for mutant in ALL if (said := _misfit(mutant))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        ("a = 1", "a = 2", ""),
        ("b = 1", "b = 2", "occurs 0 times"),
        ("= 1", "= 2", "occurs 2 times"),
        ("a = 1", "a = 1", "changes nothing"),
        ("a = 1", "a = ", "invalid syntax"),
    ],
)
def test_an_edit_that_cannot_be_made_is_named_with_its_reason(
    find: str, replace: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "one.py"
    file.write_text("a = 1\nc = 1\n", encoding="utf-8")
    told = _misfit(Mutant(test="t", edits=(Edit(file=str(file), find=find, replace=replace),)))
    assert (said in told) if said else told == ""


def test_what_a_mutant_breaks_besides_are_tests_of_promises() -> None:
    tests = promises()
    unknown = [
        f"{mutant.test}: {pattern}"
        for mutant in ALL
        for pattern in mutant.also
        if not fnmatch.filter(tests, pattern)
    ]
    assert not unknown, "\n".join(unknown)


def test_what_failed_is_read_from_what_the_tests_print() -> None:
    said = (
        "..F\n"
        "FAILED tests/a.py::test_one[x - y] - assert 1 == 2\n"
        "FAILED tests/a.py::test_one[z]\n"
        "ERROR tests/b.py::test_two - OSError\n"
        "3 failed in 1.00s\n"
    )
    assert failing_names(said) == {"tests/a.py::test_one", "tests/b.py::test_two"}


def test_a_text_that_stands_there_twice_or_not_at_all_is_refused() -> None:
    edit = Edit(file="f", find="a", replace="b")
    assert edit.applied("xax") == "xbx"
    for text in ("xx", "aa"):
        with pytest.raises(ValueError, match="occurs"):
            edit.applied(text)


def test_all_edits_of_a_promise_are_made_and_taken_back(tmp_path: Path) -> None:
    held = {"one.py": "a = 1\n", "two.py": "b = 1\n"}
    for name, text in held.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    edits = [Edit(file="one.py", find="1", replace="2"), Edit(file="one.py", find="2", replace="3")]
    edits.append(Edit(file="two.py", find="1", replace="0"))

    def now() -> dict[str, str]:
        return {name: (tmp_path / name).read_text(encoding="utf-8") for name in held}

    with broken(Mutant(test="t", edits=tuple(edits)), tmp_path):
        assert now() == {"one.py": "a = 3\n", "two.py": "b = 0\n"}
    assert now() == held


def test_what_a_broken_program_leaves_behind_is_gone_before_the_next_is_judged(
    tmp_path: Path,
) -> None:
    (tmp_path / "one.py").write_text("a = 1\n", encoding="utf-8")
    edit = Edit(file="one.py", find="1", replace="2")
    with broken(Mutant(test="t", edits=(edit,)), tmp_path):
        (tmp_path / "core").write_bytes(b"\0")
        (tmp_path / "made" / "deeper").mkdir(parents=True)
    assert [path.name for path in tmp_path.iterdir()] == ["one.py"]


_HANGS = """#!/bin/sh
sleep 600 &
echo $!
wait
"""
_ENDS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from scripts import mutants
mutants.end_with_signals()
with ThreadPoolExecutor(1) as pool:
    pool.submit(mutants._pytest, Path(sys.argv[1]), [], ["tests"], 600).result()
"""


def test_a_run_that_is_told_to_end_takes_the_tests_that_run_with_it(tmp_path: Path) -> None:
    fifo = tmp_path / "started"
    os.mkfifo(fifo)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(_HANGS.replace("$!", f"$! > {fifo}"), encoding="utf-8")
    python.chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", _ENDS, str(tmp_path)], cwd=ROOT) as program:
        sleeper = int(fifo.read_text(encoding="utf-8"))
        watched = os.pidfd_open(sleeper)
        program.send_signal(signal.SIGTERM)
        assert program.wait(SECONDS) == 128 + signal.SIGTERM
    ended, _, _ = select.select([watched], [], [], SECONDS)
    os.close(watched)
    assert ended, "what the tests had started runs on"
