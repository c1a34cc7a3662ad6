"""Where an edit of a program can first be noticed.

Where it changes what a function does, that is asked where the difference stands
(`scripts/edits.py`). Where it changes a constant that is made at import, the edited constant is
computed beside the old one, and each use asks whether the largest expression around it that can be
computed unnoticed gives something else; a constant that is made from it is followed in the same
way, and a name under which another module has it. A file that is no Python is noticed wherever it
is read. Else nothing is known, and everything may notice.

It does not see a name that is put together while the program runs, nor the module's own variables
read as a mapping.
"""

import ast
import copy
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from scripts.edits import Constant, Function, Nowhere, edit
from scripts.expressions import asks
from scripts.probes import Path as Node
from scripts.probes import Probe, at
from scripts.pure import asked, evaluable

_READ = ("silas", "tests", "scripts", "benchmarks")
_INSIDE = (
    ast.Starred, ast.Slice, ast.FormattedValue, ast.keyword, ast.comprehension, ast.GeneratorExp,
)  # fmt: skip
"""Parts that are compared as parts of something else alone."""


class Place(NamedTuple):
    """A file, and what is asked in it; all of a file where nothing is asked."""

    file: str
    probe: Probe | None = None


class _Known(NamedTuple):
    """A name of a file that stands for something else after the edit, and what it is kept as."""

    file: str
    name: str
    key: str


class _Made(NamedTuple):
    """A constant, the statement that makes it, and what it makes of it after the edit."""

    known: _Known
    statement: Node
    new: ast.expr | None


class _Program(NamedTuple):
    file: str
    module: str
    text: str
    tree: ast.Module


@functools.cache
def _programs(root: Path) -> tuple[_Program, ...]:
    files = [path for top in _READ for path in sorted((root / top).rglob("*.py"))]
    found: list[_Program] = []
    for path in files:
        text, near = path.read_text(encoding="utf-8"), path.relative_to(root)
        parts = near.with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(_Program(str(near), module, text, ast.parse(text)))
    return tuple(found)


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
    try:
        found = edit(before, after)
        alone = len(found.constants) == 1 and not found.probes
        used = [place for each in found.constants for place in _users(root, file, each, alone)]
    except Nowhere:
        return None
    return frozenset([*(Place(file, probe) for probe in found.probes), *used])


def _users(root: Path, file: str, constant: Constant, alone: bool) -> Iterator[Place]:
    """What is asked where a constant is used; `alone`: nothing else is edited."""
    first = constant.new if alone else None
    todo = [_Made(_Known(file, constant.name, ""), constant.statement, first)]
    seen = dict[tuple[str, str], Node]()
    while todo:
        known, statement, new = todo.pop()
        if seen.setdefault((known.file, known.name), statement) != statement:
            raise Nowhere
        written = None if new is None else evaluable(new)
        said = f"{known.file} {known.name} {constant.name} {ast.unparse(constant.new)}"
        key = hashlib.sha256(said.encode()).hexdigest()[:16]
        if written is not None:
            yield Place(known.file, Probe(statement, "keeps", ast.unparse(written), key=key))
        made = known._replace(key=key if written is not None else "")
        for use in _uses(root, made, set()):
            if isinstance(use, Place):
                yield use
            elif seen.get((use.known.file, use.known.name)) != use.statement:
                todo.append(use)


def _uses(root: Path, known: _Known, seen: set[tuple[str, str]]) -> Iterator[Place | _Made]:
    if (known.file, known.name) in seen:
        return
    seen.add((known.file, known.name))
    (home,) = (each for each in _programs(root) if each.file == known.file)
    for path in _loads(home.tree, known.name):
        yield from _use(home, path, known)
    for program in _programs(root):
        if program is home or known.name not in program.text:
            continue
        for local in _imported(program.tree, home.module, known.name):
            yield from _uses(root, known._replace(file=program.file, name=local), seen)
        yield from _named(program, home.module, known)


def _imported(tree: ast.Module, module: str, name: str) -> set[str]:
    """The names under which a program imports one of a module, or of a package that has it."""
    return {
        alias.asname or name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and f"{module}.".startswith(f"{node.module}.")
        for alias in node.names
        if alias.name in (name, "*")
    }


def _loads(tree: ast.Module, name: str) -> Iterator[Node]:
    for path, node in _walk(tree, ()):
        match node:
            case ast.Name(id=said, ctx=ast.Load()) if said == name:
                yield path
            case ast.Global(names=names) if name in names:
                raise Nowhere
            case _:
                pass


def _walk(node: ast.AST, above: Node) -> Iterator[tuple[Node, ast.AST]]:
    for field, value in ast.iter_fields(node):
        many = cast("list[Any]", value) if isinstance(value, list) else [value]
        for n, each in enumerate(many):
            if isinstance(each, ast.AST):
                path = (*above, (field, n if isinstance(value, list) else -1))
                yield path, each
                yield from _walk(each, path)


def _named(program: _Program, module: str, known: _Known) -> Iterator[Place | _Made]:
    """Uses of a constant by the name of its module, or by its own name as a text."""
    test = program.file.startswith("tests/")
    short = module.rpartition(".")[2]
    for path, node in _walk(program.tree, ()):
        match node:
            case ast.Attribute(attr=said) if said == known.name and short in program.text:
                if test or _names_module(program.tree, node.value, module):
                    yield from _use(program, path, known._replace(key=""))
            case ast.Constant(value=str(said)) if test and (
                said == known.name or said.endswith(f"{module}.{known.name}")
            ):
                yield from _whole(program)
            case _:
                pass


def _names_module(tree: ast.Module, node: ast.expr, module: str) -> bool:
    above, _, short = module.rpartition(".")
    said = ast.unparse(node)
    for each in ast.walk(tree):
        match each:
            case ast.ImportFrom(module=where, names=names) if where == above:
                wanted = short
            case ast.Import(names=names):
                wanted = module
            case _:
                continue
        if any(x.name == wanted and said == (x.asname or x.name) for x in names):
            return True
    return False


def _whole(program: _Program) -> Iterator[Place]:
    """All of a file of tests; what helps several of them is not known for one."""
    if not Path(program.file).name.startswith("test_"):
        raise Nowhere
    yield Place(program.file)


def _use(program: _Program, path: Node, known: _Known) -> Iterator[Place | _Made]:
    nodes = [at(program.tree, path[:n]) for n in range(1, len(path) + 1)]
    if _is_annotation(path):
        return
    if not any(isinstance(x, Function) and _in_body(path, n) for n, x in enumerate(nodes)):
        yield from _at_import(program, path, nodes, known)
        return
    if program.file.startswith("tests/"):
        yield from _whole(program)
        return
    yield Place(program.file, _probe(path, nodes, known))


def _in_body(path: Node, n: int) -> bool:
    return len(path) > n + 1 and path[n + 1][0] == "body"


def _is_annotation(path: Node) -> bool:
    return any(field in ("annotation", "returns") for field, _ in path)


def _at_import(
    program: _Program, path: Node, nodes: list[Any], known: _Known
) -> Iterator[Place | _Made]:
    if program.file.startswith("tests/"):
        yield from _whole(program)
        return
    statement = nodes[0]
    match statement:
        case ast.Assign([ast.Name(name)], value) if name != "__all__":
            pass
        case ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
            pass
        case ast.Assign([ast.Name(_)], _):
            return
        case _:
            raise Nowhere
    new = _swapped(value, known) if known.key else None
    yield _Made(_Known(program.file, name, ""), path[:1], new)


def _swapped(node: ast.expr, known: _Known) -> ast.expr:
    class Swap(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            said = node.id == known.name and isinstance(node.ctx, ast.Load)
            return asked("kept", ast.Constant(known.key)) if said else node

    return Swap().visit(copy.deepcopy(node))


def _probe(path: Node, nodes: list[Any], known: _Known) -> Probe:
    """The largest expression around a use that can be computed unnoticed."""
    found: Probe | None = None
    for n in range(len(path) - 1, -1, -1):
        node = nodes[n]
        if isinstance(node, ast.stmt | ast.match_case | ast.pattern):
            break
        if isinstance(node, _INSIDE) or not isinstance(node, ast.expr):
            continue
        if any(isinstance(x, ast.JoinedStr | ast.pattern) for x in nodes[:n]):
            continue
        new = _swapped(node, known) if known.key else None
        if found is not None and (new is None or evaluable(new) is None):
            break
        found = asks(path[: n + 1], node, new, truth=_truth(path, nodes, n))
        if not found.new:
            break
    if found is not None:
        return found
    last = max(n for n, node in enumerate(nodes) if isinstance(node, ast.stmt))
    return Probe(path[: last + 1], "before")


def _truth(path: Node, nodes: list[Any], n: int) -> bool:
    above = nodes[n - 1] if n else None
    match above:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert() if path[n][0] == "test":
            return True
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp():
            return _truth(path, nodes, n - 1)
        case _:
            return False
