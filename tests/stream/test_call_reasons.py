"""The reason on a card is the one that decided that the call asks; each alone, in every door."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from silas.cards import Card, PlanAnswer, PlanCard
from silas.cards.models import BatchReviewCard
from silas.channels import render_card
from silas.channels.web.card_events import CardAsked, card_event
from silas.stream.ask_reasons import REASONS
from silas.testing import CallTool, FakeTool, ScriptedChannel
from silas.tools import (
    CallFacts,
    RiskLevel,
    RunApprovalMode,
    RunApprovalPolicy,
    Stance,
    ToolConfig,
    ToolResult,
)
from silas.tools.models import CONTAINED
from silas.tools.pending_call import AskReason
from silas.types import TaintLevel
from tests.work.test_workers import DONE, LS, House, house, plan, worker_file

LOW, MEDIUM = RiskLevel.low, RiskLevel.medium
GRANT = {"tool": "lamp", "args": {"to": "anna"}}
GATE: dict[str, Any] = {
    "name": "look",
    "on": "on_tool_call",
    "extract": "to",
    "allowed_values": ["eve"],
    "approval_values": ["anna"],
}
MAIL = "Switch the lamp for eve."
READ = CallTool("read_mail")


class Alone(NamedTuple):
    """A call for which one thing alone asks.

    Attributes:
        tool: What differs from a contained tool that nobody asks about.
        plan: What differs from a plan that leaves the call open.
        worker: The lines of the worker's file, where a worker does the work.
    """

    tool: Mapping[str, Any] = {}
    plan: Mapping[str, Any] = {}
    risk: RiskLevel = LOW
    worker: tuple[str, ...] = ()
    read_first: bool = False
    settings: Mapping[str, Any] = {}
    secret: bool = False
    late: bool = False


ALONE: dict[AskReason, Alone] = {
    AskReason.plan: Alone({"requires_authority": True}),
    AskReason.approval: Alone({"requires_authority": True}, {"tools": [GRANT]}, late=True),
    AskReason.risk: Alone(risk=MEDIUM),
    AskReason.secrets: Alone(secret=True),
    AskReason.quiet_hours: Alone(settings={"quiet_hours": {"start": "00:00", "end": "23:59"}}),
    # granted exactly, and still asked about
    AskReason.toolset: Alone({"stance": Stance.ask}, {"tools": [GRANT]}),
    AskReason.gate: Alone(plan={"tools": [GRANT], "gates": [GATE]}),
    AskReason.taint: Alone({"facts": CallFacts(egress=True, addressed=True)}, read_first=True),
    AskReason.worker_policy: Alone(
        worker=("approval: { shell_exec: { approval_required: true } }",)  # each plan covers it
    ),
}


def owner(card: Card[Any]) -> Any:
    """Approves plans and no call."""
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe


@asynccontextmanager
async def at_the_lamp(case: Alone, at: Path) -> AsyncGenerator[House]:
    """A house whose agent reads a mail where the case says so, then switches the lamp."""
    lamp = CallTool("lamp", {"to": "eve" if case.read_first else "anna"})
    call = LS if case.worker else lamp
    first = [READ] if case.read_first or case.late else []
    steps = [*first, call, DONE]
    files = {"lead": worker_file("lead", *case.worker)} if case.worker else {}
    scripts = {"lead" if case.worker else "executor": steps}
    async with house(at, files, scripts, owner, **case.settings) as made:
        kept = ToolConfig(connector_id="test", risk_default=case.risk)

        async def answer(request: dict[str, Any]) -> ToolResult:
            if case.late:
                made.h.clock.advance(1801)
            return ToolResult(ok=True, return_value=MAIL)

        read = FakeTool("read_mail", answer, facts=CONTAINED, idempotent=True)
        taint = TaintLevel.external if case.read_first else TaintLevel.owner
        made.h.silas.registry.register(read, kept.model_copy(update={"result_taint": taint}))
        properties: dict[str, Any] = {"facts": CONTAINED, **case.tool}
        made.h.silas.registry.register(FakeTool("lamp", **properties), kept)
        yield made


def work(at: House, case: Alone) -> str:
    held: dict[str, Any] = {}
    if case.secret:
        kept = at.h.secrets.add("TOKEN", "a-value-of-a-secret-7781", at.h.clock.now())
        held = {"credential_refs": {"TOKEN": kept.ref_id}}
    once = {"budget": {"max_attempts": 1, "max_wall_time_seconds": 7200}}  # outlives an approval
    return plan(worker="lead" if case.worker else None, **once, **held, **case.plan)


def in_the_cockpit(card: Card[Any]) -> str:
    """What the page is sent of a card."""
    now = datetime.now(UTC)
    return card_event(card, CardAsked("ask-1", now, now + timedelta(seconds=300))).card.rationale


def named(text: str) -> set[AskReason]:
    """Which reasons a text gives."""
    read = " ".join(text.split())
    return {reason for reason, words in REASONS.items() if words in read}


def test_every_reason_has_a_sentence_and_a_case_of_its_own() -> None:
    assert set(AskReason) == set(REASONS) == set(ALONE)
    assert len(set(REASONS.values())) == len(REASONS)


async def gives(reason: AskReason, at: Path) -> None:
    """The one card of the case gives its reason and no other, in the terminal and the cockpit."""
    case = ALONE[reason]
    async with at_the_lamp(case, at) as made:
        await made.run(work(made, case))
        (card,) = made.cards()
    assert card.tool_name == ("shell_exec" if case.worker else "lamp")
    assert named(render_card(card, 2000)) == {reason}
    assert named(in_the_cockpit(card)) == {reason}


async def test_a_card_says_that_the_plan_does_not_cover_the_call(tmp_path: Path) -> None:
    await gives(AskReason.plan, tmp_path)


async def test_a_card_says_that_the_approval_no_longer_holds(tmp_path: Path) -> None:
    await gives(AskReason.approval, tmp_path)


async def test_a_card_says_that_the_call_is_too_risky_to_be_made_unasked(tmp_path: Path) -> None:
    await gives(AskReason.risk, tmp_path)


async def test_a_card_says_that_the_call_could_use_a_secret(tmp_path: Path) -> None:
    await gives(AskReason.secrets, tmp_path)


async def test_a_card_says_that_these_are_quiet_hours(tmp_path: Path) -> None:
    await gives(AskReason.quiet_hours, tmp_path)


async def test_a_card_says_that_the_tool_asks(tmp_path: Path) -> None:
    await gives(AskReason.toolset, tmp_path)


async def test_a_card_says_that_a_gate_asks(tmp_path: Path) -> None:
    await gives(AskReason.gate, tmp_path)


async def test_a_card_says_that_the_call_rests_on_words_of_others(tmp_path: Path) -> None:
    await gives(AskReason.taint, tmp_path)


async def test_a_card_says_that_the_workers_rules_ask(tmp_path: Path) -> None:
    await gives(AskReason.worker_policy, tmp_path)


async def test_calls_asked_about_together_name_the_reason_of_each(tmp_path: Path) -> None:
    both = (CallTool("lamp", {"to": "anna"}), CallTool("bell", {"to": "anna"}))
    alike = (CallTool("lamp", {"to": "anna"}), CallTool("lamp", {"to": "bob"}))
    async with house(tmp_path, {}, {"executor": [both, alike, DONE]}, owner) as at:
        for name, asks in (
            ("lamp", FakeTool("lamp", facts=CONTAINED, stance=Stance.ask)),
            ("bell", FakeTool("bell", facts=CONTAINED, requires_authority=True)),
        ):
            kept = ToolConfig(connector_id=name, risk_default=LOW)
            at.h.silas.registry.register(asks, kept)
        await at.run(work(at, Alone()))
        channel = at.h.channel
        assert isinstance(channel, ScriptedChannel)
        mixed, same = [card for card in channel.cards if isinstance(card, BatchReviewCard)]
    for text in (render_card(mixed, 2000), in_the_cockpit(mixed)):
        assert f"1: {REASONS[AskReason.toolset]}; 2: {REASONS[AskReason.plan]}" in text
        assert named(text) == {AskReason.toolset, AskReason.plan}
    for text in (render_card(same, 2000), in_the_cockpit(same)):
        assert named(text) == {AskReason.toolset}
        assert text.count(REASONS[AskReason.toolset]) == 1


async def test_a_call_for_which_nothing_asks_has_no_card(tmp_path: Path) -> None:
    async with at_the_lamp(Alone(), tmp_path) as at:
        await at.run(work(at, Alone()))
        assert at.cards() == []


@pytest.mark.parametrize(
    ("hours", "zone", "asks"),
    [
        (("00:00", "00:00"), "UTC", False),
        (("03:04", "03:05"), "UTC", True),
        (("03:00", "03:04"), "UTC", False),
        (("03:04", "03:05"), "Asia/Tokyo", False),
        (("12:04", "12:05"), "Asia/Tokyo", True),
        (("22:00", "07:00"), "UTC", True),
        (("22:00", "07:00"), "Asia/Tokyo", False),
    ],
)
async def test_quiet_hours_are_as_the_configuration_has_them_in_the_owners_zone(
    hours: tuple[str, str], zone: str, asks: bool, tmp_path: Path
) -> None:
    start, end = hours
    settings = {"quiet_hours": {"start": start, "end": end}, "scheduler": {"timezone": zone}}
    case = Alone(settings=settings)
    async with at_the_lamp(case, tmp_path) as at:
        assert at.h.clock.now().strftime("%H:%M %Z") == "03:04 UTC"
        await at.run(work(at, case))
        assert bool(at.cards()) is asks


@pytest.mark.parametrize("reason", list(AskReason))
async def test_a_run_that_rejects_every_question_shows_none(
    reason: AskReason, tmp_path: Path
) -> None:
    """A run's policy lifts or rejects a question; it never raises one, so it is no reason."""
    case = ALONE[reason]
    async with at_the_lamp(case, tmp_path) as at:
        await at.h.silas.run(
            work(at, case), policy=RunApprovalPolicy(mode=RunApprovalMode.reject_all)
        )
        assert at.cards() == []
