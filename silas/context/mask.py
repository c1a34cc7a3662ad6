"""What is shortened or left out without asking anybody: old tool results, mere thanks (5.7)."""

import re
from collections.abc import Sequence

from silas.context.framing import flatten_line
from silas.context.models import ContextItem, ContextZone

_FEW_TOKENS = 20  # a longer message says something (spec 5.7)
_REPEATED_TOKENS = 40  # a shorter result costs no more than the note that it is said again
_SPOKEN = re.compile(r"^(?:\[(?:owner|auth|external)\] [^\n]*?: |Silas: )")
"""What the turn puts before what was said."""

_RECALL, _LOOKS = "memory_search", "workspace_"
"""The tool that looks in memory, and how those are called that look at the folder."""

_LONGEST_NAME = 80  # characters of a tool's name, which may be a stranger's word


def placeholder(item: ContextItem) -> str:
    """What stands for a tool result, or for a plan that is over, once it is old (spec 5.7)."""
    if item.kind == "plan":
        name = flatten_line(item.ctx_id.removeprefix("plan:"))[:_LONGEST_NAME]
        return f"[Plan of {name} — {item.token_count} tokens — see memory for details]"
    ended = "SUCCEEDED" if item.succeeded else "FAILED"
    name = tool_name(item.source)
    # what looks showed is not remembered beside what it shows
    where = "look again" if name == _RECALL or name.startswith(_LOOKS) else "see memory"
    return f"[Result of {name} ({ended}) — {item.token_count} tokens — {where} for details]"


def tool_name(source: str) -> str:
    """The tool in a source such as `tool:web_fetch https://...`; in brackets' absence."""
    words = flatten_line(source.removeprefix("tool:")).split()
    return re.sub(r"[\[\]()]", "", words[0])[:_LONGEST_NAME] if words else "a tool"


def is_spent(item: ContextItem, oldest_shown: int) -> bool:
    """Whether it is a tool result from before the oldest turn whose results are shown whole, a plan
    that is over of such a turn, or one whose work succeeded: what came of that stands beside it.
    """
    old = item.turn_number < oldest_shown or (item.kind == "plan" and item.succeeded)
    return item.kind in ("tool_result", "plan") and not item.masked and old


def repeated_results(items: Sequence[ContextItem]) -> set[str]:
    """The ids of those long results that a later one of the same source says word for word."""
    results = [one for one in items if one.kind == "tool_result"]
    long = [one for one in results if one.token_count > _REPEATED_TOKENS]
    newest = {(one.source, one.taint, one.content): one.ctx_id for one in long}
    return {one.ctx_id for one in long} - set(newest.values())


def repeated_note(item: ContextItem) -> str:
    """What stands for a result that a later one repeats."""
    return f"[Result of {tool_name(item.source)}: the same as a later one, which stands below]"


def item_text(content: str) -> str:
    """What was said, without who said it."""
    return _SPOKEN.sub("", content, count=1)


def is_acknowledgement(item: ContextItem, pattern: re.Pattern[str]) -> bool:
    """Whether it is a short acknowledgement that says nothing (spec 5.7)."""
    return (
        item.zone is ContextZone.chronicle
        and item.kind == "message"
        and item.token_count < _FEW_TOKENS
        and pattern.search(item_text(item.content).strip()) is not None
    )


def asks(item: ContextItem) -> bool:
    """Whether it ends in a question: the next message is its answer, however short."""
    return item.kind == "message" and item.content.rstrip().endswith(("?", "？"))
