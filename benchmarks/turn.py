"""A governed turn with a zero-latency model, against a bare structured PydanticAI run (CPU)."""

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from silas.agents import RouteDecision
from silas.testing import Harness

ANSWER = {
    "route": "direct",
    "reason": "a greeting",
    "response": {"message": "Hello."},
    "interaction_register": "status",
    "interaction_mode": "default_and_offer",
    "context_profile": "conversation",
}


def instant() -> FunctionModel:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, ANSWER)])

    return FunctionModel(answer)


async def _cpu(work: Callable[[], Awaitable[object]]) -> float:
    started = time.process_time()
    await work()
    return time.process_time() - started


async def _measure(rounds: int) -> dict[str, float]:
    bare = Agent(instant(), output_type=RouteDecision, instructions="Route the message.")
    async with Harness(models={"proxy": instant()}) as harness:

        async def governed() -> None:
            reply = await harness.silas.ask("hello")
            assert reply.text == "Hello."

        async def plain() -> None:
            done = await bare.run("hello")
            assert done.output.response is not None

        for _ in range(20):
            await governed()
            await plain()
        pairs = [(await _cpu(governed), await _cpu(plain)) for _ in range(rounds)]
        verdict = await harness.audit.verify_chain()
        assert verdict.valid
        assert verdict.entries_checked >= rounds
    return {
        "governed turn, ms CPU": statistics.median(a for a, _ in pairs) * 1000,
        "bare structured run, ms CPU": statistics.median(b for _, b in pairs) * 1000,
        "ratio (aim 1.5, below 2.5)": statistics.median(a / b for a, b in pairs),
    }


def measure(rounds: int = 200) -> dict[str, float]:
    """Medians of CPU milliseconds, and the ratio pair by pair."""
    return asyncio.run(_measure(rounds))
