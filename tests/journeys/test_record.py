"""The record of a whole job, kept without anybody asking for it."""

import json

import pytest

from silas.agents import ExecutorAgentOutput
from silas.audit import AuditLog
from silas.cards import PlanAnswer
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel, plan_text

STORY = [
    "stream_started",
    "plan_proposed",
    "approval.issued",
    "approval.used",
    "plan_approved",
    "work_item_attempt",
    "tool_call.attempted",
    "tool_call.succeeded",
    "verification_finished",
    "work_item_finished",
    "stream_stopped",
]


@pytest.mark.proves("S0.5-AUDIT-ALWAYS-CAPTURED")
async def test_a_job_leaves_its_whole_story_in_order_and_the_chain_holds() -> None:
    channel = ScriptedChannel(lambda card: PlanAnswer(verdict="approved"))
    write = CallTool("shell_exec", {"argv": ["sh", "-c", "echo done > result.txt"]})
    executor = ScriptedModel([write, ExecutorAgentOutput(summary="written")])
    async with Harness(channel, models={"executor": executor}) as harness:
        result = await harness.silas.run(plan_text())
        assert result.status == "done"
        await harness.silas.stream.stop()
        assert isinstance(harness.audit, AuditLog)
        entries = await harness.audit.entries(0, 1000)
        verdict = await harness.audit.verify_chain()
    events = [json.loads(entry.body)["event"] for entry in entries]
    assert verdict.valid
    assert [event for event in events if event in STORY] == STORY
