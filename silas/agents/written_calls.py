"""Tool calls that a model wrote as text, although it may call tools: taken as the calls they are.

Small models often write `{"name": "file_read", "arguments": {...}}` in place of a call. An answer
that is such an object as a whole is the call itself; to the run around it, to the door, the ledger
and limits it is one like any other.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from silas.agents.providers.unread_calls import tell_unread_calls

_AROUND: Final = re.compile(
    r"```(?:json|tool_call)?\s*+(?P<fenced>[{\[].*[}\]])\s*+```"
    r"|<tool_call>\s*+(?P<tagged>\{.*\})\s*+</tool_call>",
    re.DOTALL,
)
_NAMES: Final = ("name", "tool", "tool_name", "function")
_ARGUMENTS: Final = ("arguments", "parameters", "args")
_MOST: Final = 20  # calls of one answer


class WrittenCallsModel(WrapperModel):
    """A model whose text is read as a call where it is nothing but one.

    Never what stands among words: an answer may quote what a file says. And only a tool that this
    request offers, or the answer that it asks for as a call.
    """

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One step of the run."""
        asked = model_request_parameters
        shown = tell_unread_calls(messages)
        response = await self.wrapped.request(shown, model_settings, asked)
        if any(isinstance(part, ToolCallPart) for part in response.parts):
            return response
        calls = _calls(response.text or "", asked)
        if not calls:
            return response
        others = [part for part in response.parts if not isinstance(part, TextPart)]
        parts: list[ModelResponsePart] = [*others, *calls]
        return replace(response, parts=parts)


def _calls(text: str, asked: ModelRequestParameters) -> list[ToolCallPart]:
    """The calls that a text is; none where it is anything else, in any part of it."""
    offered = {tool.name for tool in (*asked.function_tools, *asked.output_tools)}
    written = _objects(text)
    found = [_call(one, offered) for one in written]
    calls = [call for call in found if call is not None]
    if written and len(calls) == len(written):
        return calls
    if len(written) == 1 and len(asked.output_tools) == 1:
        [tool] = asked.output_tools
        if _is_answer(written[0], tool):
            return [ToolCallPart(tool.name, written[0])]
    return []


def _call(written: Mapping[str, Any], offered: set[str]) -> ToolCallPart | None:
    inner = written.get("function")
    if isinstance(inner, Mapping):  # as it stands in the protocol
        return _call(cast(Mapping[str, Any], inner), offered)
    name = next((written[key] for key in _NAMES if key in written), None)
    arguments = next((written[key] for key in _ARGUMENTS if key in written), None)
    if not isinstance(name, str) or name not in offered:
        return None
    if isinstance(arguments, dict):
        return ToolCallPart(name, cast(dict[str, Any], arguments))
    return ToolCallPart(name, arguments) if isinstance(arguments, str) else None


def _is_answer(written: Mapping[str, Any], tool: ToolDefinition) -> bool:
    """Whether an object has what the answer must have, and no key that the answer has not."""
    schema = tool.parameters_json_schema
    known, needed = set(schema.get("properties", ())), set(schema.get("required", ()))
    return bool(needed) and needed <= set(written) <= known


def _objects(text: str) -> Sequence[dict[str, Any]]:
    """The JSON object or objects that a text is, with or without a fence around it."""
    bare = text.strip()
    if around := _AROUND.fullmatch(bare):
        bare = around["fenced"] or around["tagged"]
    try:
        found: Any = json.loads(bare)
    except (ValueError, RecursionError):
        return ()
    listed = cast(list[object], found) if isinstance(found, list) else [cast(object, found)]
    objects = [cast(dict[str, Any], one) for one in listed if isinstance(one, dict)]
    return objects if len(objects) == len(listed) <= _MOST else ()
