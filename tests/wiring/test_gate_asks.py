"""A gate that wants a person to look is not satisfied by a plan that was approved before."""

from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel, plan_text

GATE = {"name": "look", "on": "on_tool_call", "type": "approval_always"}


@pytest.mark.parametrize(("answer", "status"), [("approve", "done"), ("decline", "stuck")])
async def test_a_gate_that_always_asks_asks_for_a_call_inside_the_approved_plan(
    answer: str, status: str
) -> None:
    def owner(card: Card[Any]) -> Any:
        return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else answer

    channel = ScriptedChannel(owner)
    write = CallTool("shell_exec", {"argv": ["sh", "-c", "echo done > result.txt"]})
    executor = ScriptedModel([write, ExecutorAgentOutput(summary="tried")])
    plan = plan_text(gates=[GATE], budget={"max_attempts": 1})
    async with Harness(channel, models={"executor": executor}) as harness:
        result = await harness.silas.run(plan)
    asked = [card for card in channel.cards if isinstance(card, ToolCallCard)]
    assert result.status == status
    assert [card.tool_name for card in asked] == ["shell_exec"]
