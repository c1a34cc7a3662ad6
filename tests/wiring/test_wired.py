"""Nothing is left unwired, nothing heavy is loaded unasked, and closing gives everything back."""

import inspect
import json
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from silas.testing import Harness
from silas.work.authority.task_authority import PLAN_TOOLS
from tests.support.command import environment, run

HEAVY = ("pydantic", "pydantic_ai", "sqlite3", "nacl", "keyring", "yaml", "httpx", "openai")
MAY_BE_NONE = {
    ("_Held", "owner"),  # nobody is writing
    ("Devices", "directory"),  # only root needs device nodes of its own
    ("OutputForm", "form_refused"),  # a fact of the server, learned with the first refusal
    ("RunbookModel", "settings"),  # PydanticAI's, of any model
}


def parts_of(thing: object) -> Iterator[tuple[str, object]]:
    """The attributes of an object of ours, and what is in its collections."""
    slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ())]
    values = {**getattr(thing, "__dict__", {}), **{n: getattr(thing, n, None) for n in slots}}
    yield from values.items()


def inside(value: object) -> Iterator[object]:
    """An object itself, or what a collection or a bound method holds."""
    if isinstance(value, Mapping):
        yield from value.values()  # pyright: ignore[reportUnknownVariableType] - anything
    elif isinstance(value, list | tuple | set | frozenset | deque):
        yield from value  # pyright: ignore[reportUnknownVariableType] - anything
    elif inspect.ismethod(value):
        yield value.__self__
    elif inspect.isfunction(value):
        for cell in value.__closure__ or ():
            yield cell.cell_contents
    else:
        yield value


def wired_objects(root: object) -> list[object]:
    """Every object of a class of Silas's that can be reached; data is not followed."""
    seen: dict[int, object] = {}
    waiting: deque[object] = deque([root])
    while waiting:
        thing = waiting.popleft()
        module = type(thing).__module__
        ours = module.startswith("silas.") and module != "silas.testing.harness"
        if id(thing) in seen or not ours or isinstance(thing, BaseModel):
            continue
        seen[id(thing)] = thing
        for _, value in parts_of(thing):
            waiting.extend(inside(value))
    return list(seen.values())


@pytest.mark.proves("S12-WIRED-BY-CONSTRUCTOR")
async def test_no_dependency_of_any_wired_object_is_missing() -> None:
    async with Harness() as h:
        await h.silas.ask("hello")
        objects = wired_objects(h.silas)
        missing = [
            f"{type(thing).__name__}.{name}"
            for thing in objects
            for name, value in parts_of(thing)
            if value is None and (type(thing).__name__, name.lstrip("_")) not in MAY_BE_NONE
        ]
    reached = {type(thing).__name__ for thing in objects}
    assert missing == []
    assert reached >= {
        "ApprovalEngine", "Database", "Dispatcher", "Escalator", "ExecutorAgent",
        "GateRunner", "OwnerQuestions", "PlannerAgent", "PredicateProvider", "Proposer",
        "ProxyAgent", "Router", "ScriptedChannel", "SenderIdentity", "SqlNonceStore",
        "KeptAuditLog", "SqlOutcomeStore",
        "SqlWorkItemStore", "StepGates", "Stream", "TaskRunner", "ToolExecutor", "ToolRegistry",
        "TurnProcessor", "TurnSteps", "Undo", "VerificationRunner", "WorkItemExecutor",
    }  # fmt: skip


async def test_the_tools_of_the_sandbox_are_registered_with_its_scope() -> None:
    async with Harness() as h:
        rows = {row["name"]: row["scopes"] for row in h.silas.tool_rows()}
    assert {name for name, scopes in rows.items() if scopes == ["sandbox.execute"]} == PLAN_TOOLS


@pytest.mark.proves("A25-LIGHT-IMPORT")
@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_the_front_page_loads_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    code = (
        "import sys, json\n"
        "from silas.main import cli\n"
        f"try: cli({words!r})\n"
        "except SystemExit as end: code = end.code\n"
        "print(json.dumps([code, sorted(m.partition('.')[0] for m in sys.modules)]))"
    )
    done = run([sys.executable, "-c", code], environment(tmp_path))
    status, modules = json.loads(done.out.splitlines()[-1])
    assert status == 0
    assert "click" in modules
    assert sorted(set(modules) & {*HEAVY, "json.decoder", "pathlib", "asyncio"}) == []


@pytest.mark.parametrize(("words", "unused"), [("status", "pydantic_ai"), ("plan", "pydantic_ai")])
def test_looking_loads_no_model_library(words: str, unused: str, tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run([sys.executable, "-m", "silas", "init"], env).code == 0
    plan = Path(__file__).resolve().parents[2] / "plans" / "trade-weather.md"
    given = ["status"] if words == "status" else ["plan", "check", str(plan)]
    code = (
        "import sys\n"
        "from silas.main import cli\n"
        f"try: cli({given!r})\n"
        "except SystemExit as end: code = end.code\n"
        f"print(code, {unused!r} in sys.modules)"
    )
    done = run([sys.executable, "-c", code], env)
    assert done.out.splitlines()[-1] == "0 False"


OPENS = """
import asyncio, os, sys, threading
from pathlib import Path
from silas import Silas, load_config
from silas.testing import ScriptedChannel
from silas.services.setup.initialise import initialise

def files(): return len(os.listdir("/proc/self/fd"))

async def main():
    config = load_config()
    await initialise(config)
    counts = []
    for _ in range(20):
        async with Silas.open(config, channel=ScriptedChannel()) as silas:
            await silas.ask("hello")
        counts.append(files())
    print(counts[0], counts[-1])

asyncio.run(main())
print([t.name for t in threading.enumerate() if not t.daemon])
"""


def test_opening_and_closing_twenty_times_leaves_no_file_and_no_thread(tmp_path: Path) -> None:
    done = run([sys.executable, "-W", "error", "-c", OPENS], environment(tmp_path / "home"))
    assert done.code == 0, done.err
    counts, threads = done.out.splitlines()
    first, last = counts.split()
    assert first == last
    assert threads == "['MainThread']"
    assert done.err == ""
