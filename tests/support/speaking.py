"""A model that answers in pieces, as far as a test lets it."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from silas.agents import AgentResponse
from tests.support.waits import SECONDS


def direct(message: str, **more: Any) -> str:
    """A proxy's answer, as JSON."""
    own = AgentResponse(message=message, **more).model_dump(mode="json", exclude_unset=True)
    return json.dumps({"route": "direct", **own, **_SIGNALS})


def to_planner() -> str:
    """A proxy that sends the turn on, as JSON."""
    return json.dumps({"route": "planner", "reason": "it is clear", **_SIGNALS})


def planned(message: str, **more: Any) -> str:
    """A planner's answer, as JSON."""
    return AgentResponse(message=message, **more).model_dump_json()


_SIGNALS = {
    "interaction_register": "status",
    "interaction_mode": "confirm_only_when_required",
    "context_profile": "conversation",
}


def pieces(text: str, size: int = 5) -> list[str]:
    """A text in pieces of a size."""
    return [text[at : at + size] for at in range(0, len(text), size)]


class Speaker:
    """Plays one list of pieces for each request; an exception in it is raised there.

    Attributes:
        model: What plays it.
        asked: How many requests there were, and how many of them for pieces: `streams`.
        allowed: With `paced`, a piece is given for each `release`.
    """

    def __init__(self, *answers: Sequence[str | Exception], paced: bool = False) -> None:
        self._answers = list(answers)
        self._paced = paced
        self._released = 0
        self._asked_for = 0
        self.asked = 0
        self.allowed = asyncio.Semaphore(0)
        self.streams = 0
        self.model = FunctionModel(self._whole, stream_function=self._speak)

    def release(self, count: int = 1) -> None:
        """Let so many pieces go."""
        for _ in range(count):
            self._released += 1
            self.allowed.release()

    def pieces_through(self, text: str) -> int:
        """How many pieces are still to be let go until all of this text has come."""
        said, flat = "", [str(piece) for answer in self._answers for piece in answer]
        for count, piece in enumerate(flat, start=1):
            said += piece
            if text in said:
                return max(0, count - self._released)
        raise AssertionError(f"no answer says {text!r}")

    def release_through(self, text: str) -> None:
        """Let the pieces go with which all of this text has come, and none that follows."""
        self.release(self.pieces_through(text))

    async def taken(self) -> None:
        """Wait until every piece that was let go has been heard, and one more is asked for."""
        async with asyncio.timeout(SECONDS):
            while self._asked_for <= self._released:
                await asyncio.sleep(0)

    async def _whole(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del messages
        text = "".join(map(str, self._answers[self.asked]))
        self.asked += 1
        if not info.output_tools:
            return ModelResponse(parts=[TextPart(text)])
        return ModelResponse(parts=[ToolCallPart(info.output_tools[0].name, text, "call-1")])

    async def _speak(
        self, messages: Sequence[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        del messages
        answer = self._answers[self.asked]
        self.asked += 1
        self.streams += 1
        name: str | None = info.output_tools[0].name if info.output_tools else None
        for piece in answer:
            if self._paced:
                self._asked_for += 1
                await self.allowed.acquire()
            if isinstance(piece, Exception):
                raise piece
            if not info.output_tools:
                yield piece
                continue
            yield {0: DeltaToolCall(name=name, json_args=piece, tool_call_id="call-1")}
            name = None
