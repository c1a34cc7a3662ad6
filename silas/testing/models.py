"""A model that plays a script, strictly: for tests of everything around a model."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage


class ScriptExhausted(AssertionError):
    """The model was asked once more than its script has steps."""


@dataclass(frozen=True)
class CallTool:
    """A scripted tool call."""

    tool: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])


Step = str | CallTool | tuple[CallTool, ...] | BaseModel | Exception
"""One model answer.

A string is text; `CallTool` or a tuple of them are tool calls made at once; a Pydantic model is a
structured output, in whatever mode the agent asks for it; an exception is raised.
"""


@dataclass(frozen=True)
class SeenRequest:
    """One request as the model saw it."""

    messages: tuple[ModelMessage, ...]
    parameters: ModelRequestParameters

    @property
    def text(self) -> str:
        """Everything said so far, for `in` assertions."""
        return "\n".join(
            str(getattr(part, "content", "")) for message in self.messages for part in message.parts
        )


class ScriptedModel(Model):
    """Plays a list of steps, one per request, and records what it was asked.

    Args:
        steps: What it answers, in order.
        tokens: Input and output tokens it reports for each answer.
        cost_usd: Cost it reports for each answer.

    Attributes:
        requests: What it was asked, in order.
    """

    def __init__(
        self, steps: Iterable[Step], *, tokens: tuple[int, int] = (0, 0), cost_usd: str = "0"
    ) -> None:
        super().__init__(
            profile=ModelProfile(supports_json_schema_output=True, supports_json_object_output=True)
        )
        self._steps = list(steps)
        self._tokens = tokens
        self._cost = Decimal(cost_usd)
        self.requests: list[SeenRequest] = []

    @property
    def model_name(self) -> str:
        """`scripted`."""
        return "scripted"

    @property
    def system(self) -> str:
        """The test kit."""
        return "silas-testing"

    @property
    def remaining(self) -> int:
        """Steps not played yet."""
        return len(self._steps) - len(self.requests)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next step.

        Raises:
            ScriptExhausted: There is none; the message says what was asked.
        """
        _, asked = self.prepare_request(model_settings, model_request_parameters)
        self.requests.append(SeenRequest(tuple(messages), asked))
        turn = len(self.requests)
        if turn > len(self._steps):
            raise ScriptExhausted(
                f"the script has {len(self._steps)} steps, but request {turn} asked for "
                f"{_wanted_text(asked)}; the last thing said was: {self.requests[-1].text[-500:]!r}"
            )
        step = self._steps[turn - 1]
        if isinstance(step, Exception):
            raise step
        return ModelResponse(
            parts=_parts(step, asked, turn),
            model_name=self.model_name,
            provider_name=self.system,
            usage=RequestUsage(
                input_tokens=self._tokens[0], output_tokens=self._tokens[1], cost=self._cost
            ),
        )


def _wanted_text(asked: ModelRequestParameters) -> str:
    names = [tool.name for tool in asked.output_tools]
    if asked.output_object is not None and asked.output_object.name:
        names.append(asked.output_object.name)
    tools = [tool.name for tool in asked.function_tools]
    return f"output {names or ['text']} with tools {tools}"


def _parts(
    step: str | CallTool | tuple[CallTool, ...] | BaseModel,
    asked: ModelRequestParameters,
    turn: int,
) -> list[TextPart | ToolCallPart]:
    if isinstance(step, str):
        return [TextPart(step)]
    if isinstance(step, BaseModel):
        plain = step.model_dump(mode="json")
        if asked.output_tools:
            return [ToolCallPart(asked.output_tools[0].name, plain, f"scripted-{turn}")]
        return [TextPart(json.dumps(plain))]
    calls = (step,) if isinstance(step, CallTool) else step
    return [
        ToolCallPart(call.tool, dict(call.args), f"scripted-{turn}-{number}")
        for number, call in enumerate(calls, 1)
    ]
