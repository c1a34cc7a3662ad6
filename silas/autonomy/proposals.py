"""What Silas proposes by itself: next steps, and how much it asks (spec 3.11)."""

from datetime import datetime, timedelta
from typing import Final, Literal

from pydantic import AwareDatetime, Field

from silas.approval import Subject
from silas.canonical import canonical_bytes, sha256_hex
from silas.types import FrozenModel, Risk, TaintLevel

SuggestionSource = Literal["idle_heartbeat", "post_execution", "goal_monitor"]
SuggestionOutcome = Literal["accepted", "dismissed", "deferred"]


class SuggestionProposal(FrozenModel):
    """Something that could be done next; it runs nothing by itself.

    Attributes:
        intent: What the owner would ask for, in one line.
        taint: How far its words are trusted: a model's are external.
        cooldown_key: The same key is not suggested again for a while.
    """

    suggestion_id: str = Field(min_length=1)
    scope_id: str = Field(min_length=1)
    source: SuggestionSource
    intent: str = Field(min_length=1, max_length=300)
    rationale: str = Field(min_length=1, max_length=400)
    risk_level: Risk = Risk.low
    proposed_work_item_id: str | None = None
    cooldown_key: str = Field(min_length=1)
    created_at: AwareDatetime
    taint: TaintLevel = TaintLevel.external


class AutonomyThresholdChange(FrozenModel):
    """One setting, exactly before and after."""

    key: str
    current_value: str
    proposed_value: str
    direction: Literal["widen", "tighten"]


PROPOSAL_DAYS: Final = 14
"""How long a proposal stands: what it rests on is no older then than twice its window."""


class AutonomyThresholdProposal(FrozenModel):
    """A change of how much Silas does without asking, with what it rests on.

    Attributes:
        correction_rate: Edits, declines and undos among all decisions of the window.
        evidence_window: The window in words.
    """

    proposal_id: str
    scope_id: str
    goal_id: str | None = None
    changes: tuple[AutonomyThresholdChange, ...] = Field(min_length=1)
    sample_size: int
    correction_rate: float
    evidence_window: str
    rationale: str
    risk_level: Literal["medium", "high"]
    created_at: AwareDatetime

    @property
    def expires_at(self) -> datetime:
        """From when on it is offered no more and cannot be approved."""
        return self.created_at + timedelta(days=PROPOSAL_DAYS)


AutonomyThresholdDecision = Literal["approve", "decline", "tighten_now"]


def threshold_subject(proposal: AutonomyThresholdProposal) -> Subject:
    """What a token for a change binds: the ordered changes and their evidence (spec 3.11)."""
    bound = {
        "changes": [change.model_dump(mode="json") for change in proposal.changes],
        "correction_rate": proposal.correction_rate,
        "evidence_window": proposal.evidence_window,
        "goal_id": proposal.goal_id,
        "sample_size": proposal.sample_size,
        "scope_id": proposal.scope_id,
    }
    canonical = canonical_bytes(bound)
    return Subject(
        id=proposal.proposal_id,
        kind="threshold",
        digest=sha256_hex(canonical),
        canonical=canonical,
    )
