"""Every promise has one edit that breaks it; `make mutants` makes each and sees its test fail."""

from pathlib import Path

import pytest

from scripts.mutants import Mutant, failing_names, mutants, promises

ROOT = Path(__file__).resolve().parents[1]
ALL = mutants()
MISSING: frozenset[str] = frozenset(
    {
        "tests/work/test_secrets.py::test_a_plan_is_given_exactly_the_secrets_it_names",
        "tests/work/test_secrets.py::test_a_plan_that_names_none_is_given_none",
        "tests/work/test_secrets.py::test_a_check_is_given_no_secret_whatever_the_plan_names",
        "tests/sandbox/test_secrets.py::test_secrets_are_in_no_environment_no_command_line_and_no_file",
        "tests/work/test_secrets.py::test_a_reference_that_is_unknown_or_named_wrongly_is_refused_at_the_entry",
        "tests/work/test_secrets.py::test_a_secret_removed_after_the_approval_is_not_given",
        "tests/work/test_secrets.py::test_a_secret_removed_while_the_work_is_under_way_stops_the_next_run",
        "tests/work/test_secrets.py::test_work_that_was_given_a_secret_is_asked_about_what_would_be_harmless",
        "tests/keys/test_redact.py::test_a_secret_is_redacted_in_every_encoding",
        "tests/work/test_secrets.py::test_a_secret_that_is_printed_reaches_neither_model_nor_result_nor_record",
        "tests/work/test_secrets.py::test_a_change_that_holds_a_secret_is_never_applied",
        "tests/work/test_secrets.py::test_a_secret_that_was_in_a_file_before_is_not_in_the_diff",
        "tests/sandbox/test_secrets.py::test_what_could_not_be_recognised_is_not_run",
        "tests/keys/test_secrets.py::test_what_is_on_disk_holds_no_value_and_is_the_owners_alone",
        "tests/keys/test_secrets.py::test_a_box_moved_under_another_reference_is_refused",
        "tests/journeys/test_canaries.py::test_of_fifty_secrets_in_real_work_no_byte_is_left_anywhere",
    }
)
"""Promises whose mutant is still to be written; an entry that has one must go."""


def test_each_promise_has_one_mutant_and_each_mutant_a_promise() -> None:
    named = [mutant.test for mutant in ALL]
    assert len(named) == len(set(named))
    assert set(named) == promises().keys() - MISSING
    assert promises().keys() >= MISSING


@pytest.mark.parametrize("mutant", ALL, ids=lambda m: m.test.rpartition("::")[2])
def test_what_a_mutant_breaks_stands_in_its_file_exactly_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    broken = mutant.applied(text)
    assert broken != text
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
