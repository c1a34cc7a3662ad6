"""Nobody looks on: no plugin, no trace and no word of PydanticAI's own unless it was asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waits import SECONDS

ROOT = Path(__file__).parents[2]

PLUGIN = """
from pathlib import Path
Path(__file__).with_name("loaded").touch()

class Spy:
    def new_schema_validator(self, *args):
        return None, None, None

spy = Spy()
"""

# A route by the built-in model, with a tracer that notes each span somebody opens.
ROUTE = """
import asyncio, sys
from datetime import UTC, datetime
from opentelemetry import trace

spans = []

class Tracer(trace.NoOpTracer):
    def start_span(self, name, *args, **kwargs):
        spans.append(name)
        return super().start_span(name, *args, **kwargs)

class Provider(trace.NoOpTracerProvider):
    def get_tracer(self, *args, **kwargs):
        return Tracer()

trace.set_tracer_provider(Provider())
from silas.agents import ProxyAgent, TurnRequest
from silas.agents.runbook.model import RunbookModel
from silas.plans import PlanLibrary
from silas.testing import MockClock
from pydantic_ai import Agent
from pydantic_ai.toolsets import FunctionToolset

if sys.argv[1] == "asked":
    Agent.instrument_all()
model = RunbookModel(PlanLibrary([]), None, None, None)
proxy = ProxyAgent(model, MockClock(), output="auto", default_profile="c")
turn = TurnRequest("hello", now=datetime(2026, 1, 2, tzinfo=UTC), profiles=("c",))
asyncio.run(proxy.route(turn, toolset=FunctionToolset(), deps=None))
print(len(spans))
"""


def python(
    *arguments: str, path: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that knows nothing of pytest, which PydanticAI would notice."""
    return subprocess.run(
        [sys.executable, *arguments],
        env={"PYTHONPATH": f"{ROOT}{os.pathsep}{path}", "HOME": str(path), **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )


@pytest.mark.proves("A25-NO-INSTRUMENTATION")
@pytest.mark.parametrize(
    "arguments",
    [("-c", "from silas import SilasConfig"), ("-m", "silas", "config", "show")],
    ids=["library", "command"],
)
@pytest.mark.parametrize(
    ("environment", "loaded"),
    [({}, False), ({"PYDANTIC_DISABLE_PLUGINS": ""}, True)],
    ids=["silent", "asked for"],
)
def test_an_installed_plugin_of_pydantic_is_loaded_only_when_asked_for(
    tmp_path: Path, arguments: tuple[str, ...], environment: dict[str, str], loaded: bool
) -> None:
    (tmp_path / "spy.py").write_text(PLUGIN)
    facts = tmp_path / "spy-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[pydantic]\nspy = spy:spy\n")
    python(*arguments, path=tmp_path, **environment)
    assert (tmp_path / "loaded").exists() is loaded


@pytest.mark.proves("A25-NO-INSTRUMENTATION")
@pytest.mark.parametrize("asked", ["not", "asked"])
def test_a_model_run_opens_a_span_only_when_asked_for(tmp_path: Path, asked: str) -> None:
    ran = python("-c", ROUTE, asked, path=tmp_path)
    assert (int(ran.stdout) > 0) is (asked == "asked")


ASK = """
import asyncio
from silas.testing import Harness

async def main():
    async with Harness() as house:
        await house.silas.ask("hello")

asyncio.run(main())
"""


def test_the_terminal_shows_no_words_of_pydantic_ai(tmp_path: Path) -> None:
    # PydanticAI takes whoever runs a program that calls itself an agent for a reader.
    assert python("-c", ASK, path=tmp_path, AI_AGENT="reader").stderr == ""
