"""Toolsets of others in a whole Silas: what is mounted, what is asked, what is called."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from silas.agents import AgentResponse, ExecutorAgentOutput, RouteDecision
from silas.audit import AuditLog
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.errors import ConfigError
from silas.plans import WorkItemStatus
from silas.stop import Sentinel
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import exit_result
from silas.tools.plugins.names import BUILT_IN
from silas.types import InteractionMode, InteractionRegister
from tests.support.command import environment, run
from tests.support.thirdparty import acme, imported, of_acme
from tests.support.waits import SECONDS

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
    return FakeSandbox(lambda run: exit_result(0, "done"))


def config(*allow: str, **toolsets: Any) -> dict[str, Any]:
    return {"toolset_allow": list(allow), "toolsets": toolsets}


def route() -> RouteDecision:
    return RouteDecision(
        route="direct",
        reason="r",
        response=AgentResponse(message="hello"),
        interaction_register=InteractionRegister.status,
        interaction_mode=InteractionMode.act_and_report,
        context_profile="conversation",
    )


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
    [claim] = [one for one in card.details if one.heading.endswith("unchecked")]
    assert claim.lines == ("Pay 9 to landlord",)
    events = [one["event"] for one in said if one["data"].get("tool") == "pay"]
    assert events == ["gate.approved", "tool_call.attempted", "tool_call.succeeded"]
    assert (rows["pay"]["risk"], rows["pay"]["scopes"]) == ("high", [f"toolset.{BANK}"])
    assert KEY not in json.dumps(said)
    assert "[secret BANK_KEY]" in executor.requests[1].text


async def test_a_grant_of_a_tool_that_the_configuration_blocks_is_refused_before_its_card(
    acme: Path,
) -> None:
    settings = config("acme_toolsets.", **{BANK: {"_approval_config": {"pay": {"blocked": True}}}})
    channel = ScriptedChannel(answering)
    text = plan_text(verify=None, tools=[{"tool": "pay"}])
    async with Harness(channel, settings=settings, sandbox=a_sandbox()) as h:
        result = await h.silas.run(text)
    assert result.status is WorkItemStatus.blocked
    assert channel.cards == []
    assert "The plan grants the tool 'pay', which your configuration blocks; take it" in (
        result.summary
    )


async def test_a_grant_of_a_toolsets_critical_tool_is_refused_before_its_card(acme: Path) -> None:
    settings = config("acme_toolsets.", **{BANK: {"_risk": {"pay": "critical"}}})
    channel = ScriptedChannel(answering)
    text = plan_text(verify=None, tools=[{"tool": "pay"}])
    async with Harness(channel, settings=settings, sandbox=a_sandbox()) as h:
        result = await h.silas.run(text)
    assert channel.cards == []
    assert "'pay', which is rated critical and so never runs here" in result.summary


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


async def test_what_cannot_be_loaded_is_absent_and_told_and_everything_else_works(
    acme: Path,
) -> None:
    broken = "acme_toolsets.broken.Unstartable"
    rival = {"acme_toolsets.notes.Notes": {}, "acme_toolsets.notes.notes": {"title": "t"}}
    settings = config("acme_toolsets.", **{broken: {}, **rival, "acme-clock": {}})
    channel = ScriptedChannel(answering)
    async with Harness(channel, settings=settings, sandbox=a_sandbox()) as h:
        rows = {row["name"]: row for row in h.silas.tool_rows()}
        said = await record(h)
    assert {"shell_exec", "time_in", "read", "write"} <= rows.keys()
    absent = {name: row for name, row in rows.items() if row["health"] == "unavailable"}
    assert absent.keys() == {broken, "acme_toolsets.notes.notes"}
    assert "does not start (ConnectionError)" in absent[broken]["last_error"]
    assert "another tool named" in absent["acme_toolsets.notes.notes"]["last_error"]
    told = [one["data"]["toolset"] for one in said if one["event"] == "toolset.absent"]
    assert set(told) == absent.keys()
    assert all(any(name in text for text in channel.texts) for name in absent)
    assert not of_acme("notes").Notes.made[0].open


async def test_no_toolset_stands_in_for_a_tool_of_silas_that_is_not_there(acme: Path) -> None:
    posing = {"acme_toolsets.odd.posing": {"_prefix": "web"}}
    async with Harness(settings=config("acme_toolsets.", **posing)) as h:
        rows = {row["name"]: row for row in h.silas.tool_rows()}
    assert "web_search" not in rows
    assert "another tool named web_search" in rows["acme_toolsets.odd.posing"]["last_error"]


async def test_a_plans_grant_covers_a_mounted_tool_and_only_as_it_says(acme: Path) -> None:
    grant = {"tool": "pay", "args": {"to": "landlord", "amount": 9}}
    plan = plan_text(verify=None, tools=[grant], body="# What to do\n\nPay the rent.")
    calls = [CallTool("pay", {"to": "landlord", "amount": amount}) for amount in (9, 90)]
    executor = ScriptedModel([*calls, REPORT])
    channel = ScriptedChannel(
        lambda card: PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe
    )
    answered = {"_approval_config": {"pay": {"pre_approved": True}}}  # its own question, no more
    settings = config("acme_toolsets.", **{BANK: answered})
    async with Harness(
        channel, models={"executor": executor}, settings=settings, sandbox=a_sandbox()
    ) as h:
        await h.silas.run(plan)
        bank = of_acme("bank").Bank.made[-1]
    assert bank.paid == [("landlord", 9)]
    assert [card for card in channel.cards if isinstance(card, ToolCallCard)] == []


async def test_the_emergency_stop_ends_a_call_of_a_toolset_that_hangs(acme: Path) -> None:
    executor = ScriptedModel([CallTool("fail", {"how": "hang"}), REPORT])
    settings = config("acme_toolsets.", **{"acme_toolsets.odd.Failing": {}})
    async with Harness(
        ScriptedChannel(answering),
        models={"executor": executor},
        settings=settings,
        sandbox=a_sandbox(),
    ) as h:
        running = asyncio.create_task(h.silas.run(PLAN))
        hanging = of_acme("odd").Failing.hanging
        async with asyncio.timeout(SECONDS):
            await hanging.wait()
            Sentinel(h.config.data_dir).place()
            result = await running
        said = [one["event"] for one in await record(h) if one["data"].get("tool") == "fail"]
    assert result.status is WorkItemStatus.paused
    assert said[-1] == "tool_call.unknown"


async def test_a_read_is_offered_to_whom_the_owner_says_and_runs_unasked_in_a_turn(
    acme: Path,
) -> None:
    said = {"_reads": ["balance"], "_risk": {"balance": "low"}, "_offer": {"balance": ["proxy"]}}
    proxy = ScriptedModel([CallTool("balance", {"account": "main"}), route()])
    channel = ScriptedChannel(answering)
    settings = config("acme_toolsets.", **{BANK: said})
    async with Harness(channel, models={"proxy": proxy}, settings=settings) as h:
        await h.silas.ask("how much is there?")
    offered = [{tool.name for tool in one.parameters.function_tools} for one in proxy.requests]
    assert [names & {"balance", "pay", "close"} for names in offered] == [{"balance"}] * 2
    assert '{"main":100}' in proxy.requests[1].text
    assert channel.cards == []


async def test_while_silas_is_stopped_no_code_of_a_toolset_runs(acme: Path, tmp_path: Path) -> None:
    settings = config("acme_toolsets.", **{BANK: {}})
    async with Harness(home=tmp_path) as h:
        (h.config.data_dir / "STOPPED").write_text("stop")
    async with Harness(home=tmp_path, settings=settings) as h:
        [row] = [row for row in h.silas.tool_rows() if row["name"] == BANK]
    assert "Silas is stopped" in row["last_error"]
    assert not imported()


@pytest.mark.parametrize("alias", BUILT_IN)
async def test_built_in_aliases_may_be_named_and_have_no_settings(
    alias: str, tmp_path: Path
) -> None:
    async with Harness(settings=config(_defaults=[alias])) as h:
        assert [row["health"] for row in h.silas.tool_rows()].count("unavailable") == 0
    with pytest.raises(ConfigError, match="has no settings here"):
        async with Harness(home=tmp_path, settings=config(**{alias: {"rules": []}})):
            pass


def silas(*words: str) -> list[str]:
    """The installed command, which finds a package on `PYTHONPATH` as one that is installed."""
    return [str(Path(sys.executable).parent / "silas"), *words]


SETTINGS = f"""silas:
  toolset_allow: [acme_toolsets.]
  toolset_profiles:
    base: {{"{BANK}": {{key: "${{BANK_KEY}}", pin: "1234-in-the-file"}}}}
  toolsets:
    extends: base
    {BANK}: {{_reads: [balance]}}
    acme_toolsets.broken.Quitter: {{}}
"""


def test_the_command_line_shows_what_is_mounted_what_is_absent_and_no_secret(
    acme: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path, PYTHONPATH=str(acme), BANK_KEY=KEY)
    (tmp_path / "config.yaml").write_text(SETTINGS)
    assert run(silas("init"), env).code == 0
    listed, doctor = run(silas("tools", "list", "--json"), env), run(silas("doctor"), env)
    rows = {row["name"]: row for row in json.loads(listed.out)}
    assert rows["pay"]["scopes"] == [f"toolset.{BANK}"]
    assert "(SystemExit)" in rows["acme_toolsets.broken.Quitter"]["last_error"]
    assert f"ok  toolset {BANK}" in doctor.out
    assert "NO  toolset acme_toolsets.broken.Quitter" in doctor.out
    assert doctor.code == 2
    shown, plain = run(silas("config", "show"), env), run(silas("tools", "list"), env)
    assert "${BANK_KEY}" in shown.out
    assert "- balance" in shown.out
    assert "Quitter" in plain.out
    for ended in (listed, doctor, shown, plain):
        assert "Traceback" not in ended.err
        assert KEY not in ended.out + ended.err
        assert "1234-in-the-file" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("yaml", "words"),
    [
        (f"toolsets: {{{BANK}: {{}}}}", "toolset_allow does not name it"),
        ("toolsets: {acme-clock: {}}", "toolset_allow does not name it"),
        ("toolset_allow: ['*']", "neither a class path"),
        ("toolset_profiles: {a: {extends: a}}", "circle: a extends a"),
        ("toolsets: {extends: b}", "no profile 'b'"),
        (f"toolsets: {{{BANK}: {{_raeds: []}}}}", "the nearest is _reads"),
    ],
)
def test_a_wrong_section_is_one_sentence_and_nothing_is_imported(
    yaml: str, words: str, acme: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path, PYTHONPATH=str(acme))
    (tmp_path / "config.yaml").write_text(f"silas:\n  {yaml}\n")
    done = run(silas("config", "validate"), env)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_variable_that_is_not_set_stops_the_start_and_hides_nothing_from_the_doctor(
    acme: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path, PYTHONPATH=str(acme))
    (tmp_path / "config.yaml").write_text(SETTINGS)
    assert run(silas("init"), env).code == 0
    asked, doctor = run(silas("ask", "hello"), env), run(silas("doctor"), env)
    assert asked.code == 2
    assert f"toolsets.{BANK}.key needs the environment variable BANK_KEY" in asked.err
    assert "variable BANK_KEY" in " ".join(doctor.out.split())
    assert "ok  database" in doctor.out
    assert "Traceback" not in asked.err + doctor.err
