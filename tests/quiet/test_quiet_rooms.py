"""Rooms that come later: their null objects keep nothing, find nothing and allow nothing."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from silas.agents.models import MemoryQuery
from silas.autonomy import AutonomyConfig, NoSuggestions, Suggestions
from silas.connections import BatchReviewConfig, ConnectionsConfig
from silas.context import ContextConfig, ContextKeeper, ContextProfile, NoContext
from silas.memory import Memory, MemoryConfig, NoMemory
from silas.persona import NoPersona, Persona, PersonalityConfig
from silas.schedule import SchedulerConfig, cron_fault
from silas.types import TaintLevel


async def test_no_context_takes_everything_and_shows_nothing() -> None:
    context: ContextKeeper = NoContext()
    context.add(
        "owner", kind="message", text="hi", taint=TaintLevel.owner, source="channel:cli", turn=1
    )
    context.set_profile("owner", "coding")
    assert context.render("owner", 1) == ""
    assert list(context.inspect("owner")) == []
    assert await context.enforce_budget("owner", 1) == []


async def test_no_memory_forgets() -> None:
    memory: Memory = NoMemory()
    await memory.store_raw("the door is green", "conversation_raw", TaintLevel.owner)
    await memory.apply_op({"op": "store", "content": "the door is green"}, "owner")
    query = MemoryQuery.model_validate({"strategy": "keyword", "query": "door"})
    assert await memory.recall("door", "owner", 5) == []
    assert await memory.run_queries([query], "owner") == []
    assert list(await memory.search("door", "owner", 5)) == []


async def test_no_persona_is_neutral_whatever_happens() -> None:
    persona: Persona = NoPersona()
    await persona.after_turn("owner", "blocked")
    assert persona.directives("owner", "hello") == ""
    assert persona.initiative("owner") == 0.5


async def test_no_suggestions_suggest_nothing() -> None:
    suggestions: Suggestions = NoSuggestions()
    assert await suggestions.idle("owner", datetime(2026, 1, 1, tzinfo=UTC)) == []
    assert await suggestions.after_result("owner", "done", ["tidy up"]) == []


@pytest.mark.proves("S3.5-PROFILE-RANGES")
@pytest.mark.parametrize(
    ("shares", "valid"),
    [
        ((0.45, 0.20, 0.15), True),
        ((0.1, 0.2, 0.5), True),
        ((0.7, 0.05, 0.05), True),
        ((0.0, 0.0, 0.0), True),
        ((0.8, 0.0, 0.0), True),
        ((0.8, 0.0, 0.001), False),
        ((0.81, 0.0, 0.0), False),
        ((-0.1, 0.2, 0.2), False),
        ((0.2, 1.1, 0.2), False),
        ((float("nan"), 0.0, 0.0), False),
    ],
)
def test_a_context_profile_leaves_a_fifth_free(
    shares: tuple[float, float, float], valid: bool
) -> None:
    fields = dict(zip(("chronicle_pct", "memory_pct", "workspace_pct"), shares, strict=True))
    if valid:
        assert ContextProfile.model_validate(fields)
        return
    with pytest.raises(ValidationError):
        ContextProfile.model_validate(fields)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ContextConfig, {"profiles": {}}),
        (ContextConfig, {"total_tokens": 0}),
        (MemoryConfig, {"portability_bundle_format": "zip"}),
        (PersonalityConfig, {"baseline": {"warmth": 1.1}}),
        (PersonalityConfig, {"baseline": {"charm": 0.5}}),
        (PersonalityConfig, {"contexts": {"x": {"humor": -1.5}}}),
        (PersonalityConfig, {"decay_rate_per_hour": 2}),
        (AutonomyConfig, {"min_samples": 0}),
        (BatchReviewConfig, {"confidence": {"high_min": 0.4, "medium_min": 0.5}}),
        (ConnectionsConfig, {"health_check_default": "always"}),
        (SchedulerConfig, {"timezone": "../etc/passwd"}),
        (SchedulerConfig, {"timezone": ""}),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(model: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(fields)


@pytest.mark.parametrize(
    ("expression", "valid"),
    [
        ("*/15 * * * *", True), ("0 7 * * 1-5", True), ("0,30 6-22/2 1 1 0", True),
        ("59 23 31 12 7", True), ("1-59/2 * * * *", True),
        ("60 * * * *", False), ("* 24 * * *", False), ("* * 0 * *", False), ("* * * 13 *", False),
        ("* * * * 8", False), ("5-1 * * * *", False), ("*/0 * * * *", False),
        ("* * * *", False), ("* * * * * *", False), ("@daily", False), ("", False),
        ("a * * * *", False), ("1, * * * *", False), ("\u0661 * * * *", False),
    ],
)  # fmt: skip
def test_a_cron_expression_has_five_fields_in_their_ranges(expression: str, valid: bool) -> None:
    assert (cron_fault(expression) == "") is valid
