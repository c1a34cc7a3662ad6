"""Every promise has one edit that breaks it; `make mutants` makes each and sees its test fail."""

from pathlib import Path

import pytest

from scripts.mutants import broken, failing_names
from scripts.promises import Edit, Mutant, mutants, promises

ROOT = Path(__file__).resolve().parents[1]
ALL = mutants()


def test_each_promise_has_one_mutant_and_each_mutant_a_promise() -> None:
    named = [mutant.test for mutant in ALL]
    assert len(named) == len(set(named))
    assert set(named) == promises().keys()


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.test.rpartition("::")[2])
def test_what_a_mutant_breaks_stands_in_its_file_exactly_once(mutant: Mutant) -> None:
    held = {edit.file: (ROOT / edit.file).read_text(encoding="utf-8") for edit in mutant.edits}
    for edit in mutant.edits:
        before, held[edit.file] = held[edit.file], edit.applied(held[edit.file])
        assert held[edit.file] != before
    for file, text in held.items():
        if file.endswith(".py"):
            compile(text, file, "exec")  # a program that cannot be read proves nothing


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.test.rpartition("::")[2])
def test_what_a_mutant_breaks_besides_are_tests_of_promises(mutant: Mutant) -> None:
    for pattern in mutant.also:
        only = Mutant(test="", edits=(), also=(pattern,))
        assert any(map(only.expects, promises())), pattern


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
