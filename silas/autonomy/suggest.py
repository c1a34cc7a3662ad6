"""What could be done next, by fixed rules and no model; nothing in here runs anything (4.22)."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta

from silas.autonomy.models import SuggestionsConfig
from silas.autonomy.proposals import (
    SuggestionOutcome,
    SuggestionProposal,
    SuggestionSource,
)
from silas.autonomy.store import SqlAutonomyStore
from silas.canonical import sha256_hex
from silas.clock import Clock
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.types import OWNER, Risk, new_id

_STALE_DAYS = 7
"""A suggestion that nobody answered for so long is let go; work as old as that is left alone."""

_MOST_STEPS = 3  # next steps of one result that are offered
_LONGEST = 300  # characters of what is offered

_UNFINISHED = frozenset({WorkItemStatus.failed, WorkItemStatus.stuck, WorkItemStatus.blocked})

Recent = Callable[[], Awaitable[Sequence[WorkItem]]]
"""The work items that changed last, a few of them."""

FollowedUp = Callable[[str], Awaitable[bool]]
"""Whether a work item was gone on from."""


class SuggestionEngine:
    """Makes suggestions for the owner's scope, each once in a while, a few at a time."""

    def __init__(
        self,
        config: SuggestionsConfig,
        per_hour: int,
        store: SqlAutonomyStore,
        recent: Recent,
        followed_up: FollowedUp,
        clock: Clock,
    ) -> None:
        self._config = config
        self._per_hour = per_hour
        self._store = store
        self._recent = recent
        self._followed_up = followed_up
        self._clock = clock

    async def generate_idle(self, scope_id: str, now: datetime) -> list[SuggestionProposal]:
        """Work of the owner's that ended without success and that nobody went on from."""
        if not self._may(scope_id):
            return []
        since = now - timedelta(days=_STALE_DAYS)
        wanted = [
            self._proposal(
                "idle_heartbeat",
                f"Look again at '{item.title}'",
                f"It ended as {item.status.value}, and nothing has followed.",
                now,
                item.id,
            )
            for item in await self._recent()
            if item.status in _UNFINISHED and item.created_at > since
            if not await self._followed_up(item.id)
        ]
        return self._kept(scope_id, wanted, now)

    async def generate_post_execution(
        self, scope_id: str, result: WorkItemResult, title: str = ""
    ) -> list[SuggestionProposal]:
        """The next steps that finished work names, in its agent's words."""
        if not self._may(scope_id):
            return []
        now = self._clock.now()
        wanted = [
            self._proposal("post_execution", step, f"Named as a next step of '{title}'.", now, "")
            for step in result.next_steps[:_MOST_STEPS]
            if step.strip()
        ]
        return self._kept(scope_id, wanted, now)

    async def mark_handled(
        self, scope_id: str, suggestion_id: str, outcome: SuggestionOutcome
    ) -> bool:
        """What became of one; its cool-down starts again. False where it was settled already."""
        return self._store.handled(scope_id, suggestion_id, outcome, self._clock.now())

    def waiting(self, scope_id: str) -> list[SuggestionProposal]:
        """What nobody answered yet and may be shown now, the oldest first; survives a restart."""
        if not self._may(scope_id):
            return []
        now = self._clock.now()
        quiet = now - timedelta(minutes=self._config.cooldown_minutes)
        self._let_go(scope_id, now)
        return [
            one
            for one in self._store.waiting(scope_id)
            if not self._store.asked_since(scope_id, one.suggestion_id, quiet)
        ]

    def _may(self, scope_id: str) -> bool:
        return self._config.enabled and scope_id == OWNER

    def _let_go(self, scope_id: str, now: datetime) -> None:
        stale = now - timedelta(days=_STALE_DAYS)
        for one in self._store.waiting(scope_id):
            if one.created_at < stale:
                self._store.handled(scope_id, one.suggestion_id, "dismissed", now)

    def _kept(
        self, scope_id: str, wanted: Iterable[SuggestionProposal], now: datetime
    ) -> list[SuggestionProposal]:
        """Those that are new, within every limit; kept, so that a crash loses none."""
        config, store = self._config, self._store
        quiet = max(config.cooldown_minutes, config.dedupe_window_minutes)
        made: list[SuggestionProposal] = []
        for one in wanted:
            room = config.max_pending_per_scope - len(store.waiting(scope_id))
            hour = store.count_suggested(scope_id, now - timedelta(hours=1))
            if room <= 0 or hour >= self._per_hour:
                break
            if not store.suggested_since(
                scope_id, one.cooldown_key, now - timedelta(minutes=quiet)
            ):
                store.put_suggestion(one)
                made.append(one)
        return made

    @staticmethod
    def _proposal(
        source: SuggestionSource, words: str, rationale: str, now: datetime, item_id: str
    ) -> SuggestionProposal:
        intent = _one_line(words)
        return SuggestionProposal(
            suggestion_id=new_id("suggestion"),
            scope_id=OWNER,
            source=source,
            intent=intent,
            rationale=_one_line(rationale),
            # a yes begins a plan and runs nothing; a model's own words deserve a second look
            risk_level=Risk.medium if source == "post_execution" else Risk.low,
            proposed_work_item_id=item_id or None,
            cooldown_key=sha256_hex(intent.casefold().encode("utf-8", "replace")),
            created_at=now,
        )


def _one_line(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
