"""How running work is going, for whoever looks at it: steps, what is put out, what is used.

What runs is heard while it runs. Its words are anybody's: they are cleaned as at the tool door, and
shown only as far as no secret can begin in them.

Nothing is kept of work that nobody follows, and of work that somebody does only the last of it.
"""

import asyncio
import codecs
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

from silas.agents.call_scope import LimitWait
from silas.clock import Clock
from silas.context import ContentKind, clean_text
from silas.language import tr
from silas.plans import BudgetTracker, BudgetUsed, WorkItem
from silas.plans.budget import BudgetShare, shares
from silas.plans.characters import show
from silas.sandbox.models import Hear
from silas.tools import ToolResult
from silas.tools.refusals import ApprovalRequired
from silas.work.checks.verify import SeenCheck, WatchCheck, watch_no_check
from silas.work.models import NOTHING_YET, WorkProgress, WorkStep
from silas.work.step_descriptions import step_words

MOST_STEPS = 30
MOST_LINES = 60
"""Of one work item: the last ones. A page shows no more, and a long run must not fill it."""

_LINES_OF_ONE = 20  # of what one call put out, its end: there an error says what it is
_LOOKED_AT = 8_000  # characters of it
_LINE = 240  # characters
_HEARD = 100_000  # bytes of what runs now; of more the end is shown when it has ended

SECONDS_BETWEEN: Final = 0.25
"""How often a page is told at most that there is more to read."""

Look = Callable[[], None]
"""Told that something changed; cheap, and does not raise."""

BoardCallEnded = Callable[[ToolResult], None]
"""Told what a call did."""

CallWatch = Callable[[str, dict[str, Any]], AbstractContextManager[BoardCallEnded]]
"""Stands around one call, from before the tool door to what came of it."""


@dataclass
class _Page:
    """One work item that is followed."""

    look: Look
    steps: dict[int, WorkStep] = field(default_factory=dict[int, WorkStep])
    lines: deque[str] = field(default_factory=partial(deque[str], maxlen=MOST_LINES))
    begun: int = 0
    heard: bytearray = field(default_factory=bytearray)
    live: tuple[str, ...] = ()
    timer: asyncio.TimerHandle | None = None
    began: dict[int, float] = field(default_factory=dict[int, float])
    budget: Callable[[], tuple[BudgetShare, ...]] = tuple
    phase: Literal["before", "attempt", "after"] = "before"

    def begin(self, words: str, now: float) -> int:
        self.begun += 1
        self.steps[self.begun], self.began[self.begun] = WorkStep(words, "running"), now
        while len(self.steps) > MOST_STEPS:
            self.forget(next(iter(self.steps)))
        return self.begun

    def end(self, number: int, now: float, *, ok: bool, repeat: bool = False) -> None:
        if number in self.steps:
            seconds = now - self.began[number]
            words = self.steps[number].words
            if repeat:
                words = tr("{call} (answered from before; it did not run again)", call=words)
            self.steps[number] = WorkStep(words, "done" if ok else "failed", seconds)

    def forget(self, number: int) -> None:
        self.steps.pop(number, None)
        self.began.pop(number, None)

    def steps_at(self, now: float) -> tuple[WorkStep, ...]:
        return tuple(
            step._replace(seconds=now - self.began[number]) if step.state == "running" else step
            for number, step in self.steps.items()
        )

    def quiet(self) -> None:
        """What ran has ended: nothing more of it is live."""
        self.heard.clear()
        self.live = ()
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class ProgressBoard:
    """Where running work writes how it is going.

    Args:
        redact: Takes known secrets out of a text. What tools put out was cleaned at the tool door.
        redact_begun: The same for a text that goes on: what may begin a secret is left out, too.
        clock: For how long something takes.
    """

    def __init__(
        self, redact: Callable[[str], str], redact_begun: Callable[[str], str], clock: Clock
    ) -> None:
        self._redact = redact
        self._redact_begun = redact_begun
        self._clock = clock
        self._pages: dict[str, _Page] = {}
        self._trackers: dict[str, BudgetTracker] = {}

    def follow(self, work_item_id: str, look: Look) -> None:
        """Keep the last of what this item does from now on, and say each time that there is more.

        Whoever followed it before, such as an earlier run of it, does so no longer.
        """
        self._pages[work_item_id] = _Page(look)

    def leave(self, work_item_id: str) -> None:
        """Keep nothing of it any more."""
        page = self._pages.pop(work_item_id, None)
        if page is not None:
            page.quiet()

    @property
    def followed(self) -> tuple[str, ...]:
        """The items of which something is kept."""
        return tuple(self._pages)

    def going(self, work_item_id: str) -> WorkProgress:
        """How it is going now; nothing of work that nobody follows."""
        page = self._pages.get(work_item_id)
        if page is None:
            return NOTHING_YET
        tail = (*page.lines, *page.live)[-MOST_LINES:]
        steps = page.steps_at(self._clock.monotonic())
        return WorkProgress(steps, tail, page.budget(), page.phase)

    def hears(self, work_item_id: str) -> Hear:
        """Hears what an item's commands put out while they run."""

        def hear(piece: bytes) -> None:
            page = self._pages.get(work_item_id)
            if page is None or not piece or len(page.heard) >= _HEARD:
                return
            page.heard += piece[: _HEARD - len(page.heard)]
            if page.timer is None:
                loop = asyncio.get_running_loop()
                page.timer = loop.call_later(SECONDS_BETWEEN, self._show, page)

        return hear

    def _show(self, page: _Page) -> None:
        page.timer = None
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(page.heard))
        safe = self._redact_begun(clean_text(self._redact_begun(text), ContentKind.source))
        live = tuple(_tail(safe))
        if live != page.live:
            page.live = live
            page.look()

    def checks(self, work_item_id: str) -> WatchCheck:
        """Who looks at the checks of an item."""
        return partial(self._watch_check, work_item_id)

    @contextmanager
    def _watch_check(self, work_item_id: str, name: str) -> Generator[SeenCheck]:
        page = self._pages.get(work_item_id)
        if page is None:
            with watch_no_check(name) as unseen:
                yield unseen
            return
        number = page.begin(
            tr("Checking: {name}", name=show(self._redact(name))), self._clock.monotonic()
        )
        page.look()
        verdict = [False]  # a check that broke off has not passed
        try:
            yield SeenCheck(self.hears(work_item_id), partial(verdict.__setitem__, 0))
        finally:
            page.end(number, self._clock.monotonic(), ok=verdict[0])
            page.lines.extend(page.live)
            page.quiet()
            page.look()

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
        self._counts(item, lambda: tracker.measure_use().merge(live()), "attempt")
        self._trackers[item.id] = tracker
        try:
            yield partial(self._watch_call, item.id)
        finally:
            del self._trackers[item.id]
            self._counts(item, tracker.measure_use, "after")

    def limit_wait(self, work_item_id: str, tracker: BudgetTracker) -> LimitWait:
        """Shows that an item waits for the limit of requests, which takes none of its time."""
        return partial(self._limit_wait, work_item_id, tracker)

    @contextmanager
    def _limit_wait(self, work_item_id: str, tracker: BudgetTracker, words: str) -> Generator[None]:
        with tracker.pause():
            page = self._pages.get(work_item_id)
            if page is None:
                yield
                return
            number = page.begin(words, self._clock.monotonic())
            page.look()
            try:
                yield
            finally:
                page.forget(number)
                page.look()

    @contextmanager
    def waits_for_owner(self, work_item_id: str) -> Generator[None]:
        """Work waits for its owner's answer: its time stands still, and whoever looks is told."""
        tracker, page = self._trackers.get(work_item_id), self._pages.get(work_item_id)
        with nullcontext() if tracker is None else tracker.pause():
            if page is not None:
                page.look()
            yield
        if page is not None:
            page.look()

    def _counts(
        self, item: WorkItem, used: Callable[[], BudgetUsed], phase: Literal["attempt", "after"]
    ) -> None:
        page = self._pages.get(item.id)
        if page is not None:
            page.budget = lambda: shares(used(), item.budget)
            page.phase = phase
            page.look()

    @contextmanager
    def _watch_call(
        self, work_item_id: str, tool: str, args: dict[str, Any]
    ) -> Generator[BoardCallEnded]:
        page = self._pages.get(work_item_id)
        if page is None:
            yield _show_nobody
            return
        words = self._redact(step_words(tool, args))
        number = page.begin(words, self._clock.monotonic())
        page.look()

        def end_call(result: ToolResult) -> None:
            page.end(number, self._clock.monotonic(), ok=result.ok, repeat=result.deduped)
            page.quiet()
            if not result.deduped:  # what it printed stands there since it ran
                page.lines.extend(_tail(result.return_value or result.error or ""))
            page.look()

        try:
            yield end_call
        except ApprovalRequired:  # it is asked about first, and then begins again
            page.forget(number)
            page.look()
            raise
        except BaseException:
            page.end(number, self._clock.monotonic(), ok=False)
            page.quiet()
            page.look()
            raise


def _show_nobody(result: ToolResult) -> None:
    """Nobody looks."""
    del result


def _tail(text: str) -> list[str]:
    lines = text[-_LOOKED_AT:].splitlines()[-_LINES_OF_ONE:]
    return [line if len(line) <= _LINE else f"{line[:_LINE]}…" for line in lines]
