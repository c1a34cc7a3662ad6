"""First words of an answer to be seen, with a model that takes its time, against the whole."""

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Sequence

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from silas.gates.settings import GatesConfig
from silas.testing import Harness, ScriptedChannel
from silas.types import OWNER

SECONDS_A_PIECE = 0.01  # a hundred pieces a second, which is a quick model
WORDS = 120  # a paragraph; a piece each
_BODY = {"route": "direct", "message": "Every word of this is a piece. " * (WORDS // 7)}


class _Seen(ScriptedChannel):
    """Notes when something was there to be read."""

    def __init__(self) -> None:
        super().__init__()
        self.first = 0.0

    def shows_drafts_to(self, recipient_id: str) -> bool:
        return recipient_id == OWNER

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        self.first = self.first or time.perf_counter()

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        self.first = self.first or time.perf_counter()
        await self.send(recipient_id, text, reply_to)


def _pieces() -> list[str]:
    text = json.dumps(_BODY)
    size = -(-len(text) // WORDS)
    return [text[at : at + size] for at in range(0, len(text), size)]


async def _speak(
    messages: Sequence[ModelMessage], info: AgentInfo
) -> AsyncIterator[dict[int, DeltaToolCall]]:
    name: str | None = info.output_tools[0].name
    for piece in _pieces():
        await asyncio.sleep(SECONDS_A_PIECE)
        yield {0: DeltaToolCall(name=name, json_args=piece, tool_call_id="call-1")}
        name = None


async def _whole(messages: Sequence[ModelMessage], info: AgentInfo) -> ModelResponse:
    for _ in _pieces():
        await asyncio.sleep(SECONDS_A_PIECE)
    return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, _BODY)])


async def _measure(rounds: int) -> dict[str, float]:
    gates = GatesConfig().model_dump(mode="json")  # those that ship: they rewrite answers
    seen, before, ends = list[float](), list[float](), list[float]()
    drafts, plain = _Seen(), ScriptedChannel()
    async with (
        Harness(
            drafts,
            models={"proxy": FunctionModel(_whole, stream_function=_speak)},
            settings={"gates": gates},
        ) as ours,
        Harness(plain, models={"proxy": FunctionModel(_whole)}, settings={"gates": gates}) as bare,
    ):
        for _ in range(rounds):
            drafts.first, started = 0.0, time.perf_counter()
            reply = await ours.silas.ask("hello")
            seen.append(drafts.first - started)
            ends.append(time.perf_counter() - started)
            started = time.perf_counter()
            assert (await bare.silas.ask("hello")).text == reply.text == plain.texts[-1]
            before.append(time.perf_counter() - started)
    first, whole, end = (statistics.median(values) for values in (seen, before, ends))
    return {
        "first words to be seen, ms": first * 1e3,
        "the same of a whole answer, ms": whole * 1e3,
        "ratio": first / whole,
        "until the whole answer, in pieces, ms": end * 1e3,
        "ratio of that": end / whole,
    }


def measure(rounds: int = 5) -> dict[str, float]:
    """Milliseconds from the question until there is something to read."""
    return asyncio.run(_measure(rounds))
