"""`silas/wiring` assembles and does nothing else; what commands ask for are services."""

import ast
from pathlib import Path

import pytest

import silas

SOURCE = Path(str(silas.__file__)).parent
WIRING = sorted((SOURCE / "wiring").glob("*.py"))
MOST_LINES = 2_000
MAY_KNOW = frozenset(
    {"main", "services", "home", "config", "wiring", "errors", "types", "language"}
)
"""Rooms that a command may use, its sentences included; a type alone may come from anywhere."""

LOWER = {
    "ahead.py": {
        "silas.plans.characters",
    },  # as text; no character of a plan steers the terminal
    "approvals.py": {
        "silas.channels.text",
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
    "conversations.py": {
        "silas.plans.characters",
    },  # as above
    "goals.py": {
        "silas.audit.outcomes",  # how a cycle ended, in words
        "silas.plans.characters",
    },
    "inspect.py": {
        "silas.channels",  # a card on a terminal
        "silas.channels.terminal_colour",
    },
    "keys.py": {"silas.keys.key_ring"},  # a fingerprint; moments
    "mcp.py": {"silas.channels.mcp"},  # the channel that it serves
    "memory.py": {
        "silas.memory.bundle_rules",
        "silas.plans.characters",
    },  # whose a bundle is; no character of a memory steers the terminal
    "output.py": {
        "silas.channels.terminal_colour",
        "silas.plans.characters",
        "silas.work.end_words",
        "silas.workspace.diff",
    },  # colours; why work did not succeed and titles, as text
    "remind.py": {
        "silas.plans.characters",
        "silas.reminders.words",
    },  # reminders as text
    "shared.py": {"silas.sandbox", "silas.stop"},  # an error; whether stopped
    "show.py": {
        "silas.channels.text",
        "silas.plans.characters",
        "silas.work.attempt",  # how work of a project is begun again
        "silas.work.end_words",
        "silas.work.report",
    },  # as text
    "skills.py": {"silas.plans", "silas.plans.characters", "silas.stop"},
    "start.py": {
        "silas.stop",
        "silas.stream.session",
    },  # whether stopped; the current directory
    "stop.py": {"silas.stop"},  # whether stopped
    "terminal.py": {
        "silas.channels",
        "silas.channels.terminal_colour",
        "silas.clock",
    },  # channel
    "work.py": {"silas.plans.characters", "silas.tools"},  # how a run asks
}
"""What commands use of lower rooms all the same: types, errors, and text for a terminal."""


def test_wiring_is_small() -> None:
    lines = [len(path.read_text(encoding="utf-8").splitlines()) for path in WIRING]
    assert sum(lines) < MOST_LINES


_DECIDES = (
    ast.Lambda,
    ast.BoolOp,
    ast.Compare,
    ast.Not,
    ast.Match,
    ast.While,
    ast.Raise,
    ast.ExceptHandler,
    ast.SetComp,
    ast.DictComp,
    ast.AugAssign,
    ast.Delete,
)
"""What wiring has none of: it neither compares nor combines, nor catches, counts or collects."""

_FLAGS = {"TYPE_CHECKING", "resume", "config.scheduler.enabled"}
"""Names that choose what is there, each by itself: the one branch that assembly may take."""


def _decides(node: ast.AST) -> bool:
    """Whether this is more than making objects and handing them to each other.

    Allowed are calls, names, paths (`data / "undo"`), loops that begin or end what was made, and
    `if` by a bare flag. A function within a function is a lambda with a name, and counts as one.
    """
    if isinstance(node, ast.If | ast.IfExp):
        return ast.unparse(node.test) not in _FLAGS
    if isinstance(node, ast.comprehension):
        return bool(node.ifs)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        inner = (one for one in ast.walk(node) if one is not node)
        return any(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in inner)
    return isinstance(node, _DECIDES) and not (
        isinstance(node, ast.Delete) and all(isinstance(one, ast.Name) for one in node.targets)
    )


def _deciding(source: str) -> list[str]:
    """What of a module decides, as it is written."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(source)) if _decides(node)]


def test_nothing_of_wiring_decides() -> None:
    found = {path.name: _deciding(path.read_text(encoding="utf-8")) for path in WIRING}
    assert {name: nodes for name, nodes in found.items() if nodes} == {}


@pytest.mark.parametrize(
    "source",
    [
        "make(lambda: self.goals().approved)",
        "make(lambda item: entry.unable(item))",
        "busy = stream.pressure > 0",
        "word = one or other",
        "asked = {card.id for card in cards}",
        "wanted = [one for one in loaded if one.why]",
        "left = arrivals.left() if lease.alone else ()",
        "async def outer():\n    async def run_task(): await executor.execute()",
        "if one.why: note(one)",
        "try: link()\nexcept Stopped: pass",
    ],
)
def test_what_decides_is_found(source: str) -> None:
    assert _deciding(source)


def test_wiring_has_records_and_makers_but_no_state_that_changes() -> None:
    """After its constructor nothing of an object is set."""
    found = [
        f"{path.name}: {ast.unparse(node)}"
        for path in WIRING
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        and function.name != "__init__"
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
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
