"""Every kind of expectation, at its edges."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.gates import Expectation, evaluate
from silas.gates.expect import parse_number


@pytest.mark.proves("S5.3-PREDICATES")
@pytest.mark.parametrize(
    ("fields", "output", "exit_code", "passed"),
    [
        ({"exit_code": 0}, "", 0, True),
        ({"exit_code": 0}, "", 1, False),
        ({"exit_code": 2}, "anything", 2, True),
        ({"equals": "ok"}, "ok", 0, True),
        ({"equals": "ok"}, "ok\n", 0, True),
        ({"equals": "ok\n"}, "ok\n", 0, True),
        ({"equals": "ok\n"}, "ok", 0, False),
        ({"equals": "ok"}, "ok\n\n", 0, False),
        ({"equals": "ok"}, "ok\r\n", 0, False),
        ({"equals": "ok"}, " ok", 0, False),
        ({"equals": "ok"}, "OK", 0, False),
        ({"equals": ""}, "", 0, True),
        ({"equals": ""}, "\n", 0, True),
        ({"equals": "ok"}, "ok", 1, True),
        ({"contains": "passed"}, "3 passed in 1s", 0, True),
        ({"contains": "passed"}, "3 Passed", 0, False),
        ({"contains": ""}, "", 0, True),
        ({"regex": r"^\d+ passed"}, "3 passed", 0, True),
        ({"regex": r"^\d+ passed"}, "x 3 passed", 0, False),
        ({"regex": r"\d+ passed$"}, "x\n3 passed\n", 0, True),
        ({"regex": "("}, "(", 0, False),
        ({"regex": "(a+)+$"}, "aaaa", 0, False),
        ({"output_lt": 10}, "9.99", 0, True),
        ({"output_lt": 10}, "10", 0, False),
        ({"output_lt": 10}, " -1e3\n", 0, True),
        ({"output_gt": 10}, "10", 0, False),
        ({"output_gt": 10}, "10.0001", 0, True),
        ({"output_gt": 0}, "nan", 0, False),
        ({"output_lt": 0}, "-inf", 0, False),
        ({"output_gt": 0}, "inf", 0, False),
        ({"output_gt": 0}, "1e999", 0, False),
        ({"output_gt": 0}, "1_000", 0, False),
        ({"output_gt": 0}, "0x10", 0, False),
        ({"output_gt": 0}, "١٢", 0, False),
        ({"output_gt": 0}, "12 files", 0, False),
        ({"output_gt": 0}, "", 0, False),
        ({"not_empty": True}, "x", 0, True),
        ({"not_empty": True}, "\n", 0, True),
        ({"not_empty": True}, "", 0, False),
    ],
)
def test_an_expectation_holds_or_not(
    fields: dict[str, Any], output: str, exit_code: int, passed: bool
) -> None:
    verdict = evaluate(Expectation(**fields), output, exit_code, [])
    assert verdict.passed is passed
    assert bool(verdict) is passed
    assert verdict.reason


@pytest.mark.proves("S3.3-EXPECT-EXACTLY-ONE")
def test_an_expectation_made_around_validation_does_not_hold() -> None:
    assert not evaluate(Expectation.model_construct(), "anything", 0, [])


@pytest.mark.proves("S3.3-EXPECT-EXACTLY-ONE")
@pytest.mark.parametrize("fields", [{}, {"not_empty": False}, {"equals": "a", "exit_code": 0}])
def test_exactly_one_field_is_set(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one"):
        Expectation(**fields)


@pytest.fixture
def roots(tmp_path: Path) -> list[Path]:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (inside / "here.txt").write_text("x")
    (outside / "secret.txt").write_text("x")
    (inside / "leaves").symlink_to(outside / "secret.txt")
    (inside / "leaves_dir").symlink_to(outside)
    (inside / "stays").symlink_to(inside / "here.txt")
    (inside / "loop").symlink_to(inside / "loop")
    second = tmp_path / "second"
    second.mkdir()
    (second / "other.txt").write_text("x")
    return [inside, second]


@pytest.mark.proves("S3.3-FILE-EXISTS-WITHIN", "S3.3-FILE-EXISTS-NO-DOTDOT", "S5.3-PREDICATES")
@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("here.txt", True),
        ("./here.txt", True),
        ("sub", True),
        ("other.txt", True),
        ("stays", True),
        ("missing.txt", False),
        ("leaves", False),
        ("leaves_dir/secret.txt", False),
        ("loop", False),
        ("../outside/secret.txt", False),
        ("sub/../here.txt", False),
        ("/etc/passwd", False),
        ("~/.ssh/id_rsa", False),
        ("", False),
        ("here.txt\0", False),
        pytest.param("x" * 5000, False, id="a name too long"),
    ],
)
def test_file_exists_looks_only_inside_the_roots(
    roots: list[Path], name: str, passed: bool
) -> None:
    assert evaluate(Expectation(file_exists=name), "", 0, roots).passed is passed


@pytest.mark.proves("S3.3-FILE-EXISTS-WITHIN")
def test_an_absolute_path_inside_a_root_is_looked_at(roots: list[Path]) -> None:
    inside, outside = roots[0] / "here.txt", roots[0].parent / "outside" / "secret.txt"
    assert evaluate(Expectation(file_exists=str(inside)), "", 0, roots)
    assert not evaluate(Expectation(file_exists=str(outside)), "", 0, roots)


@pytest.mark.proves("S3.3-FILE-EXISTS-WITHIN")
def test_no_roots_means_no_file_anywhere() -> None:
    assert not evaluate(Expectation(file_exists=os.sep), "", 0, [])


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_that_python_prints_is_read_back(number: float) -> None:
    assert parse_number(f" {number!r}\n") == number


@given(st.text())
@example("0\x1f")
def test_what_is_read_as_a_number_is_finite_and_ascii(text: str) -> None:
    number = parse_number(text)
    if number is not None:
        assert re.fullmatch(r"\s*[0-9.eE+-]+\s*", text)
        assert number == float(text)
