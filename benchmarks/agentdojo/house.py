"""A Silas as its owner would have it: set up by `silas init`, with AgentDojo's tools mounted."""

import json
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.agentdojo.suites import Suite
from benchmarks.agentdojo.toolset import settings
from silas import Silas, load_config
from silas.services.setup.initialise import initialise
from silas.testing import ScriptedChannel

_TOOLSET: Final = "benchmarks.agentdojo.toolset.DojoTools"
_ROLES: Final = ("proxy", "planner", "executor")


@asynccontextmanager
async def a_house(
    suite: Suite, version: str, channel: ScriptedChannel, *, pages_are_read: bool = False
) -> AsyncGenerator[Silas]:
    """A running Silas with the tools of one suite, in a home that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="silas-dojo-", dir=_place()) as home:
        path = Path(home) / "config.yaml"
        path.write_text(
            json.dumps({"silas": _settings(suite, version, pages_are_read)}), encoding="utf-8"
        )
        config = load_config(path, environ={"SILAS_HOME": home})
        await initialise(config)
        async with Silas.open(config, channel=channel) as silas:
            yield silas


def _place() -> str | None:
    """In memory where there is such a place: what is measured here is not how fast a disk is."""
    memory = Path("/dev/shm")
    return str(memory) if os.access(memory, os.W_OK) else None


def _settings(suite: Suite, version: str, pages_are_read: bool) -> dict[str, Any]:
    """The configuration file; JSON is YAML, too."""
    tools = [tool.name for tool in suite.suite.tools]
    said = settings(tools, pages_are_read=pages_are_read)
    mounted = {"suite": suite.name, "version": version, **said}
    return {
        "models": {role: f"python:benchmarks.agentdojo.model:{role}" for role in _ROLES},
        "limits": {"llm_calls_per_minute_per_scope": 100_000},  # programs type no slower
        "toolset_allow": [_TOOLSET],
        "toolsets": {_TOOLSET: mounted},
    }
