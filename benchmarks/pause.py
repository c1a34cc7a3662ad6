"""An approval pause and resume, persisted, against PydanticAI with a blob in SQLite (CPU)."""

import asyncio
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from silas.cards import PlanAnswer
from silas.plans import plan_hash, subject_of
from silas.testing import Harness, ScriptedChannel, a_plan


def _asks_then_ends(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        return ModelResponse(parts=[ToolCallPart("act", {"what": "it"}, tool_call_id="one")])
    return ModelResponse(parts=[TextPart("done")])


async def _blob(agent: Agent[None, str | DeferredToolRequests], db: sqlite3.Connection) -> None:
    paused = await agent.run("do it")
    assert isinstance(paused.output, DeferredToolRequests)
    db.execute("INSERT INTO runs (body) VALUES (?)", (paused.all_messages_json(),))
    db.commit()
    (body,) = db.execute("SELECT body FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    resumed = await agent.run(
        message_history=ModelMessagesTypeAdapter.validate_json(body),
        deferred_tool_results=DeferredToolResults(approvals={"one": True}),
    )
    assert resumed.output == "done"


async def _governed(harness: Harness, number: int) -> None:
    item = a_plan(id=f"task-{number}")
    proposal = await harness.silas.runs.proposer.propose(
        item, harness.silas.runs.channel, "owner", "why"
    )
    assert proposal.verdict == "approved"
    kept = await harness.store.get(item.id)
    assert kept is not None
    assert kept.approval_token is not None
    assert await harness.approval.check(kept.approval_token, subject_of(kept))
    assert plan_hash(kept) == plan_hash(item)


async def _measure(rounds: int) -> dict[str, float]:
    agent = Agent(FunctionModel(_asks_then_ends), output_type=[str, DeferredToolRequests])

    @agent.tool_plain(requires_approval=True)
    def act(what: str) -> str:
        return what

    yes = ScriptedChannel(lambda card: PlanAnswer(verdict="approved"))
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder) / "runs.db")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, body BLOB)")
        async with Harness(yes) as harness:
            pairs: list[tuple[float, float]] = []
            for number in range(rounds + 10):
                start = time.process_time()
                await _governed(harness, number)
                middle = time.process_time()
                await _blob(agent, db)
                pairs.append((middle - start, time.process_time() - middle))
            replayed = await harness.store.get("task-0")
            assert replayed is not None
            assert replayed.approval_token is not None
            again = await harness.approval.verify(replayed.approval_token, subject_of(replayed))
            assert not again
            assert (await harness.audit.verify_chain()).valid
        db.close()
    counted = pairs[10:]
    return {
        "governed pause and resume, ms CPU": statistics.median(a for a, _ in counted) * 1000,
        "PydanticAI with a blob, ms CPU": statistics.median(b for _, b in counted) * 1000,
        "ratio (aim 1.25)": statistics.median(a / b for a, b in counted),
    }


def measure(rounds: int = 100) -> dict[str, float]:
    """Medians of CPU milliseconds, and the ratio pair by pair."""
    return asyncio.run(_measure(rounds))
