"""The one evaluator of expectations; gates and verification share it (spec 3.3, 5.3)."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from silas.gates.models import Expectation
from silas.gates.paths import exists, resolve_within
from silas.patterns import PatternRefused, search

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class Evaluation(NamedTuple):
    """Whether an expectation holds, and the sentence that says why. Falsy when it does not."""

    passed: bool
    reason: str

    def __bool__(self) -> bool:
        return self.passed


_BLANKS = " \t\n\r\v\f"  # what Python counts as white space besides, no number may have


def parse_number(text: str) -> float | None:
    """A finite decimal number with white space around it, else None: no `nan`, `inf`, `1_000`."""
    stripped = text.strip(_BLANKS)
    if not _NUMBER.fullmatch(stripped):
        return None
    number = float(stripped)
    return number if math.isfinite(number) else None


def evaluate(
    expectation: Expectation, output: str, exit_code: int, roots: Sequence[Path]
) -> Evaluation:
    """Judge a command by its output, exit code and files; pure but for looking at files.

    `equals` compares exactly, where one trailing newline of the output may be missing from the
    expected text: the specification asks for an exact match and in its examples expects `ok` of
    commands that print `ok` and a newline. `regex` is `re.search` with a bound on its steps (see
    `silas.patterns`); a refused pattern fails. `output_lt` and `output_gt` need a finite
    decimal number and nothing else. `file_exists` looks only inside `roots`.

    Args:
        expectation: What should hold; exactly one field is set.
        output: Standard output.
        exit_code: The command's own.
        roots: The directories in which `file_exists` may look; none means nowhere.
    """
    match expectation:
        case Expectation(exit_code=int(wanted)):
            return _compare(exit_code == wanted, f"exit code {exit_code}", f"{wanted}")
        case Expectation(equals=str(wanted)):
            same = wanted in (output, output.removesuffix("\n"))
            return _compare(same, f"output {_short(output)}", f"exactly {_short(wanted)}")
        case Expectation(contains=str(wanted)):
            return _compare(wanted in output, "output", f"to contain {_short(wanted)}")
        case Expectation(regex=str(pattern)):
            return _regex(pattern, output)
        case Expectation(output_lt=float(limit)):
            return _number(output, limit, below=True)
        case Expectation(output_gt=float(limit)):
            return _number(output, limit, below=False)
        case Expectation(file_exists=str(name)):
            return _file(name, roots)
        case Expectation(not_empty=True):
            return _compare(output != "", f"output {_short(output)}", "not to be empty")
        case _:
            # only an object made around validation gets here: unknown means no
            return Evaluation(False, "No expectation")


def _compare(passed: bool, got: str, wanted: str) -> Evaluation:
    return Evaluation(passed, f"{got}, as expected" if passed else f"{got}, expected {wanted}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _regex(pattern: str, output: str) -> Evaluation:
    try:
        found = search(pattern, output)
    except PatternRefused as refused:
        return Evaluation(False, str(refused))
    return _compare(found is not None, "output", f"to match {_short(pattern)}")


def _number(output: str, limit: float, *, below: bool) -> Evaluation:
    number = parse_number(output)
    if number is None:
        return Evaluation(False, f"output {_short(output)} is not a number")
    passed = number < limit if below else number > limit
    return _compare(passed, f"{number:g}", f"{'less' if below else 'more'} than {limit:g}")


def _file(name: str, roots: Sequence[Path]) -> Evaluation:
    path = resolve_within(name, roots)
    if path is None:
        return Evaluation(False, "Path outside permitted directories")
    return _compare(exists(path), f"file {_short(name)}", "to exist")
