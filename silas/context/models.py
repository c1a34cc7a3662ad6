"""What is in a model's context, how large it may be and how it is divided (spec 3.5, 11)."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, Field, field_validator, model_validator

from silas.types import FrozenModel, TaintLevel


class ContextZone(StrEnum):
    """The four parts of a context, in the order in which they are rendered."""

    system = "system"
    """Constitution, standing rules, manner of speaking; never evicted."""
    chronicle = "chronicle"
    """The conversation; the oldest goes first."""
    memory = "memory"
    """What was remembered for it; the least relevant goes first."""
    workspace = "workspace"
    """Plans, results and subscriptions; what is completed goes first."""


ItemKind = Literal[
    "message",
    "tool_result",
    "memory",
    "plan",
    "execution_result",
    "subscription",
    "system",
    "goals",
]


class ContextItem(FrozenModel):
    """One block of a context (spec 3.5).

    Attributes:
        content: The text, made harmless before where it is external, or what stands in its place
            once it is masked.
        token_count: Of the content as it is.
        turn_number: The turn that it belongs to, from 0 on.
        source: `channel:web`, `memory:ID`, `agent:planner`, `tool:web_fetch https://...`.
        sources: Everything it was made of, its own source included; see `MemoryItem.sources`.
        pinned: Never evicted; set by Silas alone, never by a model.
        succeeded: How a tool call ended; unknown is never success.
        folder: Of the conversation: the directory that it was about; empty where none was named.
        conversation: Which conversation of its scope it is in view of; empty for the first one.
    """

    ctx_id: str = Field(min_length=1)
    zone: ContextZone
    content: str
    token_count: int = Field(ge=0)
    created_at: AwareDatetime
    turn_number: int = Field(ge=0)
    source: str
    taint: TaintLevel = TaintLevel.external
    kind: ItemKind
    relevance: float = 1.0
    masked: bool = False
    pinned: bool = False
    sources: tuple[str, ...] = ()
    succeeded: bool = False
    folder: str = ""
    conversation: str = ""


_ALL_FIELDS = set(ContextItem.model_fields)


def copy_sharing_fields(item: ContextItem, changed: Mapping[str, object]) -> ContextItem:
    """An item with other values, its names of fields shared with every other such copy.

    Each with a set of its own would cost as much memory as its words.
    """
    values = item.__dict__
    same = all(values[name] == value for name, value in changed.items())
    kept = item if same else item.model_copy(update=changed)
    object.__setattr__(kept, "__pydantic_fields_set__", _ALL_FIELDS)
    return kept


class ContextSubscription(FrozenModel):
    """A file, some of its lines, or a question to memory, looked at anew for each call (3.5)."""

    sub_id: str = Field(min_length=1)
    sub_type: Literal["file", "file_lines", "memory_query"]
    target: str = Field(min_length=1)
    zone: ContextZone = ContextZone.workspace
    created_at: AwareDatetime
    turn_created: int = Field(ge=0)
    content_hash: str = ""
    active: bool = True
    token_count: int = Field(default=0, ge=0)


HEADROOM = 0.80
"""The share of the allocable budget that zones may claim together; the rest stays free."""


class ContextProfile(FrozenModel):
    """Shares of the allocable budget per zone, each 0 to 1, together at most 0.80."""

    chronicle_pct: float
    memory_pct: float
    workspace_pct: float

    @field_validator("chronicle_pct", "memory_pct", "workspace_pct")
    @classmethod
    def _a_share(cls, value: float) -> float:
        if not 0.0 <= value <= 1.0:
            raise ValueError("a share is between 0.0 and 1.0")
        return value

    @model_validator(mode="after")
    def _leaves_headroom(self) -> "ContextProfile":
        total = self.chronicle_pct + self.memory_pct + self.workspace_pct
        # shares are written as decimals, whose binary sum may exceed theirs by a rounding error
        if round(total, 9) > HEADROOM:
            raise ValueError(f"the shares add up to {total:g}; they may add up to {HEADROOM}")
        return self


def _profile(chronicle: float, memory: float, workspace: float) -> ContextProfile:
    return ContextProfile(chronicle_pct=chronicle, memory_pct=memory, workspace_pct=workspace)


class ChronicleConfig(FrozenModel):
    """How long the conversation is kept on disk (spec 4.14).

    Attributes:
        retention_days: Entries that are older are deleted.
        archive_file: Where they are written before, a line of JSON each; null for nowhere.
    """

    retention_days: int = Field(default=90, ge=1)
    archive_file: Path | None = None


class ContextConfig(FrozenModel):
    """The `context:` section (spec 3.5 `TokenBudget`).

    Attributes:
        total_tokens: The whole window.
        system_max: Most tokens of the system zone.
        skill_metadata_budget_pct: Share of the window for skills that are only listed; 0 to 0.10.
        eviction_threshold_pct: Share of use from which items are evicted.
        scorer_threshold_pct: Share of use from which a model helps to choose what to evict.
        max_subscription_tokens: A larger file is not subscribed to.
        subscription_ttl_turns: Turns without mention until a subscription is dropped.
        observation_mask_after_turns: Turns until a tool result is shortened to its heading.
        trivial_messages: A regular expression; short messages that it matches are not kept.
        chronicle: How long the conversation is kept on disk.
        default_profile: The profile a turn starts with; one of `profiles`.
        profiles: Shares by name.
    """

    total_tokens: int = Field(default=180_000, ge=1_000)
    system_max: int = Field(default=8_000, ge=0)
    skill_metadata_budget_pct: float = Field(default=0.02, ge=0.0, le=0.10)
    eviction_threshold_pct: float = Field(default=0.80, gt=0.0, le=1.0)
    scorer_threshold_pct: float = Field(default=0.90, gt=0.0, le=1.0)
    max_subscription_tokens: int = Field(default=2_000, ge=1)
    subscription_ttl_turns: int = Field(default=10, ge=1)
    observation_mask_after_turns: int = Field(default=5, ge=0)
    trivial_messages: str = r"^(ok|thanks|got it|sure|yes|no|👍)\s*[.!?]*$"
    chronicle: ChronicleConfig = ChronicleConfig()
    default_profile: str = "conversation"
    profiles: dict[str, ContextProfile] = Field(
        default_factory=lambda: {
            "conversation": _profile(0.45, 0.20, 0.15),
            "coding": _profile(0.20, 0.20, 0.40),
            "research": _profile(0.20, 0.40, 0.20),
            "support": _profile(0.40, 0.25, 0.15),
        },
        min_length=1,
    )

    def at(self, absolute: Callable[[Path], Path]) -> "ContextConfig":
        """The same, with the archive where it is meant to be."""
        file = self.chronicle.archive_file
        if file is None:
            return self
        chronicle = self.chronicle.model_copy(update={"archive_file": absolute(file)})
        return self.model_copy(update={"chronicle": chronicle})

    @field_validator("trivial_messages")
    @classmethod
    def _a_pattern(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return value

    @model_validator(mode="after")
    def _default_profile_exists(self) -> "ContextConfig":
        if self.default_profile not in self.profiles:
            raise ValueError(
                f"default_profile is {self.default_profile!r}, which is not among the profiles "
                + ", ".join(self.profiles)
            )
        return self
