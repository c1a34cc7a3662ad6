"""What a block ends before it happens: no model, no memory, no trace of what was stopped."""

import pytest

from silas.agents import MemoryQuery
from silas.agents.models import MemoryOp, MemoryOpType, MemoryQueryStrategy
from silas.gates import Gate, GateProvider, GateResult, GateTrigger, GateType
from silas.testing import plan_text
from silas.types import OWNER
from tests.stream.kit import (
    House,
    everything,
    proposing,
    recorded,
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


def blocking(gate: Gate, context: dict[str, object]) -> GateResult:
    """Every gate blocks."""
    return GateResult(gate_name=gate.name, lane=gate.lane, action="block", reason="no")


@pytest.mark.proves("S5.1-EARLY-STOPS", "S5.1-1-BLOCK-ENDS-TURN")
async def test_an_input_block_ends_the_turn_before_a_model_is_asked_or_anything_is_stored() -> None:
    house = House([], gates=[IDENTITY.model_copy(update={"on_block": "polite_redirect"})])
    house.gates.judge = blocking
    async with house.harness as h:
        reply = await soon(h.silas.ask("bad words"))
        events = [event for event, _ in await recorded(h)]
        assert everything(h) == []
        assert h.context.in_view(OWNER) == []
    assert house.journal == [
        *("0 gate set", "0.5 queue", "1 input gates"),
        *("13 kept", "send", "16 ended", "review"),
    ]
    assert house.access.passed == []
    assert reply.outcome == "blocked"
    assert house.noting.sent == [(OWNER, "I can't help with that. How else can I assist you?")]
    assert events[-2:] == ["gate_blocked", "turn_finished"]


@pytest.mark.proves("S5.1-EARLY-STOPS", "S5.1-8-BLOCK-SUPPRESSES", "S5.1.1-SUPPRESSED-NOT-SENT")
async def test_an_output_block_sends_only_the_escalations_words_and_keeps_nothing() -> None:
    plan = proposing(plan_text(), "hidden", memory_ops=[STORE], memory_queries=[QUERY])
    policy = TONE.model_copy(
        update={"provider": GateProvider.custom, "on_block": "polite_redirect"}
    )
    house = House([to_planner()], [plan], gates=[policy])
    house.gates.judge = blocking
    async with house.harness as h:
        reply = await soon(h.silas.ask("hello"))
        log = str(await recorded(h))
        kept = f"{everything(h)}{h.context.in_view(OWNER)}{await h.silas.store.get('task-example')}"
    assert house.noting.sent == [(OWNER, "I can't help with that. How else can I assist you?")]
    assert house.journal[-6:] == [
        *("8 output gates", "11 chronicle", "13 kept", "send", "16 ended", "review"),
    ]
    assert reply.outcome == "blocked"
    assert "hidden" not in f"{log}{kept}{reply}"
    assert (house.ops.asked, house.dispatched) == ([], [])
    assert "9 queries" not in house.journal
