"""A scripted language model behind HTTP that plans and makes the demonstration's fix."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.agents.openai_server import Reply, Tool

FIX = """\
from pathlib import Path
file = Path("orders.py")
file.write_text(file.read_text().replace(' is "open"', ' == "open"'))
print("replaced")
"""
ROLES = ("proxy", "planner", "executor")


def answer(form: str, mode: str, content: dict[str, Any]) -> Reply:
    """A structured answer: a call of the output tool, or JSON as the server's native output."""
    return Tool.call(form, **content) if mode == "tool" else json.dumps(content)


def scripted_fix(workspace: Path, mode: str, *, code: str = FIX, front: str = "") -> list[Reply]:
    """Route, plan, one tool call, report."""
    plan = f"""\
---
id: task-model-fix
type: task
title: Compare the status by value
workspace: {workspace}
read: [{", ".join(sorted({sys.prefix, sys.base_prefix} - {"/usr"}))}]
budget: {{ max_attempts: 1 }}
{front}
verify:
  - name: tests_pass
    run: "{sys.executable} -m pytest -q -p no:cacheprovider"
    expect: {{ exit_code: 0 }}
---

# What to do

`orders.py` compares a text with `is`; compare it with `==` instead.
"""
    route = {
        "route": "planner",
        "reason": "it changes a file",
        "response": None,
        "interaction_register": "execution",
        "interaction_mode": "act_and_report",
        "context_profile": "conversation",
    }
    proposal = {
        "message": "The comparison is by identity; I would compare by value.",
        "plan_action": {"action": "propose", "plan_markdown": plan},
        "needs_approval": False,  # a model's wish, which must not matter
    }
    return [
        answer("route", mode, route),
        answer("respond", mode, proposal),
        Tool.call("python_exec", code=code),
        answer("report_work", mode, {"summary": "Compared by value."}),
    ]


def models_as_environment(base_url: str, mode: str) -> dict[str, str]:
    """`models:` for a command, as variables."""
    choice = f"{{name: scripted, base_url: '{base_url}', output: {mode}}}"
    return {f"SILAS_MODELS__{role.upper()}": choice for role in ROLES}
