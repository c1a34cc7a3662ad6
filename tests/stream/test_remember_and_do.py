"""One message asks Silas to remember something, and for work besides: neither is lost."""

import pytest

from silas.agents.models import MemoryOp, MemoryOpType
from silas.testing import Harness, ScriptedChannel, ScriptedModel, plan_text
from tests.stream.kit import answer, proposing, soon, to_planner

SAID = "Lena eats no nuts."
KEEP = MemoryOp(op=MemoryOpType.store, content=SAID)
ASKED = f"Remember: {SAID} And make a file with three ideas for her party."


async def kept(h: Harness) -> list[str]:
    return [one.content for one in await h.memory.search_keyword("nuts", 10) if one.content == SAID]


@pytest.mark.parametrize("again", [[], [KEEP]], ids=["by who routes", "by both"])
async def test_what_is_to_be_remembered_beside_work_is_kept_once(again: list[MemoryOp]) -> None:
    planner = answer("Which party?").model_copy(update={"memory_ops": again})
    models = {
        "proxy": ScriptedModel([to_planner(memory_ops=[KEEP])]),
        "planner": ScriptedModel([planner, planner]),
    }
    async with Harness(models=models) as h:
        await soon(h.silas.ask(ASKED))
        assert await kept(h) == [SAID]


async def test_a_no_to_the_work_is_none_to_what_is_remembered() -> None:
    channel = ScriptedChannel()
    models = {
        "proxy": ScriptedModel([to_planner(memory_ops=[KEEP])]),
        "planner": ScriptedModel([proposing(plan_text())]),
    }
    async with Harness(channel, models=models) as h:
        reply = await soon(h.silas.ask(ASKED))
        assert len(channel.cards) == 1
        assert reply.outcome != "answered"
        assert await kept(h) == [SAID]
