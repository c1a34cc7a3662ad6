"""`ask_owner`: a question of running work to the owner, with numbered options (spec 0.5)."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from typing import Annotated, Any, Final, NamedTuple

from pydantic import AfterValidator, Field

from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.read_only import ReadOnlyTool
from silas.tools.models import ToolCallContext, ToolResult
from silas.types import OriginKind, TaintLevel, join_taint

MAX_QUESTIONS: Final = 3
"""Of one run: more is not a question but a conversation, and the plan was to be clear."""

_MAX_QUESTION = 500  # characters
_MAX_OPTION = 80
_RUNS_REMEMBERED = 1000  # a run is over long before that many others have begun


class OwnerAnswer(NamedTuple):
    """What was answered to a question.

    Attributes:
        option: One of the options that were offered; None where none was chosen.
        words: What was typed besides or instead; empty where nothing was.
        taint: Whose the typed words are; `external` unless the owner signed them.
    """

    option: str | None
    words: str = ""
    taint: TaintLevel = TaintLevel.external


OWN_ANSWER: Final = "an answer of the owner's"
"""The source of an answer that has no words but an option of the work's own and what he signed."""


def _all_his(answer: OwnerAnswer) -> bool:
    return not answer.words or answer.taint is TaintLevel.owner


AskOwner = Callable[[str, str, tuple[str, ...]], Awaitable[OwnerAnswer | None]]
"""(work item, question, options) to what was answered; None where nobody answered."""


def _line(text: str, most: int) -> str:
    text = text.strip()
    if not 0 < len(text) <= most or not text.isprintable():
        raise ValueError(f"must be one printable line of 1 to {most} characters")
    return text


def _question(text: str) -> str:
    return _line(text, _MAX_QUESTION)


def _options(options: list[str]) -> list[str]:
    lines = [_line(option, _MAX_OPTION) for option in options]
    if len(set(map(str.casefold, lines))) < len(lines):
        raise ValueError("must differ from each other")
    return lines


def _answer_words(answer: OwnerAnswer, options: list[str]) -> str:
    if answer.option is None:
        return f"The owner answered: {answer.words}"
    chosen = f"The owner chose {options.index(answer.option) + 1}: {answer.option}"
    return f"{chosen}\nand said: {answer.words}" if answer.words else chosen


class QuestionArguments(ToolArguments):
    """One question and two to six answers to choose from."""

    question: Annotated[str, AfterValidator(_question)]
    options: Annotated[list[str], Field(min_length=2, max_length=6), AfterValidator(_options)]


class AskOwnerTool(ReadOnlyTool):
    """Asks the owner; no answer is an answer, too."""

    arguments = QuestionArguments
    name = "ask_owner"
    roles = ("executor",)
    words = (
        "Ask the owner one question with two to six short options (he may answer in his own words "
        "instead), when the briefing leaves open what changes the outcome. At most "
        f"{MAX_QUESTIONS} times; there may be no answer. It approves nothing: what needs an "
        "approval asks by itself."
    )

    def __init__(self, ask: AskOwner) -> None:
        self._ask = ask
        self._asked: OrderedDict[str, int] = OrderedDict()

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Ask, and say what was answered.

        A choice is the owner's own word exactly where the option was no word from outside: a text
        that a page smuggled into an option is not washed by being chosen (decision B9). Words that
        he typed where he signs are his, whatever the question holds (decision D380).
        """
        if not self._may_ask(context.trace_id):
            return ToolResult(
                ok=False,
                error=f"The owner was asked {MAX_QUESTIONS} times in this run; decide or stop.",
                taint=TaintLevel.owner,
            )
        options: list[str] = request["options"]
        answer = await self._ask(context.task_id, request["question"], tuple(options))
        if answer is None:
            return ToolResult(
                ok=True,
                return_value="The owner did not answer. Go on without, or stop.",
                taint=TaintLevel.owner,
            )
        return ToolResult(
            ok=True,
            return_value=_answer_words(answer, options),
            taint=join_taint(self._taints(answer, context)),
            origin=OriginKind.owner,
            source=OWN_ANSWER if _all_his(answer) else "an answer",
        )

    def _taints(self, answer: OwnerAnswer, context: ToolCallContext) -> Iterator[TaintLevel]:
        if answer.option is not None:  # as far trusted as the text that offered it
            yield context.provenance.derive(self.name, {"options": [answer.option]}).taint
        if answer.words:
            yield answer.taint

    def _may_ask(self, run: str) -> bool:
        asked = self._asked.get(run, 0)
        if asked >= MAX_QUESTIONS:
            return False
        self._asked[run] = asked + 1
        if len(self._asked) > _RUNS_REMEMBERED:
            self._asked.popitem(last=False)
        return True
