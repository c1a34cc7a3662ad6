"""Which tests an edit of a program can make a difference to (`scripts/reached.py`).

An edit inside a function: the tests that ran a line of the statements it changes. An edit of what
is run at import: the tests that ran anything inside a function of that file or of one that names
what is assigned there, and the tests that name it. A file that is no Python: the tests that read
it. It does not see who does without what an edit adds elsewhere, nor a name that is put together
while the program runs.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from scripts.reached import Reached

_Function: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
Statement = ast.stmt | ast.ExceptHandler


def noticing(root: Path, file: str, before: str, after: str, reached: Reached) -> frozenset[str]:
    """The tests that an edit can make a difference to, as far as they were watched.

    Args:
        root: The tree that the file and all who use it stand in.
        file: The edited file, from `root`.
        before: What it held.
        after: What it holds now.
        reached: What the tests of the whole program came by.
    """
    tests = set(reached.everywhere | reached.files.get(file, frozenset()))
    if not file.endswith(".py"):
        return frozenset(tests)
    tree, inside = ast.parse(before), _inside_functions(before)
    for place in changed(before, after):
        found = [_own_lines(statement) for statement in _statements(tree, place.lines)]
        within = [lines for lines in found if lines[0] in inside]
        for lines in within:
            tests |= _ran(reached, file, lines)
        if len(within) < len(found) and not (within and place.added):
            tests |= _at_import(root, file, _names(tree, place.lines), reached)
    return frozenset(tests - {""})


class Place(NamedTuple):
    """Lines of a text, from 1, that an edit changes, or those around what it only adds."""

    lines: frozenset[int]
    added: bool


def changed(before: str, after: str) -> Iterator[Place]:
    """Where two texts differ."""
    old, new = before.splitlines(), after.splitlines()
    for kind, first, end, _, _ in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind == "insert":
            yield Place(frozenset({first, first + 1} & {*range(1, len(old) + 1)}), added=True)
        elif kind != "equal":
            yield Place(frozenset(range(first + 1, end + 1)), added=False)


def _statements(tree: ast.Module, lines: frozenset[int]) -> Iterator[Statement]:
    """The smallest statements that these lines are of; words are of none."""
    every = [node for node in ast.walk(tree) if isinstance(node, Statement)]
    for line in lines:
        around = [node for node in every if _first(node) <= line <= (node.end_lineno or 0)]
        if around:
            smallest = min(around, key=lambda node: (node.end_lineno or 0) - _first(node))
            if not _is_words(smallest):
                yield smallest


def _is_words(node: Statement) -> bool:
    match node:
        case ast.Expr(ast.Constant(str())):
            return True
        case _:
            return False


def _first(node: Statement) -> int:
    """The first line; that of a decorator, where there is one."""
    decorated: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorated)])


def _own_lines(node: Statement) -> range:
    """The lines of a statement without those of the statements in it."""
    within = [one.lineno for one in ast.iter_child_nodes(node) if isinstance(one, Statement)]
    end = min((n for n in within if n > node.lineno), default=(node.end_lineno or node.lineno) + 1)
    return range(_first(node), max(end, node.lineno + 1))


@cache
def _inside_functions(text: str) -> frozenset[int]:
    found = set[int]()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _Function):
            found |= set(range(node.body[0].lineno, (node.end_lineno or 0) + 1))
    return frozenset(found)


def _ran(reached: Reached, file: str, lines: range | frozenset[int]) -> set[str]:
    known = reached.lines.get(file, {})
    return {test for line in lines for test in known.get(line, ())}


def _names(tree: ast.Module, lines: frozenset[int]) -> set[str]:
    """What is made by the statements of these lines that run at import; empty if not known."""
    names = set[str]()
    for statement in _statements(tree, lines):
        found = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        if isinstance(statement, (*_Function, ast.ClassDef)):
            found = {statement.name}
        if not found:
            return set()
        names |= found
    return names


def _at_import(root: Path, file: str, names: set[str], reached: Reached) -> set[str]:
    word = re.compile(rf"\b(?:{'|'.join(sorted(names))})\b" if names else "")
    tests = {test for test in _known(reached) if word.search(_text(root / test.partition("::")[0]))}
    for near in reached.lines:
        text = _text(root / near)
        if near == file or word.search(text):
            tests |= _ran(reached, near, _inside_functions(text))
    return tests


def _known(reached: Reached) -> set[str]:
    each = (who for found in reached.lines.values() for who in found.values())
    return set[str]().union(*each) - {""}


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
