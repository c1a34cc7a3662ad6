"""How work is undone is answered by code, with a language model, too: exact at its door."""

import pytest

from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel, plan_text
from tests.stream.kit import answering, direct, done_sandbox, proposing, ran, soon, to_planner

WORK = CallTool("shell_exec", {"argv": ["true"]})
ELSEWHERE = "I cannot undo: choose “Undo” at its result."


def models() -> dict[str, ScriptedModel]:
    return {
        "proxy": ScriptedModel([to_planner(), direct(ELSEWHERE)]),
        "planner": ScriptedModel([proposing(plan_text(id="task-1"))]),
        "executor": ScriptedModel([WORK, ran()]),
    }


@pytest.mark.parametrize("said", ["undo that", "Please undo it!", "mach das rückgängig"])
async def test_a_model_is_not_asked_how_work_is_undone(said: str) -> None:
    channel, asked = ScriptedChannel(answering("approved")), models()
    async with Harness(channel, models=asked, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.wait("task-1"))
        reply = await soon(h.silas.ask(said))
        assert "`silas undo task-1`" in reply.text
        assert reply.outcome == "failed"  # nothing was undone


async def test_more_than_that_is_the_models() -> None:
    async with Harness(models={"proxy": ScriptedModel([direct(ELSEWHERE)])}) as h:
        assert (await soon(h.silas.ask("undo the last edit of a.txt"))).text == ELSEWHERE
