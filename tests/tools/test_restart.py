"""The journal of calls over a restart of a whole Silas."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from silas.testing import FakeSandbox, FakeTool, Harness, MockClock
from silas.testing.tools import a_context, exit_result, unsafe_approve_all
from silas.tools import (
    CallFacts,
    DuplicateKey,
    OutcomeUnknown,
    RiskLevel,
    ToolConfig,
    ToolResult,
)
from tests.support.waits import SECONDS

ON, OFF = {"state": "on"}, {"state": "off"}


class House:
    """A Silas with a lamp, to be opened again and again in one place."""

    def __init__(self, home: Path) -> None:
        self.home, self.clock = home, MockClock()

    async def call(self, lamp: FakeTool, args: dict[str, Any], key: str) -> ToolResult:
        """Open it, make one call, close it."""
        sandbox = FakeSandbox(lambda run: exit_result())
        async with Harness(home=self.home, clock=self.clock, sandbox=sandbox) as h:
            config = ToolConfig(connector_id="test", risk_default=RiskLevel.low)
            h.silas.registry.register(lamp, config)
            context = a_context(authorise=unsafe_approve_all, idempotency_key=key)
            return await soon(h.tools.call("lamp", "run", args, context))


async def soon(what: Awaitable[ToolResult]) -> ToolResult:
    async with asyncio.timeout(SECONDS):
        return await what


def a_lamp(**tool: Any) -> FakeTool:
    return FakeTool("lamp", facts=CallFacts(state_changing=True), **tool)


@pytest.mark.proves("C-REPEAT-DEDUPED", "C-KEY-REUSE-IS-ERROR", "C-UNKNOWN-IS-NOT-SUCCESS")
async def test_what_a_call_became_is_known_after_a_restart(tmp_path: Path) -> None:
    house = House(tmp_path)
    first = await house.call(a_lamp(), ON, "key-1")
    assert first.ok
    assert not first.deduped
    again = a_lamp()
    repeated = await house.call(again, ON, "key-1")
    assert repeated.deduped
    assert repeated.return_value == first.return_value
    other = a_lamp()
    with pytest.raises(DuplicateKey):
        await house.call(other, OFF, "key-1")
    assert again.calls == other.calls == []


@pytest.mark.proves("TR-UNKNOWN")
async def test_a_call_whose_connection_was_lost_stays_unknown_over_a_restart(
    tmp_path: Path,
) -> None:
    async def lost(request: dict[str, Any]) -> ToolResult:
        raise ConnectionResetError

    house = House(tmp_path)
    with pytest.raises(OutcomeUnknown):
        await house.call(a_lamp(work=lost), ON, "key-1")
    again = a_lamp()
    with pytest.raises(OutcomeUnknown) as caught:
        await house.call(again, ON, "key-1")
    assert not caught.value.repeatable
    assert again.calls == []
    harmless = a_lamp(idempotent=True)
    assert (await house.call(harmless, ON, "key-1")).ok
    assert harmless.calls == [ON]
