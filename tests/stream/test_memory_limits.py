"""Agents use the memory of a scope only so often a minute (spec 18.5)."""

from typing import Any

import pytest

from silas.agents.models import MemoryOp, MemoryOpType, MemoryQuery
from silas.testing import CallTool, Harness, ScriptedModel
from tests.stream.kit import direct, entries_of, said, soon

TOO_MANY = "Memory was used as often as it may be within a minute; try again in a minute."
QUERY = MemoryQuery.model_validate({"strategy": "keyword", "query": "cat", "max_results": 3})


def storing(number: int) -> MemoryOp:
    return MemoryOp(op=MemoryOpType.store, content=f"Fact {number} about the cat.")


async def over_limit(h: Harness) -> list[tuple[str, str]]:
    """What was refused for a limit and is on record, and whom."""
    return [(entry["reason"], entry["who"]) for entry in await entries_of(h, "limit.exceeded")]


def house(limit: int, *answers: Any) -> Harness:
    return Harness(
        models={"proxy": ScriptedModel(answers)},
        settings={"limits": {"memory_ops_per_minute_per_scope": limit}},
    )


@pytest.mark.proves("S18.5-MEMORY-OPS-MINUTE")
async def test_operations_over_the_limit_are_refused_until_the_minute_is_over() -> None:
    first = direct(memory_ops=[storing(1), storing(2), storing(3)])
    async with house(2, first, direct(memory_ops=[storing(4)]), direct()) as h:
        reply = await soon(h.silas.ask("remember"))
        assert reply.text.count(TOO_MANY) == 1
        codes = [entry["code"] for entry in await entries_of(h, "memory_op_refused")]
        assert codes == ["E_MEM_OPERATIONS_A_MINUTE"]
        kept = [item.content for item in await h.memory.search_keyword("cat", 10)]
        assert sorted(kept) == ["Fact 1 about the cat.", "Fact 2 about the cat."]
        h.clock.advance(60)
        assert TOO_MANY not in (await soon(h.silas.ask("remember"))).text


async def test_what_is_taken_back_goes_over_the_limit_too() -> None:
    gone = MemoryOp(op=MemoryOpType.delete, memory_id="mem-unknown")
    async with house(1, direct(memory_ops=[storing(1), gone])) as h:
        reply = await soon(h.silas.ask("remember"))
        assert TOO_MANY not in reply.text
        (refused,) = await entries_of(h, "memory_op_refused")
        assert refused["code"] != "E_MEM_OPERATIONS_A_MINUTE"  # there is no such memory


@pytest.mark.proves("S18.5-MEMORY-OPS-MINUTE")
async def test_what_an_agent_looks_up_counts_for_its_own_scope() -> None:
    asking = direct(memory_queries=[QUERY, QUERY])
    async with house(1, asking, asking) as h:
        await soon(h.silas.ask("cats"))
        await soon(h.silas.stream.handle(said(h, "cats", "stranger")))
        assert await over_limit(h) == [
            ("searches of memory", "owner"),
            ("searches of memory", "stranger"),
        ]
        assert await entries_of(h, "memory_query_failed") == []  # one entry for each refusal


@pytest.mark.proves("S18.5-MEMORY-OPS-MINUTE")
async def test_the_search_tool_says_that_it_was_used_too_often() -> None:
    look = CallTool("memory_search", {"query": "cat"})
    model = ScriptedModel([look, look, direct()])
    settings = {"limits": {"memory_ops_per_minute_per_scope": 1}}
    async with Harness(models={"proxy": model}, settings=settings) as h:
        await soon(h.silas.ask("cats"))
        assert TOO_MANY not in model.requests[1].text
        assert TOO_MANY in model.requests[2].text
        assert await over_limit(h) == [("searches of memory", "owner")]


@pytest.mark.proves("S18.5-MEMORY-OPS-MINUTE")
async def test_a_flood_of_searches_is_one_entry_a_minute_with_their_number() -> None:
    look = CallTool("memory_search", {"query": "cat"})
    model = ScriptedModel([look, look, look, direct(), look, look, direct()])
    settings = {"limits": {"memory_ops_per_minute_per_scope": 1}}
    async with Harness(models={"proxy": model}, settings=settings) as h:
        await soon(h.silas.ask("cats"))
        h.clock.advance(60)
        await soon(h.silas.ask("cats"))
        found = await entries_of(h, "limit.exceeded")
        assert [entry["unsaid"] for entry in found] == [0, 1]
