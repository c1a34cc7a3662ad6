"""Structured outputs: what a model may answer, and what is refused (spec 3.2)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from silas.agents import (
    AgentResponse,
    ExecutorAgentOutput,
    MemoryOp,
    MemoryQuery,
    RouteDecision,
)
from silas.agents.calls import CALLS
from silas.memory import MemoryType

QUERY = {"strategy": "semantic", "query": "x"}
DECISION: dict[str, Any] = {
    "route": "planner",
    "reason": "r",
    "interaction_register": "status",
    "interaction_mode": "act_and_report",
    "context_profile": "coding",
}


@pytest.mark.proves(
    "S3.2-STRUCTURED-RESPONSE",
    "S3.2-THREE-QUERIES",
    "S3.2-MEMORY-OP-FIELDS",
    "S3.2-PROFILE-CONFIGURED",
    "S3.2-DIRECT-HAS-RESPONSE",
    "S3.2-PLANNER-HAS-NONE",
)
@pytest.mark.parametrize(
    ("model", "data"),
    [
        (MemoryOp, {"op": "store"}),
        (MemoryOp, {"op": "store", "content": ""}),
        (MemoryOp, {"op": "update", "content": "c"}),
        (MemoryOp, {"op": "update", "memory_id": "m"}),
        (MemoryOp, {"op": "delete"}),
        (MemoryOp, {"op": "link", "memory_id": "m", "link_to": "n"}),
        (MemoryOp, {"op": "link", "memory_id": "m", "link_type": "causes"}),
        (MemoryOp, {"op": "link", "link_to": "n", "link_type": "causes"}),
        (MemoryOp, {"op": "forget", "memory_id": "m"}),
        (MemoryQuery, {"strategy": "psychic", "query": "x"}),
        (MemoryQuery, {**QUERY, "max_results": 0}),
        (AgentResponse, {"message": "m", "memory_queries": [QUERY] * 4}),
        (AgentResponse, {}),
        (RouteDecision, {**DECISION, "route": "direct"}),
        (RouteDecision, {**DECISION, "response": {"message": "m"}}),
        (RouteDecision, {**DECISION, "route": "executor"}),
        (RouteDecision, {**DECISION, "context_profile": ""}),
        (RouteDecision, {**DECISION, "context_profile": "  "}),
        (RouteDecision, {**DECISION, "interaction_register": "shouting"}),
        (ExecutorAgentOutput, {"artifact_refs": []}),
    ],
)
def test_an_answer_that_breaks_the_schema_is_refused(
    model: type[BaseModel], data: dict[str, Any]
) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(data)


@pytest.mark.proves("S3.2-MEMORY-OP-FIELDS")
@pytest.mark.parametrize(
    "data",
    [
        {"op": "store", "content": "c"},
        {"op": "update", "memory_id": "m", "content": "c"},
        {"op": "delete", "memory_id": "m"},
        {"op": "link", "memory_id": "m", "link_to": "n", "link_type": "causes"},
    ],
)
def test_each_memory_operation_is_accepted_with_its_own_fields(data: dict[str, Any]) -> None:
    assert MemoryOp.model_validate(data).memory_type is MemoryType.episode


def test_defaults_are_those_of_the_specification() -> None:
    query = MemoryQuery.model_validate(QUERY)
    assert (query.max_results, query.max_tokens) == (5, 2000)
    response = AgentResponse(message="m")
    assert response.needs_approval
    assert response.plan_action is None


@pytest.mark.proves("S3.2-THREE-QUERIES")
def test_three_memory_queries_are_accepted() -> None:
    assert AgentResponse.model_validate({"message": "m", "memory_queries": [QUERY] * 3})


@pytest.mark.proves("S3.2-PROFILE-CONFIGURED")
def test_a_profile_is_checked_against_the_configured_names() -> None:
    names = {"context_profiles": {"coding", "conversation"}}
    assert RouteDecision.model_validate(DECISION, context=names)
    with pytest.raises(ValidationError, match="coding, conversation"):
        RouteDecision.model_validate({**DECISION, "context_profile": "poetry"}, context=names)


@pytest.mark.proves("S3.2-PROFILE-CONFIGURED")
def test_with_no_profile_configured_no_profile_is_accepted() -> None:
    with pytest.raises(ValidationError):
        RouteDecision.model_validate(DECISION, context={"context_profiles": frozenset[str]()})


@pytest.mark.proves("S15-NEVER-FORGE")
def test_fields_a_model_invents_are_dropped() -> None:
    response = AgentResponse.model_validate({"message": "m", "approval_token": "forged"})
    assert "approval_token" not in response.model_dump()


@pytest.mark.parametrize("name", list(CALLS))
def test_every_call_has_a_fallback_that_is_valid_and_does_nothing(name: str) -> None:
    call = CALLS[name]
    answer = call.fallback("conversation", "proxy: llama")
    assert call.output.model_validate(answer.model_dump()) == answer
    assert getattr(answer, "plan_action", None) is None
    assert not getattr(answer, "evict_groups", [])


def test_every_call_asks_for_an_output_of_its_own_name() -> None:
    assert len({call.form for call in CALLS.values()}) == len(CALLS)


@given(st.text(min_size=1).filter(str.strip))
def test_any_profile_name_survives_a_round_trip(name: str) -> None:
    decision = RouteDecision.model_validate({**DECISION, "context_profile": name})
    assert RouteDecision.model_validate_json(decision.model_dump_json()) == decision
