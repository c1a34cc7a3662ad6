"""What a memory is (spec 3.8), and the `memory:` section of the configuration."""

from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, Field

from silas.types import OWNER, Frozen, TaintLevel


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    fact = "fact"
    episode = "episode"
    preference = "preference"
    skill_note = "skill_note"
    decision = "decision"
    foresight = "foresight"
    profile = "profile"


class ReingestionTier(StrEnum):
    """Which lane a memory lies in."""

    active = "active"
    """Found by ordinary retrieval, and brought into view."""
    low_reingestion = "low_reingestion"
    """Kept as it came; found only where somebody asks for it expressly."""


class TrustLevel(StrEnum):
    """How firmly something is remembered."""

    working = "working"
    """Said or inferred; may be overwritten."""
    verified = "verified"
    """Confirmed by the owner or from outside; only the owner changes it."""
    constitutional = "constitutional"
    """Who Silas is; nothing changes it while it runs."""


class MemoryItem(Frozen):
    """One memory (spec 3.8).

    Attributes:
        scope_id: Whose memory it is; nobody else ever finds it.
        sources: Where it came from, everything that it was made of included: `channel:web`,
            `tool:web_fetch https://example.org/page`, `bundle:friend`. What is derived from a
            memory has that memory's sources, too, so that forgetting a source forgets it all.
        causal_refs, entity_refs: Ids of related memories and of what it is about.
        source_kind: Which road it came by: `conversation_raw`, `memory_op`, `evicted`.
    """

    memory_id: str = Field(min_length=1)
    content: str
    memory_type: MemoryType
    reingestion_tier: ReingestionTier = ReingestionTier.active
    trust_level: TrustLevel = TrustLevel.working
    taint: TaintLevel = TaintLevel.external
    created_at: AwareDatetime
    updated_at: AwareDatetime
    valid_from: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None
    access_count: int = Field(default=0, ge=0)
    last_accessed: AwareDatetime | None = None
    semantic_tags: tuple[str, ...] = ()
    entity_refs: tuple[str, ...] = ()
    causal_refs: tuple[str, ...] = ()
    temporal_next: str | None = None
    temporal_prev: str | None = None
    session_id: str | None = None
    embedding: tuple[float, ...] | None = None
    source_kind: str = "memory_op"
    scope_id: str = OWNER
    sources: tuple[str, ...] = ()


class Ranked(NamedTuple):
    """A memory that was found, and how well it fits: 1.0 is the best of its list, 0 the least."""

    item: MemoryItem
    relevance: float


class MemoryConfig(Frozen):
    """The `memory:` section (spec 11).

    Attributes:
        embedding_model: Name of the sentence embedding model.
        embedding_dim: Its vector length.
        consolidation_interval_minutes: How often memories are tidied.
        raw_reingestion_enabled: Whether raw records may become memories again.
        raw_reingestion_default_tier: How eagerly.
        portability_bundle_format: The format of exports.
    """

    embedding_model: str = Field(default="all-MiniLM-L6-v2", min_length=1)
    embedding_dim: int = Field(default=384, ge=1)
    consolidation_interval_minutes: int = Field(default=30, ge=1)
    raw_reingestion_enabled: bool = True
    raw_reingestion_default_tier: Literal["active", "low_reingestion"] = "low_reingestion"
    portability_bundle_format: Literal["jsonl-v1"] = "jsonl-v1"
