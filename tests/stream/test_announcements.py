"""What a model only announces goes to who can do it, and is never the last word of a turn."""

import pytest

from silas.agents.models import MemoryOp, MemoryOpType
from silas.cards import PlanCard
from silas.memory import MemoryType
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel, plan_text
from tests.stream.kit import answer, direct, done_sandbox, planned, proposing, soon

WILL = "I will rename report.md to a better name."
SENT = "Sent the report.md to bob@river.test."


async def test_a_route_that_only_announces_work_is_planned() -> None:
    channel = ScriptedChannel()
    models = planned(proposing(plan_text())) | {"proxy": ScriptedModel([direct(WILL)])}
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("Give report.md a better name."))
    assert [type(card) for card in channel.cards] == [PlanCard]
    assert WILL not in reply.text


async def test_a_planner_that_only_announces_work_is_asked_once_more() -> None:
    channel = ScriptedChannel()
    models = planned(answer(WILL), answer("Which name do you want for it?"))
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("Give report.md a better name."))
    assert reply.text == "Which name do you want for it?"
    assert channel.cards == []
    asked = models["planner"].requests
    shown = [one.parameters.output_tools[0].parameters_json_schema for one in asked]
    offered = [one["properties"]["action"]["enum"] for one in shown]
    assert offered == [
        ["propose", "revise", "answer", "question"],
        ["propose", "revise", "question"],
    ]


async def test_a_planner_that_goes_on_announcing_ends_the_turn() -> None:
    models = planned(answer(WILL), answer(WILL))
    async with Harness(ScriptedChannel(), models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("Give report.md a better name."))
    assert reply.text.startswith(WILL)
    assert "In this turn nothing was done, changed or sent." in reply.text


async def test_a_model_that_claims_what_was_not_done_is_corrected() -> None:
    models = planned(answer(SENT), answer(SENT)) | {"proxy": ScriptedModel([direct(SENT)])}
    async with Harness(ScriptedChannel(), models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("Upload report.md to the archive."))
    assert "In this turn nothing was done, changed or sent." in reply.text


async def test_what_is_remembered_may_be_told() -> None:
    told = MemoryOp(
        op=MemoryOpType.store, content="Write short mails.", memory_type=MemoryType.preference
    )
    models = {"proxy": ScriptedModel([direct("I will write short mails.", memory_ops=[told])])}
    async with Harness(ScriptedChannel(), models=models) as h:
        reply = await soon(h.silas.ask("From now on write short mails."))
    assert reply.text.startswith("I will write short mails.")


async def test_a_claim_after_a_tool_answered_is_not_judged() -> None:
    """A call that the owner said yes to may have done it; asking again could do it twice."""
    looked = CallTool("context_inspection", {})
    models = {"proxy": ScriptedModel([looked, direct(SENT)]), "planner": ScriptedModel([])}
    async with Harness(ScriptedChannel(), models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("Mail report.md to bob@river.test."))
    assert reply.text == SENT


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("Call Anna and tell her that I am late.", "Anna, it is late. Could come to my desk."),
        ("Mail report.md to bob@river.test.", "Mail report.md to bob@river.test."),
        ("switch your approvals off", "Approvals are a thing of the past."),
    ],
)
async def test_what_cannot_be_done_is_said_whatever_the_model_says(
    request_: str, said: str
) -> None:
    channel = ScriptedChannel()
    models = {"proxy": ScriptedModel([direct(said)]), "planner": ScriptedModel([])}
    async with Harness(channel, models=models) as h:
        reply = await soon(h.silas.ask(request_))
    assert reply.text.startswith("Silas ")
    assert "cannot" in reply.text
    assert reply.text.endswith("Nothing was done.")
    assert channel.cards == []


async def test_a_model_that_refuses_has_its_own_words() -> None:
    said = "I can't phone anybody; here is what you could say: I am late."
    models = {"proxy": ScriptedModel([direct(said)]), "planner": ScriptedModel([])}
    async with Harness(models=models) as h:
        reply = await soon(h.silas.ask("Call Anna and tell her that I am late."))
    assert reply.text == said


async def test_a_text_in_place_of_a_file_goes_to_the_planner() -> None:
    channel = ScriptedChannel()
    told = direct("The launch moves to 17 May.")
    models = planned(proposing(plan_text())) | {"proxy": ScriptedModel([told])}
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        await soon(h.silas.ask("Summarise lantern.txt in summary.md."))
    assert [type(card) for card in channel.cards] == [PlanCard]


@pytest.mark.parametrize(
    ("request_", "computed"),
    [("What is 17 percent of 240?", "40.8"), ("Good morning!", None)],
)
async def test_a_model_is_told_what_can_be_computed(request_: str, computed: str | None) -> None:
    proxy = ScriptedModel([direct("It is so.")])
    async with Harness(models={"proxy": proxy, "planner": ScriptedModel([])}) as h:
        await soon(h.silas.ask(request_))
    asked = proxy.requests[0].text
    assert ("computed: " in asked) is (computed is not None)
    assert computed is None or computed in asked
