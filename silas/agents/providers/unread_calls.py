"""What a model is told of a call whose arguments were no JSON: where they end to be, and no more.

PydanticAI repeats all that was sent, though the call itself stands right before: of a file that
was to be written it is sent twice.
"""

from dataclasses import replace
from typing import Final, cast

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, ToolReturnPart

from silas.errors import json_fault

_AGAIN: Final = "Nothing ran. The arguments are no JSON ({why}). Give them again, whole."


def tell_unread_calls(messages: list[ModelMessage]) -> list[ModelMessage]:
    """The same messages, in which no answer to such a call repeats its arguments."""
    return [
        replace(message, parts=[_without_arguments(part) for part in message.parts])
        if isinstance(message, ModelRequest) and any(map(_why, message.parts))
        else message
        for message in messages
    ]


def _without_arguments(part: ModelRequestPart) -> ModelRequestPart:
    why = _why(part)
    if not why or not isinstance(part, ToolReturnPart):
        return part
    return replace(part, content=_AGAIN.format(why=why))


def _why(part: ModelRequestPart) -> str:
    """Where the JSON is broken; empty where it is not, or where this answers no call."""
    if not isinstance(part, ToolReturnPart) or not isinstance(part.content, list):
        return ""
    (first, *more) = cast(list[object], part.content) or [None]
    return "" if more or part.outcome != "retried" else json_fault(first)
