"""How the runbook model follows a briefing: block after block, and what it reports."""

import json
from collections.abc import Sequence

from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters

from silas.agents.models import ExecutorAgentOutput
from silas.agents.runbook.briefing import BriefingError, steps_of
from silas.agents.runbook.step_report import failure_of, not_offered, stop_reason
from silas.language import tr

CALL_ID = "runbook-"
"""What the id of each of its calls begins with."""


def answer(output: BaseModel, asked: ModelRequestParameters) -> TextPart | ToolCallPart:
    """An answer in the form that is asked for: a call of the output tool, else JSON."""
    plain = output.model_dump(mode="json")
    plain.pop("context_profile", None)  # the first one there is
    if asked.output_tools:
        return ToolCallPart(asked.output_tools[0].name, plain, f"{CALL_ID}answer")
    return TextPart(json.dumps(plain))


def next_step(
    briefing: str, messages: Sequence[ModelMessage], asked: ModelRequestParameters
) -> TextPart | ToolCallPart:
    """The next call the briefing asks for, or the report."""
    try:
        steps = steps_of(briefing)
    except BriefingError as error:
        return _stop(tr("Nothing was run. {error}", error=error), asked)
    if not steps:
        return _stop(
            tr(
                "Nothing was run: the briefing has no runnable block. The runbook "
                "model follows only fenced `sh` and `python` blocks."
            ),
            asked,
        )
    results = _results(messages)
    failed = next((i for i, result in enumerate(results) if failure_of(result) is not None), None)
    if failed is not None:
        return _stop(stop_reason(steps, failed, results[failed]), asked)
    if len(results) < len(steps):
        step = steps[len(results)]
        if step.tool not in {tool.name for tool in asked.function_tools}:
            return _stop(not_offered(steps, len(results)), asked)
        return ToolCallPart(step.tool, step.args, f"{CALL_ID}{len(results) + 1}")
    ran = "\n".join(f"- {step.shown}" for step in steps)
    done = tr(
        "Ran all {steps} steps of the briefing; each succeeded:\n{ran}",
        steps=len(steps),
        ran=ran,
    )
    return answer(ExecutorAgentOutput(summary=done), asked)


def _stop(why: str, asked: ModelRequestParameters) -> TextPart | ToolCallPart:
    """The report of steps that were not all done."""
    return answer(ExecutorAgentOutput(summary=why, status="blocked"), asked)


def _results(messages: Sequence[ModelMessage]) -> list[ToolReturnPart]:
    # Every answer to one of our calls counts, a refused or failed one too.
    return [
        part
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name in ("shell_exec", "python_exec")
    ]
