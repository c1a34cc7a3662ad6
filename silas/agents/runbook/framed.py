"""The framed sections of the request that the built-in model answers."""

from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from silas.agents.calls import CALLS
from silas.context import FramedSection, sections


def all_framed(messages: Sequence[ModelMessage]) -> list[FramedSection]:
    """Every section of the prompts of the run, in order."""
    return [
        section
        for message in messages
        for part in (message.parts if isinstance(message, ModelRequest) else ())
        if isinstance(part, UserPromptPart) and isinstance(part.content, str)
        for section in sections(part.content)
    ]


def first_framed(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """Section texts by kind; the first of a kind counts."""
    found: dict[str, str] = {}
    for section in all_framed(messages):
        found.setdefault(section.kind, section.text)
    return found


def call_name(asked: ModelRequestParameters) -> str:
    """Which call a request serves, by the name of its output; empty for none of Silas's."""
    forms = {call.form: call.name for call in CALLS.values()}
    names = [tool.name for tool in asked.output_tools]
    if asked.output_object is not None and asked.output_object.name:
        names.append(asked.output_object.name)
    return next((forms[name] for name in names if name in forms), "")
