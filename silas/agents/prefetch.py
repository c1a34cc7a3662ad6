"""Looking before a small model is asked: what lies in the folder, and what was said long ago.

A server that is held to the form of an answer by a grammar cannot call a tool beside it, and small
models answer questions about files that they never saw. So code makes the first looks in the
model's place, through the same door, limits and labels as if the model had: one list of the files,
then the few texts that the request is about; and one search of memory where a message goes on from
what was said before. Only for a server on the owner's own machine.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from ipaddress import ip_address
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from silas.agents.earlier_talk import earlier_query
from silas.agents.prompt import read_pairs
from silas.agents.providers.model_probe import address_of
from silas.agents.runbook import folder
from silas.agents.runbook.folder.files import FileSeen, read_files
from silas.agents.runbook.folder_questions import LOOKING_TOOLS, look_results
from silas.agents.runbook.framed import all_framed
from silas.agents.runbook.memory import SEARCH
from silas.context import FramedSection
from silas.types import TaintLevel

Messages = Sequence[ModelMessage]

_REMEMBERED: Final = 5
"""Memories that one search brings at most."""

_FILES: Final = "workspace_files"
_READ: Final = "workspace_read"
_CALL: Final = "silas_look_"
_LISTED: Final = 30
_READS: Final = 3
"""Texts that are read; with the list four of the twelve looks of a turn, for each of two roles."""
_LARGEST: Final = 3_000
_TOGETHER: Final = 5_000
"""Bytes of one text, and of all of them: a small model reads 75 tokens a second."""

_TEXT_ENDINGS: Final = """
md txt rst csv tsv json yaml yml toml ini cfg conf cf log py sh js ts html css sql xml
"""
_TEXTS: Final = frozenset(_TEXT_ENDINGS.split())
_ABOUT_PROJECT: Final = re.compile(r"\b(?:project|repo|repository|projekt)\b", re.IGNORECASE)
_PROJECT: Final = ("readme", "makefile", "pyproject", "package", "setup")
_FOLDER: Final = re.compile(
    r"\b(?:here|this|these|files?|folders?|directory|project|repo|code|tests?|modules?|"
    r"hier|diese[rsmn]?|dateien?|ordner|projekt)\b|\w\.\w{1,4}\b",
    re.IGNORECASE,
)
_TALK: Final = re.compile(
    r"\b(?:you|your|yours|my|mine|we|our|remember|du|dein|mein)\b|^(?:hi|hello|hey|hallo|good)\b",
    re.IGNORECASE,
)
_WORLD: Final = re.compile(r"\d|\bmean(?:s|ing)?\b|\bdefin|\b[A-Z]{3,}\b")
"""A number to compute with, or a word to explain."""
_ASKS: Final = re.compile(r"\?|^(?:what|who|which|where|when|how|was|wer|wo|wann|welche)\b", re.I)
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


def on_this_machine(model: Model) -> bool:
    """Whether a model is asked at a loopback address: what it is shown stays here."""
    host = urlsplit(address_of(model)).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


class LooksFirst(WrapperModel):
    """A model that is asked once the folder was looked at.

    Args:
        wrapped: The model.
        always: Whether every request is about the folder, as a plan is; else questions that may be.
    """

    def __init__(self, wrapped: Model, *, always: bool) -> None:
        super().__init__(wrapped)
        self._always = always

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next look, or what the model answers."""
        offered = {tool.name for tool in model_request_parameters.function_tools}
        calls = _look_at_memory(messages) if SEARCH in offered else []
        if offered >= LOOKING_TOOLS:
            calls += self._looks(messages)
        if not calls:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)
        return ModelResponse(
            parts=calls, model_name=self.model_name, usage=RequestUsage(cost=Decimal(0))
        )

    def _looks(self, messages: Messages) -> list[ToolCallPart]:
        """Calls of the next step; none where enough was seen, or nothing is to be."""
        framed = all_framed(messages)
        text = _owners(framed)
        if not text or not (self._always or asks_about_files(text)):
            return []
        made, seen = _looks_made(messages), look_results(messages)
        if not self._always and (look := folder.look_request(text)) is not None:
            return self._exact(look, framed, messages)
        if not self._always and (named := _files_named_in(text, framed)):
            # a list beside it would only lead away from the text that is asked about
            fits = [name for name, size in named if size <= _LARGEST][:_READS]
            first = not made and not _model_has_called(messages)
            return [_call(_READ, {"path": name}, n) for n, name in enumerate(fits, 1) if first]
        if _model_has_called(messages):
            return []
        earlier = [one.text for one in _answers_of(_FILES, framed)] if self._always else []
        if not made and not earlier:
            return [_call(_FILES, {"count": _LISTED}, 1)]
        # work that a text made of a question is planned without that text: nobody ordered it
        asked = self._always and _ASKS.search(text.strip()) is not None
        listed = made == [_FILES] and len(seen) == 1
        if asked or _has_mistakes(framed) or not (listed or (earlier and not made)):
            return []
        found = read_files(seen[0].text if listed else earlier[-1])
        names = _texts_to_read(text, [] if found is None else found.shown, _names_in_view(framed))
        return [_call(_READ, {"path": name}, n) for n, name in enumerate(names, 2)]

    def _exact(
        self, look: folder.LookRequest, framed: Sequence[FramedSection], messages: Messages
    ) -> list[ToolCallPart]:
        """The look that answers a sentence whose meaning is known: the biggest file comes first."""
        facts = next((one.text for one in framed if one.kind == "facts"), "")
        now = read_pairs(facts).get("now")
        made, seen = _looks_made(messages), look_results(messages)
        if (
            now is None
            or _model_has_called(messages)
            or len(made) != len(seen)
            or len(made) > _READS
        ):
            return []
        step = folder.next_step(look, seen, datetime.fromisoformat(now), ZoneInfo("UTC"))
        if not isinstance(step, folder.LookCall):
            return []
        return [_call(step.tool, step.args, len(made) + 1)]


def asks_about_files(text: str) -> bool:
    """Whether a message is a question that the files of the folder may answer."""
    said = text.strip()
    if not _ASKS.search(said) or _TALK.search(said):
        return False
    elsewhere = _WORLD.search(said) is not None or earlier_query(said) != ""
    return bool(_FOLDER.search(said)) or not elsewhere


def _owners(framed: Sequence[FramedSection]) -> str:
    """The message of this turn, where it is the owner's; empty else."""
    last = next((one for one in reversed(framed) if one.kind == "message"), None)
    return last.text if last and last.label("taint") == TaintLevel.owner.value else ""


def _has_mistakes(framed: Sequence[FramedSection]) -> bool:
    """Whether the planner saw the texts when it was asked first; the looks of a turn are few."""
    return any(one.kind == "mistakes" for one in framed)


def _answers_of(tool: str, framed: Sequence[FramedSection]) -> list[FramedSection]:
    """What this tool answered earlier in the turn, to whoever was asked before."""
    return [one for one in framed if one.kind == "file" and one.label("tool") == tool]


def _names_in_view(framed: Sequence[FramedSection]) -> frozenset[str]:
    """Names of the files that are in view already."""
    followed = (one for one in framed if one.kind.startswith("subscription"))
    names = {PurePosixPath(label).name for one in followed for label in one.labels}
    return frozenset(
        names | {PurePosixPath(one.label("name")).name for one in _answers_of(_READ, framed)}
    )


def _files_named_in(text: str, framed: Sequence[FramedSection]) -> list[tuple[str, int]]:
    """What of the files in view a message names, as it names them, and how long each is."""
    said = {word.strip("`'\"?!,;:()").rstrip(".").removeprefix("./") for word in text.split()}
    followed = (one for one in framed if one.kind.startswith("subscription"))
    return [
        (word, len(one.text))
        for one in followed
        for word in sorted(said)
        if "." in word and any(label.endswith(f"/{word}") for label in one.labels)
    ]


def _look_at_memory(messages: Messages) -> list[ToolCallPart]:
    """One search for what a message of the owner's goes on from, where it says so."""
    query = earlier_query(_owners(all_framed(messages)))
    if not query or any(True for _ in _calls(messages)):
        return []
    asked = {"query": query, "max_results": _REMEMBERED, "everything_said": True}
    return [ToolCallPart(SEARCH, asked, f"{_CALL}memory")]


def _looks_made(messages: Messages) -> list[str]:
    """Looks at the folder; the one at memory comes beside the first of them."""
    made = (one for one in _calls(messages) if one.tool_call_id.startswith(_CALL))
    return [one.tool_name for one in made if one.tool_name != SEARCH]


def _model_has_called(messages: Messages) -> bool:
    return any(not one.tool_call_id.startswith(_CALL) for one in _calls(messages))


def _calls(messages: Messages) -> Iterator[ToolCallPart]:
    for message in messages:
        if isinstance(message, ModelResponse):
            yield from (part for part in message.parts if isinstance(part, ToolCallPart))


def _call(name: str, arguments: dict[str, Any], number: int) -> ToolCallPart:
    return ToolCallPart(name, arguments, f"{_CALL}{number}")


def _texts_to_read(text: str, files: Sequence[FileSeen], known: frozenset[str]) -> list[str]:
    """The texts that a request is about: the nearest first, as many as there is room for."""
    about_project = _ABOUT_PROJECT.search(text) is not None
    words = {word.casefold() for word in _WORD.findall(text)}
    fits = [one for one in files if _is_text(one) and PurePosixPath(one.path).name not in known]

    def rank(one: FileSeen) -> tuple[bool, bool, int]:
        name = PurePosixPath(one.path).name.casefold()
        named = name in text.casefold() or any(word in name for word in words)
        of_project = about_project and name.startswith(_PROJECT)
        return (not (named or of_project), not of_project, one.size)

    chosen, room = list[str](), _TOGETHER
    for one in sorted(fits, key=rank):
        if one.size <= room and len(chosen) < _READS:
            chosen.append(one.path)
            room -= one.size
    return chosen


def _is_text(one: FileSeen) -> bool:
    path = PurePosixPath(one.path)
    ending = path.suffix.removeprefix(".").casefold()
    shut = any(part.startswith(".") for part in path.parts)
    known = ending in _TEXTS or (not ending and path.name.casefold().startswith(_PROJECT))
    return not shut and known and 0 < one.size <= _LARGEST
