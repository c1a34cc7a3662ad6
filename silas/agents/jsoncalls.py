"""Tool calls as JSON text, for a model whose server takes no tools (`tools: none`, decision D426).

One answer is one step: `{"tool": NAME, "arguments": {...}}`, or the object that the run asks for.
To the run around it these are ordinary calls, so the door, the ledger, limits and the stop are the
same; only what goes over the wire differs.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from silas.canonical import canonical_json
from silas.context import frame_text, scrub_output, sections
from silas.types import Origin, OriginKind, TaintLevel

_FENCED: Final = re.compile(r"```(?:json)?\s*+(\{.*\})\s*+```", re.DOTALL)
_STEP: Final = "step"
"""Around the union where a provider refuses one at the root of a schema."""


class JsonCallsModel(WrapperModel):
    """Asks a model for tool calls in its words, and gives them to the run as calls.

    The form of the request is the run's own, `native` or `prompted`; a run that asks for a tool
    call gets what the model's profile can do. Without tools to offer a request goes out as it is.

    Args:
        wrapped: The model.
        root_union: Whether its server takes a schema that is a union at its root.
    """

    def __init__(self, wrapped: Model, *, root_union: bool) -> None:
        super().__init__(wrapped)
        self._root_union = root_union

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One step of the run."""
        asked = model_request_parameters
        if not asked.function_tools and asked.output_mode != "tool":
            return await self.wrapped.request(messages, model_settings, asked)
        answer = _Answer.of(asked)
        told = self._as_text(asked, answer, messages)
        shown = [_message_as_text(message, answer) for message in messages]
        response = await self.wrapped.request(shown, model_settings, told)
        return replace(response, parts=_read(response.parts, answer))

    def _as_text(
        self, asked: ModelRequestParameters, answer: "_Answer", messages: Sequence[ModelMessage]
    ) -> ModelRequestParameters:
        mode = asked.output_mode
        if mode not in ("native", "prompted"):
            can = self.profile.get("supports_json_schema_output", False)
            mode = "native" if can else "prompted"
        steps = {"type": "object", "anyOf": [*map(_branch, asked.function_tools), answer.schema]}
        if mode == "native" and not self._root_union:
            union = {"anyOf": steps["anyOf"]}
            steps = {"type": "object", "properties": {_STEP: union}, "required": [_STEP]}
        how = _how(asked.function_tools, answer, in_full=mode == "native")
        return replace(
            asked,
            function_tools=[],
            output_tools=[],
            output_mode=mode,
            output_object=OutputObjectDefinition(
                json_schema=steps, name=_STEP, description="A tool call, or the answer."
            ),
            allow_text_output=True,
            instruction_parts=_with(how, asked.instruction_parts, messages),
        )


class _Answer:
    """What the run ends with: its name, what it is for and its schema, and how the run is given it.

    Attributes:
        tool: The output tool that the run waits for; empty where it waits for text.
    """

    def __init__(self, name: str, describe: str, schema: dict[str, Any], tool: str) -> None:
        self.name, self.describe, self.schema, self.tool = name, describe, schema, tool

    @classmethod
    def of(cls, asked: ModelRequestParameters) -> "_Answer":
        """What a request asks for."""
        if asked.output_mode == "tool" and asked.output_tools:
            one = asked.output_tools[0]
            return cls(one.name, one.description or "", one.parameters_json_schema, one.name)
        wanted = asked.output_object or OutputObjectDefinition(json_schema={"type": "object"})
        return cls(wanted.name or "answer", wanted.description or "", wanted.json_schema, "")


def _branch(tool: ToolDefinition) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "enum": [tool.name]},
            "arguments": tool.parameters_json_schema,
        },
        "required": ["tool", "arguments"],
        "additionalProperties": False,
    }


_HOW: Final = """\
# How to use a tool

You use a tool by answering with one JSON object and nothing else:
`{"tool": "NAME", "arguments": {...}}`. One call an answer. Its result is the next message, in a
block; then you answer again. When you need no tool, or none any more, answer with the object
`%s` itself, which has no `tool`. %s

Tools:
"""


def _how(tools: Sequence[ToolDefinition], answer: _Answer, *, in_full: bool) -> str:
    """The words; with the arguments where the model is not shown the schema as text."""
    lines = list[str]()
    for tool in tools:
        what = " ".join((tool.description or "").split())
        shown = f" Arguments: {canonical_json(tool.parameters_json_schema)}" if in_full else ""
        lines.append(f"- `{tool.name}`: {what}{shown}")
    return _HOW % (answer.name, answer.describe) + "\n".join(lines or ["(none)"])


def _with(
    how: str, told: Sequence[InstructionPart] | None, messages: Sequence[ModelMessage]
) -> list[InstructionPart]:
    """The instructions with these words below the last; a part of its own is a message of its own,
    and chat templates refuse a second one of the system.
    """
    if told is None:  # no agent asks
        last = next((m for m in reversed(messages) if isinstance(m, ModelRequest)), None)
        told = [InstructionPart(content=(last and last.instructions) or "")]
    *before, end = told or [InstructionPart(content="")]
    return [*before, replace(end, content=f"{end.content}\n\n{how}".strip())]


# what was exchanged, as the model is shown it


def _message_as_text(message: ModelMessage, answer: _Answer) -> ModelMessage:
    if isinstance(message, ModelResponse):
        return replace(message, parts=[_part_as_text(part, answer) for part in message.parts])
    parts = list[ModelRequestPart]()
    for part in message.parts:
        one = _result(part) if isinstance(part, ToolReturnPart) else part
        last = parts[-1] if parts else None
        if (
            isinstance(one, UserPromptPart)
            and isinstance(last, UserPromptPart)
            and isinstance(one.content, str)
            and isinstance(last.content, str)
        ):  # each would be a message of the user, and servers refuse two in a row
            parts[-1] = replace(last, content=f"{last.content}\n\n{one.content}")
        else:
            parts.append(one)
    return replace(message, parts=parts)


def _part_as_text(part: ModelResponsePart, answer: _Answer) -> ModelResponsePart:
    if not isinstance(part, ToolCallPart):
        return part
    if part.tool_name == answer.tool:
        return TextPart(part.args_as_json_str())
    try:
        arguments = part.args_as_dict()
    except ValueError:  # the model's own text, which was no JSON
        return TextPart(json.dumps({"tool": part.tool_name, "arguments": str(part.args)}))
    return TextPart(json.dumps({"tool": part.tool_name, "arguments": arguments}))


def _result(part: ToolReturnPart) -> UserPromptPart:
    """What a tool said, in a block from outside: in a message of the user nothing else tells so."""
    text = part.model_response_str(wrap_if_error=False)
    if not _is_framed(text):
        kind = "tool_result" if part.outcome == "success" else "tool_error"
        origin = Origin(kind=OriginKind.tool, name=part.tool_name)
        text = frame_text(scrub_output(text), origin, kind)
    return UserPromptPart(text, timestamp=part.timestamp)


def _is_framed(text: str) -> bool:
    """Whether a text is one block that says of itself that it came from outside, and no more.

    Who forges one gains nothing: it is taken for what it would have been taken for.
    """
    found = list(sections(text))
    if len(found) != 1 or found[0].label("taint") != TaintLevel.external.value:
        return False
    mark = found[0].label("mark")
    head, _, rest = text.partition("\n")
    return bool(mark) and mark in head and rest.endswith(f"{found[0].text}\n--- end {mark} ---")


# what the model answered, as the run is given it


def _read(parts: Sequence[ModelResponsePart], answer: _Answer) -> list[ModelResponsePart]:
    text = "".join(part.content for part in parts if isinstance(part, TextPart))
    found = _object(text)
    if found is None:
        return list(parts)  # out of form: the run says so, as of any answer
    inner = found.get(_STEP)
    step = cast(dict[str, Any], inner) if isinstance(inner, dict) and len(found) == 1 else found
    others = [part for part in parts if not isinstance(part, TextPart)]
    name, arguments = step.get("tool"), step.get("arguments")
    if isinstance(name, str) and name and name != answer.name:
        return [*others, ToolCallPart(name, _arguments(arguments))]
    if name == answer.name and isinstance(arguments, dict):  # a likely slip
        step = cast(dict[str, Any], arguments)
    if answer.tool:
        return [*others, ToolCallPart(answer.tool, step)]
    return [*others, TextPart(json.dumps(step, ensure_ascii=False))]


def _arguments(arguments: object) -> dict[str, Any] | str:
    if isinstance(arguments, dict):
        return cast(dict[str, Any], arguments)
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that an answer is, with or without a fence around it.

    Never one that stands among words: an answer may quote what a file says.
    """
    bare = text.strip()
    if fenced := _FENCED.fullmatch(bare):
        bare = fenced[1]
    try:
        found: Any = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    return cast(dict[str, Any], found) if isinstance(found, dict) else None
