"""Servers that others wrote, as anybody would run them, in the sandbox and through the one door."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from silas.testing import CallTool
from tests.mcp.conftest import NODE
from tests.mcp.house import ENVIRONMENT, house, trust

BIN = Path(sys.executable).parent
NOON = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


def server(name: str, *args: str, **handling: Any) -> dict[str, Any]:
    """The settings of one server of this environment."""
    entry = {"command": str(BIN / f"mcp-server-{name}"), "args": list(args)}
    read = [*ENVIRONMENT, *handling.pop("read", ())]
    return {"mcpServers": {name: entry}, "mcp": {name: {"read": read, **handling}}}


def node_server(modules: Path, name: str, *args: str, **handling: Any) -> dict[str, Any]:
    """The settings of one server that is an npm package."""
    main = modules / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    env = handling.pop("env", {})
    node = Path(NODE or "node").resolve()
    entry = {"command": str(node), "args": [str(main), *args], "env": env}
    read = [str(modules), *([] if node.is_relative_to("/usr") else [str(node.parents[1])])]
    return {"mcpServers": {name: entry}, "mcp": {name: {"read": read, **handling}}}


async def test_the_time_server_answers_through_the_door_once_its_owner_trusts_it(
    tmp_path: Path,
) -> None:
    settings = server("time", "--local-timezone=UTC")
    await trust(tmp_path, settings, "time")
    async with house(tmp_path, settings, CallTool("time__convert_time", NOON)) as at:
        result = await at.work()
        assert "T21:00:00+09:00" in at.last_said
        [card] = at.questions
        [call] = await at.events("tool_call.succeeded")
    assert result.status.value == "done"
    assert card.tool_name == call["tool"] == "time__convert_time"
    assert call["taint"] == "external"


async def test_a_plan_that_grants_a_call_of_a_server_covers_it_and_no_other(
    tmp_path: Path,
) -> None:
    settings = server("time", "--local-timezone=UTC")
    await trust(tmp_path, settings, "time")
    granted = [{"tool": "time__convert_time", "args": NOON}]
    steps = [
        CallTool("time__convert_time", NOON),
        CallTool("time__convert_time", {**NOON, "time": "13:00"}),
    ]
    async with house(tmp_path, settings, *steps) as at:
        await at.work(tools=granted)
        assert "T21:00:00+09:00" in at.model.requests[1].text
        assert "T22:00:00+09:00" not in at.last_said
        assert at.questions == []


async def test_a_tool_that_its_owner_calls_a_harmless_read_asks_nobody(tmp_path: Path) -> None:
    reads = {"reads": ["convert_time"], "rate": {"convert_time": "low"}}
    settings = server("time", "--local-timezone=UTC", **reads)
    await trust(tmp_path, settings, "time")
    async with house(tmp_path, settings, CallTool("time__convert_time", NOON)) as at:
        await at.work()
        assert "T21:00:00+09:00" in at.last_said
        assert at.questions == []
        tool = at.h.silas.registry.get("time__convert_time")
        assert tool is not None
        facts = tool.tool.facts("call", {})
        assert (facts.state_changing, facts.egress) == (False, False)


async def test_the_git_server_sees_the_repository_that_was_named_and_no_other(
    tmp_path: Path,
) -> None:
    seen, unseen = tmp_path / "seen", tmp_path / "unseen"
    for place in (seen, unseen):
        subprocess.run(["git", "init", "-q", str(place)], check=True)
        (place / "new.txt").write_text("new\n")
    settings = server("git", read=[str(seen)], reads=["git_status"], rate={"git_status": "low"})
    await trust(tmp_path, settings, "git")
    calls = [CallTool("git__git_status", {"repo_path": str(place)}) for place in (seen, unseen)]
    async with house(tmp_path, settings, *calls) as at:
        await at.work()
        first, second = (at.model.requests[n].text for n in (1, 2))
        events = [e["event"] for e in await at.events("tool_call.succeeded", "tool_call.failed")]
    assert "new.txt" in first
    assert second.count("new.txt") == 1
    assert events == ["tool_call.succeeded", "tool_call.failed"]


@needs_node
async def test_the_filesystem_server_reads_only_what_was_named_where_node_is_installed(
    tmp_path: Path, node_servers: Path
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "note.txt").write_text("a note\n")
    settings = node_server(node_servers, "filesystem", str(files))
    settings["mcp"]["filesystem"]["read"].append(str(files))
    await trust(tmp_path, settings, "filesystem")
    steps = [
        CallTool("filesystem__read_text_file", {"path": str(files / "note.txt")}),
        CallTool("filesystem__write_file", {"path": str(files / "new.txt"), "content": "x"}),
        CallTool("filesystem__read_text_file", {"path": "/etc/hostname"}),
    ]
    async with house(tmp_path, settings, *steps) as at:
        await at.work()
        events = [e["event"] for e in await at.events("tool_call.succeeded", "tool_call.failed")]
        assert "a note" in at.last_said
    assert events == ["tool_call.succeeded", "tool_call.failed", "tool_call.failed"]
    assert os.listdir(files) == ["note.txt"]


@needs_node
async def test_the_memory_server_keeps_what_it_is_told_in_the_place_named_where_node_is_installed(
    tmp_path: Path, node_servers: Path
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    env = {"MEMORY_FILE_PATH": str(kept / "memory.jsonl")}
    settings = node_server(node_servers, "memory", env=env, write=[str(kept)])
    await trust(tmp_path, settings, "memory")
    entity = {"name": "Berlin", "entityType": "city", "observations": ["on the Spree"]}
    step = CallTool("memory__create_entities", {"entities": [entity]})
    async with house(tmp_path, settings, step) as at:
        await at.work()
        assert len(await at.events("tool_call.succeeded")) == 1
    assert json.loads((kept / "memory.jsonl").read_text())["name"] == "Berlin"


@needs_node
async def test_the_everything_server_gets_nothing_of_its_owner_where_node_is_installed(
    tmp_path: Path, node_servers: Path
) -> None:
    settings = node_server(node_servers, "everything", "stdio")
    [look] = await trust(tmp_path, settings, "everything")
    assert {"echo", "get-env", "get-tiny-image"} <= set(look.listing.definitions)
    steps = [
        CallTool("everything__echo", {"message": "hello there"}),
        CallTool("everything__get-tiny-image", {}),
        CallTool("everything__get-env", {}),
    ]
    async with house(tmp_path, settings, *steps) as at:
        await at.work()
        told = at.last_said
        assert len(await at.events("tool_call.succeeded")) == 3
    assert "hello there" in told
    assert "image/png" in told
    assert "not shown" in told
    assert set(json.loads(told[told.rindex('{') : told.rindex("}") + 1])) <= {
        "PATH", "HOME", "LANG", "PWD",
    }  # fmt: skip
