"""Every promise has one edit that breaks it; `make mutants` makes each and sees its test fail."""

from pathlib import Path

import pytest

from scripts.mutants import Mutant, failing_names, mutants, promises

ROOT = Path(__file__).resolve().parents[1]
ALL = mutants()


def test_each_promise_has_one_mutant_and_each_mutant_a_promise() -> None:
    named = [mutant.test for mutant in ALL]
    assert len(named) == len(set(named))
    assert set(named) == promises().keys()


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.test.rpartition("::")[2])
def test_what_a_mutant_breaks_stands_in_its_file_exactly_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    broken = mutant.applied(text)
    assert broken != text
    if mutant.file.endswith(".py"):
        compile(broken, mutant.file, "exec")  # a program that cannot be read proves nothing


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.test.rpartition("::")[2])
def test_what_a_mutant_breaks_besides_are_tests_of_promises(mutant: Mutant) -> None:
    for pattern in mutant.also:
        only = Mutant(test="", file="", find="", replace="", also=(pattern,))
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
    mutant = Mutant(test="t", file="f", find="a", replace="b")
    assert mutant.applied("xax") == "xbx"
    for text in ("xx", "aa"):
        with pytest.raises(ValueError, match="occurs"):
            mutant.applied(text)
