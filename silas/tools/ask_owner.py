"""`ask_owner`: a question of running work to the owner, with numbered options (spec 0.5)."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from silas.tools.arguments import Exact
from silas.tools.looking import LookingTool
from silas.tools.models import ToolCallContext, ToolResult
from silas.types import OriginKind, TaintLevel

MAX_QUESTIONS: Final = 3
"""Of one run: more is not a question but a conversation, and the plan was to be clear."""

_MAX_QUESTION = 500  # characters
_MAX_OPTION = 80
_RUNS_REMEMBERED = 1000  # a run is over long before that many others have begun

AskOwner = Callable[[str, str, tuple[str, ...]], Awaitable[str | None]]
"""(work item, question, options) to the option the owner chose; None where nobody answered."""


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


class QuestionArguments(Exact):
    """One question and two to six answers to choose from."""

    question: Annotated[str, AfterValidator(_question)]
    options: Annotated[list[str], Field(min_length=2, max_length=6), AfterValidator(_options)]


class AskOwnerTool(LookingTool):
    """Asks the owner; no answer is an answer, too."""

    arguments = QuestionArguments
    name = "ask_owner"
    roles = ("executor",)
    words = (
        "Ask the owner one question with two to six short options, when the briefing leaves open "
        f"what changes the outcome. At most {MAX_QUESTIONS} times; there may be no answer. It "
        "approves nothing: what needs an approval asks by itself."
    )

    def __init__(self, ask: AskOwner) -> None:
        self._ask = ask
        self._asked: OrderedDict[str, int] = OrderedDict()

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Ask, and say what was chosen.

        The choice is the owner's own word exactly where the option was no word from outside: a
        text that a page smuggled into an option is not washed by being chosen (decision B9).
        """
        if not self._may_ask(context.trace_id):
            return ToolResult(
                ok=False,
                error=f"The owner was asked {MAX_QUESTIONS} times in this run; decide or stop.",
                taint=TaintLevel.owner,
            )
        options: list[str] = request["options"]
        chosen = await self._ask(context.task_id, request["question"], tuple(options))
        if chosen is None:
            return ToolResult(
                ok=True,
                return_value="The owner did not answer. Go on without, or stop.",
                taint=TaintLevel.owner,
            )
        return ToolResult(
            ok=True,
            return_value=f"The owner chose {options.index(chosen) + 1}: {chosen}",
            taint=context.provenance.derive(self.name, {"options": [chosen]}).taint,
            origin=OriginKind.owner,
            source="an answer",
        )

    def _may_ask(self, run: str) -> bool:
        asked = self._asked.get(run, 0)
        if asked >= MAX_QUESTIONS:
            return False
        self._asked[run] = asked + 1
        if len(self._asked) > _RUNS_REMEMBERED:
            self._asked.popitem(last=False)
        return True
