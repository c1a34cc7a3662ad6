"""A program that says where it arrives, and where an edit of it would make a difference."""

import ast
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

from scripts.pure import asked

Path = tuple[tuple[str, int], ...]
"""From a module to one of its nodes: each field, and the place in it or -1."""

_PROLOGUE = """
try:
    import arrivals as _arrivals
except ImportError:

    class _arrivals:
        at = keep = staticmethod(lambda *a: None)
        told = staticmethod(lambda place, new, old, **k: old())
        further = staticmethod(lambda place, new, old, **k: old)
"""
"""A program that is run where nobody listens does what it did."""


class Probe(NamedTuple):
    """What is asked at a node of a program.

    Attributes:
        node: The node.
        kind: `before` says that control is here, before a statement; `fails`, that a statement
            raises; `when`, that `new` is true here, before a statement; `differs`, that an
            expression is evaluated whose value is not that of `new`; `and` or `or`, that a value of
            such a chain is not the last word, and `new` behind it is; `keeps` says nothing and
            remembers what `new` is as `key`, behind a statement.
        new: The edited expression, evaluated unnoticed; empty where that is not possible.
        truth: Only whether the values are true matters.
        fresh: Both are containers that nobody else has.
        key: What a constant is remembered as.
        plain: The expression means something else inside a function of its own.
        sure: The old expression, which raises where anybody may notice that it is left out.
    """

    node: Path
    kind: str
    new: str = ""
    truth: bool = False
    fresh: bool = False
    key: str = ""
    plain: bool = False
    sure: str = ""


def at(tree: ast.AST, path: Iterable[tuple[str, int]]) -> Any:
    """The node of a tree that a path leads to."""
    node: Any = tree
    for field, index in path:
        node = getattr(node, field)
        node = node[index] if index >= 0 else node
    return node


def probed(text: str, probes: Mapping[Probe, int]) -> str:
    """The program `text` that says the number of each probe where what it asks is so."""
    tree = ast.parse(text)
    for probe, number in sorted(probes.items(), key=_order, reverse=True):
        if probe.kind in ("differs", "and", "or"):
            _wrap(tree, probe, number)
        elif probe.kind == "fails":
            _try(tree, probe, number)
        else:
            _beside(tree, probe, number)
    if probes:
        _begin(tree)
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


_LAST = ("before", "when", "keeps", "fails", "differs", "and", "or")


def _order(numbered: tuple[Probe, int]) -> tuple[Path, int, Probe]:
    """Those inside others and those behind others are made first, so that the paths stay true."""
    probe, _ = numbered
    return probe.node, _LAST.index(probe.kind), probe


def _evaluated(new: str) -> ast.expr:
    return _later(ast.parse(new, mode="eval").body) if new else ast.Constant(None)


def _later(node: ast.expr) -> ast.Lambda:
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), node)


def _wrap(tree: ast.Module, probe: Probe, number: int) -> None:
    old = cast("ast.expr", at(tree, probe.node))
    said = ast.Constant(number)
    given: dict[str, ast.expr] = {"truth": ast.Constant(probe.truth)}
    if probe.plain:
        pair = ast.Tuple([asked("at", said), old], ast.Load())
        new: ast.expr = ast.Subscript(pair, ast.Constant(1), ast.Load())
    elif probe.kind == "differs":
        given["fresh"] = ast.Constant(probe.fresh)
        if probe.sure:
            given["sure"] = _evaluated(probe.sure)
        new = asked("told", said, _evaluated(probe.new), _later(old), keywords=_keywords(given))
    else:
        given["stop"] = ast.Constant(probe.kind == "or")
        new = asked("further", said, _evaluated(probe.new), old, keywords=_keywords(given))
    _put(tree, probe.node, new)


def _keywords(given: Mapping[str, ast.expr]) -> list[ast.keyword]:
    return [ast.keyword(name, value) for name, value in given.items()]


def _put(tree: ast.Module, path: Path, node: ast.AST) -> None:
    above, (field, index) = at(tree, path[:-1]), path[-1]
    if index < 0:
        setattr(above, field, node)
    else:
        getattr(above, field)[index] = node


def _try(tree: ast.Module, probe: Probe, number: int) -> None:
    raised = ast.ExceptHandler(
        ast.Name("BaseException", ast.Load()), None, [_says(number), ast.Raise()]
    )
    _put(tree, probe.node, ast.Try([at(tree, probe.node)], [raised], [], []))


def _says(number: int) -> ast.stmt:
    return ast.Expr(asked("at", ast.Constant(number)))


def _beside(tree: ast.Module, probe: Probe, number: int) -> None:
    above, (field, index) = at(tree, probe.node[:-1]), probe.node[-1]
    block = cast("list[ast.stmt]", getattr(above, field))
    if probe.kind == "keeps":
        said = asked("keep", ast.Constant(probe.key), _evaluated(probe.new))
        block.insert(index + 1, ast.Expr(said))
    elif probe.kind == "when":
        no = _later(ast.Constant(False))
        truth = [ast.keyword("truth", ast.Constant(True))]
        said = asked("told", ast.Constant(number), _evaluated(probe.new), no, keywords=truth)
        block.insert(index, ast.Expr(said))
    else:
        block.insert(index, _says(number))


def _begin(tree: ast.Module) -> None:
    first = next(
        (
            n
            for n, each in enumerate(tree.body)
            if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            and not (isinstance(each, ast.ImportFrom) and each.module == "__future__")
        ),
        len(tree.body),
    )
    tree.body[first:first] = ast.parse(_PROLOGUE).body
