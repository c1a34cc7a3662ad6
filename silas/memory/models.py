"""What a memory is (spec 3.8), and the `memory:` section of the configuration."""

from enum import StrEnum
from typing import Literal

from pydantic import Field

from silas.types import Frozen


class MemoryType(StrEnum):
    """What kind of thing is remembered."""

    fact = "fact"
    episode = "episode"
    preference = "preference"
    skill_note = "skill_note"
    decision = "decision"
    foresight = "foresight"
    profile = "profile"


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
