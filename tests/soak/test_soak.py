"""A long conversation in a small window, cut short; the whole of it is `make soak`."""

import asyncio
import random

import pytest

from benchmarks.soak import WINDOW, Soak, conversation, figures, soak

PLANTED = 20


@pytest.fixture(scope="module")
def held() -> Soak:
    return asyncio.run(soak(turns=120, planted=PLANTED))


def test_every_standing_rule_is_in_every_prompt_from_then_on(held: Soak) -> None:
    assert held.prompts >= 120
    assert held.rules_in_force == PLANTED
    assert held.rules_missing == 0


def test_what_was_told_long_ago_is_found_again_when_it_is_asked_for(held: Soak) -> None:
    assert held.facts_recalled >= 0.95 * PLANTED
    assert held.facts_in_prompt >= 0.9 * PLANTED


def test_no_prompt_is_longer_than_the_window(held: Soak) -> None:
    assert 0.5 * WINDOW < held.longest_prompt <= WINDOW


def test_a_rule_that_is_a_gate_holds_though_the_model_breaks_it(held: Soak) -> None:
    assert held.forbidden_said > 0
    assert held.forbidden_sent == 0


def test_the_conversation_is_what_it_is_said_to_be(held: Soak) -> None:
    steps = conversation(1000, 100, random.Random(1))
    assert len(steps) == 1000
    for kind in ("rule", "fact", "asked"):
        texts = [step.text for step in steps if getattr(step, kind) is not None]
        assert len(set(texts)) == 100
    told = {step.fact.answer: n for n, step in enumerate(steps) if step.fact}
    asked = {step.asked.answer: n for n, step in enumerate(steps) if step.asked}
    assert all(told[answer] < asked[answer] for answer in told)
    assert figures(held)["prompts"] == held.prompts
