"""How the steps of a runbook went, in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic_ai.messages import ToolReturnPart

from silas.agents.runbook.briefing import BriefingStep
from silas.context import content_of
from silas.language import tr

_EXIT_CODE = re.compile(
    r"^exit code (?P<code>-?\d+)(?P<ended> \(ended by [a-z]+\))?$", re.MULTILINE
)


def failure_of(result: ToolReturnPart) -> str | None:
    """Why a tool call did not succeed, or None if it did."""
    text = content_of(result.model_response_str())
    if result.outcome != "success":
        return f"{result.outcome}: {text}"
    content: object = result.content
    if isinstance(content, BaseModel):
        content = content.model_dump()
    empty: Mapping[str, Any] = {}
    fields = cast(Mapping[str, Any], content) if isinstance(content, Mapping) else empty
    if fields.get("ok") is False or fields.get("exit_code") not in (0, None):
        return text
    shown = content_of(content) if isinstance(content, str) else str(fields.get("text", ""))
    # the first such line is the tool's own: what a program printed comes after it
    ran = _EXIT_CODE.search(shown)
    return text if ran is not None and (ran["code"] != "0" or ran["ended"]) else None


_LONGEST_REASON = 500  # characters of a tool's answer in the report; the ledger has all of it


def stop_reason(steps: Sequence[BriefingStep], failed: int, result: ToolReturnPart) -> str:
    """At which step it stopped, and why."""
    reason = (failure_of(result) or "").strip()[:_LONGEST_REASON]
    left = len(steps) - failed - 1
    rest = tr(" The {left} after it did not run.", left=left) if left else ""
    shown = steps[failed].shown if failed < len(steps) else result.tool_name
    return tr(
        "Stopped at step {failed} of {steps}, `{shown}`: {reason}{rest}",
        failed=failed + 1,
        steps=len(steps),
        shown=shown,
        reason=reason,
        rest=rest,
    )


def not_offered(steps: Sequence[BriefingStep], done: int) -> str:
    """That a step wants a tool that is not there."""
    step = steps[done]
    return tr(
        "Stopped before step {done} of {steps}, `{shown}`: the tool {tool} is not available here.",
        done=done + 1,
        steps=len(steps),
        shown=step.shown,
        tool=step.tool,
    )
