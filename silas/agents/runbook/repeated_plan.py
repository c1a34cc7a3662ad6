"""What the built-in model does about "again" and "go deeper": the same plan once more, linked."""

import re
from collections.abc import Sequence
from typing import Final

from silas.agents.models import AgentResponse, PlanAction, PlanActionType
from silas.context import FramedSection
from silas.language import tr

_AGAIN: Final = re.compile(
    r"\A\s*(?:please\s+)?(?:(?:do\s+(?:it|that)|try|run\s+(?:it|that))\s+(?:once\s+more|again)|again|"
    r"once\s+more|go\s+deeper)[\s.!]*\Z",
    re.IGNORECASE,
)
_WORK: Final = re.compile(r"\Awork item (?P<id>\S+): ")
_ID: Final = re.compile(r'^id: *"?(?P<id>[\w.-]+)"? *$', re.MULTILINE)


def goes_on(text: str, shown: Sequence[FramedSection]) -> str | None:
    """The id of the work that a message goes on from: the newest that stands in view."""
    if not _AGAIN.match(text):
        return None
    found = [_WORK.match(one.text) for one in shown if one.kind == "execution_result"]
    return next((match["id"] for match in reversed(found) if match), None)


def repeat_plan(before: str, item_id: str, shown: Sequence[FramedSection]) -> AgentResponse:
    """The plan of that work under a new id; it is asked about like any other."""
    for one in shown:
        named = _ID.search(one.text) if one.kind == "plan" else None
        if named is not None and named["id"] == before:
            plan = f"{one.text[: named.start()]}id: {item_id}{one.text[named.end() :]}"
            action = PlanAction(
                action=PlanActionType.propose, plan_markdown=plan, continuation_of=before
            )
            return AgentResponse(
                message=tr("I propose {before} once more.", before=before), plan_action=action
            )
    return AgentResponse(
        message=tr(
            "I have the plan of {before} no more; please say again what is to be done.",
            before=before,
        )
    )
