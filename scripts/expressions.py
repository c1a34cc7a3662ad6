"""The differences of two expressions, and what is asked about each while a program runs.

It is asked about the largest part that can be computed unnoticed (`scripts/pure.py`): the more of
an expression is compared, the fewer notice.
"""

import ast
from collections.abc import Sequence
from typing import Any, cast

from scripts.probes import Path, Probe
from scripts.pure import delayed, evaluable, fresh

_WHOLE = (ast.Starred, ast.Slice, ast.FormattedValue)
"""Expressions that stand for nothing by themselves."""


class Inseparable(Exception):
    """No smaller part of this can be asked about."""


def dumped(node: ast.AST | Sequence[ast.AST]) -> str:
    """What a piece of a program says, wherever it stands."""
    return ast.dump(node) if isinstance(node, ast.AST) else "\n".join(map(ast.dump, node))


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        many, others = cast("list[Any]", a), cast("list[Any]", b)
        return len(many) == len(others) and all(map(alike, many, others))
    return dumped(a) == dumped(b) if isinstance(a, ast.AST) and isinstance(b, ast.AST) else a == b


def asks(path: Path, old: ast.expr, new: ast.expr | None, *, truth: bool) -> Probe:
    """Whether an expression gives something else than `new`; None where that is not known.

    Where anybody may notice that the old one is not evaluated any more, that is noticed, too.
    """
    was = evaluable(old) if delayed(old) else None
    written = None if new is None or was is None else evaluable(new)
    if was is None or written is None:
        return Probe(path, "differs", plain=not delayed(old))
    guarded = ast.unparse(was)
    return Probe(
        path,
        "differs",
        new=ast.unparse(written),
        truth=truth,
        fresh=fresh(old) and new is not None and fresh(new),
        sure=guarded if "_arrivals." in guarded else "",
    )


def expression(
    old: ast.expr, new: ast.expr, path: Path, found: list[Probe], *, truth: bool
) -> None:
    """Ask about the smallest part of an expression that tells whether it is noticed."""
    if dumped(old) == dumped(new):
        return
    if type(old) is not type(new) and isinstance(old, _WHOLE):
        raise Inseparable
    if (chain := _chain(old, new, path, truth=truth)) is not None:
        found.extend(chain)
        return
    whole = None if isinstance(old, _WHOLE) else asks(path, old, new, truth=truth)
    if whole and whole.new and "_arrivals.made(" not in whole.new:
        found.append(whole)
        return
    parts: list[Probe] = []
    try:
        if branch := _branch(old, new, path):
            parts.append(branch)
        else:
            _inside(old, new, path, parts, truth=truth)
    except Inseparable:
        if whole is None:
            raise
        parts = [whole]
    # What a class makes can often not be compared, and what it is made of can.
    found.extend([whole] if whole and whole.new and not all(x.new for x in parts) else parts)


def _branch(old: ast.expr, new: ast.expr, path: Path) -> Probe | None:
    """Of a conditional expression that became one of its values: whether the other is evaluated."""
    if not isinstance(old, ast.IfExp) or not unnoticed(old.test):
        return None
    for stays, goes in (("body", "orelse"), ("orelse", "body")):
        if dumped(getattr(old, stays)) == dumped(new):
            return asks((*path, (goes, -1)), getattr(old, goes), None, truth=False)
    return None


def unnoticed(node: ast.expr) -> bool:
    """Whether nobody notices that it is not evaluated any more, whatever it meets."""
    written = evaluable(node)
    return written is not None and "_arrivals." not in ast.unparse(written)


def _inside(old: ast.AST, new: ast.AST, path: Path, found: list[Probe], *, truth: bool) -> None:
    if type(old) is not type(new) or isinstance(old, ast.JoinedStr):
        raise Inseparable
    if isinstance(old, ast.Lambda) and dumped(old.args) != dumped(cast("ast.Lambda", new).args):
        raise Inseparable
    for field in old._fields:
        a, b = _many(getattr(old, field)), _many(getattr(new, field))
        if len(a) != len(b):
            raise Inseparable
        for n, (x, y) in enumerate(zip(a, b, strict=True)):
            if not alike(x, y):
                index = n if isinstance(getattr(old, field), list) else -1
                _child(old, field, x, y, (*path, (field, index)), found, truth=truth)


def _many(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _child(
    above: ast.AST, field: str, old: Any, new: Any, path: Path, found: list[Probe], *, truth: bool
) -> None:
    if isinstance(old, ast.expr) and isinstance(new, ast.expr):
        if isinstance(getattr(old, "ctx", None), ast.Store | ast.Del):
            raise Inseparable
        tested = field in ("test", "ifs") or (
            isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)
        )
        passed = truth and isinstance(above, ast.IfExp | ast.BoolOp)
        expression(old, new, path, found, truth=tested or passed)
    elif isinstance(old, ast.keyword | ast.comprehension) and not isinstance(old, ast.expr):
        _inside(old, new, path, found, truth=False)
    else:
        raise Inseparable


def _chain(old: ast.expr, new: ast.expr, path: Path, *, truth: bool) -> list[Probe] | None:
    """What is asked where an `and` or `or` gained or lost values; None where that is not all."""
    op = next((x.op for x in (new, old) if isinstance(x, ast.BoolOp)), None)
    if op is None:
        return None
    a, b = _values(old, op), _values(new, op)
    first, end = common([*map(dumped, a)], [*map(dumped, b)])
    less, more = a[first : len(a) - end], b[first : len(b) - end]

    def at(n: int) -> Path:
        return (*path, ("values", n)) if _is(old, op) else path

    if less and not more and truth:  # whoever comes there goes on unless it decides
        going = ast.Constant(isinstance(op, ast.And))
        return [asks(at(first + n), each, going, truth=True) for n, each in enumerate(less)]
    if more and not less and first and (truth or not end):
        rest = more[0] if len(more) == 1 else ast.BoolOp(op, more)
        written = evaluable(rest)
        said = "" if written is None else ast.unparse(written)
        kind = "or" if isinstance(op, ast.Or) else "and"
        return [Probe(at(first - 1), kind, said, truth=truth)]
    return None


def common(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many are the same in the beginning, and how many of the others at the end."""
    least, first, end = min(len(a), len(b)), 0, 0
    while first < least and a[first] == b[first]:
        first += 1
    while end < least - first and a[-1 - end] == b[-1 - end]:
        end += 1
    return first, end


def _is(node: ast.expr, op: ast.boolop) -> bool:
    return isinstance(node, ast.BoolOp) and type(node.op) is type(op)


def _values(node: ast.expr, op: ast.boolop) -> list[ast.expr]:
    return cast("ast.BoolOp", node).values if _is(node, op) else [node]
