"""Expressions that can be evaluated once more, and noticed by nobody.

`evaluable` writes an expression so that evaluating it has no effect: it is made of names,
attributes, constants, operators, displays, comprehensions, and calls of what is listed here. What
cannot be told from the text is asked while it runs, of `scripts/arrivals.py`: what a method is
called on, whether what is walked over would be used up by it, what a class makes.

An attribute counts as read without an effect, though it may be a property: those of this program
compute and keep nothing that somebody else could see.
"""

import ast

from scripts.compared import METHODS, MODULES

_FUNCTIONS = """
abs all any bool bytes chr dict enumerate float frozenset getattr hasattr int isinstance issubclass
len list max min ord range repr round set sorted str sum tuple type zip
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
"""Functions that only look at what they are given."""
_MAKES = frozenset(["dict", "list", "set", "sorted"])
_DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_NEVER = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


class _Effect(Exception):
    """It may be noticed that this was evaluated."""


def evaluable(node: ast.expr) -> ast.expr | None:
    """The expression written so that nobody notices; None where somebody might."""
    try:
        return _written(node)
    except _Effect:
        return None


def delayed(node: ast.expr) -> bool:
    """Whether it means the same inside a function that is called at once."""
    return not any(
        isinstance(x, _NEVER)
        or (isinstance(x, ast.comprehension) and x.is_async)
        or (isinstance(x, ast.Name) and x.id in ("super", "locals", "vars", "dir", "__class__"))
        for x in ast.walk(node)
    )


def fresh(node: ast.expr) -> bool:
    """Whether its value is a container that nobody else has."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _MAKES
        case _:
            return isinstance(node, _DISPLAYS)


def asked(name: str, *args: ast.expr, keywords: list[ast.keyword] | None = None) -> ast.Call:
    """A call of a function of `scripts/arrivals.py`."""
    function = ast.Attribute(ast.Name("_arrivals", ast.Load()), name, ast.Load())
    return ast.Call(function, list(args), keywords or [])


def _steady(node: ast.expr) -> ast.expr:
    """What is walked over must still be there afterwards."""
    if isinstance(node, ast.Starred):
        return ast.Starred(_steady(node.value), ast.Load())
    if isinstance(node, ast.Constant | ast.GeneratorExp | ast.Tuple | ast.JoinedStr):
        return _written(node, inside=True)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
        return _written(node)  # nobody else has it
    return asked("steady", _written(node))


def _all(nodes: list[ast.expr]) -> list[ast.expr]:
    return [_written(each) for each in nodes]


def _written(node: ast.expr, *, inside: bool = False) -> ast.expr:
    match node:
        case ast.Constant() | ast.Name():
            return node
        case ast.Attribute(value, attr):
            return ast.Attribute(_written(value), attr, ast.Load())
        case ast.Subscript(value, index):
            return asked("item", _written(value), _index(index))
        case ast.GeneratorExp() if not inside:
            raise _Effect  # it would be another object whatever it gives
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return _comprehended(node)
        case ast.Call():
            return _called(node)
        case ast.UnaryOp() | ast.BinOp() | ast.BoolOp() | ast.IfExp() | ast.Compare():
            return _operated(node)
        case _:
            return _shown(node)


def _operated(node: ast.expr) -> ast.expr:
    match node:
        case ast.UnaryOp(op, operand):
            return ast.UnaryOp(op, _written(operand))
        case ast.BinOp(left, op, right):
            return ast.BinOp(_written(left), op, _written(right))
        case ast.BoolOp(op, values):
            return ast.BoolOp(op, _all(values))
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(_written(test), _written(body), _written(orelse))
        case ast.Compare(left, ops, others):
            walks = [isinstance(op, ast.In | ast.NotIn) for op in ops]
            pairs = zip(others, walks, strict=True)
            right = [_steady(x) if walk else _written(x) for x, walk in pairs]
            return ast.Compare(_written(left), ops, right)
        case _:
            raise _Effect


def _shown(node: ast.expr) -> ast.expr:
    match node:
        case ast.Tuple(elts) | ast.List(elts):
            return type(node)(_all(elts), ast.Load())
        case ast.Set(elts):
            return ast.Set(_all(elts))
        case ast.Starred(ast.GeneratorExp() as value):
            return ast.Starred(_written(value, inside=True), ast.Load())
        case ast.Starred(value):
            return ast.Starred(_steady(value), ast.Load())
        case ast.Dict(keys, values):
            return ast.Dict([None if key is None else _written(key) for key in keys], _all(values))
        case ast.JoinedStr(values):
            joined = ast.Attribute(ast.Constant(""), "join", ast.Load())
            return ast.Call(joined, [ast.List(_all(values), ast.Load())], [])
        case ast.FormattedValue(value, conversion, form):
            return _formatted(_written(value), conversion, _written(form) if form else None)
        case _:
            raise _Effect


def _formatted(value: ast.expr, conversion: int, form: ast.expr | None) -> ast.expr:
    shown = {ord("r"): "repr", ord("s"): "str", ord("a"): "ascii"}.get(conversion)
    said = ast.Call(ast.Name(shown, ast.Load()), [value], []) if shown else value
    return ast.Call(ast.Name("format", ast.Load()), [said, form] if form else [said], [])


def _index(node: ast.expr) -> ast.expr:
    if not isinstance(node, ast.Slice):
        return _written(node)
    ends = (node.lower, node.upper, node.step)
    said = [ast.Constant(None) if end is None else _written(end) for end in ends]
    return ast.Call(ast.Name("slice", ast.Load()), said, [])


def _comprehended(node: ast.expr) -> ast.expr:
    assert isinstance(node, _COMPREHENSIONS)
    if any(each.is_async for each in node.generators):
        raise _Effect
    walked = [
        ast.comprehension(each.target, _steady(each.iter), _all(each.ifs), 0)
        for each in node.generators
    ]
    if isinstance(node, ast.DictComp):
        return ast.DictComp(_written(node.key), _written(node.value), walked)
    return type(node)(_written(node.elt), walked)


def _called(node: ast.Call) -> ast.expr:
    args = [_steady(each) for each in node.args]
    keywords = [ast.keyword(each.arg, _written(each.value)) for each in node.keywords]
    match node.func:
        case ast.Attribute(ast.Name("_arrivals"), _):
            return node
        case ast.Name(id=name) if name in FUNCTIONS:
            return ast.Call(node.func, args, keywords)
        case ast.Name(id=name) if name.lstrip("_")[:1].isupper() or name == "timedelta":
            return asked("made", node.func, *args, keywords=keywords)
        case ast.Attribute(value, attr) if attr in METHODS or any(
            attr in names for names in MODULES.values()
        ):
            return asked("called", _written(value), ast.Constant(attr), *args, keywords=keywords)
        case _:
            raise _Effect
