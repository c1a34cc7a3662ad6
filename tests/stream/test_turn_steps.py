"""Every step of a turn on its real room, in the order of spec 5.1: what it is given and does."""

import pytest

from silas.agents import MemoryQuery, RouteDecision
from silas.agents.models import MemoryOp, MemoryOpType, MemoryQueryStrategy
from silas.gates import Gate, GateProvider, GateResult, GateTrigger, GateType
from silas.memory import OpBasis
from silas.stream.models import Outcome
from silas.testing import Harness, Ports, plan_text
from silas.types import OWNER, TaintLevel
from tests.stream import kit
from tests.stream.kit import (
    House,
    answer,
    direct,
    entries_of,
    manager,
    proposing,
    said,
    soon,
    to_planner,
)

IDENTITY = Gate(
    name="identity",
    on=GateTrigger.every_user_message,
    provider=GateProvider.custom,
    type=GateType.custom_check,
)
TONE = Gate(name="tone", on=GateTrigger.every_agent_response, provider=GateProvider.llm)
QUERY = MemoryQuery(strategy=MemoryQueryStrategy.keyword, query="what is the cat called")
STORE = MemoryOp(op=MemoryOpType.store, content="The cat is called Mia.")


@pytest.mark.proves("S5.1-STEP-ORDER", "S5.1-8-BEFORE-SENDING")
async def test_the_steps_are_taken_in_the_order_of_the_specification() -> None:
    everything = proposing(plan_text(), memory_queries=[QUERY], memory_ops=[STORE])
    house = House([direct(), to_planner()], [everything], gates=[IDENTITY])
    async with house.harness as h:
        await soon(h.silas.ask("My cat is called Mia."))
        house.journal.clear()
        await house.ops.apply({"op": "store", "content": "Cats sleep."}, basis())
        house.journal.clear()
        reply = await soon(h.silas.ask("do cats sleep?"))
    assert reply.outcome == "dispatched"
    assert house.journal == [
        "0 gate set",
        "0.5 queue",
        "1 input gates",
        "2 sign-in",
        "3 chronicle",
        "4 recall",
        "memory",
        "5 budget",
        "5 kept",
        "6 allowed",
        "6 toolset",
        "6.5 skills",
        "7 directives",
        "7 render",
        "7 proxy",
        "7 toolset of the planner",
        "7 planner",
        "7 profile",
        "8 output gates",
        "9 queries",
        "10 gates",
        "10 operation",
        "11 chronicle",
        "12 workspace",
        "12 card",
        "12 dispatch",
        "11 chronicle",  # what became of the plan
        "13 kept",
        "send",
        "14 access",
        "15 mood",
        "16 ended",
        "review",
    ]


@pytest.mark.proves("S5.1-0-GATES-FROZEN")
async def test_step_0_freezes_the_gates_and_every_later_step_uses_the_same() -> None:
    house = House([direct(memory_ops=[STORE])], gates=[IDENTITY, TONE])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.journal.count("0 gate set") == 1
    assert house.gates.sets == [["identity", "tone"]] * 3  # input, output, memory operation


@pytest.mark.proves("S5.1-1-REWRITE-USED")
async def test_step_1_rewrites_what_all_later_steps_see() -> None:
    def judge(gate: Gate, context: dict[str, object]) -> GateResult:
        return GateResult(
            gate_name=gate.name,
            lane=gate.lane,
            action="continue",
            reason="cleaned",
            modified_context={"message": "clean words"},
        )

    house = House([direct()], gates=[IDENTITY])
    house.gates.judge = judge
    async with house.harness as h:
        await soon(h.silas.ask("dirty words"))
        (raw,) = await house.raw("conversation_raw")
        (message, _) = house.in_view("message")
        assert await h.memory.search_raw("dirty", 5) == []
    assert message.content.endswith(": clean words")
    assert raw.content == "clean words"
    assert "clean words" in house.proxy.requests[0].text
    assert "dirty words" not in house.proxy.requests[0].text


@pytest.mark.parametrize(
    ("signed", "channel", "taint"),
    [
        (True, "cli", TaintLevel.owner),
        (False, "cli", TaintLevel.auth),
        (False, "webhook", TaintLevel.external),
    ],
)
async def test_step_2_marks_where_the_message_came_from(
    signed: bool, channel: str, taint: TaintLevel
) -> None:
    house = House([direct()])
    async with house.harness as h:
        if signed:
            await soon(h.silas.ask("hello"))
        else:
            await soon(h.silas.stream.handle(said(h, channel=channel)))
        (raw,) = await house.raw("conversation_raw")
        (message, _) = house.in_view("message")
    assert message.taint is taint
    assert raw.taint is taint
    shown = house.proxy.requests[0].text
    assert f"--- message | taint: {taint} " in shown


@pytest.mark.proves("S5.1-6-TOOLSET")
async def test_step_6_gives_the_agents_the_tools_of_the_connection_and_no_others() -> None:
    house = House([to_planner()], [answer("Hello.")])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert [run.role for run in house.tool_runs] == ["proxy", "planner"]
    assert [run.allowed for run in house.tool_runs] == [frozenset({"look", "find"})] * 2


async def test_step_6_5_tells_the_proxy_which_skills_there_are() -> None:
    house = House([direct()])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert "--- skills ---\ncoding: " in house.proxy.requests[0].text


@pytest.mark.proves(
    "S5.1-7-MODE-RESOLVED", "S5.1-7-PROFILE-SET", "S5.1-7-PLANNER-CALLED", "S5.1-7-DIRECTIVES"
)
async def test_step_7_gives_the_models_context_personality_and_access_and_sets_the_profile() -> (
    None
):
    house = House([to_planner(), to_planner()], [answer("Hello."), answer("Again.")])
    async with house.harness as h:
        await soon(h.silas.ask("hello there"))
        await soon(h.silas.ask("hello again"))
        routed, _ = await entries_of(h, "turn_routed")
        division = manager(h).division(OWNER)
        (directives,) = house.in_view("system")
    for model in (house.proxy, house.planner):
        told = model.requests[1].text
        assert (
            "--- turn 0 | user | 2026-01-02 04:04 | live ---\n[owner] owner: hello there\n" in told
        )
        assert told.count("--- system | persona:directives ---") == 1
        assert "--- access_level ---\ntrusted" in told
        assert told.count("hello again") == 1  # the message of the turn stands only once
    assert directives.pinned
    assert "route_reason: work" in house.planner.requests[0].text
    assert "interaction_mode: act_and_report" in house.planner.requests[0].text
    assert division.workspace > division.chronicle  # the profile `coding`
    assert (routed["register"], routed["mode"], routed["profile"]) == (
        "execution",
        "act_and_report",
        "coding",
    )


@pytest.mark.proves("S5.1-8-BEFORE-SENDING")
async def test_step_8_lets_nothing_be_sent_before_the_output_gates() -> None:
    house = House([direct("Hello.")])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.journal.index("8 output gates") < house.journal.index("send")
    assert house.journal.index("7 profile") < house.journal.index("8 output gates")


@pytest.mark.proves("S5.1.2-PLAN-PINNED")
async def test_step_12_hands_an_approved_plan_to_the_background_and_pins_it_in_view() -> None:
    house = House([to_planner()], [proposing(plan_text())])
    async with house.harness as h:
        reply = await soon(h.silas.ask("do it"))
        (plan,) = house.in_view("plan")
    assert [item.id for item in house.dispatched] == ["task-example"]
    assert reply.plan is house.dispatched[0]
    assert plan.content == plan_text()
    assert plan.pinned
    assert [signal.outcome for signal in house.review.signals] == ["approved"]


@pytest.mark.proves("S5.1-13-SENT-ONCE")
async def test_step_13_sends_one_answer() -> None:
    house = House([direct("Hello.")])
    async with house.harness as h:
        reply = await soon(h.silas.stream.handle(said(h, connection="desk-7")))
    assert house.noting.sent == [("desk-7", "Hello.")]
    assert reply.text == "Hello."


@pytest.mark.proves("S5.1-14-ACCESS")
@pytest.mark.parametrize(
    ("gate", "passed"),
    [
        (IDENTITY, ["identity"]),
        (IDENTITY.model_copy(update={"type": GateType.regex}), []),
        (IDENTITY.model_copy(update={"on": GateTrigger.every_agent_response}), []),
    ],
)
async def test_step_14_tells_the_access_controller_which_identity_gates_passed(
    gate: Gate, passed: list[str]
) -> None:
    house = House([direct()], gates=[gate])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.access.passed == passed


@pytest.mark.proves("S5.1-14-ACCESS")
async def test_step_14_unlocks_nothing_for_a_gate_that_only_the_owner_let_pass() -> None:
    def ask(gate: Gate, context: dict[str, object]) -> GateResult:
        return GateResult(
            gate_name=gate.name, lane=gate.lane, action="require_approval", reason="unsure"
        )

    house = House([direct()], gates=[IDENTITY])
    house.gates.judge = ask
    async with house.harness as h:
        reply = await soon(h.silas.ask("hello"))
    assert reply.outcome == "answered"
    assert house.access.passed == []


@pytest.mark.proves("S5.1-15-MOOD")
@pytest.mark.parametrize(("route", "event"), [(direct(), "answered"), (to_planner(), "dispatched")])
async def test_step_15_tells_the_personality_how_the_turn_ended(
    route: RouteDecision, event: Outcome
) -> None:
    house = House([route], [proposing(plan_text())])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    ((scope, happened),) = house.persona.happened
    assert (scope, happened) == (OWNER, (event, "hello", TaintLevel.owner))


@pytest.mark.proves("S5.1-16-COUNTED")
async def test_step_16_counts_the_turns_of_each_connection_by_itself() -> None:
    house = House([direct(), direct(), direct()])
    async with house.harness as h:
        for connection in ("one", "one", "two"):
            await soon(h.silas.stream.handle(said(h, connection=connection)))
        numbers = {
            scope: [item.turn_number for item in house.in_view("message", scope)]
            for scope in ("one", "two")
        }
    assert numbers == {"one": [0, 0, 1, 1], "two": [0, 0]}


def basis() -> OpBasis:
    """The owner's own words."""
    return OpBasis(OWNER, "s", TaintLevel.owner, ("channel:cli",), True, True)


async def test_what_was_said_is_in_the_raw_lane_though_the_turn_broke_off() -> None:
    class Broken:
        def catalogue(self) -> dict[str, str]:
            raise RuntimeError("a bug")

    async with Harness(ports=Ports(skills=lambda _: Broken())) as h:
        with pytest.raises(RuntimeError):
            await h.silas.ask("what is the weather?")
        raw = [one for one in kit.everything(h) if one.source_kind == "conversation_raw"]
    assert [(one.content, one.taint) for one in raw] == [("what is the weather?", TaintLevel.owner)]
