"""Fakes for the tool door: a tool, a sandbox and a journal that live in memory."""

from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from silas.approval import Verdict
from silas.clock import Clock
from silas.gates import Gate, GateResult, GateTrigger
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult
from silas.tools.models import (
    Authorise,
    AutonomyLevel,
    CallFacts,
    PreviewResult,
    Stance,
    ToolCallContext,
    ToolResult,
    ValidatedCall,
)
from silas.tools.outcomes import (
    OutcomeRecord,
    OutcomeStatus,
    no_open_attempt,
    recorded_outcome,
)
from silas.tools.provenance import Provenance


def never_stopped() -> None:
    """What the tool door asks first, where no emergency stop is."""


class SandboxRun(NamedTuple):
    """One run a `FakeSandbox` was asked for."""

    argv: tuple[str, ...]
    limits: SandboxLimits
    files: SandboxFiles


class FakeSandbox:
    """A sandbox that answers by a function and records what it was asked; runs nothing."""

    def __init__(self, answer: Callable[[SandboxRun], SandboxResult]) -> None:
        self._answer = answer
        self.runs: list[SandboxRun] = []

    @property
    def name(self) -> str:
        """It says what it is."""
        return "fake"

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Record, and answer; whatever the function raises is raised."""
        run = SandboxRun(tuple(argv), limits, files)
        self.runs.append(run)
        return self._answer(run)


def exit_result(code: int = 0, stdout: str = "", stderr: str = "") -> SandboxResult:
    """The result of a program that ended by itself."""
    return SandboxResult(
        exit_code=code, stdout=stdout, stderr=stderr, ended_by="exit", duration_seconds=0.01
    )


_NO_FACTS = CallFacts(state_changing=False, egress=False, addressed=False)

Work = Callable[[dict[str, Any]], Awaitable[ToolResult]]


async def answer_ok(request: dict[str, Any]) -> ToolResult:
    """The default work of a `FakeTool`."""
    return ToolResult(ok=True, return_value=f"did {sorted(request)}")


class FakeTool:
    """A tool with every property open; takes any arguments whose values are text."""

    def __init__(
        self,
        tool_name: str = "fake",
        work: Work = answer_ok,
        *,
        scopes: Sequence[str] = (),
        capabilities: Sequence[str] = ("executor",),
        idempotent: bool = False,
        requires_authority: bool = False,
        facts: CallFacts = _NO_FACTS,
        stance: Stance = Stance.silent,
        shows: str = "",
    ) -> None:
        self._name = tool_name
        self._work = work
        self._scopes = list(scopes)
        self._capabilities = list(capabilities)
        self._idempotent = idempotent
        self._requires_authority = requires_authority
        self._facts = facts
        self._stance = stance
        self._shows = shows
        self.calls: list[dict[str, Any]] = []

    @property
    def tool_name(self) -> str:
        """As given."""
        return self._name

    @property
    def description(self) -> str:
        """For the model."""
        return f"The tool {self._name}, for tests."

    @property
    def capabilities(self) -> list[str]:
        """As given."""
        return self._capabilities

    @property
    def scopes_required(self) -> list[str]:
        """As given."""
        return self._scopes

    @property
    def actions(self) -> list[str]:
        """Two, so that a risk map has something to tell apart."""
        return ["run", "other"]

    @property
    def requires_authority(self) -> bool:
        """As given."""
        return self._requires_authority

    @property
    def schema(self) -> dict[str, Any]:
        """Any text fields."""
        return {"type": "object", "additionalProperties": {"type": "string"}}

    @property
    def idempotent(self) -> bool:
        """As given."""
        return self._idempotent

    @property
    def supports_preview(self) -> bool:
        """Where it has something to show."""
        return bool(self._shows)

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """Text values only."""
        for name, value in args.items():
            if not isinstance(value, str):
                raise ValueError(f"{name} must be text")
        return args

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """As given; a `target` argument becomes the target."""
        return self._facts.model_copy(update={"target": request.get("target", "")})

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """As given."""
        return self._stance

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Record, and do the work."""
        self.calls.append(request)
        return await self._work(request)

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """As given."""
        return PreviewResult(summary=self._shows) if self._shows else None


async def refuse_all(call: ValidatedCall) -> Verdict:
    """Nothing is approved."""
    return Verdict(False, "there is no approval", "E_APPROVAL_NONE")


async def unsafe_approve_all(call: ValidatedCall) -> Verdict:
    """Everything is approved; for tests of what comes after the approval."""
    return Verdict(True, "for the test")


def a_context(
    step: str = "step-1", *, authorise: Authorise = refuse_all, **changes: Any
) -> ToolCallContext:
    """A call context with no scopes, no gates and no approval unless given."""
    given: dict[str, Any] = {
        "trace_id": "trace-1",
        "task_id": "task-1",
        "step_id": step,
        "idempotency_key": "",
        "autonomy_level": AutonomyLevel.A2,
        "granted_scopes": frozenset[str](),
        "authorise": authorise,
        "authorise_alone": authorise,
        "provenance": Provenance({}),
        "files": SandboxFiles(cwd=Path("/workspace")),
        "limits": SandboxLimits(),
        **changes,
    }
    return ToolCallContext(**given)


GateAnswer = Callable[[dict[str, Any]], tuple[list[GateResult], list[GateResult], dict[str, Any]]]


def gates_open(
    context: dict[str, Any],
) -> tuple[list[GateResult], list[GateResult], dict[str, Any]]:
    """No gate says anything."""
    return [], [], context


class FakeGates:
    """Gates that answer by a function; `answer` may be replaced between calls."""

    def __init__(self, answer: GateAnswer = gates_open) -> None:
        self.answer = answer

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> tuple[list[GateResult], list[GateResult], dict[str, Any]]:
        """Ask the function, with a copy."""
        return self.answer(deepcopy(context))


class _Row:
    def __init__(self, record: OutcomeRecord, target: str, outbound: bool) -> None:
        self.record = record
        self.target = target
        self.outbound = outbound
        self.result: str | None = None


class MemoryOutcomeStore:
    """The journal in a dictionary; passes the contract tests of `SqlOutcomeStore`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: dict[str, _Row] = {}

    def statuses(self) -> list[OutcomeStatus]:
        """The status of every call, in the order of the attempts."""
        return [row.record.status for row in self._rows.values()]

    def find(self, key: str, call: ValidatedCall, *, idempotent: bool) -> ToolResult | None:
        """See `OutcomeStore.find`."""
        row = self._rows.get(key)
        if row is None:
            return None
        stored = None if row.result is None else ToolResult.model_validate_json(row.result)
        return recorded_outcome(row.record, stored, call, idempotent=idempotent)

    def begin(
        self,
        key: str,
        call: ValidatedCall,
        context: ToolCallContext,
        facts: CallFacts,
        *,
        idempotent: bool,
    ) -> ToolResult | None:
        """See `OutcomeStore.begin`."""
        recorded = self.find(key, call, idempotent=idempotent)
        if recorded is None:
            record = OutcomeRecord(
                key=key,
                digest=call.digest,
                task_id=context.task_id,
                step_id=context.step_id,
                tool_name=call.tool_name,
                action=call.action,
                status=OutcomeStatus.attempted,
                attempted_at=self._clock.now(),
            )
            self._rows[key] = _Row(record, facts.target, facts.outbound)
        return recorded

    def finish(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.finish`."""
        self._close(key, OutcomeStatus.attempted, status, result)

    def resolve(self, key: str, status: OutcomeStatus, result: ToolResult | None) -> None:
        """See `OutcomeStore.resolve`."""
        self._close(key, OutcomeStatus.unknown, status, result)
        if status is OutcomeStatus.attempted:
            del self._rows[key]

    def _close(
        self, key: str, before: OutcomeStatus, status: OutcomeStatus, result: ToolResult | None
    ) -> None:
        row = self._rows.get(key)
        if row is None or row.record.status is not before:
            raise no_open_attempt(key)
        row.record = row.record._replace(status=status)
        row.result = None if result is None else result.model_dump_json()

    def mark_unfinished_unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.mark_unfinished_unknown`."""
        for row in self._rows.values():
            if row.record.status is OutcomeStatus.attempted:
                row.record = row.record._replace(status=OutcomeStatus.unknown)
        return self.list_unknown()

    def list_unknown(self) -> list[OutcomeRecord]:
        """See `OutcomeStore.list_unknown`."""
        records = [row.record for row in self._rows.values()]
        return [record for record in records if record.status is OutcomeStatus.unknown]

    def calls_of(self, task_id: str) -> list[OutcomeRecord]:
        """See `OutcomeStore.calls_of`."""
        return [row.record for row in self._rows.values() if row.record.task_id == task_id]

    def answers_of(self, task_id: str) -> list[tuple[str, str]]:
        """See `OutcomeStore.answers_of`."""
        told = [
            (row.record.tool_name, ToolResult.model_validate_json(row.result).source)
            for row in self._rows.values()
            if row.record.task_id == task_id and row.result is not None
        ]
        return sorted(set(told))

    def last_attempt(self, tool_name: str, action: str, target: str) -> datetime | None:
        """See `OutcomeStore.last_attempt`."""
        wanted = (tool_name, action, target)
        times = [
            row.record.attempted_at
            for row in self._rows.values()
            if target and (row.record.tool_name, row.record.action, row.target) == wanted
        ]
        return max(times, default=None)

    def outbound_since(self, moment: datetime) -> int:
        """See `OutcomeStore.outbound_since`."""
        return sum(
            1 for row in self._rows.values() if row.outbound and row.record.attempted_at > moment
        )
