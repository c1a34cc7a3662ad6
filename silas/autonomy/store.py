"""What Silas proposed and what the owner decided, in the database (spec 5.1.3 step 8)."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

from silas.autonomy.proposals import (
    AutonomyThresholdProposal,
    SuggestionOutcome,
    SuggestionProposal,
)
from silas.autonomy.signals import Signal
from silas.damage import readable
from silas.db import Database


class Decided(NamedTuple):
    """A decision in the record of a family."""

    number: int
    outcome: str


class LastProposal(NamedTuple):
    """The newest threshold proposal about a family."""

    proposal: AutonomyThresholdProposal
    after_signal: int


class Learned(NamedTuple):
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
            tx.driver.execute(
                "INSERT INTO suggestions VALUES (NULL, ?, ?, ?, ?, NULL, ?, NULL)",
                (
                    proposal.suggestion_id,
                    proposal.scope_id,
                    proposal.cooldown_key,
                    proposal.model_dump_json(),
                    _moment(proposal.created_at),
                ),
            )

    def waiting(self, scope_id: str) -> list[SuggestionProposal]:
        """Suggestions that nobody answered, the oldest first."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT proposal, suggestion_id FROM suggestions WHERE scope_id = ?"
                " AND (outcome IS NULL OR outcome = 'deferred') ORDER BY number",
                (scope_id,),
            ).fetchall()
        return readable(
            self._db,
            "suggestions",
            rows,
            lambda row: row[1],
            lambda row: SuggestionProposal.model_validate_json(row[0]),
        )

    def asked_since(self, scope_id: str, suggestion_id: str, moment: datetime) -> bool:
        """Whether this one was shown and left open since then."""
        with self._db.read() as tx:
            found = tx.driver.execute(
                "SELECT 1 FROM suggestions WHERE scope_id = ? AND suggestion_id = ?"
                " AND handled_at > ?",
                (scope_id, suggestion_id, _moment(moment)),
            ).fetchone()
        return found is not None

    def handled(
        self, scope_id: str, suggestion_id: str, outcome: SuggestionOutcome, at: datetime
    ) -> bool:
        """Record what became of one; what was accepted or dismissed stays so, and it is False."""
        with self._db.write() as tx:
            done = tx.driver.execute(
                "UPDATE suggestions SET outcome = ?, handled_at = ? WHERE scope_id = ?"
                " AND suggestion_id = ? AND (outcome IS NULL OR outcome = 'deferred')",
                (outcome, _moment(at), scope_id, suggestion_id),
            )
        return done.rowcount == 1

    def suggested_since(self, scope_id: str, cooldown_key: str, moment: datetime) -> bool:
        """Whether this was suggested, or answered, since then."""
        with self._db.read() as tx:
            found = tx.driver.execute(
                "SELECT 1 FROM suggestions WHERE scope_id = ? AND cooldown_key = ?"
                " AND (created_at > ? OR handled_at > ?) LIMIT 1",
                (scope_id, cooldown_key, _moment(moment), _moment(moment)),
            ).fetchone()
        return found is not None

    def count_suggested(self, scope_id: str, moment: datetime) -> int:
        """How many suggestions were made since then."""
        return self._count("suggestions", "created_at", scope_id, moment)

    # -- decisions of the owner's

    def note(self, signal: Signal, at: datetime) -> None:
        """Keep a decision of the owner's."""
        with self._db.write() as tx:
            tx.driver.execute(
                "INSERT INTO behavior_signals (scope_id, family, outcome, at) VALUES (?, ?, ?, ?)",
                (signal.scope_id, signal.family, signal.outcome, _moment(at)),
            )

    def families(self, scope_id: str) -> list[str]:
        """Every family about which something was decided."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT DISTINCT family FROM behavior_signals WHERE scope_id = ? ORDER BY family",
                (scope_id,),
            ).fetchall()
        return [row[0] for row in rows]

    def decided(self, scope_id: str, family: str, since: datetime, limit: int) -> list[Decided]:
        """The newest decisions about a family, the newest first."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT number, outcome FROM behavior_signals WHERE scope_id = ? AND family = ?"
                " AND at > ? ORDER BY number DESC LIMIT ?",
                (scope_id, family, _moment(since), limit),
            ).fetchall()
        return [Decided(*row) for row in rows]

    # -- thresholds

    def put_proposal(
        self, family: str, proposal: AutonomyThresholdProposal, after_signal: int
    ) -> None:
        """Keep a proposal; `after_signal` is the newest decision it rests on."""
        with self._db.write() as tx:
            tx.driver.execute(
                "INSERT INTO autonomy_proposals VALUES (NULL, ?, ?, ?, ?, ?, NULL, ?, NULL)",
                (
                    proposal.proposal_id,
                    proposal.scope_id,
                    family,
                    proposal.model_dump_json(),
                    after_signal,
                    _moment(proposal.created_at),
                ),
            )

    def open_proposals(self, scope_id: str) -> list[AutonomyThresholdProposal]:
        """Proposals that nobody answered, the oldest first."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT proposal, proposal_id FROM autonomy_proposals"
                " WHERE scope_id = ? AND decision IS NULL"
                " ORDER BY number",
                (scope_id,),
            ).fetchall()
        return readable(
            self._db, "autonomy_proposals", rows, lambda row: row[1], lambda row: _proposal(row[0])
        )

    def last_proposal(self, scope_id: str, family: str) -> LastProposal | None:
        """The newest proposal about a family, whatever became of it."""
        with self._db.read() as tx:
            row = tx.driver.execute(
                "SELECT proposal, after_signal FROM autonomy_proposals"
                " WHERE scope_id = ? AND family = ? ORDER BY number DESC LIMIT 1",
                (scope_id, family),
            ).fetchone()
        found = readable(
            self._db,
            "autonomy_proposals",
            [] if row is None else [row],
            lambda _: f"{scope_id} {family}",
            lambda row: LastProposal(_proposal(row[0]), int(row[1])),
        )
        return found[0] if found else None

    def count_proposals(self, scope_id: str, moment: datetime) -> int:
        """How many proposals were made since then."""
        return self._count("autonomy_proposals", "created_at", scope_id, moment)

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
            tx.driver.execute(
                "UPDATE autonomy_proposals SET decision = ?, decided_at = ? WHERE proposal_id = ?",
                (decision, _moment(at), proposal.proposal_id),
            )
            for change in () if applied is None else applied.changes:
                tx.driver.execute(
                    "INSERT OR REPLACE INTO autonomy_thresholds VALUES (?, ?, ?, ?, ?)",
                    (proposal.scope_id, change.key, change.proposed_value, token_id, _moment(at)),
                )
            witness()

    def thresholds(self, scope_id: str) -> dict[str, str]:
        """Settings that the owner changed by a card."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT key, value FROM autonomy_thresholds WHERE scope_id = ?", (scope_id,)
            ).fetchall()
        return dict(rows)

    # -- preferences

    def learned(self, scope_id: str) -> list[Learned]:
        """Every preference that was inferred, the oldest first."""
        with self._db.read() as tx:
            rows = tx.driver.execute(
                "SELECT pattern, memory_id, decision FROM behavior_preferences WHERE scope_id = ?"
                " ORDER BY at, pattern",
                (scope_id,),
            ).fetchall()
        return [Learned(*row) for row in rows]

    def learn(self, scope_id: str, pattern: str, memory_id: str, at: datetime) -> None:
        """Remember that a preference was inferred from a pattern."""
        with self._db.write() as tx:
            tx.driver.execute(
                "INSERT INTO behavior_preferences VALUES (?, ?, ?, NULL, ?)",
                (scope_id, pattern, memory_id, _moment(at)),
            )

    def settle(self, scope_id: str, pattern: str, decision: str) -> None:
        """Record what the owner said of it."""
        with self._db.write() as tx:
            tx.driver.execute(
                "UPDATE behavior_preferences SET decision = ? WHERE scope_id = ? AND pattern = ?",
                (decision, scope_id, pattern),
            )

    def count_learned(self, scope_id: str, moment: datetime) -> int:
        """How many were inferred since then."""
        return self._count("behavior_preferences", "at", scope_id, moment)

    def _count(self, table: str, column: str, scope_id: str, moment: datetime) -> int:
        query = f"SELECT count(*) FROM {table} WHERE scope_id = ? AND {column} > ?"  # noqa: S608 - our own names
        with self._db.read() as tx:
            return int(tx.driver.execute(query, (scope_id, _moment(moment))).fetchone()[0])


def _proposal(text: str) -> AutonomyThresholdProposal:
    return AutonomyThresholdProposal.model_validate_json(text)


def _moment(moment: datetime) -> str:
    # always with fractions: as text, a whole second would sort after them
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
