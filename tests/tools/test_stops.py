"""Every way in which the tool door says no: its step, its own error, its own event."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest

from silas.errors import DatabaseError, GateError, SilasError
from silas.testing import MockClock
from silas.testing.tools import FakeTool, a_context
from silas.tools import (
    ApprovalRequired,
    AutonomyLevel,
    CallFacts,
    DuplicateKey,
    HardBlocked,
    HealthOutcome,
    InvalidArguments,
    OutcomeStatus,
    OutcomeUnknown,
    PreviewRequired,
    RiskLevel,
    ScopeViolation,
    Stance,
    ToolHealth,
    ToolPolicyConfig,
    ToolResult,
    ToolUnavailable,
    next_health,
    validated_call,
)
from tests.tools.door import Door, answering, blocking, failing


def nothing(door: Door) -> None:
    """Nothing to arrange."""


@dataclass(frozen=True)
class Stop:
    """One reason to stop a call: how the call is made to have it, and what must come of it."""

    step: int
    error: type[SilasError]
    event: str
    tool: dict[str, Any] = field(default_factory=dict[str, Any])
    context: dict[str, Any] = field(default_factory=dict[str, Any])
    request: dict[str, Any] = field(default_factory=dict[str, Any])
    config: dict[str, Any] = field(default_factory=dict[str, Any])
    risk: RiskLevel = RiskLevel.low
    arrange: Callable[[Door], None] = nothing


def is_down(door: Door) -> None:
    now = door.clock.now()
    gone = next_health(ToolHealth(), HealthOutcome("limit", now + timedelta(hours=1)), now)
    door.registry.update_health("fake", gone)


def gate_blocks(door: Door) -> None:
    door.gates.answer = answering([blocking()])


def gates_fail(door: Door) -> None:
    def broken(context: dict[str, Any]) -> Any:
        raise GateError("provider is down")

    door.gates.answer = broken


def touched_a_moment_ago(door: Door) -> None:
    call = validated_call("fake", "run", {"target": "lamp"})
    facts = CallFacts(target="lamp")
    door.outcomes.begin("earlier", call, a_context(), facts, idempotent=False)


def key_is_taken(door: Door) -> None:
    other = validated_call("fake", "run", {"text": "another"})
    door.outcomes.begin("k", other, a_context(), CallFacts(), idempotent=False)
    door.outcomes.finish("k", OutcomeStatus.succeeded, ToolResult(ok=True))


def was_attempted(door: Door) -> None:
    call = validated_call("fake", "run", {})
    door.outcomes.begin("k", call, a_context(), CallFacts(), idempotent=False)


def disk_is_full(door: Door) -> None:
    log_now = door.audit.log_now

    def full(event: str, **data: Any) -> str:
        if event == "tool_call.attempted":
            raise DatabaseError("the disk is full")
        return log_now(event, **data)

    door.audit.log_now = full


MINE = {"idempotency_key": "k"}
DOWN = Stop(1, ToolUnavailable, "tool_call.failed", arrange=is_down)
UNFIT = Stop(2, InvalidArguments, "tool_call.failed", request={"text": 1})
SCOPE = Stop(3, ScopeViolation, "scope.violation", {"scopes": ["mail.send"]})
GATE = Stop(5, HardBlocked, "gate.denied", arrange=gate_blocks)
TOOLSET = Stop(6, HardBlocked, "gate.denied", {"stance": Stance.blocked})
UNAPPROVED = Stop(7, ApprovalRequired, "gate.required", {"requires_authority": True})
TAKEN = Stop(8, DuplicateKey, "tool_call.failed", context=MINE, arrange=key_is_taken)
UNWRITTEN = Stop(9, DatabaseError, "gate.allowed", arrange=disk_is_full)
BROKEN = Stop(10, OutcomeUnknown, "tool_call.unknown", {"work": failing(RuntimeError("bug"))})

STOPS = {
    "unavailable": DOWN,
    "arguments": UNFIT,
    "scope": SCOPE,
    "gate": GATE,
    "gates fail": Stop(5, HardBlocked, "gate.denied", arrange=gates_fail),
    "toolset": TOOLSET,
    "matrix": Stop(6, HardBlocked, "gate.hard_blocked", risk=RiskLevel.critical),
    "cooldown": Stop(
        6,
        HardBlocked,
        "gate.antiflap_block",
        request={"target": "lamp"},
        arrange=touched_a_moment_ago,
    ),
    "hourly limit": Stop(
        6,
        HardBlocked,
        "gate.storm_block",
        {"facts": CallFacts(outbound=True)},
        config={"outbound_per_hour": 0},
    ),
    "suggest only": Stop(
        6, PreviewRequired, "gate.preview", context={"autonomy_level": AutonomyLevel.A0}
    ),
    "unapproved": UNAPPROVED,
    "key taken": TAKEN,
    "outcome unknown": Stop(
        8, OutcomeUnknown, "tool_call.unknown", context=MINE, arrange=was_attempted
    ),
}
each_stop = pytest.mark.parametrize("stop", STOPS.values(), ids=list(STOPS))


@dataclass
class Made:
    """A door at which a call has some reasons to be stopped."""

    door: Door
    tool: FakeTool
    request: dict[str, Any]
    context: dict[str, Any]

    async def call(self) -> ToolResult:
        context = a_context(**self.context)
        return await self.door.executor.call("fake", "run", self.request, context)


@pytest.fixture
def made(door: Door, clock: MockClock) -> Callable[..., Made]:
    def make(*stops: Stop) -> Made:
        facts, context, request = dict[str, Any](), dict[str, Any](), dict[str, Any]()
        config = dict[str, Any]()
        for stop in stops:
            facts.update(stop.tool)
            context.update(stop.context)
            request.update(stop.request)
            config.update(stop.config)
        at = Door(door.db, clock, ToolPolicyConfig(**config))
        tool = at.add(FakeTool(**facts), max((s.risk for s in stops), key=list(RiskLevel).index))
        for stop in stops:
            stop.arrange(at)
        return Made(at, tool, request, context)

    return make


@pytest.mark.proves("C-ERRORS", "C-EVENTS", "S18.1-CORRELATION")
@each_stop
async def test_each_reason_has_its_own_error_and_its_own_event(
    made: Callable[..., Made], stop: Stop
) -> None:
    at = made(stop)
    with pytest.raises(SilasError) as caught:
        await at.call()
    assert type(caught.value) is stop.error
    assert at.tool.calls == []
    event, data = at.door.audit.entries[-1]
    assert event == stop.event
    assert (data["code"] if stop.step != 7 else "E_TOOL_APPROVAL_REQUIRED") == caught.value.code
    before = ["gate.allowed"] if stop.step > 7 else []
    assert at.door.audit.events() == [*before, stop.event]
    ids = (caught.value.turn_id, caught.value.work_item_id, caught.value.scope_id)
    assert ids == ("trace-1", "task-1", "owner")


@pytest.mark.proves("C-EVENTS", "TR-AUDIT-BEFORE-RAISE")
@each_stop
async def test_where_the_event_cannot_be_written_there_is_no_such_error(
    made: Callable[..., Made], stop: Stop
) -> None:
    at = made(stop)
    log = at.door.audit.log

    async def full(event: str, **data: Any) -> str:
        if event == stop.event:
            raise DatabaseError("the disk is full")
        return await log(event, **data)

    at.door.audit.log = full
    with pytest.raises(DatabaseError):
        await at.call()
    assert at.tool.calls == []


ORDER = [DOWN, UNFIT, SCOPE, GATE, TOOLSET, UNAPPROVED, TAKEN, UNWRITTEN, BROKEN]


@pytest.mark.proves("TR-STEP-ORDER")
@pytest.mark.parametrize(
    ("first", "later"),
    list(combinations(ORDER, 2)),
    ids=lambda stop: str(getattr(stop, "step", "")),
)
async def test_the_first_step_that_fails_ends_the_call(
    made: Callable[..., Made], first: Stop, later: Stop
) -> None:
    at = made(first, later)
    with pytest.raises(first.error) as caught:
        await at.call()
    assert type(caught.value) is first.error
    assert at.door.audit.events()[-1] == first.event
    assert at.tool.calls == []


@pytest.mark.proves("TR-STEP-ORDER")
async def test_without_a_reason_to_stop_every_step_is_passed(made: Callable[..., Made]) -> None:
    at = made(Stop(0, SilasError, ""))
    assert (await at.call()).ok
    assert at.tool.calls == [{}]
