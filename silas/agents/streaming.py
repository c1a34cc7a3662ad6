"""A model that is heard while it answers: for one run, around the model that was configured."""

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import Final

from pydantic_ai.exceptions import (
    ModelConnectionError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    UnexpectedModelBehavior,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from silas.agents.listener import Listener
from silas.agents.partial_answer import AnswerTextField, PartialAnswerReader, breaks_off
from silas.agents.providers.factory import add_cost
from silas.agents.providers.model_errors import of_the_form, refuses_tools

_LONGEST: Final = 1_000_000
"""Characters of an answer; a model that goes on after that has no end to come to."""


def can_stream(model: Model) -> bool:
    """Whether a model gives its answers in pieces at all."""
    while isinstance(model, WrapperModel):
        model = model.wrapped
    if isinstance(model, FunctionModel):
        return model.stream_function is not None
    return type(model).request_stream is not Model.request_stream


class StreamingModel(WrapperModel):
    """Asks for a stream where a whole answer was asked for, and lets somebody hear it.

    To the run around it this is an ordinary request: the same time limit, the same patience, the
    same limits of use, and the same whole answer to validate. Every request begins anew for the
    listener, so what a failed attempt or an answer out of form said is withdrawn.

    Args:
        wrapped: The model.
        spoken: Where in the answer the text for the user stands.
        tool: The output tool that carries the answer; empty where it comes as text.
        listener: Who hears it.
        deaf: Called where the model's server would answer whole and not in pieces.
    """

    def __init__(
        self,
        wrapped: Model,
        spoken: AnswerTextField,
        tool: str,
        listener: Listener,
        deaf: Callable[[], None],
    ) -> None:
        super().__init__(wrapped)
        self._spoken = spoken
        self._tool = tool
        self._listener = listener
        self._deaf = deaf

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One request, heard while it is answered."""
        self._listener.again()
        events = _Counted()
        # PydanticAI keeps this limit for its own streams alone; to the run this is a whole answer
        seconds = (model_settings or {}).get("first_event_timeout")
        limit = asyncio.timeout(seconds)
        try:
            async with (
                limit,
                self.wrapped.request_stream(
                    messages, model_settings, model_request_parameters
                ) as stream,
            ):
                await self._hear(events.of(stream, limit))
            if events.count or stream.finish_reason:
                return add_cost(self._to_its_end(stream.get()), messages)
        except TimeoutError as error:
            if seconds is None or not limit.expired():
                raise
            raise ModelRequestTimeout(
                self.model_name, seconds, setting="first_event_timeout"
            ) from error
        except (ModelRequestRejectedError, UnexpectedModelBehavior) as error:
            if events.count or refuses_tools(error) or not of_the_form(error):
                raise
        except (IndexError, KeyError, AttributeError):
            # as of a whole answer: the adapters reach into what a server sends
            raise UnexpectedModelBehavior("the server's answer is incomplete") from None
        whole = await self.wrapped.request(messages, model_settings, model_request_parameters)
        self._deaf()
        return whole

    async def _hear(self, events: AsyncIterable[ModelResponseStreamEvent]) -> None:
        ours, text, heard = -1, PartialAnswerReader(self._spoken), 0
        async for event in events:
            if isinstance(event, PartStartEvent) and self._carries(event.part):
                if ours >= 0:  # another answer, or the same one from its beginning
                    self._listener.again()
                ours, text = event.index, PartialAnswerReader(self._spoken)
                piece = _part_text(event.part)
            elif isinstance(event, PartDeltaEvent) and event.index == ours:
                piece = _delta_text(event)
            else:
                continue
            if said := text.feed(piece):
                self._listener.more(said)
            heard += len(piece)
            if heard > _LONGEST:
                raise UnexpectedModelBehavior("the answer does not come to an end")

    def _to_its_end(self, answer: ModelResponse) -> ModelResponse:
        """The answer, where it has an end: a gateway may close a stream in order in the middle."""
        if not _says_why_it_ends(answer) and _is_cut(answer):
            raise ModelConnectionError(
                self.model_name, "the stream ended before the answer", phase="read", in_stream=True
            )
        return answer

    def _carries(self, part: ModelResponsePart) -> bool:
        if self._tool:
            return isinstance(part, ToolCallPart) and part.tool_name == self._tool
        return isinstance(part, TextPart)


class _Counted:
    """Counts events: a server that will not stream, or does not know the word, sends none."""

    def __init__(self) -> None:
        self.count = 0

    async def of(
        self, events: AsyncIterable[ModelResponseStreamEvent], limit: asyncio.Timeout
    ) -> AsyncIterator[ModelResponseStreamEvent]:
        async for event in events:
            if not self.count:
                limit.reschedule(None)  # it was for the first one
            self.count += 1
            yield event


def _says_why_it_ends(answer: ModelResponse) -> bool:
    """Whether the server does; PydanticAI writes `stop` where a stream has no reason."""
    told = (answer.provider_details or {}).get("finish_reason")
    return told is not None or answer.finish_reason not in (None, "stop")


def _is_cut(answer: ModelResponse) -> bool:
    calls = [part.args for part in answer.parts if isinstance(part, ToolCallPart)]
    if calls:
        return any(isinstance(one, str) and one != "" and breaks_off(one) for one in calls)
    return breaks_off("".join(part.content for part in answer.parts if isinstance(part, TextPart)))


def _part_text(part: ModelResponsePart) -> str:
    match part:
        case TextPart(content=text) | ToolCallPart(args=str(text)):
            return text
        case ToolCallPart(args=dict(whole)):  # some servers send a call at once
            return json.dumps(whole)
        case _:
            return ""


def _delta_text(event: PartDeltaEvent) -> str:
    match event.delta:
        case TextPartDelta(content_delta=text):
            return text
        case ToolCallPartDelta(args_delta=str(text)):
            return text
        case _:
            return ""
