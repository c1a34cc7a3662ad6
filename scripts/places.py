"""Where an edit of a program can first be noticed: the lines that control must reach before it.

A program that never arrives at an edited statement does what it did before. So a place is a range
of lines such that whoever notices the edit has executed one of them:

- the edited statement itself, where nothing else of the file changed: neither the statements
  before and after it nor what names the function around it holds;
- else the body of the function around the edit;
- for a constant that is made at import, the bodies of all functions that say its name, or the
  name of a constant made from it;
- else nothing is known, and everything may notice;
- in a file that is no Python, wherever the file is read.

A probe before each place tells whoever executes it.

It does not see a name that is put together while the program runs, nor the module's own variables
read as a mapping.
"""

import ast
import functools
import types
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

_READ = ("silas", "tests", "scripts", "benchmarks")
_BLOCK = (ast.stmt, ast.excepthandler, ast.match_case)
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Place(NamedTuple):
    """Lines of a file, the first and the last included; all of a file where it has no lines."""

    file: str
    first: int = 0
    last: int = 0


class _Nowhere(Exception):
    """It cannot be said who notices."""


def places(root: Path, file: str, before: str, after: str) -> frozenset[Place] | None:
    """Where the edit can be noticed; None where that cannot be told.

    Args:
        root: The tree that the file and all who use it stand in.
        file: The edited file, from `root`.
        before: What it held.
        after: What it holds now.
    """
    if not file.endswith(".py"):
        return frozenset({Place(file)})
    old, new = ast.parse(before), ast.parse(after)
    edited = _edited(old, new) if _frames(before) == _frames(after) else None
    try:
        if edited is None:
            line = _first_difference(before, after)
            function = _around(old, line, line)
            return frozenset({_body(file, function)}) if function else None
        return frozenset(place for each in edited for place in _noticed(root, file, old, each))
    except _Nowhere:
        return None


def probed(text: str, numbers: Mapping[int, Sequence[int]]) -> str:
    """A program that says where it arrives.

    Args:
        text: The program.
        numbers: For each first line of a place the numbers that are said there.
    """
    before: dict[int, list[int]] = {}
    lines = text.splitlines()
    starts = list(_starts(ast.parse(text), lines, 1))
    for line, said in numbers.items():
        (where,) = {start for first, start in starts if first == line}
        before.setdefault(where, []).extend(said)
    for line in sorted(before, reverse=True):
        indent = " " * (len(lines[line - 1]) - len(lines[line - 1].lstrip()))
        told = "; ".join(f"arrivals.at({number})" for number in sorted(before[line]))
        lines[line - 1 : line - 1] = [
            f"{indent}try: import arrivals; {told}",
            f"{indent}except ImportError: pass",
        ]
    return "\n".join([*lines, ""])


def _starts(node: ast.AST, lines: Sequence[str], above: int) -> Iterator[tuple[int, int]]:
    """The first line of each statement, and that of the statement before which a probe can be."""
    for _, block in _blocks(node):
        for each in block:
            start = above
            if isinstance(each, ast.stmt):
                first = _head(each)[0]
                begins = lines[first - 1][: each.col_offset].isspace() or not each.col_offset
                if begins and not lines[first - 1].lstrip().startswith("elif "):
                    start = first
                yield first, start
            yield from _starts(each, lines, start)


def _noticed(root: Path, file: str, tree: ast.Module, edited: ast.stmt) -> set[Place]:
    first, last = _head(edited)
    if _around(tree, first, last):
        return {Place(file, first, last)}
    return _users(root, _named(tree, edited))


def _frames(text: str) -> list[object]:
    """What each function of a file is to its callers and to the functions inside it."""
    found: list[object] = []

    def visit(code: types.CodeType) -> None:
        names = (code.co_varnames, code.co_cellvars, code.co_freevars)
        found.append((code.co_name, code.co_flags, *map(frozenset[str], names)))
        for inner in code.co_consts:
            if isinstance(inner, types.CodeType):
                visit(inner)

    visit(compile(text, "", "exec"))
    return found


def _edited(old: ast.Module, new: ast.Module) -> list[ast.stmt] | None:
    """The statements that differ, where there are as many of the same kinds in the same order."""
    pairs = list(zip(_statements(old), _statements(new), strict=False))
    if len(pairs) != sum(1 for _ in _statements(old)) or _shape(old) != _shape(new):
        return None
    changed = [a for a, b in pairs if _own(a) != _own(b)]
    return None if any(isinstance(a, ast.Try | ast.Match) for a in changed) else changed


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node


def _blocks(node: ast.AST) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    """The fields of a node that hold statements, handlers and cases."""
    for field, value in ast.iter_fields(node):
        inner = (
            [x for x in cast("list[Any]", value) if isinstance(x, _BLOCK)] if _many(value) else []
        )
        if inner:
            yield field, inner


def _many(value: object) -> bool:
    return isinstance(value, list)


def _shape(node: ast.AST) -> object:
    return [
        (field, [(type(inner).__name__, _shape(inner)) for inner in block])
        for field, block in _blocks(node)
    ]


def _own(node: ast.AST) -> list[str]:
    """What a statement says apart from the statements inside it."""
    return [ast.dump(head) if isinstance(head, ast.AST) else head for head in _heads(node)]


def _heads(node: ast.AST) -> list[ast.AST | str]:
    blocks = dict(_blocks(node))
    found: list[ast.AST | str] = []
    for field, value in ast.iter_fields(node):
        if field in blocks:
            for inner in blocks[field]:
                found += [] if isinstance(inner, ast.stmt) else _heads(inner)
        else:
            values = cast("list[Any]", value) if _many(value) else [value]
            found += [each if isinstance(each, ast.AST) else repr(each) for each in values]
    return found


def _head(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement before the first of those inside it, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    lines: list[int] = [
        line for _, block in _blocks(node) for b in block if (line := getattr(b, "lineno", 0))
    ]
    return first, max(first, min(lines) - 1) if lines else node.end_lineno or first


def _around(tree: ast.AST, first: int, last: int) -> Function | None:
    """The innermost function in whose body the lines stand."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, Function) and _body("", node).first <= first:
            found = node if last <= (node.end_lineno or 0) else found
    return found


def _body(file: str, function: Function) -> Place:
    said = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    first = (said or function.body)[0]
    return Place(file, _head(first)[0], function.end_lineno or first.lineno)


def _first_difference(before: str, after: str) -> int:
    lines = zip(before.splitlines(), after.splitlines(), strict=False)
    return next((n for n, (a, b) in enumerate(lines, 1) if a != b), before.count("\n"))


def _named(tree: ast.Module, statement: ast.stmt) -> set[str]:
    """The constants of the module that a statement makes."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    names = {name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)}
    if not names or statement not in tree.body:
        raise _Nowhere
    return names - {"__all__"}


def _users(root: Path, names: set[str]) -> set[Place]:
    """The functions that say one of `names`, under whatever name another module has it."""
    found, known, todo = set[Place](), set[str](), set(names)
    while todo:
        known |= todo
        more = set[str]()
        for name in todo:
            for file, text, tree in _program(root):
                if name in text:
                    _search(file, tree, name, found, more)
        todo = more - known
    return found


@functools.cache
def _program(root: Path) -> tuple[tuple[str, str, ast.Module], ...]:
    files = [path for top in _READ for path in sorted((root / top).rglob("*.py"))]
    texts = [(str(path.relative_to(root)), path.read_text(encoding="utf-8")) for path in files]
    return tuple((file, text, ast.parse(text)) for file, text in texts)


def _search(file: str, tree: ast.Module, name: str, found: set[Place], more: set[str]) -> None:
    for statement in _statements(tree):
        for said, local in _said(statement, name):
            if file.startswith("tests/"):
                if not Path(file).name.startswith("test_"):
                    raise _Nowhere
                found.add(Place(file))
            elif not file.startswith("silas/"):
                continue
            elif function := _around(tree, said, said):
                found.add(_body(file, function))
            elif isinstance(statement, ast.Import | ast.ImportFrom):
                more.add(local)
            else:
                more |= _named(tree, statement)


def _said(statement: ast.stmt, name: str) -> Iterator[tuple[int, str]]:
    """The lines of a statement's own words that say a name, and the name that it has from there."""
    for head in _heads(statement):
        for node in ast.walk(head) if isinstance(head, ast.AST) else ():
            match node:
                case ast.Name(id=said) | ast.Attribute(attr=said) if said == name:
                    yield node.lineno, name
                case ast.Constant(value=said) if said == name:
                    yield node.lineno, name
                case ast.alias(name=said, asname=local) if said == name:
                    yield node.lineno, local or name
                case _:
                    pass
