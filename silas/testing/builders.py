"""Plans and work items that are valid as they are; a test names only what it is about."""

import json
from typing import Any

from silas.plans import WorkItem

BODY = "# What to do\n\nWrite the word `done` into the file `result.txt`."
"""The briefing of built plans."""


def a_plan(**overrides: Any) -> WorkItem:
    """A small task with one check; `a_plan(type="goal", schedule="always_on")` and so on."""
    fields: dict[str, Any] = {
        "id": "task-example",
        "type": "task",
        "title": "Write the result",
        "body": BODY,
        "verify": [{"name": "written", "run": "cat result.txt", "expect": {"contains": "done"}}],
    }
    return WorkItem.model_validate({**fields, **overrides})


def plan_text(**front_matter: Any) -> str:
    """The same as `a_plan` in markdown; keys replace or add front matter, None leaves a key out.

    `body` replaces the prose.
    """
    fields: dict[str, Any] = {
        "id": "task-example",
        "type": "task",
        "title": "Write the result",
        "verify": [{"name": "written", "run": "cat result.txt", "expect": {"contains": "done"}}],
        **front_matter,
    }
    body = fields.pop("body", BODY)
    lines = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in fields.items()
        if value is not None
    ]
    return "\n".join(["---", *lines, "---", "", body, ""])
