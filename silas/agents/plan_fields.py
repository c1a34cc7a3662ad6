"""A model's plan in fields: the text that Silas makes of it, and the schema that models are shown.

What the owner sees and signs is the text, read again by the reader of every other plan; nothing is
decided here. A quote or a colon that would break YAML cannot, because code writes it (spec 7.2).
"""

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic.json_schema import JsonSchemaValue

from silas.agents.project_fields import fields_of, with_task_fields
from silas.plans.projects.document import join_project
from silas.plans.writes import NONE

_BRIEFING: Final = ("briefing", "body")
_FIRST: Final = ("id", "type", "title")
_NAME: Final = 250  # characters of a title or a path
_OPEN: Final[JsonSchemaValue] = {"type": "object", "additionalProperties": True}
_WIDE: Final = 1_000_000  # characters of a line: a folded command is hard to read


def plan_text(plan: Any) -> Any:
    """The text of a plan that came in fields, as an object or as one in JSON; all else as it is."""
    fields = fields_of(plan)
    if fields is None:
        return plan
    import yaml  # noqa: PLC0415 - only for who writes a plan

    told = {
        "type": "task",
        **{name: value for name, value in fields.items() if _field_says_something(name, value)},
    }
    if told.get("writes") == []:
        told["writes"] = NONE
    told = with_task_fields(_with_expectations(told))
    tasks = _tasks(told)
    bodies = [told.pop(name) for name in _BRIEFING if name in told]
    ordered = {name: told[name] for name in (*_FIRST, *told) if name in told}
    front = yaml.safe_dump(ordered, sort_keys=False, allow_unicode=True, width=_WIDE)
    briefing = next((body for body in bodies if isinstance(body, str)), "")
    text = f"---\n{front}---\n\n{briefing.strip()}\n"
    return join_project(text, tasks) if tasks else text


def _with_expectations(told: dict[str, Any]) -> dict[str, Any]:
    """A check that runs a command and expects nothing is meant to succeed: exit code 0."""
    checks = told.get("verify")
    if not isinstance(checks, list):
        return told
    return {**told, "verify": [_with_expectation(one) for one in cast(list[object], checks)]}


def _with_expectation(check: object) -> object:
    """A check as it is meant: of what loses nothing a slip of JSON is no mistake of the plan."""
    if not isinstance(check, Mapping):
        return check
    fields = dict(cast(Mapping[str, Any], check))
    expected = fields.get("expect")
    if not expected:
        return {**fields, "expect": {"exit_code": 0}} if fields.get("run") else fields
    if not isinstance(expected, Mapping):
        return fields
    told = {
        key: _as_expected(key, value) for key, value in cast(Mapping[str, Any], expected).items()
    }
    if not fields.get("run") and set(told) == {"file_exists"}:
        fields["run"] = "true"  # the file alone is looked at
    return {**fields, "expect": told}


_TEXTS: Final = frozenset({"equals", "contains", "regex"})
_WHOLE: Final = frozenset({"exit_code", "output_lt", "output_gt"})


def _as_expected(key: str, value: object) -> object:
    """`{"equals": 5}` for the output "5", and `{"output_gt": "0"}`, as they can only be meant."""
    if key in _TEXTS and type(value) is int:
        return str(value)
    if key in _WHOLE and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}", value):
        return int(value)
    return value


def _tasks(told: dict[str, Any]) -> list[tuple[str, str]]:
    """The tasks that a project brings as plans, each with its id, which takes its place."""
    listed = told.get("tasks")
    if told.get("type") != "project" or not isinstance(listed, list):
        return []
    names: list[object] = []
    plans: list[tuple[str, str]] = []
    for one in cast(list[object], listed):
        plan = fields_of(one)
        names.append(one if plan is None else str(plan.get("id", "")))
        if plan is not None:
            plans.append((str(plan.get("id", "")), plan_text(plan)))
    told["tasks"] = names
    return plans


def _field_says_something(name: str, value: Any) -> bool:
    """Whether a field says something; `writes` that is empty could mean all or nothing."""
    return value is not None or name == "writes"


def plan_schema() -> JsonSchemaValue:
    """The fields that nearly every plan has, those first that say what it is about.

    A plan may have any other key; the prompt lists them, and a window of 8,000 tokens has no room
    to say it twice. That others may come is said, because providers' clients close what does not:
    held to such a schema, no plan could have a schedule, tasks, grants or an expectation.
    """
    text: JsonSchemaValue = {"type": "string"}
    name: JsonSchemaValue = {"type": "string", "maxLength": _NAME}
    check: JsonSchemaValue = {
        "type": "object",
        "properties": {"name": name, "run": text, "expect": _OPEN},
        "required": ["name", "run", "expect"],
        **_OPEN,
    }
    return {
        "type": "object",
        "properties": {
            "title": name,
            "workspace": name,
            "writes": {"type": "array", "items": name},
            "briefing": text,
            "verify": {"type": "array", "items": check},
        },
        "required": ["title", "workspace", "writes", "briefing", "verify"],
        **_OPEN,
    }
