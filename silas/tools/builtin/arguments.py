"""What the arguments of the built-in tools share: exact types, and errors of one sentence."""

from copy import deepcopy
from functools import cache
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from silas.errors import misfits


class ToolArguments(BaseModel):
    """Base of a tool's arguments: exact types, nothing extra."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def validated_arguments(model: type[ToolArguments], args: dict[str, Any]) -> dict[str, Any]:
    """The canonical arguments as JSON values.

    Raises:
        ValueError: One sentence that names the field and what it must be, never its value.
    """
    try:
        return model.model_validate(args).model_dump(mode="json", exclude_none=True)
    except ValidationError as error:
        first = misfits(error)[0]
        raise ValueError(f"{first.place or 'arguments'}: {first.words}") from None


def schema_of(model: type[ToolArguments]) -> dict[str, Any]:
    """The JSON schema of the arguments; the caller's own copy."""
    return deepcopy(_schema(model))


@cache
def _schema(model: type[ToolArguments]) -> dict[str, Any]:
    # Generating it costs as much as a whole turn, and it is asked for at every model request.
    schema = model.model_json_schema()
    schema.pop("description", None)  # for readers of the class; the tool has words of its own
    for titled in (schema, *schema.get("properties", {}).values()):
        titled.pop("title", None)  # the name once more, in every prompt
    return schema
