"""A turn from end to end: what ends it, what is on record, what no wish of a model gets around."""

import ast
import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

import silas.stream
from silas.agents.models import MemoryOp, MemoryOpType
from silas.approval import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    Subject,
    Verdict,
)
from silas.cards import ChannelMessage
from silas.gates import Gate, GateProvider, GateResult, GateTrigger
from silas.plans import PlanParser, WorkItem
from silas.plans.binding import Grants, PlanBinding, no_workers
from silas.plans.goals.standing import StandingLimit
from silas.sandbox import SandboxLimits
from silas.sandbox.toolchains.mounts import NoTools
from silas.stream.plan_tokens import PlanTokens
from silas.stream.propose import Proposer
from silas.testing import (
    FakeTool,
    FixedSkills,
    Harness,
    Ports,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
    a_signer,
    plan_text,
)
from silas.testing.approval import a_token
from silas.testing.work_items import InMemoryWaitingPlans, InMemoryWorkItemStore
from silas.tools import RiskLevel, ToolConfig
from silas.tools.toolset import ToolRun
from silas.types import OWNER, InteractionMode
from tests.stream.kit import (
    House,
    answering,
    direct,
    done_sandbox,
    entries_of,
    planned,
    proposing,
    recorded,
    said,
    saying_yes,
    soon,
    to_planner,
)


class EarlyListener(ScriptedChannel):
    """Notes what was on record when the channel was first listened to."""

    def __init__(self, events: Callable[[], Any]) -> None:
        super().__init__()
        self._events = events
        self.before: list[str] = []

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        self.before = [event for event, _ in await self._events()]
        async for message in super().listen():
            yield message


@pytest.mark.proves("S5.1-START-REHYDRATES")
async def test_the_start_is_on_record_before_the_channel_is_listened_to() -> None:
    channel = EarlyListener(lambda: recorded(harness))
    harness = Harness(channel)
    async with harness as h:
        await soon(h.silas.listen())
    assert channel.before == ["record.kept", "stream_started"]


STORE = MemoryOp(op=MemoryOpType.store, content="The cat is called Mia.")


def no_memory(gate: Gate, context: dict[str, Any]) -> GateResult:
    return GateResult(gate_name=gate.name, lane=gate.lane, action="block", reason="no")


@pytest.mark.proves("S5.1-EARLY-STOPS")
@pytest.mark.parametrize(
    ("proxy", "planner", "outcome"),
    [
        ([direct(memory_ops=[STORE])], [], "answered"),
        ([ModelHTTPError(401, "scripted")], [], "failed"),
        ([to_planner()], [ModelHTTPError(401, "scripted")], "failed"),
        (["no route", "no route"], [], "failed"),
        ([to_planner()], [proposing("no plan"), proposing("no plan")], "blocked"),
        ([to_planner()], [proposing(None)], "blocked"),
    ],
    ids=["memory", "no model", "no planner", "out of form", "unreadable", "nothing proposed"],
)
async def test_no_other_trouble_keeps_a_turn_from_its_last_step(
    proxy: list[Any], planner: list[Any], outcome: str
) -> None:
    guard = Gate(name="guard", on=GateTrigger.on_tool_call, provider=GateProvider.custom)
    house = House(proxy, planner, gates=[guard])
    house.gates.judge = no_memory
    async with house.harness as h:
        reply = await soon(h.silas.ask("hello"))
    assert reply.outcome == outcome
    assert house.ops.asked == []
    assert house.journal[-4:] == ["send", "15 mood", "16 ended", "review"]
    # why no model answered is no part of the conversation
    assert ("11 chronicle" in house.journal) is (outcome != "failed")


@pytest.mark.proves("S5.1.1-ALWAYS-AUDITED")
@pytest.mark.parametrize("trigger", ["every_user_message", "every_agent_response", "on_tool_call"])
async def test_every_block_is_on_record_with_gate_reason_and_sender(trigger: str) -> None:
    strict = {"name": "strict", "on": trigger, "type": "string_match", "allowed_values": ["x"]}
    if trigger == "on_tool_call":
        strict["extract"] = "tool_name"
    models = {"proxy": ScriptedModel([direct(memory_ops=[STORE])])}
    settings = {"gates": {"system": [strict]}}
    async with Harness(models=models, settings=settings) as h:
        await soon(h.silas.stream.handle(said(h, sender="eve")))
        (blocked,) = await entries_of(h, "gate_blocked")
    assert (blocked["gate"], blocked["sender_id"]) == ("strict", "eve")
    assert "allowed values" in blocked["reason"]


@pytest.mark.proves("S5.1-6-TOOLSET")
async def test_the_tools_of_a_turn_come_through_the_canonical_chain_filtered_by_access() -> None:
    house = House([direct()])

    async with house.harness as h:
        for name in ("look", "hidden"):
            tool = FakeTool(name, capabilities=("proxy",))
            h.silas.registry.register(
                tool, ToolConfig(connector_id="x", risk_default=RiskLevel.low)
            )
        await soon(h.silas.ask("hello"))
    assert [tool.name for tool in house.proxy.requests[0].parameters.function_tools] == ["look"]
    async with Harness() as other:
        chain = list[str]()
        toolset: AbstractToolset[ToolRun] = other.ports["toolset"]
    while isinstance(toolset, WrapperToolset):
        chain.append(type(toolset).__name__)
        toolset = toolset.wrapped
    assert [*chain, type(toolset).__name__] == [
        "ApprovalRequiredToolset",
        "FilteredToolset",
        "PreparedToolset",
        "DoorToolset",
    ]


@pytest.mark.proves("S5.1-7-PROXY-STRUCTURED")
async def test_a_proxy_out_of_form_is_asked_once_more_and_then_answered_for() -> None:
    models = {"proxy": ScriptedModel(["no route", "still none"]), "planner": ScriptedModel([])}
    async with Harness(models=models) as h:
        reply = await soon(h.silas.ask("hello"))
        (routed,) = await entries_of(h, "turn_routed")
    assert models["proxy"].remaining == 0
    assert routed["fell_back"] is True
    assert (routed["route"], routed["register"], routed["mode"]) == (
        "direct",
        "status",
        "confirm_only_when_required",
    )
    assert reply.text
    assert reply.outcome == "failed"


@pytest.mark.proves("S5.1-7-PLANNER-CALLED")
async def test_a_planner_out_of_form_proposes_nothing() -> None:
    channel, models = ScriptedChannel(saying_yes), planned("no plan", executor=[])
    models["planner"] = ScriptedModel(["no plan", "still none"])
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("do it"))
        (noted,) = await entries_of(h, "turn_planned")
        assert await h.silas.work_items() == []
    assert models["planner"].remaining == 0
    assert (noted["fell_back"], noted["proposed"]) == (True, False)
    assert channel.cards == []
    assert reply.outcome == "failed"


@pytest.mark.proves("S5.1-7-MODE-RESOLVED")
async def test_a_turn_without_a_model_has_its_register_mode_and_profile_on_record_too() -> None:
    models = {"proxy": ScriptedModel([ModelHTTPError(401, "scripted")])}
    async with Harness(models=models) as h:
        await soon(h.silas.ask("hello"))
        (degraded,) = await entries_of(h, "turn_degraded")
    assert (degraded["register"], degraded["mode"]) == ("status", "confirm_only_when_required")
    assert degraded["profile"]


def mode_writes(source: str) -> list[str]:
    """What is written to a turn's or a work item's mode anywhere in a module."""
    written: list[ast.expr] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.attr for target in targets if isinstance(target, ast.Attribute)}
            if names & {"mode", "interaction_mode"}:
                written.append(node.value)
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            written += [
                value
                for key, value in pairs
                if isinstance(key, ast.Constant) and key.value == "interaction_mode"
            ]
    return [ast.unparse(value) for value in written]


@pytest.mark.proves("S5.1.0-ONE-RESOLVER")
def test_a_mode_is_written_only_from_the_resolver() -> None:
    rooms = Path(silas.stream.__file__).parent.parent
    files = [file for room in ("stream", "work") for file in rooms.glob(f"{room}/*.py")]
    sources = [file.read_text(encoding="utf-8") for file in files]
    written = [value for source in sources for value in mode_writes(source)]
    assert set(written) == {
        "self._modes.mode(turn, None)",
        "self._modes.mode(turn, item)",
        "self._modes.mode(asked.turn, draft.item, confirm=True)",
    }
    assert sum(source.count("resolve_interaction_mode(\n") for source in sources) == 2  # def, use
    assert mode_writes("x.mode = 1\ny = {'interaction_mode': 2}") == ["1", "2"]


@pytest.mark.proves("S5.1.4-INITIATIVE-WITHIN-POLICY")
@pytest.mark.parametrize("initiative", [0.0, 1.0])
async def test_no_initiative_gets_around_a_gates_question_or_a_plans_card(
    initiative: float,
) -> None:
    def asks(gate: Gate, context: dict[str, Any]) -> GateResult:
        return GateResult(
            gate_name=gate.name, lane=gate.lane, action="require_approval", reason="unsure"
        )

    asking = Gate(name="asks", on=GateTrigger.every_user_message, provider=GateProvider.custom)
    house = House(
        [to_planner()],
        [proposing(plan_text(), needs_approval=False)],
        gates=[asking],
        initiative=initiative,
    )
    house.gates.judge = asks
    async with house.harness as h:
        reply = await soon(h.silas.ask("do it"))
        (routed,) = await entries_of(h, "turn_routed")
    assert len(house.noting.cards) == 2  # the gate's and the plan's
    assert routed["mode"] == "confirm_only_when_required"
    assert reply.plan is not None
    assert reply.plan.interaction_mode is InteractionMode.confirm_only_when_required


@pytest.mark.proves("S5.1.2-ORDER", "S5.1.2-ONE-NONCE", "S5.1-12-BACKGROUND")
async def test_an_approval_takes_its_steps_in_order_and_spends_once() -> None:
    at_the_card: list[list[str]] = []

    class Asked(ScriptedChannel):
        async def ask(self, to: str, card: Any) -> Any:
            at_the_card.append([event for event, _ in await recorded(harness)])
            return await super().ask(to, card)

    models = planned(proposing(plan_text()))
    harness = Harness(Asked(saying_yes), models=models, sandbox=done_sandbox())
    async with harness as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-example"))
        events = [event for event, _ in await recorded(h)]
    steps = ["plan_proposed", "approval.issued", "approval.used", "plan_approved"]
    assert [event for event in events if event in {*steps, "work_item_attempt"}] == [
        *steps,
        "work_item_attempt",
    ]
    assert at_the_card[0][-1] == "plan_proposed"


class Forging:
    """An approval engine whose tokens somebody else has signed; it verifies as the real one."""

    def __init__(self, harness: Harness) -> None:
        self._harness = harness

    async def issue_token(
        self,
        subject: Subject,
        decision: ApprovalDecision,
        scope: ApprovalScope = ApprovalScope.full_plan,
        max_executions: int = 1,
        conditions: dict[str, Any] | None = None,
        *,
        ttl_minutes: int = 0,
        until: datetime | None = None,
    ) -> ApprovalToken:
        thief = a_signer("thief")
        return a_token(
            thief, self._harness.clock, plan_hash=subject.digest, work_item_id=subject.id
        )

    async def verify(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> Verdict:
        return await self._harness.approval.verify(token, subject, spawned)

    async def check(self, token: ApprovalToken, subject: Subject) -> Verdict:
        return await self._harness.approval.check(token, subject)

    async def stands(self, token: ApprovalToken, goal: Subject) -> Verdict:
        return await self._harness.approval.stands(token, goal)

    async def require(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> None:
        await self._harness.approval.require(token, subject, spawned)


@pytest.mark.proves("S5.1.2-UNVERIFIED-STOPS")
async def test_a_token_that_does_not_verify_is_told_recorded_and_runs_nothing() -> None:
    store, sandbox, channel = InMemoryWorkItemStore(), done_sandbox(), ScriptedChannel(saying_yes)

    async def ready(_: WorkItem) -> None:
        """It could run."""

    def forged(_: Proposer) -> Proposer:
        grants, audit = Grants(sandbox.name, SandboxLimits()), ports["audit"]
        binding = PlanBinding(FixedSkills({}), grants, audit, no_workers, NoTools(""))
        return Proposer(
            PlanParser(),
            PlanTokens(Forging(harness), binding, StandingLimit),
            store,
            InMemoryWaitingPlans(),
            audit,
            ports["clock"],
            ready,
            lambda _: "",
            nullcontext,
            lambda _: None,
            lambda _: None,
        )

    ports = Ports(proposer=forged)
    models = planned(proposing(plan_text()), executor=[])
    harness = Harness(channel, models=models, sandbox=sandbox, ports=ports)
    async with harness as h:
        reply = await soon(h.silas.ask("do it"))
        (refused,) = await entries_of(h, "plan_refused")
        events = {event for event, _ in await recorded(h)}
    assert len(channel.cards) == 1
    assert reply.outcome == "blocked"
    assert "nothing was run" in reply.text
    assert channel.texts == [reply.text]
    assert "signature" in refused["reason"]
    assert {"plan_approved", "work_item_attempt", "approval.used"}.isdisjoint(events)
    assert sandbox.runs == []
    assert await store.get("task-example") is None


class Wire:
    """A channel of text alone on which nobody ever answers."""

    channel_name = "cli"

    def __init__(self) -> None:
        self.sent: asyncio.Queue[str] = asyncio.Queue()

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        await asyncio.Event().wait()
        yield  # pyright: ignore[reportReturnType] - never reached; makes this a generator

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        self.sent.put_nowait(text)


ASKS = {"name": "asks", "on": "every_user_message", "type": "approval_always"}


@pytest.mark.proves("S8.1-TIMEOUT-DECLINES", "S8.1-CARD-TIMEOUTS")
@pytest.mark.parametrize(
    ("gates", "seconds", "outcome", "answered"),
    [
        ([], 300, "declined", ("plan_not_approved", "verdict", "declined")),
        ([ASKS], 120, "blocked", ("gate_answered", "answer", "block")),
    ],
    ids=["plan", "gate"],
)
async def test_a_card_without_an_answer_in_its_time_is_a_no_on_record(
    gates: list[dict[str, Any]], seconds: int, outcome: str, answered: tuple[str, str, str]
) -> None:
    wire, sandbox, models = Wire(), done_sandbox(), planned(proposing(plan_text()), executor=[])
    settings = {"gates": {"system": gates}}
    async with Harness(wire, models=models, settings=settings, sandbox=sandbox) as h:
        asking = asyncio.create_task(h.silas.ask("do it"))
        await soon(wire.sent.get())
        for still in (True, False):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not asking.done()
            h.clock.advance(seconds - 1 if still else 1)
        reply = await soon(asking)
        event, field, value = answered
        (entry,) = await entries_of(h, event)
        (late,) = await entries_of(h, "card_timed_out")
    assert reply.outcome == outcome
    assert entry[field] == value
    assert late["intent"]
    assert sandbox.runs == []


async def test_a_no_in_time_is_not_taken_for_silence() -> None:
    channel = ScriptedChannel(answering("declined"))
    async with Harness(channel, sandbox=done_sandbox()) as h:
        proposal = await soon(h.silas.runs.proposer.propose(a_plan(), channel, OWNER, "why"))
        assert await entries_of(h, "card_timed_out") == []
    assert proposal.verdict == "declined"
