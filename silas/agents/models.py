"""What models must answer: the structured outputs of every agent call (spec 3.2, 3.7, 5.7)."""

from collections.abc import Callable, Collection
from enum import StrEnum
from typing import Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PrivateAttr,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue, SkipJsonSchema
from pydantic_core import CoreSchema

from silas.memory import MemoryType
from silas.types import InteractionMode, InteractionRegister

MAX_MEMORY_QUERIES = 3
"""Recall, current state, related precedent: structural, not configurable (spec 3.2)."""


class AgentOutput(BaseModel):
    """Base of what a model answers: frozen; fields it invents are dropped, never an error.

    The JSON schema that models are shown is as short as it can be, because it stands in every
    prompt: see `_field_for_models`. What an answer may hold is the same as ever.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
    _dropped: tuple[str, ...] = PrivateAttr(default=())

    @property
    def dropped(self) -> tuple[str, ...]:
        """Parts of the model's answer that did not fit and that it could do without."""
        return self._dropped

    def note_dropped(self, parts: tuple[str, ...]) -> None:
        """Say what was left out when this was read."""
        self._dropped = parts

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema as models are shown it."""
        schema = handler(core_schema)
        own = handler.resolve_ref_schema(schema)
        properties: dict[str, JsonSchemaValue] = own.get("properties", {})
        own["properties"] = {
            name: _field_for_models(field, handler.resolve_ref_schema)
            for name, field in properties.items()
        }
        _bare(own)
        return schema


_UNTOLD = frozenset({"default", "title", "minimum", "minLength"})


def _field_for_models(
    field: JsonSchemaValue, resolve: Callable[[JsonSchemaValue], JsonSchemaValue]
) -> JsonSchemaValue:
    """A field without what a model can do without.

    No titles, none of the docstrings meant for programmers, and no definitions elsewhere: each
    type has one place. Where a field may be left out, that it may be null besides, or what it is
    then, tells nothing new; and nobody answers with nothing on purpose.
    """
    optional = "default" in field
    told = {key: value for key, value in field.items() if key not in _UNTOLD}
    options = [one for one in told.get("anyOf", ()) if one.get("type") != "null"]
    if optional and len(options) == 1:
        del told["anyOf"]
        told |= options[0]
    if "items" in told:
        told["items"] = _field_for_models(told["items"], resolve)
    if "$ref" in told:
        told = _bare(dict(resolve({"$ref": told.pop("$ref")}))) | told
    return told


def _bare(schema: JsonSchemaValue) -> JsonSchemaValue:
    schema.pop("title", None)
    schema.pop("description", None)
    return schema


class PlanActionType(StrEnum):
    """What an agent wants to do with a plan."""

    propose = "propose"
    revise = "revise"
    execute_next = "execute_next"
    abort = "abort"


class PlanAction(AgentOutput):
    """A plan proposal, revision or execution request."""

    action: PlanActionType
    plan_markdown: str | None = Field(
        default=None, description="The whole plan: YAML front matter, then the briefing"
    )
    continuation_of: str | None = Field(
        default=None, description="Id of the work item this plan deepens or corrects"
    )
    interaction_mode_override: InteractionMode | None = Field(
        default=None, description="Only to deviate from the turn's mode"
    )


class MemoryOpType(StrEnum):
    """What to do to memory."""

    store = "store"
    update = "update"
    delete = "delete"
    link = "link"


REQUIRED_OF_OPS: dict[MemoryOpType, tuple[str, ...]] = {
    MemoryOpType.store: ("content",),
    MemoryOpType.update: ("memory_id", "content"),
    MemoryOpType.delete: ("memory_id",),
    MemoryOpType.link: ("memory_id", "link_to", "link_type"),
}


class MemoryOp(AgentOutput):
    """One change to memory; each operation needs its own fields (spec 3.2)."""

    op: MemoryOpType
    content: str | None = Field(default=None, description="For store, update")
    memory_id: str | None = Field(default=None, description="For update, delete, link")
    memory_type: MemoryType = MemoryType.episode
    tags: list[str] = Field(default_factory=list[str])
    entity_refs: list[str] = Field(default_factory=list[str])
    link_to: str | None = Field(default=None, description="For link: the other's id")
    link_type: str | None = Field(default=None, description="For link")

    @model_validator(mode="after")
    def _operation_has_its_fields(self) -> "MemoryOp":
        missing = [name for name in REQUIRED_OF_OPS[self.op] if not getattr(self, name)]
        if missing:
            raise ValueError(f"memory op {self.op.value!r} needs {', '.join(missing)}")
        return self


class MemoryQueryStrategy(StrEnum):
    """How to look for memories."""

    semantic = "semantic"
    temporal = "temporal"
    session = "session"
    keyword = "keyword"


class MemoryQuery(AgentOutput):
    """A request for memories; the agent's only influence on its context."""

    strategy: MemoryQueryStrategy
    query: str
    max_results: int = Field(default=5, ge=1)
    max_tokens: int = Field(default=2000, ge=1)


class AgentResponse(AgentOutput):
    """What proxy and planner say (spec 3.2). `needs_approval` is a wish, never an authorisation.

    `understood` is for the built-in model, which knows when it has no answer; others are not
    told of it.
    """

    message: str = Field(description="For the user")
    memory_queries: list[MemoryQuery] = Field(
        default_factory=list[MemoryQuery], description="At most 3"
    )
    memory_ops: list[MemoryOp] = Field(default_factory=list[MemoryOp])
    plan_action: PlanAction | None = Field(default=None, description="Set to propose a plan")
    needs_approval: bool = Field(default=True, description="Keep true")
    understood: SkipJsonSchema[bool] = True

    @model_validator(mode="after")
    def _few_queries(self) -> "AgentResponse":
        if len(self.memory_queries) > MAX_MEMORY_QUERIES:
            raise ValueError(f"memory_queries holds at most {MAX_MEMORY_QUERIES}")
        return self


class RouteDecision(AgentOutput):
    """Where a turn goes and how it is run (spec 3.2).

    Validated with a context `{"context_profiles": names}`, the profile must be one of the names.
    Where no mode is given, the stream resolves one from initiative and register (spec 5.1.0).

    Attributes:
        memory_ops: What is to be remembered of a message that goes to the planner.
        reminder: What the owner wants to be told, as code reads it: "remind me tomorrow at nine to
            call"; it counts only on his card.
    """

    route: Literal["direct", "planner"]
    reason: str
    response: AgentResponse | None = None
    memory_ops: list[MemoryOp] = Field(default_factory=list[MemoryOp])
    interaction_register: InteractionRegister
    interaction_mode: InteractionMode | None = None
    continuation_of: str | None = None
    context_profile: str = Field(min_length=1)
    reminder: str | None = None

    @model_validator(mode="after")
    def _response_fits_the_route(self) -> "RouteDecision":
        if self.route == "direct" and self.response is None:
            raise ValueError("route 'direct' requires a response")
        if self.route == "planner" and self.response is not None:
            raise ValueError("route 'planner' requires response to be null")
        return self

    @model_validator(mode="after")
    def _profile_is_configured(self, info: ValidationInfo) -> "RouteDecision":
        if not self.context_profile.strip():
            raise ValueError("context_profile is empty")
        context: dict[str, Collection[str]] = info.context or {}
        known = context.get("context_profiles")
        if known is not None and self.context_profile not in known:
            raise ValueError(f"context_profile must be one of: {', '.join(sorted(known))}")
        return self


_SHORT_TEXTS: JsonSchemaValue = {
    "maxItems": 10,
    "items": {"type": "string", "maxLength": 200},
}


class ExecutorAgentOutput(AgentOutput):
    """What an executor says it did (spec 3.7); what it really did is in the ledger.

    A slip in anything but the summary costs that field and not the report.
    """

    summary: str = Field(
        description="The answer to what was asked, or what was done; failures included"
    )
    status: Literal["done", "blocked", "needs_another_plan"] = Field(
        default="done", description="`blocked`: cannot go on; the summary says why"
    )
    artifact_refs: list[str] = Field(
        default_factory=list[str],
        description="Names of artifacts that tools produced",
        json_schema_extra=_SHORT_TEXTS,
    )
    next_steps: list[str] = Field(
        default_factory=list[str],
        description="Suggestions for afterwards, if any",
        json_schema_extra=_SHORT_TEXTS,
    )


class PlannerAdvice(AgentOutput):
    """Guidance for an executor that is stuck (spec 5.2.1 e)."""

    guidance: str = Field(
        description="What to try next, concretely, in a few sentences",
        json_schema_extra={"maxLength": 1500},
    )
    plan_is_wrong: bool = Field(
        default=False,
        description="true where no attempt can succeed, because the briefing or a check is wrong",
    )


class ScorerGroup(AgentOutput):
    """Context blocks that belong together (spec 5.7)."""

    reason: str = Field(default="", json_schema_extra={"maxLength": 200})
    block_ids: list[str]


class ScorerOutput(AgentOutput):
    """Which groups of blocks to keep and which to evict (spec 5.7)."""

    evict_groups: list[ScorerGroup]
    keep_groups: list[ScorerGroup] = Field(default_factory=list[ScorerGroup])
