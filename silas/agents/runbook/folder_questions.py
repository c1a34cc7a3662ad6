"""What the built-in model does about questions of the folder: it looks, and says what it saw.

Only where the tools that look are offered, which is in turns of the owner's own words. Whatever a
look does not answer goes the way of every other request: to a runbook, with its card.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart

from silas.agents.runbook import folder
from silas.agents.runbook.door_words import DoorWords, words_here
from silas.agents.runbook.folder import LookAnswer, LookCall, LookRequest, LookResult
from silas.agents.runbook.library import Library, RunbookTemplate
from silas.context import content_of
from silas.language import tr_later

LOOKING_TOOLS: Final = frozenset(
    f"workspace_{one}" for one in ("list", "read", "search", "files", "git")
)
_AWAY: Final = "Nothing was looked at"  # how the tools say that there is no sandbox
_HOME: Final = "it contains the whole home directory"
_NOT_THE_HOME: Final = DoorWords(
    tr_later(
        "I do not look at a whole home directory, because keys and passwords lie in it. Ask in one "
        "of its folders, or name one: `silas ask --workspace FOLDER`."
    ),
    tr_later(
        "I do not look at a whole home directory, because keys and passwords lie in it. Start "
        "Silas in one of its folders."
    ),
)
_FOR_HELP: Final = LookCall("workspace_files", {"order": "newest", "count": 200})

_BY_LOOKING: Final[Mapping[str, Callable[[Mapping[str, str]], LookRequest]]] = {
    "list-files": lambda _: LookRequest("list"),
    "biggest-files": lambda _: LookRequest("ordered", {"order": "biggest"}),
    "newest-files": lambda _: LookRequest("ordered", {"order": "newest"}),
    "disk-use": lambda _: LookRequest("size"),
    "find-files": lambda given: LookRequest("named", {"name": given["name"]}),
    "find-text": lambda given: LookRequest("holds", given),
    "show-file": lambda given: LookRequest("show", given),
    "summarise-file": lambda given: LookRequest("extract", given),
    "compare-files": lambda given: LookRequest("compare", given),
    "sum-column": lambda given: LookRequest(
        "figure", {"table": given["file"], "column": given["column"], "figure": "total"}
    ),
    "count-words": lambda given: LookRequest("words", given),
}
"""Runbooks that only look, and the look that answers the same."""


def wanted_look(text: str, library: Library[Any]) -> LookRequest | None:
    """What a message asks to be looked at; None where it asks for something else, or for more."""
    asked = (
        folder.attached_request,
        folder.look_request,
        folder.table_request,
        folder.spending_request,
    )
    look = next((look for one in asked if (look := one(text)) is not None), None)
    if look is not None:
        return look
    plan = library.find(text)
    if plan is None or not plan.sentences or plan.name not in _BY_LOOKING:
        return None  # what is found by single words may ask for more than them
    given = dict(library.parameters_from(plan, text))
    elsewhere = given.pop("workspace", "")
    needed = set(plan.parameters) - {"workspace"}
    optional = {"file"} if plan.name == "find-text" else set[str]()
    if elsewhere or needed - optional - set(given):
        return None
    return _BY_LOOKING[plan.name](MappingProxyType(given))


def step(
    text: str,
    library: Library[Any],
    messages: Sequence[ModelMessage],
    now: datetime,
    zone: ZoneInfo,
) -> LookCall | LookAnswer | None:
    """The next look or the answer; None where there is nothing to look at, or nothing was seen.

    Args:
        text: The message.
        library: The runbooks.
        messages: The run so far.
        now: The moment of the turn.
        zone: The owner's time zone.
    """
    ways = [wanted_look(text, library)]
    if ways == [None] and library.find(text) is None:
        ways = [folder.unnamed_table_request(text), folder.loose_request(text)]
    return _first(ways, messages, now, zone)


def look_up(
    text: str,
    library: Library[Any],
    messages: Sequence[ModelMessage],
    now: datetime,
    zone: ZoneInfo,
    attached: Sequence[str],
) -> LookCall | LookAnswer | None:
    """As `step`, for what the memory was asked first; None where no look may be taken.

    Files that are `attached` are looked into before the folder.
    """
    known = wanted_look(text, library)
    ways = [known] if known else [folder.unnamed_table_request(text), folder.lookup_request(text)]
    ways = [way and folder.with_attached(way, attached) for way in ways]
    return _first(ways, messages, now, zone)


def _first(
    ways: Sequence[LookRequest | None],
    messages: Sequence[ModelMessage],
    now: datetime,
    zone: ZoneInfo,
) -> LookCall | LookAnswer | None:
    """The step of the first way to understand a message that looking answers."""
    seen = look_results(messages)
    away = [one.text for one in seen if one.text.startswith(_AWAY)]
    if any(_HOME in text for text in away):
        return LookAnswer(words_here(_NOT_THE_HOME), understood=False)
    if away:
        return None
    return folder.first_step([way for way in ways if way is not None], seen, now, zone)


def for_help(messages: Sequence[ModelMessage]) -> LookCall | Sequence[str]:
    """The look at the folder that examples are taken from; its newest files when it was taken."""
    seen = look_results(messages)
    return _FOR_HELP if not seen else folder.files_seen(seen[0].text)


def is_direct_look(plan: RunbookTemplate) -> bool:
    """Whether a look does what this runbook does."""
    return plan.name in _BY_LOOKING


def look_results(messages: Sequence[ModelMessage]) -> list[LookResult]:
    """What the looks of this run brought, in order."""
    return [
        LookResult(part.tool_name, content_of(part.model_response_str()))
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart) and part.tool_name in LOOKING_TOOLS
    ]
