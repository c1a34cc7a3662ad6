"""A model's plan in fields: the text that Silas makes of it, and the schema that models are shown.

What the owner sees and signs is the text, read again by the reader of every other plan; nothing is
decided here. A quote or a colon that would break YAML cannot, because code writes it (spec 7.2).
"""

import json
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic.json_schema import JsonSchemaValue

from silas.gates import Expectation
from silas.plans.writes import NONE

_BRIEFING: Final = ("briefing", "body")
_FIRST: Final = ("id", "type", "title")
_NAME: Final = 250  # characters of a path, a name, a text that is looked for
_WIDE: Final = 1_000_000  # characters of a line: a folded command is hard to read


def plan_text(plan: Any) -> Any:
    """The text of a plan that came in fields, as an object or as one in JSON; all else as it is."""
    fields = _object(plan)
    if fields is None:
        return plan
    import yaml  # noqa: PLC0415 - only for who writes a plan

    told = {"type": "task", **{name: value for name, value in fields.items() if value is not None}}
    if told.get("writes") == []:
        told["writes"] = NONE
    bodies = [told.pop(name) for name in _BRIEFING if name in told]
    ordered = {name: told[name] for name in (*_FIRST, *told) if name in told}
    front = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=_WIDE)
    briefing = next((body for body in bodies if isinstance(body, str)), "")
    return f"---\n{front}---\n\n{briefing.strip()}\n"


def _object(plan: Any) -> dict[str, Any] | None:
    if isinstance(plan, str) and plan.lstrip().startswith("{"):
        try:
            plan = json.loads(plan)
        except ValueError:
            return None
    return dict(cast(Mapping[str, Any], plan)) if isinstance(plan, Mapping) else None


def _text(most: int, says: str = "") -> JsonSchemaValue:
    schema: JsonSchemaValue = {"type": "string", "maxLength": most}
    return {**schema, "description": says} if says else schema


def _texts(says: str) -> JsonSchemaValue:
    return {"type": "array", "items": _text(_NAME), "description": says}


_PREDICATES: Final = tuple(Expectation.model_fields)
_KINDS: Final[Mapping[str, str]] = {
    "exit_code": "integer",
    "output_lt": "number",
    "output_gt": "number",
    "not_empty": "boolean",
}


def _expectation() -> JsonSchemaValue:
    """Exactly one of the predicates; the reader refuses more of them."""
    kinds = {
        name: {"type": _KINDS[name]} if name in _KINDS else _text(_NAME) for name in _PREDICATES
    }
    return {
        "type": "object",
        "properties": kinds,
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
    }


def plan_schema() -> JsonSchemaValue:
    """The fields of a task's plan, those first that say what it is about."""
    check: JsonSchemaValue = {
        "type": "object",
        "properties": {
            "name": _text(80),
            "run": {"type": "string", "description": "A shell command"},
            "expect": _expectation(),
            "timeout": {"type": "integer"},
            "network": _texts("Host names"),
        },
        "required": ["name", "run", "expect"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "title": _text(120),
            "workspace": _text(_NAME, "As in `facts`"),
            "writes": _texts("Paths and patterns that may change"),
            "briefing": {"type": "string", "description": "For the executor, in Markdown"},
            "verify": {"type": "array", "items": check},
            "network": _texts("Host names"),
            "read": _texts("Directories"),
            "skills": _texts("Names"),
            "tools": {"type": "array", "items": {"type": "object"}, "description": "Grants"},
            "budget": {"type": "object"},
        },
        "required": ["title", "workspace", "writes", "briefing", "verify"],
        "additionalProperties": False,
    }
