"""Addresses that Python calls for sure: the literal first argument of a call at its top. Pure."""

import ast
import re
from collections.abc import Iterator
from typing import Final

_CALLED: Final = re.compile(
    r"(?:urllib\.request\.)?urlopen|(?:urllib\.request\.)?urlretrieve"
    r"|(?:requests|httpx)\.(?:get|head|options|post|put|patch|delete)"
)
_FROM: Final = {"urlopen": "urllib.request", "urlretrieve": "urllib.request"}
_LED_ELSEWHERE: Final = re.compile(
    r"\b(?:mock|patch|monkeypatch|responses|respx|vcr|install_opener|ProxyHandler|proxies|mounts"
    r"|transport|environ|getaddrinfo|create_connection|suppress|raises)\b|\w*mock\w*",
    re.IGNORECASE,
)
"""With one of these another than the host may answer, or nothing is missed where none does."""


def addresses_called(code: str) -> tuple[str, ...]:
    """The addresses; none where another may answer, or where the call may fail or be left out."""
    if _LED_ELSEWHERE.search(code):
        return ()
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    modules = {one.name for node in tree.body if isinstance(node, ast.Import) for one in node.names}
    bare = {
        one.name: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.asname is None
    }
    return tuple(_literals(tree.body, modules, bare))


def _literals(body: list[ast.stmt], modules: set[str], bare: dict[str, str]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.With():
                for item in statement.items:
                    yield from _in_expression(item.context_expr, modules, bare)
                yield from _literals(statement.body, modules, bare)
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.Assert():
                if isinstance(statement, ast.Assign) and any(
                    isinstance(one, ast.Attribute) for one in statement.targets
                ):
                    return  # `urllib.request.urlopen = ...`
                yield from _in_expression(statement, modules, bare)
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                continue
            case _:
                return  # what comes after may never be reached, or be put in its place


def _in_expression(node: ast.AST, modules: set[str], bare: dict[str, str]) -> Iterator[str]:
    if isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.comprehension):
        return
    if isinstance(node, ast.Call) and node.args:
        name, first = ast.unparse(node.func), node.args[0]
        known = name.rpartition(".")[0] in modules or bare.get(name, "-") == _FROM.get(name)
        if known and _CALLED.fullmatch(name) and isinstance(first, ast.Constant):
            yield str(first.value)
    for child in ast.iter_child_nodes(node):
        yield from _in_expression(child, modules, bare)
