"""A function is an imperative verb, or what it returns; past participles are names of fields."""

import ast
from collections.abc import Iterator

from scripts.house import ROOT

_VERBS = """
bleed breed embed exceed feed heed need proceed reembed seed shed speed succeed weed
"""
"""Verbs of the present that end as a participle does."""

_IRREGULAR = """
beaten begun bent bought bound broken brought built burnt caught chosen dealt done drawn driven
fallen fed felt forbidden forgotten fought found frozen given gone gotten grown heard held hidden
hung kept known laid led left lent lost made meant met overridden paid proven risen rung said seen
sent shaken shown shrunk slept sold sought spent spoken stolen stood struck stuck sung sunk swept
sworn taken taught thought thrown told torn undone unfit unknown unread unseen understood withdrawn
woken won worn woven written
"""
"""Participles without `-ed`. Those that are a verb of the present as well are none of them: `cut`,
`put`, `read`, `run`, `shut`, `split`."""

_EXCEPTIONS: dict[str, str] = {}
"""`path:Class.function` whose name is a participle all the same, and why."""


def is_participle(name: str) -> bool:
    """Whether a function's name is one past participle and nothing else; Python's own may be."""
    if name.startswith("__"):
        return False
    word = name.strip("_")
    regular = word.endswith("ed") and "_" not in word and word not in _VERBS.split()
    return regular or word in _IRREGULAR.split()


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
    return bool(names & {"property", "cached_property", "setter"})


def _participles(node: ast.AST, inside: str = "") -> Iterator[str]:
    """Functions below a node that are named so; properties are fields to whoever reads them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _participles(child, f"{inside}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            if is_participle(child.name) and not _is_property(child):
                yield f"{inside}{child.name}"
            yield from _participles(child, f"{inside}{child.name}.")
        else:
            yield from _participles(child, inside)


def test_no_function_is_named_by_a_bare_participle() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}:{name}"
        for path in sorted((ROOT / "silas").rglob("*.py"))
        for name in _participles(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert sorted(found - _EXCEPTIONS.keys()) == []
    assert sorted(_EXCEPTIONS.keys() - found) == []  # no exception that nothing needs any more


_SOURCE = """
def told(): ...

class Board:
    @property
    def shown(self): ...
    @functools.cached_property
    def kept(self): ...
    async def _changed(self):
        def ended(): ...
    def read(self): ...
    def embed(self): ...
    def mark_told(self): ...
"""


def test_participles_are_told_from_verbs_and_properties() -> None:
    found = ["told", "Board._changed", "Board._changed.ended"]
    assert list(_participles(ast.parse(_SOURCE))) == found
