"""`--approve sha256:HEX`: a yes for exactly one plan, and for nothing else."""

import pytest

from silas.cards import GateCard, PlanCard, ToolCallCard
from silas.channels import PreApproved
from silas.testing.cards import a_card
from silas.testing.channels import ScriptedChannel


@pytest.mark.parametrize(("digit", "verdict"), [("0", "approved"), ("1", "left")])
async def test_it_counts_for_exactly_one_plan(digit: str, verdict: str) -> None:
    inner = ScriptedChannel(lambda card: card.actions[0].value)
    channel = PreApproved(inner, "0" * 64)
    answer = await channel.ask("owner", a_card(PlanCard, plan_hash=digit * 64))
    assert answer.verdict == verdict
    assert inner.cards == []


async def test_every_other_card_is_still_asked() -> None:
    inner = ScriptedChannel()
    assert await PreApproved(inner, "0" * 64).ask("owner", a_card(GateCard)) == "block"
    assert len(inner.cards) == 1


async def test_it_says_which_plan_was_meant_either_way() -> None:
    inner = ScriptedChannel()
    channel = PreApproved(inner, "0" * 64)
    await channel.ask("owner", a_card(PlanCard, plan_hash="0" * 64))
    await channel.ask("owner", a_card(PlanCard, plan_hash="1" * 64))
    assert inner.texts[0] == f"Approved beforehand: exactly sha256:{'0' * 64}."
    assert f"sha256:{'1' * 64}, but sha256:{'0' * 64} was approved" in inner.texts[1]


async def test_a_single_call_of_the_approved_plan_is_still_asked() -> None:
    inner = ScriptedChannel()
    assert await PreApproved(inner, "0" * 64).ask("owner", a_card(ToolCallCard)) == "decline"
    assert len(inner.cards) == 1


async def test_a_refusal_names_what_the_plan_runs() -> None:
    inner = ScriptedChannel()
    files = tuple(f"/project/{number}.sh" for number in range(10))
    card = a_card(PlanCard, plan_hash="1" * 64, files_hash="2" * 64, files=files)
    await PreApproved(inner, "0" * 64).ask("owner", card)
    (said,) = inner.texts
    assert "look at it again" in said
    assert "What it runs may have changed since: `/project/0.sh`, `/project/1.sh`" in said
    assert said.endswith("`/project/7.sh` and 2 more.")
