"""What a memory is (spec 3.8), and the `memory:` section of the configuration."""

from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, Field, model_validator

from silas.types import OWNER, FrozenModel, TaintLevel


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


class MemoryItem(FrozenModel):
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


class RankedMemory(NamedTuple):
    """A memory that was found, and how well it fits: 1.0 is the best of its list, 0 the least."""

    item: MemoryItem
    relevance: float


class MemoryConfig(FrozenModel):
    """The `memory:` section (spec 11).

    Attributes:
        embedder: What makes vectors of texts, so that memories are found by what they mean: `none`,
            `fastembed` on this machine, or an `endpoint` as OpenAI has it.
        embedding_model: Name of the sentence embedding model.
        embedding_dim: Its vector length.
        embedding_path: For `fastembed`: the directory with the model's files; null for where
            fastembed keeps it by its name, `models` in `data_dir`.
        embedding_download: For `fastembed`: fetch the model by its name where it is missing.
            Without it nothing is ever downloaded.
        embedding_base_url: For `endpoint`: such as `http://127.0.0.1:11434/v1`.
        embedding_api_key_env: For `endpoint`: the environment variable that holds its key; empty
            sends none.
        embedding_timeout_seconds: For `endpoint`: elapsed time of one request.
        consolidation_interval_minutes: How often memories are tidied.
        promote_after_uses: After how many uses the owner is asked whether a memory is true; 0 never
            asks.
        prune_after_days: After how many days without use a memory that nobody confirmed is
            forgotten; null forgets none.
        raw_reingestion_enabled: Whether raw records, which are always kept, may be looked through
            where a model asks for everything that was said; `silas memory search` may always.
        raw_reingestion_default_tier: The lane of raw records; they are never brought into view
            unasked, so there is no other.
        portability_bundle_format: The format of exports.
    """

    embedder: Literal["none", "fastembed", "endpoint"] = "none"
    embedding_model: str = Field(default="all-MiniLM-L6-v2", min_length=1)
    embedding_dim: int = Field(default=384, ge=1, le=8192)
    embedding_path: Path | None = None
    embedding_download: bool = False
    embedding_base_url: str = ""
    embedding_api_key_env: str = ""
    embedding_timeout_seconds: float = Field(default=20.0, gt=0)
    consolidation_interval_minutes: int = Field(default=30, ge=1)
    promote_after_uses: int = Field(default=5, ge=0)
    prune_after_days: int | None = Field(default=None, ge=1)
    raw_reingestion_enabled: bool = True
    raw_reingestion_default_tier: Literal["low_reingestion"] = "low_reingestion"
    portability_bundle_format: Literal["jsonl-v1"] = "jsonl-v1"

    @model_validator(mode="after")
    def _endpoint_is_one(self) -> "MemoryConfig":
        url = self.embedding_base_url
        if self.embedder == "endpoint" and not url:
            raise ValueError("embedder: endpoint needs embedding_base_url")
        if url and not url.startswith(("http://", "https://")):
            raise ValueError("embedding_base_url must start with http:// or https://")
        return self
