"""Toolsets of others in a whole Silas: what is mounted, what is asked, what is called."""

import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput
from silas.audit import AuditLog
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.errors import ConfigError
from silas.plans import WorkItemStatus
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import exited
from tests.support.thirdparty import acme, imported, of_acme

__all__ = ["acme"]

PLAN = plan_text(verify=None, body="# What to do\n\nPay the rent.")
REPORT = ExecutorAgentOutput(summary="worked")
BANK = "acme_toolsets.bank.Bank"
KEY = "0f3c-not-to-be-seen"


def answering(card: Card[Any]) -> Any:
    if isinstance(card, PlanCard):
        return PlanAnswer(verdict="approved")
    return "approve" if isinstance(card, ToolCallCard) else card.safe


def a_sandbox() -> FakeSandbox:
    return FakeSandbox(lambda run: exited(0, "done"))


def config(*allow: str, **toolsets: Any) -> dict[str, Any]:
    return {"toolset_allow": list(allow), "toolsets": toolsets}


async def record(h: Harness) -> list[dict[str, Any]]:
    assert isinstance(h.audit, AuditLog)
    return [json.loads(entry.body) for entry in await h.audit.entries(limit=1000)]


async def test_a_mounted_tool_is_asked_for_on_a_card_and_called_through_the_door(
    acme: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BANK_KEY", KEY)
    executor = ScriptedModel([CallTool("pay", {"to": "landlord", "amount": 9}), REPORT])
    channel = ScriptedChannel(answering)
    settings = config("acme_toolsets.", **{BANK: {"key": "${BANK_KEY}"}})
    async with Harness(
        channel, models={"executor": executor}, settings=settings, sandbox=a_sandbox()
    ) as h:
        result = await h.silas.run(PLAN)
        said = await record(h)
        rows = {row["name"]: row for row in h.silas.tool_rows()}
        bank = of_acme("bank").Bank.made[-1]
    assert result.status is WorkItemStatus.done
    assert bank.paid == [("landlord", 9)]
    assert bank.config == {"key": KEY}
    [card] = [card for card in channel.cards if isinstance(card, ToolCallCard)]
    assert json.loads("\n".join(card.details[0].lines)) == {"amount": 9, "to": "landlord"}
    events = [one["event"] for one in said if one["data"].get("tool") == "pay"]
    assert events == ["gate.approved", "tool_call.attempted", "tool_call.succeeded"]
    assert (rows["pay"]["risk"], rows["pay"]["scopes"]) == ("high", [f"toolset.{BANK}"])
    assert KEY not in json.dumps(said)
    assert "[secret BANK_KEY]" in executor.requests[1].text


async def test_without_the_allowlist_silas_does_not_start_and_imports_nothing(
    acme: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="toolset_allow does not name it") as caught:
        async with Harness(
            settings=config("acme_toolsets.clock.Clock", **{BANK: {}}), home=tmp_path
        ):
            pass
    assert caught.value.code == "E_CFG_TOOLSET_ALLOW"
    assert not imported()
