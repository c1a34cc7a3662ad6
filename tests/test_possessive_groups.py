"""No expression repeats a group possessively: Python before 3.11.5 matches too much with it."""

import ast
import re
from pathlib import Path

import pytest

ROOM = Path(__file__).resolve().parent.parent / "silas"
FILES = sorted(ROOM.rglob("*.py"))

_POSSESSIVE = re.compile(r"\)(?:[*+?]|\{\d*,?\d*\})\+")


def possessive_groups(source: str) -> list[int]:
    """The lines of the strings in which a group is repeated without going back."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str | bytes)
        and _POSSESSIVE.search(
            node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        )
    ]


@pytest.mark.parametrize(
    "source",
    ["'(?:a|b)*+'", "'(a)++'", "'(?:ab)?+'", "'(?:ab){2,}+'", "b'(ab)*+'", "f'{x}(ab)*+'"],
)
def test_one_that_does_is_found(source: str) -> None:
    assert possessive_groups(source) == [1]


@pytest.mark.parametrize("source", ["'a*+[b]++'", "'(?>(?:ab)*)'", "'(ab)+'", "(a) + b"])
def test_one_that_does_not_is_none(source: str) -> None:
    assert possessive_groups(source) == []


def test_silas_has_none() -> None:
    found = {str(file.relative_to(ROOM)): possessive_groups(file.read_text()) for file in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}
