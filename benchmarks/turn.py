"""A governed turn with a zero-latency model at 100 items of context, against a bare run (CPU)."""

import asyncio
import gc
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from silas.agents import RouteDecision
from silas.cards import ChannelMessage
from silas.stream.models import Incoming
from silas.testing import Harness, Ports

ANSWER = {
    "route": "direct",
    "reason": "a greeting",
    "response": {"message": "Hello."},
    "interaction_register": "status",
    "interaction_mode": "default_and_offer",
    "context_profile": "conversation",
}
_ROUNDS = 10  # turns in one house: what is in view grows by two with each, and is to stay as it was
_LONG = "word " * 1_600  # as many characters as a prompt has in a window of 8,000 tokens, about
_SAID = "The weir was opened on day {n}, and the level fell by {n} centimetres within the hour."


class Told:
    """A model that answers at once, and what it was last told."""

    def __init__(self) -> None:
        self.earlier: list[ModelMessage] = []
        self.prompt = ""

    def model(self) -> FunctionModel:
        def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            *self.earlier, last = messages
            self.prompt = str(getattr(last.parts[-1], "content", ""))
            return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, ANSWER)])

        return FunctionModel(answer)


class Timed:
    """A room whose calls are timed, under the name of their step."""

    def __init__(self, room: Any, spent: dict[str, float], step: str) -> None:
        self._room, self._spent, self._step = room, spent, step

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._room, name)
        if not callable(real):
            return real

        def timed(*args: Any, **given: Any) -> Any:
            started = time.process_time()
            result = real(*args, **given)
            self._spent[self._step] += time.process_time() - started
            return self._awaited(result) if asyncio.iscoroutine(result) else result

        return timed

    async def _awaited(self, what: Awaitable[Any]) -> Any:
        started = time.process_time()
        try:
            return await what
        finally:
            self._spent[self._step] += time.process_time() - started


_TIMED = {
    "proxy": "7 model run",
    "context": "view: add, budget, render",
    "chronicle": "chronicle",
    "memory": "memory kept, rules",
    "retriever": "4 recall",
    "persona": "7, 15 manner",
    "arrivals": "arrival kept",
    "sign_in": "2 signature",
    "gates": "1, 8 gates",
    "audit": "audit",
}


async def _cpu(work: Callable[[], Awaitable[object]]) -> float:
    started = time.process_time()
    await work()
    return time.process_time() - started


async def _talked(harness: Harness, turns: int, first: int = 0) -> None:
    for n in range(first, first + turns):
        await harness.silas.ask(_SAID.format(n=n))


async def _pairs(rounds: int, items: int) -> list[tuple[float, float]]:
    """Turns in a house of its own, and after each the bare run of the prompt that it had."""
    told = Told()
    bare = Agent(told.model(), output_type=RouteDecision)
    async with Harness(models={"proxy": told.model()}) as harness:
        await _talked(harness, items // 2)
        number = iter(range(10_000, 10_000_000))

        async def governed() -> None:
            await harness.silas.ask(_SAID.format(n=next(number)))

        async def plain() -> None:
            await bare.run(
                told.prompt, instructions="Route the message.", message_history=told.earlier
            )

        for _ in range(3):
            await plain()
        pairs = [(await _cpu(governed), await _cpu(plain)) for _ in range(rounds)]
        assert (await harness.audit.verify_chain()).valid
    return pairs


async def _measure(rounds: int, items: int) -> dict[str, float]:
    """About so many items are in view in every round, and both see the same prompt."""
    at_once = min(rounds, _ROUNDS)
    pairs = [pair for _ in range(0, rounds, at_once) for pair in await _pairs(at_once, items)]
    return {
        "governed turn, ms CPU": statistics.median(a for a, _ in pairs) * 1000,
        "bare structured run, ms CPU": statistics.median(b for _, b in pairs) * 1000,
        "ratio (aim 1.5, below 2.5)": statistics.median(a / b for a, b in pairs),
    }


async def _steps(rounds: int, items: int) -> dict[str, float]:
    """Where a turn's time goes, by the rooms that it asks; measuring costs a little, too."""
    told, spent = Told(), dict.fromkeys(_TIMED.values(), 0.0)

    ports = Ports()
    for name, step in _TIMED.items():
        ports.put(name, partial(Timed, spent=spent, step=step))
    async with Harness(models={"proxy": told.model()}, ports=ports) as harness:
        await _talked(harness, items // 2)
        for step in spent:
            spent[step] = 0.0
        await _talked(harness, rounds, 1000)
    return {f"of it {step}, ms CPU": seconds / rounds * 1000 for step, seconds in spent.items()}


async def _history(turns: int, compared: int) -> dict[str, float]:
    """What a turn costs early and late in one conversation whose window has been full for long.

    A bare run stands beside each turn, because the machine is not as fast late as it was early.
    """
    settings = {"context": {"total_tokens": 8000, "system_max": 3000}}
    told = Told()
    bare = Agent(told.model(), output_type=RouteDecision)
    early, late = list[tuple[float, float]](), list[tuple[float, float]]()
    first, end = compared // 2, compared // 2 + compared
    async with Harness(models={"proxy": told.model()}, settings=settings) as harness:
        for n in range(turns):
            cost = await _cpu(lambda n=n: harness.silas.ask(_SAID.format(n=n)))
            costs = late if n >= turns - compared else early if first <= n < end else None
            if costs is not None:
                costs.append((cost, await _cpu(lambda: bare.run(_LONG, instructions="Route it."))))
    return {
        f"turn {first} to {end}, ms CPU": statistics.median(turn for turn, _ in early) * 1000,
        f"the last {compared} of {turns:,}, ms CPU": statistics.median(turn for turn, _ in late)
        * 1000,
        "late against early, each by bare runs beside it": statistics.median(a / b for a, b in late)
        / statistics.median(a / b for a, b in early),
    }


async def _idle(scopes: int) -> dict[str, float]:
    """Memory of a conversation in which nothing happens any more, ten turns after it began."""
    async with Harness(models={"proxy": Told().model()}) as harness:

        async def talk(scope: str) -> None:
            for n in range(10):
                message = ChannelMessage(
                    channel="cli",
                    sender_id="somebody",
                    text=_SAID.format(n=n),
                    timestamp=harness.clock.now(),
                )
                await harness.silas.stream.handle(Incoming(message, scope))

        await talk("warm")
        gc.collect()
        tracemalloc.start()
        try:
            before, _ = tracemalloc.get_traced_memory()
            for n in range(scopes):
                await talk(f"scope-{n}")
            gc.collect()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    return {"memory of an idle scope after 10 turns, kB (aim 60)": (after - before) / scopes / 1000}


def measure(
    rounds: int = 100, turns: int = 1000, scopes: int = 20, items: int = 100, compared: int = 100
) -> dict[str, float]:
    """Medians of CPU milliseconds, the ratio pair by pair, and kB per idle scope."""
    return {
        **asyncio.run(_measure(rounds, items)),
        **asyncio.run(_steps(rounds, items)),
        **asyncio.run(_history(turns, compared)),
        **asyncio.run(_idle(scopes)),
    }
