"""Each of the sixteen steps does something in a wired Silas, and they come in their order."""

import pytest

from silas.agents import MemoryQuery, RouteDecision
from silas.agents.models import MemoryOp, MemoryOpType, MemoryQueryStrategy
from silas.context import Evicted
from silas.gates import Gate, GateProvider, GateResult, GateTrigger, GateType
from silas.stream.models import Outcome
from silas.testing import CallTool, FakeTool, plan_text
from silas.tools import RiskLevel, ToolConfig, ToolResult
from silas.types import OWNER, TaintLevel
from tests.stream.kit import (
    House,
    answer,
    direct,
    entries_of,
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
QUERY = MemoryQuery(strategy=MemoryQueryStrategy.keyword, query="the owner's cat")
STORE = MemoryOp(op=MemoryOpType.store, content="The cat is called Mia.")


@pytest.mark.proves("S5.1-STEP-ORDER", "S5.1-8-BEFORE-SENDING")
async def test_the_steps_are_taken_in_the_order_of_the_specification() -> None:
    everything = proposing(plan_text(), memory_queries=[QUERY], memory_ops=[STORE])
    house = House([to_planner()], [everything], gates=[IDENTITY])
    house.memory.finds, house.memory.answers = ["a cat"], ["Mia"]
    house.context.evicted = [Evicted("old", TaintLevel.owner, "channel:cli", 0)]
    house.suggestions.waiting = ["Something waits."]
    async with house.harness as h:
        reply = await soon(h.silas.ask("do it"))
    assert reply.outcome == "dispatched"
    assert house.journal == [
        "0 gate set",
        "0.5 queue",
        "send",
        "1 input gates",
        "2 sign-in",
        "3 chronicle",
        "3.5 raw conversation_raw",
        "4 recall",
        "memory",
        "5 budget",
        "5 raw episode",
        "6 allowed",
        "6 toolset",
        "6.5 skills",
        "7 render",
        "7 directives",
        "7 proxy",
        "7 toolset of the planner",
        "7 planner",
        "7 profile",
        "8 output gates",
        "9 queries",
        "memory",
        "10 gates",
        "10 operation",
        "11 chronicle",
        "11.5 raw agent_response_raw",
        "12 workspace",
        "12 card",
        "12 dispatch",
        "send",
        "14 access",
        "15 mood",
    ]


@pytest.mark.proves("S5.1-0-GATES-FROZEN")
async def test_step_0_freezes_the_gates_and_every_later_step_uses_the_same() -> None:
    house = House([direct(memory_ops=[STORE])], gates=[IDENTITY, TONE])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.journal.count("0 gate set") == 1
    assert house.gates.sets == [["identity", "tone"]] * 3  # input, output, memory operation


async def test_step_0_5_sends_what_waits_before_the_message_is_looked_at() -> None:
    house = House([direct("Hello.")])
    house.suggestions.waiting = ["Your review of May is due.", "The mail connection expires."]
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert [text for _, text in house.noting.sent] == [
        "Your review of May is due.",
        "The mail connection expires.",
        "Hello.",
    ]


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
    assert house.context.items[0]["text"].endswith(": clean words")
    assert house.memory.raw[0][1] == "clean words"
    assert house.memory.recalls == ["clean words"]
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
    assert house.context.items[0]["taint"] is taint
    assert house.memory.raw[0][2] is taint
    shown = house.proxy.requests[0].text
    assert f"--- message | taint: {taint} " in shown


async def test_step_3_puts_the_message_with_its_origin_into_the_chronicle() -> None:
    house = House([direct()])
    async with house.harness as h:
        await soon(h.silas.stream.handle(said(h, "good day", "desk-7", sender="eve")))
    assert house.context.items[0] == {
        "scope": "desk-7",
        "kind": "message",
        "text": "[auth] eve: good day",
        "taint": TaintLevel.auth,
        "source": "channel:cli",
        "turn": 0,
    }


async def test_step_3_5_keeps_the_message_as_it_came() -> None:
    house = House([direct()])
    async with house.harness as h:
        await soon(h.silas.ask("remember me"))
    assert house.memory.raw[0] == ("conversation_raw", "remember me", TaintLevel.owner)


async def test_step_4_brings_at_most_five_memories_into_view_as_untrusted() -> None:
    house = House([direct()])
    house.memory.finds = [f"memory {n}" for n in range(9)]
    async with house.harness as h:
        await soon(h.silas.ask("what do you know?"))
    brought = [item for item in house.context.items if item["kind"] == "memory"]
    assert [item["text"] for item in brought] == [f"memory {n}" for n in range(5)]
    assert {item["taint"] for item in brought} == {TaintLevel.external}


async def test_step_5_remembers_what_had_to_go_and_makes_external_text_harmless() -> None:
    house = House([direct()])
    house.context.evicted = [
        Evicted("mine <script>x</script>", TaintLevel.owner, "channel:cli", 1),
        Evicted("theirs <script>steal()</script>", TaintLevel.external, "tool:web", 2),
    ]
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.context.budgets == [(OWNER, 0)]
    mine, theirs = [raw for raw in house.memory.raw if raw[0] == "episode"]
    assert mine == ("episode", "mine <script>x</script>", TaintLevel.owner)
    assert theirs[2] is TaintLevel.external
    assert "theirs" in theirs[1]
    assert "steal" not in theirs[1]


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
    assert "bookkeeping: Keeps the books in order." in house.proxy.requests[0].text


@pytest.mark.proves("S5.1-7-MODE-RESOLVED", "S5.1-7-PROFILE-SET", "S5.1-7-PLANNER-CALLED")
async def test_step_7_gives_the_models_context_personality_and_access_and_sets_the_profile() -> (
    None
):
    house = House([to_planner()], [answer("Hello.")])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
        (routed,) = await entries_of(h, "turn_routed")
    for model in (house.proxy, house.planner):
        told = model.requests[0].text
        assert "what owner has seen in 0" in told
        assert "Speak softly to owner." in told
        assert "--- access_level ---\ntrusted" in told
    assert "route_reason: work" in house.planner.requests[0].text
    assert "interaction_mode: act_and_report" in house.planner.requests[0].text
    assert house.context.profiles == [(OWNER, "coding")]
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


async def test_step_9_brings_what_the_agent_asked_for_into_view_but_nothing_twice() -> None:
    house = House([direct(memory_queries=[QUERY])])
    house.memory.finds, house.memory.answers = ["Mia is a cat"], ["Mia is a cat", "Mia is grey"]
    async with house.harness as h:
        await soon(h.silas.ask("tell me of my cat"))
    assert house.memory.queries == ["the owner's cat"]
    brought = [item["text"] for item in house.context.items if item["kind"] == "memory"]
    assert brought == ["Mia is a cat", "Mia is grey"]


async def test_step_10_asks_the_gates_before_each_memory_operation() -> None:
    def judge(gate: Gate, context: dict[str, object]) -> GateResult:
        bad = "secret" in str(context["tool_args"])
        return GateResult(
            gate_name=gate.name,
            lane=gate.lane,
            action="block" if bad else "continue",
            reason="no secrets",
        )

    bad = MemoryOp(op=MemoryOpType.store, content="a secret")
    guard = Gate(name="memory_guard", on=GateTrigger.on_tool_call, provider=GateProvider.custom)
    house = House([direct(memory_ops=[bad, STORE])], gates=[guard])
    house.gates.judge = judge
    async with house.harness as h:
        reply = await soon(h.silas.ask("remember this"))
        blocked = await entries_of(h, "memory_op_blocked")
    assert reply.outcome == "answered"
    assert [op["content"] for op in house.memory.ops] == ["The cat is called Mia."]
    assert [entry["op"] for entry in blocked] == ["store"]


async def test_step_10_keeps_to_the_limit_of_operations_and_says_so() -> None:
    house = House([direct(memory_ops=[STORE] * 12)])
    async with house.harness as h:
        await soon(h.silas.ask("remember all of this"))
        (cut,) = await entries_of(h, "memory_ops_truncated")
    assert len(house.memory.ops) == 10
    assert (cut["asked"], cut["kept"]) == (12, 10)


@pytest.mark.parametrize("planner", [False, True])
async def test_step_11_puts_the_answer_and_its_speaker_into_the_chronicle(planner: bool) -> None:
    house = House([to_planner()], [answer("Yes.")]) if planner else House([direct("Yes.")])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.context.items[-1] == {
        "scope": OWNER,
        "kind": "message",
        "text": "Silas: Yes.",
        "taint": TaintLevel.owner,
        "source": "agent:planner" if planner else "agent:proxy",
        "turn": 0,
    }


async def test_step_11_5_keeps_answer_queries_and_tool_results_with_the_taint_of_each() -> None:
    async def weather(request: dict[str, object]) -> ToolResult:
        return ToolResult(ok=True, return_value="rain", taint=TaintLevel.external)

    house = House([CallTool("look", {"query": "weather"}), direct("It rains.")])
    look = FakeTool("look", weather, capabilities=("proxy",))
    async with house.harness as h:
        h.silas.registry.register(look, ToolConfig(connector_id="x", risk_default=RiskLevel.low))
        await soon(h.silas.ask("what is the weather?"))
    assert look.calls == [{"query": "weather"}]
    assert house.memory.raw[1:] == [
        ("research_query_raw", '{"args":{"query":"weather"},"tool":"look"}', TaintLevel.owner),
        ("tool_output_raw", "rain", TaintLevel.external),
        ("agent_response_raw", "It rains.", TaintLevel.external),
    ]
    assert house.context.items[-1]["taint"] is TaintLevel.external


async def test_step_12_hands_an_approved_plan_to_the_background() -> None:
    house = House([to_planner()], [proposing(plan_text())])
    async with house.harness as h:
        reply = await soon(h.silas.ask("do it"))
    assert [item.id for item in house.dispatched] == ["task-example"]
    assert reply.plan is house.dispatched[0]
    (plan,) = [item for item in house.context.items if item["kind"] == "plan"]
    assert plan["text"] == plan_text()


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


@pytest.mark.parametrize(("route", "event"), [(direct(), "answered"), (to_planner(), "dispatched")])
async def test_step_15_tells_the_personality_how_the_turn_ended(
    route: RouteDecision, event: Outcome
) -> None:
    house = House([route], [proposing(plan_text())])
    async with house.harness as h:
        await soon(h.silas.ask("hello"))
    assert house.persona.events == [(OWNER, event)]


@pytest.mark.proves("S5.1-16-COUNTED")
async def test_step_16_counts_the_turns_of_each_connection_by_itself() -> None:
    house = House([direct(), direct(), direct()])
    async with house.harness as h:
        for connection in ("one", "one", "two"):
            await soon(h.silas.stream.handle(said(h, connection=connection)))
    assert house.context.budgets == [("one", 0), ("one", 1), ("two", 0)]
