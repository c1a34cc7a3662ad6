"""The differences of two programs, and what is asked about each while the program runs.

Until control comes to an edited place and finds something else there than before, a program does
what it did. So an edit is taken apart into its smallest differences, and each is asked about where
it stands (`scripts/probes.py`):

- an expression: whether it is evaluated and gives another value than the edited one, where that
  can be computed unnoticed (`scripts/pure.py`); else whether it is evaluated;
- of an `and` or `or` that gained or lost a value: whether that value decides;
- statements that are put in, taken out or exchanged: whether control comes there; an `if` that
  holds them, and whose condition can be computed unnoticed: whether it is true;
- what is caught now: whether it is raised;
- a constant that is made at import: where somebody uses it (`scripts/places.py`);
- where a function has a name for itself that it had from elsewhere before: its body.
"""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from scripts.expressions import Inseparable, alike, common, dumped, expression, unnoticed
from scripts.probes import Path as Node
from scripts.probes import Probe
from scripts.pure import evaluable

Function = ast.FunctionDef | ast.AsyncFunctionDef
_Truth = ast.If | ast.While | ast.IfExp | ast.Assert


class Nowhere(Exception):
    """It cannot be said who notices."""


class Constant(NamedTuple):
    """A name that a module gives to something else now.

    Attributes:
        name: The name.
        statement: Where it is given.
        new: What it is given to.
    """

    name: str
    statement: Node
    new: ast.expr


class Edit(NamedTuple):
    """The differences of two programs."""

    probes: list[Probe]
    constants: list[Constant]


def edit(before: str, after: str) -> Edit:
    """What is asked in the program `before` so that whoever notices `after` is found.

    Raises:
        Nowhere: That cannot be told.
    """
    found = Edit([], [])
    old, new = ast.parse(before), ast.parse(after)
    _block(old.body, new.body, (), "body", found, top=True)
    return found


def imported(text: str) -> set[str]:
    """What a program imports, wherever in it."""
    imports = (ast.Import, ast.ImportFrom)
    return {dumped(node) for node in ast.walk(ast.parse(text)) if isinstance(node, imports)}


def _block(
    old: list[ast.stmt], new: list[ast.stmt], above: Node, field: str, found: Edit, *, top: bool
) -> None:
    first, end = common([*map(dumped, old)], [*map(dumped, new)])
    less, more = old[first : len(old) - end], new[first : len(new) - end]
    if [*map(type, less)] == [*map(type, more)]:
        for n, (x, y) in enumerate(zip(less, more, strict=True), first):
            if dumped(x) != dumped(y):
                _statement(x, y, (*above, (field, n)), found, top=top)
    elif top:
        raise Nowhere
    else:
        found.probes.extend(_exchanged(old, first, less, more, (above, field)))


def _exchanged(
    old: list[ast.stmt],
    first: int,
    less: list[ast.stmt],
    more: list[ast.stmt],
    where: tuple[Node, str],
) -> list[Probe]:
    above, field = where

    def path(n: int) -> Node:
        return (*above, (field, n))

    if not more and len(less) == 1 and (only := _lone(less[0])) and unnoticed(only.test):
        return [Probe((*path(first), ("body", 0)), "before")]
    if _catching(more, less):
        return [Probe(path(first + n), "fails") for n in range(len(less))]
    tests = [evaluable(only.test) if (only := _lone(each)) else None for each in more]
    if not less and first < len(old) and all(tests):
        return [Probe(path(first), "when", ast.unparse(each)) for each in tests if each]
    return [Probe(path(_after_docstring(old, min(first, len(old) - 1))), "before")]


def _lone(node: ast.stmt) -> ast.If | None:
    return node if isinstance(node, ast.If) and not node.orelse else None


def _catching(more: list[ast.stmt], less: list[ast.stmt]) -> bool:
    """Whether statements are the same, and what they raise is caught now."""
    (only, *others) = more or [ast.Pass()]
    if others or not isinstance(only, ast.Try) or only.orelse or only.finalbody:
        return False
    return bool(less) and dumped(only.body) == dumped(less)


def _after_docstring(block: list[ast.stmt], n: int) -> int:
    said = block[n]
    is_said = isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant)
    return n + 1 if is_said and n + 1 < len(block) else n


def _statement(old: ast.stmt, new: ast.stmt, path: Node, found: Edit, *, top: bool) -> None:
    if isinstance(old, Function) and isinstance(new, Function):
        _function(old, new, path, found, top=top)
    elif isinstance(old, ast.ClassDef) and isinstance(new, ast.ClassDef):
        if not top or _head(old) != _head(new):
            raise Nowhere
        _block(old.body, new.body, path, "body", found, top=True)
    elif top:
        found.constants.extend(_constants(old, new, path))
    else:
        try:
            for field in old._fields:
                _field(old, new, field, path, found)
        except Inseparable:
            found.probes.append(Probe(path, "before"))


def _field(old: ast.AST, new: ast.AST, field: str, path: Node, found: Edit) -> None:
    a, b = getattr(old, field), getattr(new, field)
    if alike(a, b):
        return
    truth = field == "test" and isinstance(old, _Truth)
    if isinstance(a, ast.expr) and isinstance(b, ast.expr):
        if isinstance(getattr(a, "ctx", None), ast.Store | ast.Del):
            raise Inseparable
        expression(a, b, (*path, (field, -1)), found.probes, truth=truth)
    elif isinstance(a, list) and isinstance(b, list):
        many, others = cast("list[Any]", a), cast("list[Any]", b)
        if many and isinstance(many[0], ast.stmt):
            _block(many, others, path, field, found, top=False)
            return
        if [*map(type, many)] != [*map(type, others)]:
            raise Inseparable
        for n, (x, y) in enumerate(zip(many, others, strict=True)):
            _part(x, y, (*path, (field, n)), found)
    else:
        raise Inseparable


def _part(old: Any, new: Any, path: Node, found: Edit) -> None:
    if alike(old, new):
        return
    if isinstance(old, ast.expr):
        if isinstance(getattr(old, "ctx", None), ast.Store | ast.Del):
            raise Inseparable
        expression(old, new, path, found.probes, truth=False)
    elif isinstance(old, ast.excepthandler | ast.match_case | ast.withitem):
        for field in old._fields:
            _field(old, new, field, path, found)
    else:
        raise Inseparable


def _head(node: ast.AST) -> list[str]:
    fields = [(name, getattr(node, name)) for name in node._fields if name != "body"]
    return [
        f"{name} {[*map(dumped, cast('list[ast.AST]', value))]}"
        if isinstance(value, list)
        else f"{name} {dumped(value) if isinstance(value, ast.AST) else value!r}"
        for name, value in fields
    ]


def _function(old: Function, new: Function, path: Node, found: Edit, *, top: bool) -> None:
    if _head(old) != _head(new):
        if top:
            raise Nowhere
        found.probes.append(Probe(path, "before"))
    elif _renamed(old, new):
        first = _after_docstring(old.body, 0)
        found.probes.append(Probe((*path, ("body", first)), "before"))
    else:
        _block(old.body, new.body, path, "body", found, top=False)


def _renamed(old: Function, new: Function) -> bool:
    """Whether a name of the one means something else in the other."""
    (mine, said, kind), (others, also, now) = _names(old), _names(new)
    return bool((others - mine) & said or (mine - others) & also or kind != now)


def _names(function: Function) -> tuple[set[str], set[str], tuple[str, ...]]:
    """The names a function gives, those it says, and what else decides what it is."""
    mine, said, kind = set[str](), set[str](), set[str]()
    for node in ast.walk(function):
        match node:
            case ast.Name(id=name, ctx=ctx):
                said.add(name)
                mine |= {name} if not isinstance(ctx, ast.Load) else set()
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                mine.add(name)
            case ast.AsyncFunctionDef(name=name):
                mine.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                mine.add(name)
            case ast.alias(name=name):
                mine.add(name.partition(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                mine.add(name)
            case ast.MatchMapping(rest=str(name)):
                mine.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                kind |= {f"{type(node).__name__} {name}" for name in names}
            case ast.Yield() | ast.YieldFrom():
                kind.add("yields")
            case _:
                pass
    return mine, said | mine, tuple(sorted(kind))


def _constants(old: ast.stmt, new: ast.stmt, path: Node) -> Iterator[Constant]:
    match old, new:
        case ast.Assign([ast.Name(name)], _), ast.Assign([ast.Name(other)], value):
            same = name == other
        case ast.AnnAssign(ast.Name(name), _, ast.expr()), ast.AnnAssign(
            ast.Name(other), _, ast.expr() as value
        ):
            same = name == other and dumped(old.annotation) == dumped(new.annotation)
        case ast.Assign([ast.Tuple(names)], ast.Tuple(values)), ast.Assign(
            [ast.Tuple(others)], ast.Tuple(news)
        ) if len(names) == len(values) == len(others) == len(news) and dumped(names) == dumped(
            others
        ):
            for each, was, now in zip(names, values, news, strict=True):
                if dumped(was) != dumped(now):
                    if not isinstance(each, ast.Name):
                        raise Nowhere
                    yield Constant(each.id, path, now)
            return
        case _:
            raise Nowhere
    if not same or len(path) != 1:
        raise Nowhere
    yield Constant(name, path, value)
