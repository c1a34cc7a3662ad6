"""What a run read from outside, and which of its calls followed it (decision B22).

A call follows what was read where a model made it up after it had read something. What the approved
plan's own blocks say, word for word, is the owner's order, whatever was read before. A result that
carries no words of anybody's, such as the exit code of a silent program, is no reading.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, cast

from silas.agents.runbook.briefing import BriefingError, steps_of
from silas.canonical import canonical_json
from silas.language import tr, tr_later
from silas.plans import WorkItem
from silas.tools import ToolResult
from silas.tools.builtin.ask_owner import OWN_ANSWER, AskOwnerTool
from silas.tools.builtin.shell import NOT_FOUND, ONE_WORD
from silas.types import TaintLevel
from silas.work.progress_board import BoardCallEnded, CallWatch
from silas.work.step_descriptions import step_words

_SILENT = re.compile(r"exit code -?\d+( \(ended by [a-z]+\))?")
_NOT_THERE: Final = re.compile(
    rf"exit code {NOT_FOUND}\nstderr \(\d+ characters\):\n"
    r"(?P<shell>(?:/\S+/)?(?:ba|da)?sh: (?:line )?\d+: )?(?P<name>[^\n]+): "
    r"(?:No such file or directory|(?:command )?not found)"
)
"""How the sandbox and shells say that a program is not there."""

_SHELLS: Final = frozenset({"sh", "bash", "dash"})
_OWN_WORDS: Final = frozenset({"file_write", "file_edit"})
"""Tools that say what they did in words of Silas's own, where they did it."""
_FILE_TOOLS: Final = frozenset({"file_read", "file_list", "file_search"}) | _OWN_WORDS

_NAMED = 3  # sources that a sentence names; a result has all of them
_MOST = 40  # sources that are told; of more nobody reads each
_SPAWNED: Final = tr_later("what the checks of its goal printed")
_FAILED: Final = tr_later("what failed in an earlier attempt, and what its checks printed")


class Influence(NamedTuple):
    """What led to the changes of a run.

    Attributes:
        led: Whether a call followed something that was read from outside.
        sources: What had been read before the last such call, in words, in order.
    """

    led: bool
    sources: tuple[str, ...]


def influence_note(sources: Sequence[str]) -> str:
    """The sentence of a result whose changes followed what was read; empty where none did."""
    if not sources:
        return ""
    more = len(sources) - _NAMED
    named = [*sources[:_NAMED], *([tr("and {more} more", more=more)] if more > 0 else ())]
    return tr(
        "Before these changes it read what is neither yours nor the plan's: {named}.",
        named="; ".join(named),
    )


class Readings:
    """Looks at each call of a run, over all of its attempts and workers."""

    def __init__(self, item: WorkItem, redact: Callable[[str], str]) -> None:
        self._orders = _orders(item)
        self._redact = redact
        self._read: list[str] = []
        self._before_last = 0
        self._led = False
        if item.spawned_by is not None and item.cycle is None:
            # its briefing quotes what checks printed; that of recurring work is the plan's own
            self._reads(tr(_SPAWNED))

    def again(self) -> None:
        """An attempt begins with what failed in the one before in its briefing."""
        self._reads(tr(_FAILED))

    @property
    def influence(self) -> Influence:
        """What is known so far."""
        return Influence(self._led, tuple(self._read[: self._before_last]))

    def watching(self, watch: CallWatch) -> CallWatch:
        """The same watch, which also notes what a call read and whether it followed something."""

        @contextmanager
        def watch_call(tool: str, args: dict[str, Any]) -> Generator[BoardCallEnded]:
            followed = bool(self._read) and _order(tool, args) not in self._orders
            with watch(tool, args) as ended:
                if followed:  # noted before it runs: what it does counts however it ends
                    self._led, self._before_last = True, len(self._read)

                def note_result(result: ToolResult) -> None:
                    if _carries_words(tool, args, result):
                        self._reads(step_words(tool, args))
                    ended(result)

                yield note_result

        return watch_call

    def _reads(self, words: str) -> None:
        shown = self._redact(words)
        if shown not in self._read and len(self._read) < _MOST:
            self._read.append(shown)


def _orders(item: WorkItem) -> frozenset[str]:
    try:
        return frozenset(_order(step.tool, step.args) for step in steps_of(item.body))
    except BriefingError:  # prose that is followed by a model alone
        return frozenset()


def _order(tool: str, args: dict[str, Any]) -> str:
    try:
        return canonical_json([tool, args])
    except (TypeError, ValueError):
        return ""  # a model may send anything; it is nobody's order


def _carries_words(tool: str, args: dict[str, Any], result: ToolResult) -> bool:
    if result.taint is TaintLevel.owner or (result.ok and tool in _OWN_WORDS):
        return False
    if not result.ok and tool in _FILE_TOOLS:
        return False  # a refusal quotes the path that was asked for, and nothing of any file
    if tool == AskOwnerTool.name and result.source == OWN_ANSWER:
        return False  # of an option every word stood in the work already, with what that had read
    said = (result.return_value, *map(canonical_json, result.content))
    text = "\n".join(filter(None, said)) or (result.error or "")
    if _SILENT.fullmatch(text.strip()) or (tool == "shell_exec" and _is_not_there(args, text)):
        return False
    return bool(text)


def _is_not_there(args: dict[str, Any], text: str) -> bool:
    """Whether a program could not be started, and nothing is said but its name, from the call."""
    words = args.get("argv")
    found = _NOT_THERE.fullmatch(text.removesuffix(ONE_WORD).strip())
    if found is None or not isinstance(words, list) or not words:
        return False
    program, *rest = map(str, cast("list[object]", words))
    if found["shell"]:  # what a script names by itself, before anything could be put in its place
        script = rest[-1] if len(rest) == 2 and rest[0] == "-c" else ""
        if program.rpartition("/")[2] not in _SHELLS or set(script) & set("$`\n"):
            return False
        program = script.split(maxsplit=1)[0] if script.strip() else ""
    return found["name"] in (program, program.rpartition("/")[2])
