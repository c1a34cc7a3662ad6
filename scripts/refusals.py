"""Which sentences the package refuses with: what stands in a `raise`, for `make words`.

A refusal stays English where programs, records and models read it, and is told in the owner's
language where he reads it (`silas.language.refusal_words`). So its sentence is not written through
`tr`; this finds it in the source, with `{name}` where a value stands.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from silas.language.refusal_words import WITH_VALUES

ROOT: Final = Path(__file__).resolve().parents[1]
_ELSEWHERE: Final = frozenset(
    {
        *("builtin", "canonical.py", "conformance", "docker", "language"),
        *("migrations.py", "patterns.py", "testing"),
    }
)
"""Rooms whose errors no owner reads: what tools tell a model, and tests."""
_PROGRAMMERS: Final = frozenset(
    {
        *("AssertionError", "AttributeError", "LookupError", "RuntimeError", "TypeError"),
        *("InvalidArguments", "NameError", "SentenceError", "ValueError"),
    }
)
"""Errors that tell a programmer, or a model, that it went wrong."""
_SENTENCE: Final = re.compile(r"[A-Z“{].*\s.*\s", re.DOTALL)
"""A capital or a value first, and three words: what begins small is a part of a sentence."""
_BEGINS_SMALL: Final = re.compile(r".*\s.*\s", re.DOTALL)
_OF_SKILLS: Final = "SkillError"
"""Its sentences stand behind the name of a folder, and begin small."""
_ERRORS: Final = ("Error", "Refused", "Unavailable")
_VALUE: Final = re.compile(r"\{[^{}]*\}")


@cache
def refusal_sentences() -> tuple[str, ...]:
    """Every sentence of an error, with `{name}` where a value stands, most words of its own first:
    the first that fits a refusal is the one that was raised. Of those that differ in the names of
    their values only, the first in the alphabet.
    """
    package = ROOT / "silas"
    found: set[str] = set()
    for file in sorted(package.rglob("*.py")):
        if not _ELSEWHERE & set(file.relative_to(package).parts):
            found.update(_raised(ast.parse(file.read_text(encoding="utf-8"))))
    alike = {shape(sentence): sentence for sentence in sorted(found, reverse=True)}
    for known in WITH_VALUES:
        alike.pop(shape(known), None)
    return tuple(sorted(alike.values(), key=lambda one: (-len(shape(one)), one)))


def shape(sentence: str) -> str:
    """A sentence without the names of its values."""
    return _VALUE.sub("{}", sentence)


def _raised(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        made = _made(node)
        if made is None or not made.args:
            continue
        said, kind = made.args[0], ast.unparse(made.func)
        form = _BEGINS_SMALL if kind == _OF_SKILLS else _SENTENCE
        either = (said.body, said.orelse) if isinstance(said, ast.IfExp) else (said,)
        for sentence in map(template, either):
            if form.match(sentence) and kind not in _PROGRAMMERS:
                yield sentence


def _made(node: ast.AST) -> ast.Call | None:
    """The error that a `raise` throws, or that is returned to be thrown: it has a code."""
    if isinstance(node, ast.Raise):
        return node.exc if isinstance(node.exc, ast.Call) else None
    returned = node.value if isinstance(node, ast.Return) else None
    if isinstance(returned, ast.Call) and ast.unparse(returned.func).endswith(_ERRORS):
        return returned
    return None


def template(said: ast.expr) -> str:
    """A text or an f-string as the catalogue has it; nothing for what is neither."""
    if isinstance(said, ast.Constant):
        return said.value if isinstance(said.value, str) else ""
    if not isinstance(said, ast.JoinedStr):
        return ""
    words, names = "", list[str]()
    for part in said.values:
        if isinstance(part, ast.FormattedValue):
            names.append(_free(_name(part.value), names))
            words += f"{{{names[-1]}}}"
        elif isinstance(part, ast.Constant):
            words += str(part.value)
    return words


def _name(value: ast.expr) -> str:
    """What a value is called: the last word of what it is read from."""
    words = [one for one in ast.walk(value) if isinstance(one, ast.Name | ast.Attribute)]
    if isinstance(value, ast.Call) and value.args:
        return _name(value.args[0])
    if not words:
        return "value"
    first = words[0]
    return (first.attr if isinstance(first, ast.Attribute) else first.id).strip("_").lower()


def _free(name: str, taken: list[str]) -> str:
    return name if name not in taken else _free(f"{name}_2", taken)
