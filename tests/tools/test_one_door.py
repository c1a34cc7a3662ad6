"""What no test of behaviour can see: that there is no second way to a tool, and no back window."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import silas

SOURCE = Path(str(silas.__file__)).parent
ADAPTERS = (
    "builtin/base.py",
    "builtin/sandboxed.py",
    "builtin/shell.py",
    "builtin/python.py",
    "interpreter.py",
)

# Where a tool would learn about the system instead of being told: the process, its environment,
# the clock, the network, the configuration, the state of other rooms.
SYSTEM = {"os", "sys", "time", "datetime", "socket", "subprocess", "getpass", "platform", "asyncio"}
STATE = (
    "silas.config",
    "silas.db",
    "silas.clock",
    "silas.audit",
    "silas.home",
    "silas.services",
    "silas.wiring",
    "silas.keys",
)


def modules() -> Iterator[Path]:
    """Everything that runs in a product; the test kit calls its own fakes as it likes."""
    return (path for path in SOURCE.rglob("*.py") if "testing" not in path.parts)


def uses_of_a_tool(source: str) -> set[str]:
    """The methods of the tool behind a registered tool (`.tool.tool`) that are called."""
    return {
        node.func.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == "tool"
    }


def three_arguments(source: str) -> set[str]:
    """Calls in the shape of `BaseTool.execute(action, request, context)`, whatever the receiver."""
    return {
        node.func.attr
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("execute", "preview")
        and len(node.args) + len(node.keywords) == 3
    }


_CALLED = re.compile(r"\.\s*(execute|preview)\b")  # none: nothing to look for


@pytest.mark.proves("TR-ONE-DOOR")
def test_only_the_door_executes_or_previews_a_tool() -> None:
    found = {
        (str(path.relative_to(SOURCE)), name)
        for path in modules()
        if _CALLED.search(text := path.read_text(encoding="utf-8"))
        for reader in (uses_of_a_tool, three_arguments)
        for name in reader(text) & {"execute", "preview"}
    }
    assert found == {
        ("tools/attempt.py", "execute"),
        ("tools/assessed_call.py", "preview"),
        ("tools/builtin/shell.py", "execute"),  # its own, as its base class does it
    }


@pytest.mark.proves("TR-ONE-DOOR")
def test_the_steps_that_attempt_and_preview_are_used_by_the_door_alone() -> None:
    names = {"Attempts", "preview_of"}
    users = {
        str(path.relative_to(SOURCE))
        for path in modules()
        if any(name in (text := path.read_text(encoding="utf-8")) for name in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    }
    assert users == {"tools/executor.py"}


def imports(source: str) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.proves("TR-CONTEXT-IS-THE-CARRIER")
@pytest.mark.parametrize("name", ADAPTERS)
def test_a_built_in_tool_has_no_way_to_look_at_the_system(name: str) -> None:
    used = imports((SOURCE / "tools" / name).read_text(encoding="utf-8"))
    assert {module for module in used if module.split(".")[0] in SYSTEM} == set()
    assert {module for module in used if module.startswith(STATE)} == set()


def test_the_scans_see_what_they_look_for() -> None:
    bad = (
        "import os.path\nasync def f(t): await t.tool.execute(a, b, context=c); t.preview(1, 2, 3)"
    )
    assert uses_of_a_tool(bad) == {"execute"}
    assert three_arguments(bad) == {"execute", "preview"}
    assert imports(bad) == {"os.path"}
