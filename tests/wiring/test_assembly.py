"""`silas/wiring` assembles and does nothing else; what commands ask for are services."""

import ast
from collections.abc import Iterator
from pathlib import Path

import silas

SOURCE = Path(str(silas.__file__)).parent
WIRING = sorted((SOURCE / "wiring").glob("*.py"))
MOST_LINES = 2_000
LONGEST = 70  # lines of a function
MAY_KNOW = frozenset({"main", "services", "home", "config", "wiring", "errors", "types"})
"""Rooms that a command may use; a type alone may come from anywhere."""

LOWER = {
    "ahead.py": {
        "silas.language",
        "silas.plans.characters",
    },  # as text; no character of a plan steers the terminal
    # one of three kinds
    "approvals.py": {
        "silas.channels.text",
        "silas.language.calendar",  # moments in words
        "silas.work.changes.held_store",
    },
    "audit.py": {"silas.audit"},  # a head that was named by hand
    "demo.py": {
        "silas.cards",
        "silas.channels",
        "silas.plans",
        "silas.sandbox",
        "silas.stop",
    },  # a program of its own
    "batch.py": {"silas.plans.characters"},  # as above
    "commands.py": {"silas.plans.characters"},  # as above
    "calls.py": {"silas.language.calendar"},  # moments in words
    "conversations.py": {"silas.language.calendar", "silas.plans.characters"},  # as above
    "devices.py": {"silas.language.calendar"},  # as above
    "goals.py": {"silas.plans.characters"},  # as above
    "inspect.py": {"silas.channels", "silas.channels.terminal_colour"},  # a card on a terminal
    "keys.py": {"silas.keys.key_ring", "silas.language.calendar"},  # a fingerprint; moments
    "mcp.py": {"silas.channels.mcp"},  # the channel that it serves
    "memory.py": {
        "silas.language.calendar",  # moments in words
        "silas.memory.bundle_rules",
        "silas.plans.characters",
    },  # whose a bundle is; no character of a memory steers the terminal
    "output.py": {"silas.channels.terminal_colour", "silas.workspace.diff"},  # colours
    "remind.py": {"silas.plans.characters", "silas.reminders.words"},  # reminders as text
    "shared.py": {"silas.language", "silas.sandbox", "silas.stop"},  # an error; whether stopped
    "show.py": {
        "silas.channels.text",
        "silas.plans.characters",
        "silas.work.attempt",  # how work of a project is begun again
        "silas.work.report",
    },  # as text
    "skills.py": {"silas.plans", "silas.plans.characters", "silas.stop"},
    "start.py": {"silas.stop", "silas.stream.session"},  # whether stopped; the current directory
    "stop.py": {"silas.stop"},  # whether stopped
    "terminal.py": {
        "silas.channels",
        "silas.channels.terminal_colour",
        "silas.clock",
    },  # channel
    "work.py": {"silas.plans.characters", "silas.tools"},  # how a run asks
}
"""What commands use of lower rooms all the same: types, errors, and text for a terminal."""


def _functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path.name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_wiring_is_small() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in WIRING]
    assert sum(lines) < MOST_LINES


def test_no_function_of_wiring_is_long() -> None:
    found = {name: lines for path in WIRING for name, lines in _functions(path)}
    assert found
    assert {name: lines for name, lines in found.items() if lines > LONGEST} == {}


def _only_defers(node: ast.Lambda) -> bool:
    """Whether it looks something up later that may not be there yet: order of making does that."""
    asked = node.body.elts if isinstance(node.body, ast.Tuple) else [node.body]
    return not node.args.args and all(isinstance(one, ast.Attribute | ast.Name) for one in asked)


def test_nothing_of_wiring_is_looked_up_later() -> None:
    found = [
        f"{path.name}:{node.lineno}"
        for path in WIRING
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Lambda) and _only_defers(node)
    ]
    assert found == []


def _runtime_imports(path: Path) -> set[str]:
    """Modules of Silas that a file imports when it runs, not for its types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    return {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and id(node) not in types
    }


def test_commands_ask_services_and_no_lower_room() -> None:
    lower = {
        path.name: found
        for path in sorted((SOURCE / "main").rglob("*.py"))
        if (
            found := {
                name
                for name in _runtime_imports(path)
                if name.startswith("silas.") and name.split(".")[1] not in MAY_KNOW
            }
        )
    }
    assert lower == LOWER
