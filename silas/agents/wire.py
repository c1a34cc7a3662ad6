"""The wire form of a route and of a planner's answer: what models are shown, and how it is read.

On the wire an answer is one flat object with the answer first: `{"route": "direct", "message": ""}`
or `{"route": "planner", "reason": ""}`, and `{"action": "propose", "message": "", "plan": {}}` or
`{"action": "answer", "message": ""}`. Silas's own form (spec 3.2) is accepted as well, and a plan
as text. A slip in a field that the answer can do without costs that field and never the answer
(decision D395).
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple, TypeVar, cast

from pydantic import (
    BaseModel,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from silas.agents.models import (
    MAX_MEMORY_QUERIES,
    REQUIRED_OF_OPS,
    AgentOutput,
    AgentResponse,
    ExecutorAgentOutput,
    MemoryOp,
    MemoryOpType,
    MemoryQuery,
    MemoryQueryStrategy,
    PlanActionType,
    RouteDecision,
)
from silas.agents.plan_fields import plan_schema, plan_text
from silas.errors import misfits
from silas.memory import MemoryType
from silas.types import InteractionMode, InteractionRegister

FormT = TypeVar("FormT", bound=AgentOutput)
MadeT = TypeVar("MadeT", bound=BaseModel)
Data = dict[str, Any]

_MOST_SLIPS = 40  # of one answer; one that has more is no answer


class RouteWire(BaseModel):
    """A route as a model answers it; unknown fields are ignored."""

    route: Literal["direct", "planner"]
    message: str | None = Field(default=None, min_length=1)
    reason: str = ""
    memory_ops: list[MemoryOp] = Field(default_factory=list[MemoryOp])
    memory_queries: list[MemoryQuery] = Field(
        default_factory=list[MemoryQuery], max_length=MAX_MEMORY_QUERIES
    )
    interaction_register: InteractionRegister | None = None
    interaction_mode: InteractionMode | None = None
    continuation_of: str | None = None
    context_profile: str | None = None
    reminder: str | None = None

    @model_validator(mode="after")
    def _direct_brings_its_answer(self) -> "RouteWire":
        if self.route == "direct" and not self.message:
            raise ValueError("route 'direct' requires `message`, the whole answer for the user")
        return self


class PlannerWire(BaseModel):
    """A planner's answer as a model gives it; unknown fields are ignored."""

    action: Literal["propose", "revise", "answer", "question"] | None = None
    message: str
    plan: str | dict[str, Any] | None = None
    continuation_of: str | None = None
    interaction_mode: InteractionMode | None = None
    memory_ops: list[MemoryOp] = Field(default_factory=list[MemoryOp])
    memory_queries: list[MemoryQuery] = Field(
        default_factory=list[MemoryQuery], max_length=MAX_MEMORY_QUERIES
    )

    @model_validator(mode="after")
    def _a_proposal_brings_its_plan(self) -> "PlannerWire":
        if self.action in _PROPOSALS and not self.plan:
            raise ValueError(f"action {self.action!r} requires `plan`, the whole plan")
        return self


_PROPOSALS = frozenset({"propose", "revise"})


def validate_leniently(
    model: type[MadeT], data: Data, needed: frozenset[str]
) -> tuple[MadeT, list[str]]:
    """Validate data, dropping optional fields that do not fit the model.

    Args:
        model: What the data must fit.
        data: An answer; it is not changed.
        needed: Fields that are never dropped.

    Returns:
        What fits, and where something was dropped, such as `memory_ops.1`.

    Raises:
        ValidationError: What is wrong cannot be spared.
    """
    left, dropped = data, list[str]()
    while True:
        try:
            return model.model_validate(left), dropped
        except ValidationError as error:
            where, kind, _ = misfits(error)[0]
            spared = bool(where) and where[0] in left and where[0] not in needed
            if not spared or len(dropped) >= _MOST_SLIPS:
                raise
            if not dropped:
                left = deepcopy(data)
            dropped.append(_drop(left, where, kind))


def _drop(data: Data, where: tuple[int | str, ...], kind: str) -> str:
    """Take out the innermost part that is there: a value, or what a value is missing from."""
    part: Any = data
    path: list[tuple[Any, Any]] = []
    for key in where:
        try:
            inner: Any = part[key]
        except (KeyError, IndexError, TypeError):
            break  # what is missing cannot be taken out: what it is missing from goes
        path.append((part, key))
        part = inner
    holder, key = path[-1]
    if kind == "too_long":
        del part[MAX_MEMORY_QUERIES:]
    else:
        del holder[key]
    return ".".join(str(step) for _, step in path)


_OWN = ("plan_action", "needs_approval", "understood")  # in Silas's own form, and not shown


class ParsedAnswer(NamedTuple):
    """What an answer says in Silas's own form, and where something of it was dropped."""

    data: Data | AgentOutput
    dropped: tuple[str, ...] = ()


def read_route(data: Data, profiles: tuple[str, ...]) -> ParsedAnswer:
    """A route in Silas's own form; the first profile where none or an unknown one is named."""
    said: Data = {**data, **(data.get("response") or {})}
    wire, dropped = validate_leniently(RouteWire, said, frozenset({"route"}))
    direct = wire.route == "direct"
    if not direct and wire.message:
        dropped.append("message")
    profile = wire.context_profile
    if profile is not None and profile not in profiles:
        dropped.append("context_profile")
    register = wire.interaction_register or (
        InteractionRegister.status if direct else InteractionRegister.execution
    )
    told = {"memory_ops": wire.memory_ops, "memory_queries": wire.memory_queries}
    told |= {name: said[name] for name in _OWN if name in said}
    return ParsedAnswer(
        {
            "route": wire.route,
            "reason": wire.reason,
            "response": {"message": wire.message, **told} if direct else None,
            "memory_ops": [] if direct else wire.memory_ops,
            "interaction_register": register,
            "interaction_mode": wire.interaction_mode,
            "continuation_of": wire.continuation_of or None,
            "context_profile": profile if profile in profiles else profiles[0],
            "reminder": wire.reminder or None,
        },
        tuple(dropped),
    )


def read_planner(data: Data) -> ParsedAnswer:
    """A planner's answer in Silas's own form."""
    if "plan_action" in data or "needs_approval" in data:
        own, dropped = validate_leniently(AgentResponse, data, frozenset({"message"}))
        if data.get("plan_action") is not None and own.plan_action is None:
            AgentResponse.model_validate(data)  # a plan is no slip: this says what is wrong with it
        return ParsedAnswer(own, tuple(dropped))
    wire, dropped = validate_leniently(PlannerWire, data, frozenset({"message", "plan"}))
    action = wire.action or ("propose" if wire.plan else "answer")
    plan = None
    if action in _PROPOSALS:
        plan = {
            "action": PlanActionType(action),
            "plan_markdown": plan_text(wire.plan),
            "continuation_of": wire.continuation_of or None,
            "interaction_mode_override": wire.interaction_mode,
        }
    elif wire.plan:
        dropped.append("plan")
    told = {"memory_ops": wire.memory_ops, "memory_queries": wire.memory_queries}
    return ParsedAnswer({"message": wire.message, **told, "plan_action": plan}, tuple(dropped))


@lru_cache(maxsize=64)
def route_form(profiles: tuple[str, ...], union: bool) -> type[RouteDecision]:
    """A `RouteDecision` that models are shown in its wire form, and that is read from it.

    Args:
        profiles: The context profiles there are, the default first.
        union: Whether the schema may be a union at its root; providers refuse that of a tool.
    """
    schema = _route_schema(profiles, union)
    return _form(RouteDecision, lambda data: read_route(data, profiles), schema)


@lru_cache(maxsize=4)
def planner_form(union: bool, owed: bool = False) -> type[AgentResponse]:
    """An `AgentResponse` that models are shown in its wire form, and that is read from it.

    Args:
        union: As of `route_form`.
        owed: Words came where work is wanted, and went back: a plan or a question is shown alone. A
            server that keeps to a schema makes a small model plan, which says the same words again
            where it may.
    """
    return _form(AgentResponse, read_planner, _planner_schema(union, owed))


@cache
def report_form() -> type[ExecutorAgentOutput]:
    """An `ExecutorAgentOutput` of which only the summary must fit."""
    return _form(ExecutorAgentOutput, _read_report)


def _read_report(data: Data) -> ParsedAnswer:
    left, dropped = validate_leniently(ExecutorAgentOutput, data, frozenset({"summary"}))
    return ParsedAnswer(left, tuple(dropped))


def _form(
    own: type[FormT], read: Callable[[Data], ParsedAnswer], schema: JsonSchemaValue | None = None
) -> type[FormT]:
    """The same output, shown by this schema (by its own where there is none) and so read."""

    class Shown(own):  # pyright: ignore[reportGeneralTypeIssues] - one class, two forms
        @classmethod
        def __get_pydantic_json_schema__(
            cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
        ) -> JsonSchemaValue:
            own_schema = super().__get_pydantic_json_schema__(core_schema, handler)
            return own_schema if schema is None else deepcopy(schema)

        @model_validator(mode="wrap")
        @classmethod
        def _read_from_the_wire(
            cls, data: Any, handler: ModelWrapValidatorHandler[Any], info: ValidationInfo
        ) -> Any:
            if not isinstance(data, Mapping):
                return handler(data)
            told = read(dict(cast(Mapping[str, Any], data)))
            made = own.model_validate(told.data, context=info.context)
            made.note_dropped(told.dropped)
            return made

    Shown.__name__ = own.__name__
    return cast(type[FormT], Shown)


# What models are shown. `message` and `plan` have no `maxLength`: a server that keeps to it would
# cut them in silence, and llama.cpp refuses grammars that repeat 2,000 times; `max_tokens` ends
# them instead, and a cut answer is told as one.


def _text(most: int, says: str = "") -> JsonSchemaValue:
    schema: JsonSchemaValue = {"type": "string", "maxLength": most}
    return {**schema, "description": says} if says else schema


def _one_of(names: Any, says: str = "") -> JsonSchemaValue:
    schema: JsonSchemaValue = {"enum": [str(name) for name in names], "type": "string"}
    return {**schema, "description": says} if says else schema


def _branch(needed: Data, optional: Data) -> JsonSchemaValue:
    return {
        "type": "object",
        "properties": {**needed, **optional},
        "required": list(needed),
        "additionalProperties": False,
    }


def _either(branches: list[JsonSchemaValue], union: bool) -> JsonSchemaValue:
    """The branches as a union, or merged into one object that needs what all of them need."""
    if union:
        # clients close an object that leaves it open, and then no branch could fit
        return {"type": "object", "anyOf": branches, "additionalProperties": True}
    properties: Data = {}
    for branch in branches:
        for name, schema in branch["properties"].items():
            known = properties.get(name, {}).get("enum", [])
            new = [one for one in schema.get("enum", []) if one not in known]
            properties[name] = {**schema, "enum": known + new} if "enum" in schema else schema
    first, *rest = [branch["required"] for branch in branches]
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in first if all(name in other for other in rest)],
    }


_OP_FIELDS: Data = {
    "content": _text(1000, "One whole sentence, in the owner's words"),
    "memory_id": _text(80),
}


_SHOWN_OPS = (MemoryOpType.store, MemoryOpType.update, MemoryOpType.delete)
"""Links are made by consolidation; a model that asks for one is not refused."""


def _memory_op(op: MemoryOpType) -> JsonSchemaValue:
    needed = {"op": _one_of([op]), **{name: _OP_FIELDS[name] for name in REQUIRED_OF_OPS[op]}}
    kinds = (MemoryType.preference, MemoryType.fact)
    return _branch(needed, {"memory_type": _one_of(kinds)} if op is MemoryOpType.store else {})


_MEMORY: Data = {
    "memory_ops": {"type": "array", "items": {"anyOf": [_memory_op(op) for op in _SHOWN_OPS]}},
    "memory_queries": {
        "type": "array",
        "maxItems": MAX_MEMORY_QUERIES,
        "items": _branch({"strategy": _one_of(MemoryQueryStrategy), "query": _text(200)}, {}),
    },
}


def _route_schema(profiles: tuple[str, ...], union: bool) -> JsonSchemaValue:
    signals = {
        "interaction_register": _one_of(InteractionRegister),
        "interaction_mode": _one_of(InteractionMode),
        "context_profile": _one_of(profiles),
    }
    message = {"type": "string", "description": "direct: the whole answer, for the user"}
    reason = _text(300, "planner: one sentence")
    direct = _branch(
        {"route": _one_of(["direct"]), "message": message},
        {"reminder": _text(300)} | _MEMORY | signals,
    )
    planner = _branch(
        {"route": _one_of(["planner"]), "reason": reason},
        {
            "reminder": _text(300),
            "continuation_of": _text(80, "Id of the work item that this goes on from"),
            "memory_ops": _MEMORY["memory_ops"],
        }
        | signals,
    )
    return _either([direct, planner], union)


def _planner_schema(union: bool, owed: bool) -> JsonSchemaValue:
    message = {"type": "string"}
    proposal = _branch(
        {"action": _one_of(["propose", "revise"]), "message": message, "plan": plan_schema()},
        {
            "continuation_of": _text(80),
            "interaction_mode": _one_of(InteractionMode),
            "memory_ops": _MEMORY["memory_ops"],
        },
    )
    spoken = ["question"] if owed else ["answer", "question"]
    words = _branch({"action": _one_of(spoken), "message": message}, _MEMORY)
    return _either([proposal, words], union)
