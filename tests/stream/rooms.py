"""Rooms of a turn that note who was there, in order, and keep what they were given."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.context import Evicted, InView
from silas.gates import Gate, GateLane, GateOutcome, GateResult, Gates, GateTrigger
from silas.memory import Query, Remembered
from silas.stream.models import Incoming
from silas.stream.signin import SignIn
from silas.testing import ScriptedModel
from silas.testing.models import Step
from silas.types import TaintLevel


class Journal(list[str]):
    """What happened in a turn, in order; each entry begins with the number of its step."""


class NotingContext:
    """A context that keeps items, and may have too many."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.items: list[dict[str, Any]] = []
        self.evicted: list[Evicted] = []
        self.budgets: list[tuple[str, int]] = []
        self.profiles: list[tuple[str, str]] = []
        self._steps = {"agent": "11 chronicle", "silas": "11 chronicle"} | {
            "channel": "3 chronicle",
            "memory": "memory",
        }

    def add(
        self, scope: str, *, kind: str, text: str, taint: TaintLevel, source: str, turn: int
    ) -> None:
        self.items.append(
            {"scope": scope, "kind": kind, "text": text, "taint": taint, "source": source}
            | {"turn": turn}
        )
        step = "12 workspace" if kind == "plan" else self._steps[source.partition(":")[0]]
        self._journal.append(step)

    def render(self, scope: str, turn: int) -> str:
        self._journal.append("7 render")
        return f"what {scope} has seen in {turn}"

    def inspect(self, scope: str) -> Sequence[InView]:
        return ()

    async def enforce_budget(self, scope: str, turn: int) -> list[Evicted]:
        self._journal.append("5 budget")
        self.budgets.append((scope, turn))
        return self.evicted

    def set_profile(self, scope: str, name: str) -> None:
        self._journal.append("7 profile")
        self.profiles.append((scope, name))


class NotingMemory:
    """A memory that finds what it is told to find."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.raw: list[tuple[str, str, TaintLevel]] = []
        self.ops: list[Mapping[str, Any]] = []
        self.queries: list[str] = []
        self.recalls: list[str] = []
        self.finds: list[str] = []
        self.answers: list[str] = []

    async def store_raw(self, text: str, kind: str, taint: TaintLevel) -> None:
        step = {"conversation_raw": "3.5", "episode": "5"}.get(kind, "11.5")
        self._journal.append(f"{step} raw {kind}")
        self.raw.append((kind, text, taint))

    async def recall(self, text: str, scope: str, limit: int) -> list[str]:
        self._journal.append("4 recall")
        self.recalls.append(text)
        return self.finds[:limit]

    async def run_queries(self, queries: Sequence[Query], scope: str) -> list[str]:
        self._journal.append("9 queries")
        self.queries += [query.query for query in queries]
        return self.answers

    async def search(self, query: str, scope: str, limit: int) -> Sequence[Remembered]:
        return ()

    async def apply_op(self, op: Mapping[str, Any], scope: str) -> None:
        self._journal.append("10 operation")
        self.ops.append(op)


class NotingPersona:
    """A personality with one wish."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.level = 0.5
        self.events: list[tuple[str, str]] = []

    def directives(self, scope: str, text: str) -> str:
        self._journal.append("7 directives")
        return f"Speak softly to {scope}."

    def initiative(self, scope: str) -> float:
        return self.level

    async def after_turn(self, scope: str, event: str) -> None:
        self._journal.append("15 mood")
        self.events.append((scope, event))


class NotingSkills:
    """One skill is installed."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def catalogue(self) -> Mapping[str, str]:
        self._journal.append("6.5 skills")
        return {"bookkeeping": "Keeps the books in order."}

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        return ()

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        return {}

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        return ()


class NotingSuggestions:
    """What waits for the owner."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.waiting: list[str] = []

    async def idle(self, scope: str, now: datetime) -> list[str]:
        self._journal.append("0.5 queue")
        return self.waiting

    async def after_result(self, scope: str, status: str, next_steps: Sequence[str]) -> list[str]:
        return []


class NotingAccess:
    """A connection that may use two tools."""

    level = "trusted"

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.passed: list[str] = []

    async def gate_passed(self, gate_name: str) -> None:
        self._journal.append("14 access")
        self.passed.append(gate_name)

    async def get_allowed_tools(self) -> list[str]:
        self._journal.append("6 allowed")
        return ["look", "find"]


_STEP_OF = {
    GateTrigger.every_user_message: "1 input gates",
    GateTrigger.every_agent_response: "8 output gates",
    GateTrigger.on_tool_call: "10 gates",
    GateTrigger.after_step: "? after_step",
}

Judge = Callable[[Gate, dict[str, Any]], GateResult]


def passes(gate: Gate, context: dict[str, Any]) -> GateResult:
    """Every gate lets everything pass."""
    return GateResult(gate_name=gate.name, lane=gate.lane, action="continue", reason="fine")


class NotingGates:
    """Gates that a function judges, so that gates of any provider can be there."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.judge: Judge = passes
        self.sets: list[list[str]] = []

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> GateOutcome:
        self._journal.append(_STEP_OF[trigger])
        self.sets.append([gate.name for gate in gates])
        results = [self.judge(gate, context) for gate in gates if gate.on is trigger]
        changes = [r.modified_context or {} for r in results if r.lane is GateLane.policy]
        merged = dict(context)
        for change in changes:
            merged |= change
        policy = [r for r in results if r.lane is GateLane.policy]
        return GateOutcome(policy, [r for r in results if r not in policy], merged)

    async def check_gate(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        return self.judge(gate, context)

    def for_turn(self) -> Gates:
        self._journal.append("0 gate set")
        return self


class NotingSignIn(SignIn):
    """The real sign-in, noted."""

    def __init__(self, inner: SignIn, journal: Journal) -> None:
        self._inner = inner
        self._journal = journal

    async def taint_of(self, incoming: Incoming) -> TaintLevel:
        self._journal.append("2 sign-in")
        return await self._inner.taint_of(incoming)


class NotingModel(ScriptedModel):
    """A scripted model, noted."""

    def __init__(self, steps: Sequence[Step], role: str, journal: Journal) -> None:
        super().__init__(steps)
        self._role = role
        self._journal = journal

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        self._journal.append(f"7 {self._role}")
        return await super().request(messages, model_settings, model_request_parameters)
