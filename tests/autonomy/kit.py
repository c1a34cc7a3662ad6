"""The rooms of autonomy over a real database, with a clock that waits to be told."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from silas.approval.engine import ApprovalEngine
from silas.approval.models import ApprovalConfig, NonceConfig
from silas.approval.nonces import SqlNonceStore
from silas.audit.log import AuditLog
from silas.autonomy.calibrate import AutonomyCalibrator, knobs
from silas.autonomy.ideas import SuggestionIdea, unfinished_ideas
from silas.autonomy.models import AutonomyConfig, BehaviorPreferencesConfig, SuggestionsConfig
from silas.autonomy.preferences import Preferences
from silas.autonomy.signals import Decision, Signal
from silas.autonomy.store import SqlAutonomyStore
from silas.autonomy.suggest import SuggestionEngine
from silas.db import Database
from silas.home.database import migrate
from silas.keys import KeyRing
from silas.memory import MemoryItem
from silas.memory.store import SqlMemoryStore
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.testing import MockClock
from silas.testing.approval import NeverStopped, a_signer
from silas.types import OWNER

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def ended(*steps: str) -> WorkItemResult:
    """Work that is done and names next steps."""
    return WorkItemResult(
        work_item_id="task-1", status=WorkItemStatus.done, summary="Done.", next_steps=list(steps)
    )


class Rooms:
    """Suggestions, preferences and calibration, and everything they stand on."""

    def __init__(self, home: Path, per_hour: int = 100, per_week: int = 3, **config: Any) -> None:
        self.clock = MockClock()
        self.db = Database(home / "silas.db", self.clock)
        migrate(self.db, ("silas.audit", "silas.approval", "silas.memory", "silas.autonomy"))
        self.audit = AuditLog(self.db, self.clock, a_signer())
        self.store = SqlAutonomyStore(self.db)
        self.memory = SqlMemoryStore(self.db, self.clock)
        signer = a_signer()
        self.approval = ApprovalEngine(
            signer,
            SqlNonceStore(self.db, self.clock, NonceConfig()),
            self.audit,
            self.clock,
            ApprovalConfig(),
            NeverStopped(),
            KeyRing.alone(signer.public_key),
            ZoneInfo("Europe/Vienna"),
        )
        self.items: list[WorkItem] = []
        self.followed: set[str] = set()
        self.able, self.quiet = True, False
        self.fits = True
        self.suggestions = SuggestionEngine(
            SuggestionsConfig.model_validate(config.get("suggestions", {})),
            per_hour,
            self.store,
            self._ideas,
            lambda _: self.able,
            lambda _: self.quiet,
            self.audit,
            self.clock,
        )
        self.preferences = Preferences(
            BehaviorPreferencesConfig.model_validate(config.get("preferences", {})),
            self.store,
            self.memory,
            self._fits,
            self.audit,
            self.clock,
        )
        autonomy = AutonomyConfig.model_validate(config.get("autonomy", {}))
        self.calibrator = AutonomyCalibrator(
            autonomy,
            per_week,
            knobs(autonomy, 10, 0.85),
            self.store,
            self.approval,
            self.audit,
            self.clock,
        )

    async def decide(self, family: str, *outcomes: Decision, scope: str = OWNER) -> list[str]:
        """Decisions of somebody's, as the review queue takes note of them; what was learned."""
        learned: list[str] = []
        for outcome in outcomes:
            signal = Signal(family, outcome, scope)
            await self.calibrator.record_outcome(signal)
            made = await self.preferences.observe(signal)
            learned += [made] if made is not None else []
        return learned

    async def left_out(self) -> list[tuple[str, str]]:
        """What the record has of limits that were reached: about what, and whose."""
        bodies = [json.loads(entry.body) for entry in await self.audit.entries(limit=1000)]
        found = [body["data"] for body in bodies if body["event"] == "limit.exceeded"]
        assert {one["who"] for one in found} <= {"silas"}
        return [(one["reason"], one["scope"]) for one in found]

    async def _ideas(self, now: datetime) -> Sequence[SuggestionIdea]:
        return unfinished_ideas(self.items, self.followed, now)

    def _fits(self, rules: Sequence[MemoryItem]) -> bool:
        return self.fits
