"""A conversation as PydanticAI's messages, each made once."""

from collections.abc import Sequence
from typing import Final
from weakref import WeakKeyDictionary

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    UserPromptPart,
)

from silas.context import ConversationSide

_made: Final[WeakKeyDictionary[ConversationSide, ModelMessage]] = WeakKeyDictionary()
"""Gone with what was said; what is forgotten is not kept here."""


def as_messages(said: Sequence[ConversationSide]) -> list[ModelMessage]:
    """The same conversation; who says the same again gets the message that was made of it."""
    return [_made.get(one) or _made.setdefault(one, _message(one)) for one in said]


def _message(said: ConversationSide) -> ModelMessage:
    if said.side == "assistant":
        return ModelResponse(parts=[TextPart(said.text)])
    return ModelRequest(parts=[UserPromptPart(said.text)])
