"""What could be done next, by fixed rules and no model; nothing in here runs anything (4.22)."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from silas.audit import Audit
from silas.audit.refusals import LIMIT_EXCEEDED, RefusalRecord
from silas.autonomy.ideas import STALE_DAYS, SuggestionIdea
from silas.autonomy.models import SuggestionsConfig
from silas.autonomy.proposals import (
    SuggestionOutcome,
    SuggestionProposal,
    SuggestionSource,
)
from silas.autonomy.store import SqlAutonomyStore
from silas.canonical import sha256_hex
from silas.clock import Clock
from silas.language import tr
from silas.plans import WorkItemResult
from silas.types import OWNER, Risk, new_id

_MOST_STEPS = 3  # next steps of one result that are offered
_LONGEST = 300  # characters of what is offered
_HOUR = timedelta(hours=1)

Ideas = Callable[[datetime], Awaitable[Sequence[SuggestionIdea]]]
"""What could be suggested at a moment, the best first."""

Able = Callable[[str], bool]
"""Whether words that the owner picks can become a plan, with the models that answer now."""

Quiet = Callable[[datetime], bool]
"""Whether the owner wants to be left in peace at a moment."""


class SuggestionEngine:
    """Makes suggestions for the owner's scope, each once in a while, a few at a time."""

    def __init__(
        self,
        config: SuggestionsConfig,
        per_hour: int,
        store: SqlAutonomyStore,
        ideas: Ideas,
        able: Able,
        quiet: Quiet,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._config = config
        self._per_hour = per_hour
        self._store = store
        self._ideas = ideas
        self._able = able
        self._quiet = quiet
        self._left_out = RefusalRecord(audit, clock, _HOUR.total_seconds())
        self._clock = clock

    async def generate_idle(self, scope_id: str, now: datetime) -> list[SuggestionProposal]:
        """What could be done about what happened; nothing in quiet hours."""
        if not self._may(scope_id) or self._quiet(now):
            return []
        wanted = [self._proposal("idle_heartbeat", idea, now) for idea in await self._ideas(now)]
        return await self._keep_new(scope_id, wanted, now)

    async def generate_post_execution(
        self, scope_id: str, result: WorkItemResult, title: str = ""
    ) -> list[SuggestionProposal]:
        """The next steps that finished work names, in its agent's words."""
        if not self._may(scope_id):
            return []
        now = self._clock.now()
        wanted = [
            self._proposal(
                "post_execution",
                SuggestionIdea(step, step, tr("Named as a next step of '{title}'.", title=title)),
                now,
            )
            for step in result.next_steps[:_MOST_STEPS]
            if step.strip()
        ]
        return await self._keep_new(scope_id, wanted, now)

    async def mark_handled(
        self, scope_id: str, suggestion_id: str, outcome: SuggestionOutcome
    ) -> bool:
        """What became of one; its cool-down starts again. False where it was settled already."""
        return self._store.save_outcome(scope_id, suggestion_id, outcome, self._clock.now())

    def put_off(self, scope_id: str, suggestion_id: str) -> bool:
        """Whether it was shown before and left open."""
        return self._store.asked_since(scope_id, suggestion_id, datetime.min.replace(tzinfo=UTC))

    def waiting(self, scope_id: str) -> list[SuggestionProposal]:
        """What nobody answered yet and may be shown now, the oldest first; survives a restart.

        In quiet hours that is nothing; it is shown when they are over.
        """
        now = self._clock.now()
        if not self._may(scope_id) or self._quiet(now):
            return []
        quiet = now - timedelta(minutes=self._config.cooldown_minutes)
        self._let_go(scope_id, now)
        return [
            one
            for one in self._store.waiting(scope_id)
            if self._able(one.intent)  # another model may answer by now
            and not self._store.asked_since(scope_id, one.suggestion_id, quiet)
        ]

    def _may(self, scope_id: str) -> bool:
        return self._config.enabled and scope_id == OWNER

    def _let_go(self, scope_id: str, now: datetime) -> None:
        stale = now - timedelta(days=STALE_DAYS)  # nobody answered for so long
        for one in self._store.waiting(scope_id):
            if one.created_at < stale:
                self._store.save_outcome(scope_id, one.suggestion_id, "dismissed", now)

    async def _keep_new(
        self, scope_id: str, wanted: Iterable[SuggestionProposal], now: datetime
    ) -> list[SuggestionProposal]:
        """Those that are new, within every limit; kept, so that a crash loses none.

        That the limit of an hour left some out is on record, once an hour (18.5).
        """
        config, store = self._config, self._store
        quiet = max(config.cooldown_minutes, config.dedupe_window_minutes)
        made: list[SuggestionProposal] = []
        for one in wanted:
            if not self._able(one.intent) or self._is_repeated(one, now - timedelta(minutes=quiet)):
                continue
            if len(store.waiting(scope_id)) >= config.max_pending_per_scope:
                break
            if store.count_suggested(scope_id, now - _HOUR) >= self._per_hour:
                await self._left_out.note(LIMIT_EXCEEDED, "suggestions", "silas", scope=scope_id)
                break
            store.put_suggestion(one)
            made.append(one)
        return made

    def _is_repeated(self, one: SuggestionProposal, quiet: datetime) -> bool:
        """Whether it was suggested since then, or declined."""
        return self._store.suggested_since(
            one.scope_id, one.cooldown_key, quiet
        ) or self._store.was_declined(one.scope_id, one.cooldown_key)

    @staticmethod
    def _proposal(
        source: SuggestionSource, idea: SuggestionIdea, now: datetime
    ) -> SuggestionProposal:
        about = _one_line(idea.about).casefold()
        return SuggestionProposal(
            suggestion_id=new_id("suggestion"),
            scope_id=OWNER,
            source=source,
            intent=_one_line(idea.words),
            rationale=_one_line(idea.rationale),
            # a yes begins a plan and runs nothing; a model's own words deserve a second look
            risk_level=Risk.medium if source == "post_execution" else Risk.low,
            proposed_work_item_id=idea.item_id or None,
            cooldown_key=sha256_hex(about.encode("utf-8", "replace")),
            created_at=now,
        )


def _one_line(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
