"""The real rooms of a turn, each behind a door that notes who went through it, in order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.autonomy import Signal
from silas.context import ContextItem
from silas.gates import Gate, GateLane, GateOutcome, GateResult, Gates, GateTrigger
from silas.memory import MemoryOperations, OpBasis
from silas.persona import Persona, SpeakingStyle, TurnSummary
from silas.plans import WorkItem, WorkItemResult
from silas.stream.models import Incoming
from silas.stream.sender_identity import SenderIdentity
from silas.testing import ScriptedModel
from silas.testing.models import Step
from silas.types import TaintLevel


class Journal(list[str]):
    """What happened in a turn, in order; each entry begins with the number of its step."""


class Watched:
    """A room behind a door: calls of the names that are told to it are noted, then made.

    Args:
        room: The real one.
        journal: Where they are noted.
        steps: What is noted for a call; nothing for one that is not in here.
    """

    def __init__(
        self, room: Any, journal: Journal, steps: Mapping[str, str | Callable[..., str]]
    ) -> None:
        self._room, self._journal, self._steps = room, journal, steps

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._room, name)
        step = self._steps.get(name)
        if step is None:
            return real

        def noted(*args: Any, **given: Any) -> Any:
            if words := step if isinstance(step, str) else step(*args, **given):
                self._journal.append(words)
            return real(*args, **given)

        return noted


def what_entered(scope: str, item: ContextItem) -> str:
    """The step that takes an item into view."""
    if item.source.startswith("channel:"):
        return "3 chronicle"
    by_kind: dict[str, str] = {
        "memory": "memory",
        "plan": "12 workspace",
        "system": "",
        "execution_result": "",
    }
    return by_kind.get(item.kind, "11 chronicle")


CONTEXT_STEPS: Mapping[str, str | Callable[..., str]] = {
    "add": what_entered,
    "enforce_budget": "5 budget",
    "render": "7 render",
    "set_profile": "7 profile",
}
RETRIEVER_STEPS = {"recall": "4 recall", "retrieve": "9 queries"}
ARRIVAL_STEPS = {"mark_heard": "5 kept", "answering": "13 kept", "delete_done": "16 ended"}


class NotingOperations:
    """What was asked of memory, and on what ground."""

    def __init__(self, real: MemoryOperations, journal: Journal) -> None:
        self._real, self._journal = real, journal
        self.asked: list[tuple[Mapping[str, Any], OpBasis]] = []

    async def apply(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        self._journal.append("10 operation")
        self.asked.append((op, basis))
        return await self._real.apply(op, basis)


class NotingPersona:
    """A personality whose initiative a test may set."""

    def __init__(self, real: Persona, journal: Journal) -> None:
        self._real, self._journal = real, journal
        self.level: float | None = None
        self.happened: list[tuple[str, TurnSummary]] = []

    async def manner(self, scope_id: str, text: str) -> SpeakingStyle:
        self._journal.append("7 directives")
        manner = await self._real.manner(scope_id, text)
        return manner if self.level is None else manner._replace(initiative=self.level)

    async def after_turn(self, scope_id: str, happened: TurnSummary) -> None:
        self._journal.append("15 mood")
        self.happened.append((scope_id, happened))
        await self._real.after_turn(scope_id, happened)


class NotingReview:
    """What waits for the owner's look."""

    def __init__(self, real: Any, journal: Journal) -> None:
        self._real, self._journal = real, journal
        self.results: list[tuple[WorkItem, WorkItemResult]] = []
        self.signals: list[Signal] = []

    async def poll(self, scope_id: str) -> None:
        self._journal.append("0.5 queue")
        await self._real.poll(scope_id)

    def turn_ended(self, scope_id: str) -> None:
        self._journal.append("review")
        self._real.turn_ended(scope_id)

    async def note_signal(self, signal: Signal) -> None:
        self.signals.append(signal)
        await self._real.note_signal(signal)

    async def after_result(self, item: WorkItem, result: WorkItemResult) -> None:
        self.results.append((item, result))
        await self._real.after_result(item, result)


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


class NotingSignIn(SenderIdentity):
    """The real sign-in, noted."""

    def __init__(self, inner: SenderIdentity, journal: Journal) -> None:
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
