"""How often the owner corrects Silas, and what follows: a proposal, never a change (5.9)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import isfinite
from typing import Final, Literal, NamedTuple

from silas.approval import ApprovalDecision, ApprovalScope, ApprovalVerdict, ApprovalVerifier
from silas.audit import Audit
from silas.audit.refusals import LIMIT_EXCEEDED, RefusalRecord
from silas.autonomy.models import AutonomyConfig
from silas.autonomy.proposals import (
    AutonomyThresholdChange,
    AutonomyThresholdDecision,
    AutonomyThresholdProposal,
    threshold_subject,
)
from silas.autonomy.signals import (
    CORRECTIONS,
    LAPSED_FAMILY,
    NARROWED,
    NARROWED_FAMILY,
    USED_UP_FAMILY,
    Signal,
)
from silas.autonomy.store import RecordedDecision, SqlAutonomyStore
from silas.clock import Clock
from silas.errors import ApprovalError
from silas.language import tr_later
from silas.plans.goals.standing import STANDING_DAYS, STANDING_USES
from silas.types import OWNER, new_id

NARROWED_DAYS: Final = 90
"""For so long after its owner narrowed an approval or tightened, nothing is proposed to widen."""

_WEEK: Final = timedelta(days=7)

Direction = Literal["widen", "tighten"]


class TunableSetting(NamedTuple):
    """A setting that a proposal may be about.

    Attributes:
        configured: Its value in the configuration; narrower than this is never proposed to widen.
        cap: The widest value that may ever be proposed.
        narrowest: The other end.
        wider, narrower: The factor of one step, or what is added where `adds` is set.
        adds: Whether steps are added instead of multiplied.
    """

    configured: float
    cap: float
    narrowest: float
    wider: float
    narrower: float
    adds: bool = False

    def step(self, now: float, direction: Direction) -> float:
        """The value one step on, within the cap and the narrowest."""
        by = self.wider if direction == "widen" else self.narrower
        moved = now + by if self.adds else now * by
        least, most = sorted((self.cap, self.narrowest))
        return min(max(moved, least), most)

    def in_force(self, kept: str | None) -> float:
        """The value that counts, of what is kept for it: never wider than the cap, and of what is
        damaged the narrowest, for nobody knows how narrow its owner had made it.
        """
        if kept is None:
            return self.configured
        try:
            value = float(kept)
        except ValueError:
            return self.narrowest
        least, most = sorted((self.cap, self.narrowest))
        return min(max(value, least), most) if isfinite(value) else self.narrowest

    def is_wider(self, value: float) -> bool:
        """Whether a value lets Silas ask less than the configured one."""
        return value > self.configured if self.cap >= self.narrowest else value < self.configured


KNOBS_OF: Mapping[str, tuple[str, ...]] = {
    "batch": ("batch_review.default_size", "batch_review.confidence.high_min"),
    "standing": ("standing.max_executions", "standing.expires_at"),
}
"""Which settings the decisions about a kind of family speak for; for others nothing is proposed."""

_SAVES: Mapping[str, str] = {
    "standing.max_executions": USED_UP_FAMILY,
    "standing.expires_at": LAPSED_FAMILY,
}
"""The family of cards that a wider setting saves; widened only where one came in the window."""

_ABOUT: Mapping[str, str] = {
    "batch": tr_later("files to tidy"),
    "standing": tr_later("work that goals started"),
}
"""What the decisions about a kind of family are about."""


def knobs(config: AutonomyConfig, default_size: int, high_min: float) -> dict[str, TunableSetting]:
    """Every setting that may be proposed, with its hard cap from the configuration."""
    return {
        "batch_review.default_size": TunableSetting(
            default_size, config.max_batch_review_size, 1, 2, 0.5
        ),
        "batch_review.confidence.high_min": TunableSetting(
            high_min, config.min_high_confidence, 1.0, -0.05, 0.05, adds=True
        ),
        "standing.max_executions": _setting_as_shipped(
            STANDING_USES, config.max_standing_executions
        ),
        "standing.expires_at": _setting_as_shipped(STANDING_DAYS, config.max_standing_days),
    }


def _setting_as_shipped(value: int, cap: int) -> TunableSetting:
    """The shipped value, or the owner's cap where that is smaller."""
    return TunableSetting(min(value, cap), cap, 1, 2, 0.5)


class Rate(NamedTuple):
    """What a window of decisions says."""

    samples: int
    corrections: int

    @property
    def value(self) -> float:
        """Corrections among all decisions; of none, none."""
        return self.corrections / self.samples if self.samples else 0.0


def rate_of(decided: list[RecordedDecision]) -> Rate:
    """Corrections among decisions; a dismissed suggestion is neither."""
    counted = [one for one in decided if one.outcome != "dismissed"]
    return Rate(len(counted), sum(one.outcome in CORRECTIONS for one in counted))


def direction_of(rate: Rate, config: AutonomyConfig) -> Direction | None:
    """Whether to propose asking less or more; nothing below the least number of decisions."""
    if rate.samples < config.min_samples:
        return None
    if rate.value <= config.widen_correction_rate_max:
        return "widen"
    return "tighten" if rate.value >= config.tighten_correction_rate_min else None


class AutonomyCalibrator:
    """Records decisions and proposes. What it proposes comes into force by an approval only."""

    def __init__(
        self,
        config: AutonomyConfig,
        per_week: int,
        settings: Mapping[str, TunableSetting],
        store: SqlAutonomyStore,
        approval: ApprovalVerifier,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._config = config
        self._per_week = per_week
        self._settings = settings
        self._store = store
        self._approval = approval
        self._audit = audit
        self._left_out = RefusalRecord(audit, clock, _WEEK.total_seconds())
        self._clock = clock

    async def record_outcome(self, signal: Signal) -> None:
        """Keep a decision of the owner's."""
        if self._config.enabled and signal.scope_id == OWNER:
            self._store.note(signal, self._clock.now())

    async def evaluate(self, scope_id: str, now: datetime) -> list[AutonomyThresholdProposal]:
        """What the decisions so far suggest; proposed at most so often a week, and kept.

        That the limit of a week left some out is on record, once a week (18.5).
        """
        if not self._config.enabled or scope_id != OWNER:
            return []
        made: list[AutonomyThresholdProposal] = []
        for family in self._store.families(scope_id):
            found = self._about(scope_id, family, now)
            if found is None:
                continue
            if self._store.count_proposals(scope_id, now - _WEEK) >= self._per_week:
                await self._left_out.note(
                    LIMIT_EXCEEDED, "proposals of autonomy", "silas", scope=scope_id
                )
                break
            proposal, newest = found
            self._store.put_proposal(family, proposal, newest)
            made.append(proposal)
        return made

    def waiting(self, scope_id: str) -> list[AutonomyThresholdProposal]:
        """Proposals that nobody answered yet; they survive a restart."""
        if not self._config.enabled:
            return []
        now = self._clock.now()
        return [one for one in self._store.open_proposals(scope_id) if one.expires_at > now]

    def in_force(self, scope_id: str) -> dict[str, str]:
        """Every setting as it is: as configured, or as the owner approved."""
        kept = self._store.thresholds(scope_id)
        return {
            key: _number_words(knob.in_force(kept.get(key))) for key, knob in self._settings.items()
        }

    async def apply(
        self, proposal: AutonomyThresholdProposal, decision: AutonomyThresholdDecision
    ) -> dict[str, str]:
        """Carry out what the owner decided; all of it at once or nothing.

        Returns:
            The settings that changed.

        Raises:
            ApprovalError: No token could be had, or it does not verify; nothing was changed.
        """
        if decision == "approve" and proposal.expires_at <= self._clock.now():
            raise ApprovalError(
                "This proposal has expired; what it rests on is too old.",
                code="E_APPROVAL_EXPIRED",
            )
        wanted = self._wanted_proposal(proposal, decision)
        token_id = ""
        if wanted is not None:
            subject = threshold_subject(wanted)
            token = await self._approval.issue_token(
                subject,
                ApprovalDecision(verdict=ApprovalVerdict.approved),
                scope=ApprovalScope.autonomy_threshold,
            )
            await self._approval.require(token, threshold_subject(wanted))
            token_id = token.token_id
        changed = {} if wanted is None else {c.key: c.proposed_value for c in wanted.changes}

        def witness() -> None:
            self._audit.log_now(
                "autonomy_decided",
                proposal_id=proposal.proposal_id,
                decision=decision,
                changed=[f"{key} = {value}" for key, value in changed.items()],
            )

        self._store.decide(proposal, decision, wanted, token_id, self._clock.now(), witness)
        if decision == "tighten_now":
            self._store.note(NARROWED, self._clock.now())
        return changed

    def _wanted_proposal(
        self, proposal: AutonomyThresholdProposal, decision: AutonomyThresholdDecision
    ) -> AutonomyThresholdProposal | None:
        """What comes into force: the proposal as shown, or, tightened, what is configured."""
        if decision == "approve":
            return proposal
        if decision == "decline":
            return None
        now = self.in_force(proposal.scope_id)
        back = tuple(
            AutonomyThresholdChange(
                key=change.key,
                current_value=now[change.key],
                proposed_value=_number_words(
                    self._settings[change.key].step(float(now[change.key]), "tighten")
                ),
                direction="tighten",
            )
            for change in proposal.changes
        )
        return proposal.model_copy(update={"changes": back})

    def _about(
        self, scope_id: str, family: str, now: datetime
    ) -> tuple[AutonomyThresholdProposal, int] | None:
        config = self._config
        keys = KNOBS_OF.get(family.partition(":")[0], ())
        since = now - timedelta(days=config.window_days)
        decided = self._store.list_decided(scope_id, family, since, config.window_actions)
        if not keys or not decided:
            return None
        rate, newest = rate_of(decided), decided[0].number
        direction = direction_of(rate, config)
        if direction is None or not self._fresh(scope_id, family, direction, rate, decided):
            return None
        if direction == "widen" and self._was_narrowed(scope_id, now):
            return None
        if direction == "widen":
            keys = tuple(key for key in keys if self._saves_a_card(scope_id, key, since))
        changes = self._changes(scope_id, keys, direction)
        if not changes:
            return None
        window = f"the last {rate.samples} decisions within {config.window_days} days"
        return AutonomyThresholdProposal(
            proposal_id=new_id("threshold"),
            scope_id=scope_id,
            changes=changes,
            sample_size=rate.samples,
            correction_rate=round(rate.value, 4),
            evidence_window=window,
            rationale=_why(family, rate, direction),
            risk_level="high" if direction == "widen" else "medium",
            created_at=now,
        ), newest

    def _was_narrowed(self, scope_id: str, now: datetime) -> bool:
        """Whether the owner narrowed something himself lately: what he took is not asked back."""
        days = max(NARROWED_DAYS, self._config.window_days)
        since = now - timedelta(days=days)
        return bool(self._store.list_decided(scope_id, NARROWED_FAMILY, since, 1))

    def _saves_a_card(self, scope_id: str, key: str, since: datetime) -> bool:
        """Whether a card came in the window that a wider setting would have saved.

        More uses of a standing approval save none where approvals end by their time, nor more
        days where they are used up before (5.9).
        """
        saved = _SAVES.get(key)
        return saved is None or bool(self._store.list_decided(scope_id, saved, since, 1))

    def _fresh(
        self,
        scope_id: str,
        family: str,
        direction: Direction,
        rate: Rate,
        decided: list[RecordedDecision],
    ) -> bool:
        """Whether enough has happened since the last proposal about this family (hysteresis)."""
        last = self._store.last_proposal(scope_id, family)
        if last is None:
            return True
        since = sum(one.number > last.after_signal for one in decided)
        away = abs(rate.value - last.proposal.correction_rate) >= self._config.hysteresis_delta
        same = last.proposal.changes[0].direction == direction
        return since >= self._config.min_samples and (same or away)

    def _changes(
        self, scope_id: str, keys: tuple[str, ...], direction: Direction
    ) -> tuple[AutonomyThresholdChange, ...]:
        now = self.in_force(scope_id)
        steps = {key: self._settings[key].step(float(now[key]), direction) for key in keys}
        return tuple(
            AutonomyThresholdChange(
                key=key,
                current_value=now[key],
                proposed_value=_number_words(value),
                direction=direction,
            )
            for key, value in steps.items()
            if _number_words(value) != now[key]
        )


def _why(family: str, rate: Rate, direction: Direction) -> str:
    kind = _ABOUT[family.partition(":")[0]]
    if direction == "widen":
        return (
            f"Of {rate.samples} decisions about {kind} you corrected {rate.corrections}; "
            "Silas could ask less."
        )
    return (
        f"Of {rate.samples} decisions about {kind} you corrected {rate.corrections}; "
        "Silas could ask more."
    )


def _number_words(value: float) -> str:
    return f"{round(value, 2):g}"
