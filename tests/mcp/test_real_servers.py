"""Servers that others wrote, as anybody would run them, in the sandbox and through the one door."""

import sys
from pathlib import Path
from typing import Any

from silas.testing import CallTool
from tests.mcp.house import ENVIRONMENT, house, trust

BIN = Path(sys.executable).parent
NOON = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}


def server(name: str, *args: str, **handling: Any) -> dict[str, Any]:
    """The settings of one server of this environment."""
    entry = {"command": str(BIN / f"mcp-server-{name}"), "args": list(args)}
    return {"mcpServers": {name: entry}, "mcp": {name: {"read": ENVIRONMENT, **handling}}}


async def test_the_time_server_answers_through_the_door_once_its_owner_trusts_it(
    tmp_path: Path,
) -> None:
    settings = server("time", "--local-timezone=UTC")
    await trust(tmp_path, settings, "time")
    async with house(tmp_path, settings, CallTool("time__convert_time", NOON)) as at:
        result = await at.work()
        assert "T21:00:00+09:00" in at.last_said
        [card] = at.questions
        [call] = [e for e in await at.events("tool_call.succeeded")]
    assert result.status.value == "done"
    assert card.tool_name == call["tool"] == "time__convert_time"
    assert call["taint"] == "external"
