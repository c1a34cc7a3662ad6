"""What the built-in model says to `why did that fail`: how the newest work in view ended."""

import re
from collections.abc import Sequence
from typing import Final

from silas.agents.models import AgentResponse
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.context import FramedSection
from silas.language import tr_later
from silas.plans.characters import show

_ASKS: Final = re.compile(
    r"(?:why|warum|wieso|weshalb)(?: (?:did|has|have|is|was|ist|hat|wurde|ging|lief))?"
    r"(?: (?:that|it|this|the (?:last )?(?:task|work|run|plan)|das|es|der plan|die arbeit))?"
    r"(?: not)? (?:fail(?:ed)?|go wrong|not work|work|broken|gescheitert|fehlgeschlagen"
    r"|schief|schiefgegangen|schief gegangen|nicht (?:geklappt|funktioniert|gegangen))"
    r"|what (?:went wrong|failed)|was (?:ist|ging|lief) schief(?: ?gegangen| ?gelaufen)?"
)
_WORK: Final = re.compile(r"\Awork item (?P<id>[\w.-]+): (?P<title>.*)")
_LINE: Final = re.compile(r"^(?P<name>status|result): (?P<said>.*)$", re.MULTILINE)
_NOT_WELL: Final = frozenset({"failed", "stuck", "blocked"})
_LONGEST: Final = 300  # characters of a result
_FAILED: Final = DoorWords(
    tr_later(
        "“{title}” did not succeed: {result} `silas show {id}` has its output and its checks."
    ),
    tr_later("“{title}” did not succeed: {result} “Work” under “More” has its output."),
)
_NONE: Final = DoorWords(
    tr_later(
        "No work of this conversation that failed is in view. Where I refused, the reason stands "
        "in that answer; `silas status` lists all work."
    ),
    tr_later(
        "No work of this conversation that failed is in view. Where I refused, the reason stands "
        "in that answer; “Work” under “More” lists all work."
    ),
)


def answer(text: str, shown: Sequence[FramedSection]) -> AgentResponse | None:
    """Why the newest failed work failed; None where the message asks for something else.

    Args:
        text: The message.
        shown: What stands in view, the oldest first.
    """
    plain = " ".join(re.findall(r"\w+", text.lower()))
    if _ASKS.fullmatch(plain) is None:
        return None
    for one in reversed(shown):
        work = _WORK.match(one.text) if one.kind == "execution_result" else None
        if work is None:
            continue
        told = {line["name"]: line["said"] for line in reversed(list(_LINE.finditer(one.text)))}
        if told.get("status", "") not in _NOT_WELL:
            continue
        result = show(told.get("result", "")[:_LONGEST]).strip("- .") + "."
        return AgentResponse(
            message=words_here(_FAILED, title=show(work["title"]), result=result, id=work["id"])
        )
    return AgentResponse(message=words_here(_NONE), understood=False)
