"""What Silas proposed and what the owner decided, in the database (spec 5.1.3 step 8)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import LiteralString, NamedTuple

from silas.autonomy.proposals import (
    AutonomyThresholdProposal,
    SuggestionOutcome,
    SuggestionProposal,
)
from silas.autonomy.signals import Signal
from silas.damage import readable_rows
from silas.db import Database

_SUGGESTED = "SELECT count(*) FROM suggestions WHERE scope_id = :scope_id AND created_at > :since"
_PROPOSED = """
SELECT count(*) FROM autonomy_proposals WHERE scope_id = :scope_id AND created_at > :since
"""
_LEARNED = "SELECT count(*) FROM behavior_preferences WHERE scope_id = :scope_id AND at > :since"


class RecordedDecision(NamedTuple):
    """A decision in the record of a family."""

    number: int
    outcome: str


class LastProposal(NamedTuple):
    """The newest threshold proposal about a family."""

    proposal: AutonomyThresholdProposal
    after_signal: int


class InferredPreference(NamedTuple):
    """A preference that was inferred: the pattern, its memory, and what the owner said of it."""

    pattern: str
    memory_id: str
    decision: str | None


class SqlAutonomyStore:
    """Keeps proposals and decisions; no call ever sees another scope's.

    Statements are tiny and run inline (decision A23).
    """

    def __init__(self, db: Database) -> None:
        self._db = db

    # -- suggestions

    def put_suggestion(self, proposal: SuggestionProposal) -> None:
        """Keep it; it waits for the owner."""
        with self._db.write() as tx:
            tx.run(
                "INSERT INTO suggestions"
                " (suggestion_id, scope_id, cooldown_key, proposal, created_at) VALUES"
                " (:suggestion_id, :scope_id, :cooldown_key, :proposal, :created_at)",
                suggestion_id=proposal.suggestion_id,
                scope_id=proposal.scope_id,
                cooldown_key=proposal.cooldown_key,
                proposal=proposal.model_dump_json(),
                created_at=_moment(proposal.created_at),
            )

    def waiting(self, scope_id: str) -> list[SuggestionProposal]:
        """Suggestions that nobody answered, the oldest first."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT proposal, suggestion_id FROM suggestions WHERE scope_id = :scope_id"
                " AND (outcome IS NULL OR outcome = 'deferred') ORDER BY number",
                scope_id=scope_id,
            ).fetchall()
        return readable_rows(
            self._db,
            "suggestions",
            rows,
            lambda row: row[1],
            lambda row: SuggestionProposal.model_validate_json(row[0]),
        )

    def asked_since(self, scope_id: str, suggestion_id: str, moment: datetime) -> bool:
        """Whether this one was shown and left open since then."""
        with self._db.read() as tx:
            found = tx.run(
                "SELECT 1 FROM suggestions"
                " WHERE scope_id = :scope_id AND suggestion_id = :suggestion_id"
                " AND handled_at > :since",
                scope_id=scope_id,
                suggestion_id=suggestion_id,
                since=_moment(moment),
            ).fetchone()
        return found is not None

    def save_outcome(
        self, scope_id: str, suggestion_id: str, outcome: SuggestionOutcome, at: datetime
    ) -> bool:
        """Record what became of one; what was accepted or dismissed stays so, and it is False."""
        with self._db.write() as tx:
            done = tx.run(
                "UPDATE suggestions SET outcome = :outcome, handled_at = :handled_at"
                " WHERE scope_id = :scope_id AND suggestion_id = :suggestion_id"
                " AND (outcome IS NULL OR outcome = 'deferred')",
                outcome=outcome,
                handled_at=_moment(at),
                scope_id=scope_id,
                suggestion_id=suggestion_id,
            )
        return done.rowcount == 1

    def suggested_since(self, scope_id: str, cooldown_key: str, moment: datetime) -> bool:
        """Whether this was suggested, or answered, since then."""
        with self._db.read() as tx:
            found = tx.run(
                "SELECT 1 FROM suggestions"
                " WHERE scope_id = :scope_id AND cooldown_key = :cooldown_key"
                " AND (created_at > :since OR handled_at > :since) LIMIT 1",
                scope_id=scope_id,
                cooldown_key=cooldown_key,
                since=_moment(moment),
            ).fetchone()
        return found is not None

    def was_declined(self, scope_id: str, cooldown_key: str) -> bool:
        """Whether the owner said no to this once, or did not answer it for a week."""
        with self._db.read() as tx:
            found = tx.run(
                "SELECT 1 FROM suggestions"
                " WHERE scope_id = :scope_id AND cooldown_key = :cooldown_key"
                " AND outcome = 'dismissed' LIMIT 1",
                scope_id=scope_id,
                cooldown_key=cooldown_key,
            ).fetchone()
        return found is not None

    def count_suggested(self, scope_id: str, moment: datetime) -> int:
        """How many suggestions were made since then."""
        return self._count(_SUGGESTED, scope_id, moment)

    # -- decisions of the owner's

    def note(self, signal: Signal, at: datetime) -> None:
        """Keep a decision of the owner's."""
        with self._db.write() as tx:
            tx.run(
                "INSERT INTO behavior_signals (scope_id, family, outcome, at)"
                " VALUES (:scope_id, :family, :outcome, :at)",
                scope_id=signal.scope_id,
                family=signal.family,
                outcome=signal.outcome,
                at=_moment(at),
            )

    def families(self, scope_id: str) -> list[str]:
        """Every family about which something was decided."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT DISTINCT family FROM behavior_signals"
                " WHERE scope_id = :scope_id ORDER BY family",
                scope_id=scope_id,
            ).fetchall()
        return [row[0] for row in rows]

    def list_decided(
        self, scope_id: str, family: str, since: datetime, limit: int
    ) -> list[RecordedDecision]:
        """The newest decisions about a family, the newest first."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT number, outcome FROM behavior_signals"
                " WHERE scope_id = :scope_id AND family = :family AND at > :since"
                " ORDER BY number DESC LIMIT :limit",
                scope_id=scope_id,
                family=family,
                since=_moment(since),
                limit=limit,
            ).fetchall()
        return [RecordedDecision(*row) for row in rows]

    # -- thresholds

    def put_proposal(
        self, family: str, proposal: AutonomyThresholdProposal, after_signal: int
    ) -> None:
        """Keep a proposal; `after_signal` is the newest decision it rests on."""
        with self._db.write() as tx:
            tx.run(
                "INSERT INTO autonomy_proposals"
                " (proposal_id, scope_id, family, proposal, after_signal, created_at) VALUES"
                " (:proposal_id, :scope_id, :family, :proposal, :after_signal, :created_at)",
                proposal_id=proposal.proposal_id,
                scope_id=proposal.scope_id,
                family=family,
                proposal=proposal.model_dump_json(),
                after_signal=after_signal,
                created_at=_moment(proposal.created_at),
            )

    def open_proposals(self, scope_id: str) -> list[AutonomyThresholdProposal]:
        """Proposals that nobody answered, the oldest first."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT proposal, proposal_id FROM autonomy_proposals"
                " WHERE scope_id = :scope_id AND decision IS NULL"
                " ORDER BY number",
                scope_id=scope_id,
            ).fetchall()
        return readable_rows(
            self._db, "autonomy_proposals", rows, lambda row: row[1], lambda row: _proposal(row[0])
        )

    def last_proposal(self, scope_id: str, family: str) -> LastProposal | None:
        """The newest proposal about a family, whatever became of it."""
        with self._db.read() as tx:
            row = tx.run(
                "SELECT proposal, after_signal FROM autonomy_proposals"
                " WHERE scope_id = :scope_id AND family = :family ORDER BY number DESC LIMIT 1",
                scope_id=scope_id,
                family=family,
            ).fetchone()
        found = readable_rows(
            self._db,
            "autonomy_proposals",
            [] if row is None else [row],
            lambda _: f"{scope_id} {family}",
            lambda row: LastProposal(_proposal(row[0]), int(row[1])),
        )
        return found[0] if found else None

    def count_proposals(self, scope_id: str, moment: datetime) -> int:
        """How many proposals were made since then."""
        return self._count(_PROPOSED, scope_id, moment)

    def decide(
        self,
        proposal: AutonomyThresholdProposal,
        decision: str,
        applied: AutonomyThresholdProposal | None,
        token_id: str,
        at: datetime,
        witness: Callable[[], object],
    ) -> None:
        """Record a decision and, with it or not at all, every setting that it changes.

        Args:
            applied: Whose changes come into force; None for none.
            token_id: The approval they rest on.
            witness: Called inside the transaction; if it raises, nothing was changed.
        """
        with self._db.write() as tx:
            tx.run(
                "UPDATE autonomy_proposals SET decision = :decision, decided_at = :decided_at"
                " WHERE proposal_id = :proposal_id",
                decision=decision,
                decided_at=_moment(at),
                proposal_id=proposal.proposal_id,
            )
            for change in () if applied is None else applied.changes:
                tx.run(
                    "INSERT INTO autonomy_thresholds (scope_id, key, value, token_id, at)"
                    " VALUES (:scope_id, :key, :value, :token_id, :at)"
                    " ON CONFLICT (scope_id, key) DO UPDATE SET"
                    " value = excluded.value, token_id = excluded.token_id, at = excluded.at",
                    scope_id=proposal.scope_id,
                    key=change.key,
                    value=change.proposed_value,
                    token_id=token_id,
                    at=_moment(at),
                )
            witness()

    def thresholds(self, scope_id: str) -> dict[str, str]:
        """Settings that the owner changed by a card, as they are kept: `in_force` reads them."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT key, value FROM autonomy_thresholds WHERE scope_id = :scope_id",
                scope_id=scope_id,
            ).fetchall()
        return {key: str(value) for key, value in rows}

    def reset(self, scope_id: str, keys: list[str], witness: Callable[[], object]) -> None:
        """Settings are as configured again; `witness` is called within the transaction."""
        with self._db.write() as tx:
            tx.run(
                "DELETE FROM autonomy_thresholds WHERE scope_id = :scope_id AND key IN :keys",
                scope_id=scope_id,
                keys=keys,
            )
            witness()

    # -- preferences

    def list_preferences(self, scope_id: str) -> list[InferredPreference]:
        """Every preference that was inferred, the oldest first."""
        with self._db.read() as tx:
            rows = tx.run(
                "SELECT pattern, memory_id, decision FROM behavior_preferences"
                " WHERE scope_id = :scope_id ORDER BY at, pattern",
                scope_id=scope_id,
            ).fetchall()
        return [InferredPreference(*row) for row in rows]

    def learn(self, scope_id: str, pattern: str, memory_id: str, at: datetime) -> None:
        """Remember that a preference was inferred from a pattern."""
        with self._db.write() as tx:
            tx.run(
                "INSERT INTO behavior_preferences (scope_id, pattern, memory_id, at)"
                " VALUES (:scope_id, :pattern, :memory_id, :at)",
                scope_id=scope_id,
                pattern=pattern,
                memory_id=memory_id,
                at=_moment(at),
            )

    def settle(self, scope_id: str, pattern: str, decision: str) -> None:
        """Record what the owner said of it."""
        with self._db.write() as tx:
            tx.run(
                "UPDATE behavior_preferences SET decision = :decision"
                " WHERE scope_id = :scope_id AND pattern = :pattern",
                decision=decision,
                scope_id=scope_id,
                pattern=pattern,
            )

    def count_learned(self, scope_id: str, moment: datetime) -> int:
        """How many were inferred since then."""
        return self._count(_LEARNED, scope_id, moment)

    def _count(self, statement: LiteralString, scope_id: str, moment: datetime) -> int:
        with self._db.read() as tx:
            return int(tx.run(statement, scope_id=scope_id, since=_moment(moment)).fetchone()[0])


def _proposal(text: str) -> AutonomyThresholdProposal:
    return AutonomyThresholdProposal.model_validate_json(text)


def _moment(moment: datetime) -> str:
    # always with fractions: as text, a whole second would sort after them
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
