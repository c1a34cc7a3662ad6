"""How running work is going, for whoever looks at it: steps, what tools put out, what is used.

Nothing is kept of work that nobody follows, and of work that somebody does only the last of it.
"""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from silas.plans import BudgetTracker, BudgetUsed, WorkItem
from silas.plans.budget import BudgetShare, shares
from silas.tools import ToolResult
from silas.tools.refusals import ApprovalRequired
from silas.work.models import NOTHING_YET, WorkProgress, WorkStep
from silas.work.step_descriptions import step_words

MOST_STEPS = 30
MOST_LINES = 60
"""Of one work item: the last ones. A page shows no more, and a long run must not fill it."""

_LINES_OF_ONE = 20  # of what one call put out, its end: there an error says what it is
_LOOKED_AT = 8_000  # characters of it
_LINE = 240  # characters

Look = Callable[[], None]
"""Told that something changed; cheap, and does not raise."""

Ended = Callable[[ToolResult], None]
"""Told what a call did."""

CallWatch = Callable[[str, dict[str, Any]], AbstractContextManager[Ended]]
"""Stands around one call, from before the tool door to what came of it."""


@dataclass
class _Page:
    """One work item that is followed."""

    look: Look
    steps: dict[int, WorkStep] = field(default_factory=dict[int, WorkStep])
    lines: deque[str] = field(default_factory=partial(deque[str], maxlen=MOST_LINES))
    begun: int = 0
    budget: Callable[[], tuple[BudgetShare, ...]] = tuple
    phase: Literal["before", "attempt", "after"] = "before"

    def begin(self, words: str) -> int:
        self.begun += 1
        self.steps[self.begun] = WorkStep(words, "running")
        while len(self.steps) > MOST_STEPS:
            del self.steps[next(iter(self.steps))]
        return self.begun

    def end(self, number: int, step: WorkStep) -> None:
        if number in self.steps:
            self.steps[number] = step


class ProgressBoard:
    """Where running work writes how it is going.

    Args:
        redact: Takes known secrets out of a text. What tools put out was cleaned at the tool door.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._pages: dict[str, _Page] = {}

    def follow(self, work_item_id: str, look: Look) -> None:
        """Keep the last of what this item does from now on, and say each time that there is more.

        Whoever followed it before, such as an earlier run of it, does so no longer.
        """
        self._pages[work_item_id] = _Page(look)

    def leave(self, work_item_id: str) -> None:
        """Keep nothing of it any more."""
        self._pages.pop(work_item_id, None)

    @property
    def followed(self) -> tuple[str, ...]:
        """The items of which something is kept."""
        return tuple(self._pages)

    def going(self, work_item_id: str) -> WorkProgress:
        """How it is going now; nothing of work that nobody follows."""
        page = self._pages.get(work_item_id)
        if page is None:
            return NOTHING_YET
        return WorkProgress(
            tuple(page.steps.values()), tuple(page.lines), page.budget(), page.phase
        )

    @contextmanager
    def attempt(
        self, item: WorkItem, tracker: BudgetTracker, live: Callable[[], BudgetUsed]
    ) -> Generator[CallWatch]:
        """One attempt of an item; what it gives stands around each call.

        Args:
            item: Whose.
            tracker: What is settled of its budget.
            live: What the run under way has used, which is settled at its end.
        """
        self._counts(item, lambda: tracker.used().merge(live()), "attempt")
        try:
            yield partial(self._watched, item.id)
        finally:
            self._counts(item, tracker.used, "after")

    def _counts(
        self, item: WorkItem, used: Callable[[], BudgetUsed], phase: Literal["attempt", "after"]
    ) -> None:
        page = self._pages.get(item.id)
        if page is not None:
            page.budget = lambda: shares(used(), item.budget)
            page.phase = phase
            page.look()

    @contextmanager
    def _watched(self, work_item_id: str, tool: str, args: dict[str, Any]) -> Generator[Ended]:
        page = self._pages.get(work_item_id)
        if page is None:
            yield _unseen
            return
        words = self._redact(step_words(tool, args))
        number = page.begin(words)
        page.look()

        def ended(result: ToolResult) -> None:
            page.end(number, WorkStep(words, "done" if result.ok else "failed"))
            page.lines.extend(_tail(result.return_value or result.error or ""))
            page.look()

        try:
            yield ended
        except ApprovalRequired:  # it is asked about first, and then begins again
            page.steps.pop(number, None)
            page.look()
            raise
        except BaseException:
            page.end(number, WorkStep(words, "failed"))
            page.look()
            raise


def _unseen(result: ToolResult) -> None:
    """Nobody looks."""
    del result


def _tail(text: str) -> list[str]:
    lines = text[-_LOOKED_AT:].splitlines()[-_LINES_OF_ONE:]
    return [line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines]
