"""A server behind an address: the official SDK's own, on this machine's loopback."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import uvicorn
from mcp.server.lowlevel import Server
from pydantic import ValidationError

from silas.config import SilasConfig
from silas.errors import Stopped
from silas.sandbox.bubblewrap.resident import UNREAD_BYTES
from silas.services.mcp_servers.trust_card import server_lines
from silas.stop import Sentinel
from silas.testing import CallTool
from tests.mcp.house import house, service, trust
from tests.support.waits import SECONDS

ACT = CallTool("web__act", {"what": "it"})
SECRET = "Bearer 8f2c1b7e-none-may-see"
SCHEMA = {"type": "object", "properties": {"what": {"type": "string"}}}


class Web:
    """What a server over HTTP offers, and what it saw."""

    def __init__(self) -> None:
        self.description = "Acts."
        self.answer = "acted"
        self.broken = False
        self.headers: list[dict[str, str]] = []

    def app(self) -> Any:
        async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
            tool = types.Tool(name="act", description=self.description, input_schema=SCHEMA)
            return types.ListToolsResult(tools=[tool])

        async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
            return types.CallToolResult(content=[types.TextContent(text=self.answer)])

        server: Server[Any] = Server("web", on_list_tools=list_tools, on_call_tool=call_tool)
        inner = server.streamable_http_app(json_response=True)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.headers.append({k.decode(): v.decode() for k, v in scope["headers"]})
            if self.broken and scope.get("method") == "POST":
                await send({"type": "http.response.start", "status": 502, "headers": []})
                await send({"type": "http.response.body", "body": b"bad gateway"})
                return
            await inner(scope, receive, send)

        return app


@asynccontextmanager
async def on_the_web(web: Web) -> AsyncGenerator[dict[str, Any]]:
    """The settings of this server, while it runs."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(web.app(), log_level="critical", lifespan="on", ws="none")
        server = uvicorn.Server(config)
        task = asyncio.create_task(server.serve([listening]))
        entry = {
            "url": f"http://127.0.0.1:{port}/mcp",
            "headers": {"Authorization": SECRET},
        }
        try:
            async with asyncio.timeout(SECONDS):
                while not server.started:
                    await asyncio.sleep(0.01)
            yield {"mcpServers": {"web": entry}, "mcp": {"web": {"timeout_seconds": SECONDS}}}
        finally:
            server.should_exit = True
            server.force_exit = True
            await asyncio.wait([task], timeout=SECONDS)


async def test_a_server_over_http_is_trusted_called_and_told_its_headers(tmp_path: Path) -> None:
    web = Web()
    web.answer = f"acted for {SECRET}"
    async with on_the_web(web) as settings:
        [look] = await trust(tmp_path, settings, "web")
        assert "is sent the headers: Authorization" in server_lines(look.entry)
        async with house(tmp_path, settings, ACT) as at:
            await at.work()
            assert "acted" in at.last_said
            tool = at.h.silas.registry.get("web__act")
            assert tool is not None
            assert tool.tool.facts("call", {}).egress
            assert SECRET not in repr(at.h.config)
            assert SECRET not in at.last_said
            assert "[secret mcpServers.web.headers.Authorization]" in at.last_said
    assert {seen["authorization"] for seen in web.headers} == {SECRET}


async def test_what_changed_over_http_is_out_of_use_as_anywhere(tmp_path: Path) -> None:
    web = Web()
    async with on_the_web(web) as settings:
        await trust(tmp_path, settings, "web")
        web.description = "Acts otherwise."
        async with house(tmp_path, settings) as at:
            assert at.health("web__act")[0] == "unavailable"


async def test_an_answer_over_http_is_bounded_and_its_outcome_unknown(tmp_path: Path) -> None:
    web = Web()
    web.answer = "x" * (UNREAD_BYTES + 1)
    async with on_the_web(web) as settings:
        await trust(tmp_path, settings, "web")
        async with house(tmp_path, settings, ACT) as at:
            await at.work()
            assert [e["tool"] for e in await at.events("tool_call.unknown")] == ["web__act"]


async def test_of_a_call_that_broke_off_over_http_the_outcome_is_unknown(tmp_path: Path) -> None:
    web = Web()
    async with on_the_web(web) as settings:
        await trust(tmp_path, settings, "web")
        async with house(tmp_path, settings, ACT) as at:
            web.broken = True
            await at.work()
            assert [e["tool"] for e in await at.events("tool_call.unknown")] == ["web__act"]
            await at.until("mcp.disconnected")


async def test_a_server_that_goes_away_over_http_is_found_out_at_the_next_call(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as running:
        settings = await running.enter_async_context(on_the_web(Web()))
        await trust(tmp_path, settings, "web")
        async with house(tmp_path, settings, ACT) as at:
            await running.aclose()
            await at.work()
            assert [e["tool"] for e in await at.events("tool_call.unknown")] == ["web__act"]
            await at.until("mcp.disconnected")
            assert "nobody answers at http://127.0.0.1:" in at.health("web__act")[1]


async def test_a_server_that_went_away_over_http_is_not_offered(tmp_path: Path) -> None:
    web = Web()
    async with on_the_web(web) as settings:
        await trust(tmp_path, settings, "web")
    async with house(tmp_path, settings) as at:
        assert at.health("web__act")[0] == "unavailable"


@pytest.mark.parametrize(
    "entry",
    [
        {"url": "http://example.com/mcp"},
        {"url": "https://you:secret@example.com/mcp"},
        {"url": "ftp://example.com"},
        {"url": "https://example.com/mcp", "command": "x"},
        {"url": "https://example.com/mcp", "args": ["x"]},
        {"command": "x", "headers": {"A": "b"}},
        {"command": "x", "type": "http"},
        {},
    ],
    ids=["plain http", "user", "scheme", "both", "args", "headers", "type", "neither"],
)
def test_an_entry_that_means_two_things_or_none_is_refused(
    entry: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ValidationError):
        SilasConfig.model_validate({"data_dir": tmp_path, "mcpServers": {"web": entry}})


@pytest.mark.parametrize("name", ["a__b", "a_", "", "a b", "x" * 32, "é", "a/b"])
def test_a_server_has_a_plain_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        SilasConfig.model_validate({"data_dir": tmp_path, "mcpServers": {name: {"command": "x"}}})


async def test_while_silas_is_stopped_no_address_is_reached(tmp_path: Path) -> None:
    web = Web()
    async with on_the_web(web) as settings:
        await trust(tmp_path, settings, "web")
        async with service(tmp_path, settings) as at:
            look = await at.look("web")
            sentinel = Sentinel(at.config.data_dir)
            sentinel.place()
            web.headers.clear()
            for refused in (at.look("web"), at.trust(look)):
                with pytest.raises(Stopped):
                    await refused
            [state] = await at.states()
            assert (state.standing, "Silas is stopped" in state.last_error) == ("down", True)
            assert web.headers == []
            sentinel.remove()
            [state] = await at.states()
            assert state.standing == "connected"
