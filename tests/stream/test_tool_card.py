"""A call that the plan does not cover is asked about, by its exact arguments, each time."""

from typing import Any

import pytest

from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.errors import ChannelError
from silas.plans import WorkItemResult
from silas.testing import (
    CallTool,
    FakeTool,
    Harness,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.tools import RiskLevel, ToolConfig
from silas.types import OWNER, Risk
from tests.stream.kit import done_sandbox, entries_of, ran, soon

LETTER = {"to": "eve", "text": "hello\u202e there"}


class Approving(ScriptedChannel):
    """Approves the plan; answers calls as told, and notes who was asked."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self._answers = list(answers)
        self.asked: list[ToolCallCard] = []
        self.to: list[str] = []

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.to.append(to)
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved")
        assert isinstance(card, ToolCallCard)
        self.asked.append(card)
        return self._answers.pop(0)


class Run:
    """One task whose executor makes the given calls of a tool `post`."""

    def __init__(self, channel: ScriptedChannel, *calls: dict[str, str]) -> None:
        self.tool = FakeTool("post", requires_authority=True)
        steps = [CallTool("post", call) for call in calls]
        self.model = ScriptedModel([*steps, ran()])
        self.harness = Harness(channel, models={"executor": self.model}, sandbox=done_sandbox())

    async def __call__(self, risk: RiskLevel = RiskLevel.medium) -> WorkItemResult:
        async with self.harness as h:
            h.silas.registry.register(self.tool, ToolConfig(connector_id="mail", risk_default=risk))
            result = await soon(h.silas.run(plan_text()))
            self.used = await entries_of(h, "approval.used")
            self.denied = await entries_of(h, "gate.denied")
            self.issued = await entries_of(h, "approval.issued")
        return result


@pytest.mark.parametrize(
    ("risk", "shown"), [(RiskLevel.medium, Risk.medium), (RiskLevel.high, Risk.high)]
)
async def test_an_approved_call_runs_once_with_the_arguments_that_were_shown(
    risk: RiskLevel, shown: Risk
) -> None:
    channel = Approving("approve")
    run = Run(channel, LETTER)
    result = await run(risk)
    (card,) = channel.asked
    assert result.status.value == "done"
    assert run.tool.calls == [LETTER]
    assert (card.tool_name, card.risk, card.safe) == ("post", shown, "decline")
    assert "because its plan does not cover it" in card.rationale
    lines = "\n".join(card.details[0].lines)
    assert '"to": "eve"' in lines
    assert "\u202e" not in lines
    assert set(channel.to) == {OWNER}
    plan, call = run.used
    assert plan["work_item_id"] == call["work_item_id"] == "task-example"
    assert call["digest"] == card.call_digest != plan["digest"]


async def test_a_declined_call_does_not_run_and_the_work_goes_on_without_it() -> None:
    channel = Approving("decline")
    run = Run(channel, LETTER)
    result = await run()
    assert run.tool.calls == []
    assert result.status.value == "done"
    assert len(run.issued) == len(run.used) == 1  # the plan's own
    assert len(run.denied) == 1
    assert "was not approved; nothing ran" in run.model.requests[-1].text


async def test_an_approval_covers_one_call_and_the_next_is_asked_about_again() -> None:
    channel = Approving("approve", "decline", "approve")
    other = {"to": "bob", "text": "hello"}
    run = Run(channel, LETTER, {**LETTER, "text": "changed"}, other)
    await run()
    assert run.tool.calls == [LETTER, other]
    assert len({card.call_digest for card in channel.asked}) == 3


@pytest.mark.parametrize("answer", ["yes", "", "approved", "APPROVE"])
async def test_anything_but_the_clear_yes_declines(answer: str) -> None:
    run = Run(Approving(answer), LETTER)
    await run()
    assert run.tool.calls == []


async def test_a_channel_that_fails_at_the_question_declines_the_call() -> None:
    class Broken(Approving):
        async def ask(self, to: str, card: Card[Any]) -> Any:
            if isinstance(card, ToolCallCard):
                raise ChannelError("The connection closed.")
            return await super().ask(to, card)

    run = Run(Broken(), LETTER)
    result = await run()
    assert run.tool.calls == []
    assert result.status.value == "done"


async def test_a_call_inside_the_plan_asks_nobody() -> None:
    channel = Approving()
    model = ScriptedModel([CallTool("shell_exec", {"argv": ["true"]}), ran()])
    async with Harness(channel, models={"executor": model}, sandbox=done_sandbox()) as h:
        result = await soon(h.silas.run(plan_text()))
    assert result.status.value == "done"
    assert channel.asked == []
