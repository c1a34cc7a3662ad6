"""A test waits for what happens: no number of seconds of its own decides, and nothing sleeps."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.waits import SECONDS

TESTS = Path(__file__).resolve().parent
FILES = sorted(path for path in TESTS.rglob("*.py") if path.name != "waits.py")

LONGEST = 1.0
"""Seconds that a number in a test may say: a limit that is tried, or a look between two others."""

BOUNDED = {"timeout", "wait_for", "wait", "communicate", "join", "result", "settimeout", "run"}
"""Calls whose last argument, or whose `timeout`, is how long they may take."""


def _seconds(node: ast.expr) -> float:
    said = node.value if isinstance(node, ast.Constant) else None
    return float(said) if isinstance(said, int | float) else 0.0


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def bounds(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """The lines in which a wait has a number of seconds of its own."""
    for call in nodes:
        if not isinstance(call, ast.Call) or _name(call) not in BOUNDED:
            continue
        given = [each.value for each in call.keywords if each.arg == "timeout"]
        if _name(call) == "wait_for":
            given += call.args[1:2]
        elif _name(call) != "run":
            given += call.args if len(call.args) == 1 else []
        yield from (call.lineno for each in given if LONGEST < _seconds(each) < SECONDS)


def sleeps(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """The lines that sleep, but for those which look again and again whether something is so."""
    loops = [node for node in nodes if isinstance(node, ast.While)]
    looped = {id(node) for loop in loops for node in ast.walk(loop)}
    for call in nodes:
        if isinstance(call, ast.Call) and _name(call) == "sleep" and id(call) not in looped:
            yield from [call.lineno] if call.args and _seconds(call.args[0]) > 0 else []


def test_no_wait_has_seconds_of_its_own_and_nothing_sleeps() -> None:
    wrong: list[str] = []
    for path in FILES:
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        lines = sorted({*bounds(nodes), *sleeps(nodes)})
        wrong += [f"{path.relative_to(TESTS)}:{line}" for line in lines]
    assert wrong == [], "wait for what happens, at most SECONDS of tests/support/waits.py"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("await asyncio.wait_for(told, 5)", 1),
        ("asyncio.timeout(30)", 1),
        ("process.wait(timeout=5)", 1),
        ("thread.join(5)", 1),
        ("time.sleep(0.2)", 1),
        ("while not told: time.sleep(0.01)", 0),
        ("await asyncio.sleep(0)", 0),
        ("await asyncio.wait_for(told, SECONDS)", 0),
        ("', '.join(names)", 0),
    ],
)
def test_the_check_sees_what_it_looks_for(line: str, found: int) -> None:
    nodes = [*ast.walk(ast.parse(f"async def test():\n {line}"))]
    assert len([*bounds(nodes), *sleeps(nodes)]) == found
