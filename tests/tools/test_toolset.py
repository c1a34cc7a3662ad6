"""The PydanticAI chain, driven by a real agent with a scripted model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from pydantic_ai import Agent, UserError
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import (
    ApprovalRequiredToolset,
    FilteredToolset,
    PreparedToolset,
    WrapperToolset,
)

from silas.approval import Verdict
from silas.context import content_of
from silas.db import Database
from silas.errors import DatabaseError, SandboxError, SilasError
from silas.gates import GateLane, GateResult
from silas.sandbox import SandboxUnavailable
from silas.testing import MemoryAudit, MockClock
from silas.testing.tools import (
    FakeGates,
    FakeSandbox,
    FakeTool,
    a_context,
    exit_result,
    never_stopped,
)
from silas.tools import (
    HealthOutcome,
    OutcomeUnknown,
    RiskLevel,
    ShellTool,
    SqlOutcomeStore,
    Stance,
    ToolCallContext,
    ToolConfig,
    ToolExecutor,
    ToolHealth,
    ToolPolicyConfig,
    ToolRegistry,
    ToolResult,
    ValidatedCall,
    WorkerApprovalPolicy,
    next_health,
    validated_call,
)
from silas.tools.builtin.base import SANDBOX_SCOPE
from silas.tools.builtin.sandboxed import SANDBOX_TOOL
from silas.tools.pending_call import AskReason, PendingCall
from silas.tools.toolset import (
    AllTools,
    DoorToolset,
    ToolRun,
    approval_handler,
    build_chain,
    watch_no_call,
)
from tests.support.waits import SECONDS

Turn = list[ToolCallPart] | str


@dataclass
class House:
    """A tool door with a sandbox behind it, an owner in front, and an agent that plays a script."""

    db: Database
    clock: MockClock
    says_yes: bool = True
    audit: MemoryAudit = field(default_factory=MemoryAudit)
    gates: FakeGates = field(default_factory=FakeGates)
    tokens: set[str] = field(default_factory=set[str])
    asked: list[PendingCall] = field(default_factory=list[PendingCall])
    ledger: list[tuple[str, dict[str, Any], ToolResult]] = field(
        default_factory=list[tuple[str, dict[str, Any], ToolResult]]
    )
    offered: list[set[str]] = field(default_factory=list[set[str]])
    changes: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.sandbox = FakeSandbox(lambda run: exit_result(0, " ".join(run.argv)))
        self.registry = ToolRegistry(self.clock)
        self.registry.register(ShellTool(self.sandbox), SANDBOX_TOOL)
        self.executor = ToolExecutor(
            self.registry,
            self.gates,
            audit=self.audit,
            outcomes=SqlOutcomeStore(self.db, self.clock),
            clock=self.clock,
            db=self.db,
            config=ToolPolicyConfig(),
            require_running=never_stopped,
            scrub=str,
        )

    def context(self, step: str) -> ToolCallContext:
        async def authorise(call: ValidatedCall) -> Verdict:
            held = call.digest in self.tokens
            return Verdict(held, "looked for a token", "" if held else "E_APPROVAL_NOT_COVERED")

        given = {"granted_scopes": frozenset({SANDBOX_SCOPE}), **self.changes}
        return a_context(step, authorise=authorise, **given)

    async def ask(self, asked: Sequence[PendingCall]) -> list[bool]:
        self.asked += asked
        if self.says_yes:
            self.tokens |= {one.call.digest for one in asked}
        return [self.says_yes for _ in asked]

    def record(self, tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
        self.ledger.append((tool_name, args, result))

    def approve(self, argv: list[str]) -> None:
        """As an approved plan would cover it."""
        self.tokens.add(validated_call("shell_exec", "run", {"argv": argv}).digest)

    async def play(
        self,
        *turns: Turn,
        role: str = "executor",
        allowed: frozenset[str] | AllTools = AllTools.ALL,
    ) -> list[ToolReturnPart]:
        """Run an agent whose model says these things in turn; what its tools answered."""
        script = [*turns, "done"]

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.offered.append({tool.name for tool in info.function_tools})
            turn = script.pop(0)
            parts = [TextPart(turn)] if isinstance(turn, str) else turn
            return ModelResponse(parts=parts)

        agent = Agent(
            FunctionModel(model),
            deps_type=ToolRun,
            toolsets=[build_chain(self.executor, self.registry)],
            capabilities=[approval_handler(self.executor, self.registry)],
        )
        deps = ToolRun(role, allowed, self.context, self.ask, self.record, watch_no_call)
        async with asyncio.timeout(SECONDS):
            result = await agent.run("go", deps=deps)
        return [
            part
            for message in result.all_messages()
            if isinstance(message, ModelRequest)
            for part in message.parts
            if isinstance(part, ToolReturnPart)
        ]


@pytest.fixture
def house(db: Database, clock: MockClock) -> House:
    return House(db, clock)


def run(*argv: str, call_id: str = "call-1") -> ToolCallPart:
    return ToolCallPart("shell_exec", {"argv": list(argv)}, tool_call_id=call_id)


@pytest.mark.proves("S4.24-CHAIN-ORDER", "A2-ITS-OWN-WRAPPERS")
def test_the_wrappers_stand_in_the_order_of_the_specification(house: House) -> None:
    chain = build_chain(house.executor, house.registry)
    kinds: list[type] = []
    while isinstance(chain, WrapperToolset):
        kinds.append(type(chain))
        chain = chain.wrapped
    assert kinds == [ApprovalRequiredToolset, FilteredToolset, PreparedToolset]
    assert type(chain) is DoorToolset
    handler = approval_handler(house.executor, house.registry)
    assert isinstance(handler, HandleDeferredToolCalls)


async def test_a_call_inside_the_approved_plan_runs_without_a_question(house: House) -> None:
    house.approve(["ls", "-l"])
    (answer,) = await house.play([run("ls", "-l")])
    shown = content_of(answer.model_response_str())
    assert shown == "exit code 0\nstdout (5 characters):\nls -l"
    assert answer.outcome == "success"
    assert [r.argv for r in house.sandbox.runs] == [("ls", "-l")]
    assert house.asked == []
    ((name, args, result),) = house.ledger
    assert (name, args, result.ok) == ("shell_exec", {"argv": ["ls", "-l"]}, True)


@pytest.mark.proves("S4.24-DEFERRED-RESUMES", "S5.2.1-CALL-APPROVAL")
async def test_a_call_outside_the_plan_pauses_and_runs_after_a_yes(house: House) -> None:
    (answer,) = await house.play([run("sh", "-c", "date")])
    assert answer.outcome == "success"
    assert [r.argv for r in house.sandbox.runs] == [("sh", "-c", "date")]
    assert house.asked == [
        PendingCall(
            validated_call("shell_exec", "run", {"argv": ["sh", "-c", "date"]}),
            RiskLevel.medium,
            AskReason.plan,
        )
    ]
    assert house.audit.events() == [
        "gate.required",
        "gate.approved",
        "tool_call.attempted",
        "tool_call.succeeded",
    ]


@pytest.mark.proves("S5.2.1-CALL-APPROVAL")
async def test_a_call_that_was_declined_never_runs_and_the_agent_is_told(house: House) -> None:
    house.says_yes = False
    (answer,) = await house.play([run("rm", "x")])
    assert answer.outcome == "denied"
    assert "not approved" in answer.model_response_str()
    assert house.sandbox.runs == []
    assert house.ledger == []
    assert house.audit.events() == ["gate.required", "gate.denied"]


@pytest.mark.proves("C-ONE-CALL-TOKEN", "S4.24-OUTER-NO-BYPASS")
async def test_an_approved_call_that_a_gate_then_rewrites_is_refused(house: House) -> None:
    def turn_coat(context: dict[str, Any]) -> Any:
        after = {"argv": ["rm", "-rf", "."]} if house.asked else context["tool_args"]
        return [], [], {**context, "tool_args": after}

    house.gates.answer = turn_coat
    (answer,) = await house.play([run("ls")])
    assert answer.outcome == "failed"
    assert "Refused" in answer.model_response_str()
    assert len(house.asked) == 1
    assert house.sandbox.runs == []
    assert house.audit.events() == ["gate.required", "gate.required"]


@pytest.mark.proves("S4.24-OUTER-NO-BYPASS", "S15-NEVER-UNAPPROVED")
async def test_a_yes_that_left_no_token_authorises_nothing(house: House) -> None:
    """PydanticAI's own approval is a pause; authority is a token."""

    async def careless(asked: Sequence[PendingCall]) -> list[bool]:
        return [True for _ in asked]

    house.ask = careless
    (answer,) = await house.play([run("ls")])
    assert answer.outcome == "failed"
    assert house.sandbox.runs == []


@pytest.mark.proves("S5.2.1-REWRITTEN-ARGUMENTS")
async def test_the_question_is_about_the_arguments_after_the_gates(house: House) -> None:
    def redact(context: dict[str, Any]) -> Any:
        return [], [], {**context, "tool_args": {"argv": ["ls"]}}

    house.gates.answer = redact
    await house.play([run("ls", "--secret=1")])
    assert [call.args for call, *_ in house.asked] == [{"argv": ["ls"]}]
    assert [r.argv for r in house.sandbox.runs] == [("ls",)]
    assert [args for _, args, _ in house.ledger] == [{"argv": ["ls"]}]


@pytest.mark.proves("S4.24-FILTERED-FIRST", "S7.1-CANNOT-EXECUTE")
@pytest.mark.parametrize(
    ("role", "allowed", "visible"),
    [
        ("executor", AllTools.ALL, {"shell_exec"}),
        ("executor", frozenset({"shell_exec"}), {"shell_exec"}),
        ("executor", frozenset({"other"}), set[str]()),
        ("executor", frozenset[str](), set[str]()),
        ("proxy", AllTools.ALL, set[str]()),
        ("planner", frozenset({"shell_exec"}), set[str]()),
        ("", AllTools.ALL, set[str]()),
    ],
)
async def test_a_tool_is_offered_only_to_its_role_and_access_level(
    house: House, role: str, allowed: frozenset[str] | AllTools, visible: set[str]
) -> None:
    await house.play(role=role, allowed=allowed)
    assert house.offered == [visible]


@pytest.mark.proves("S4.24-OUTER-NO-BYPASS", "S15-NEVER-REGISTER-TOOLS")
async def test_a_tool_that_is_not_offered_cannot_be_called(house: House) -> None:
    house.approve(["ls"])
    (answer,) = await house.play([run("ls")], role="proxy")
    assert "Unknown tool" in answer.model_response_str()
    assert house.sandbox.runs == []


@pytest.mark.proves("C-UNAVAILABLE")
async def test_an_unavailable_tool_is_not_offered_until_it_may_be_tried_again(
    house: House,
) -> None:
    resets = house.clock.now() + timedelta(seconds=30)
    limited = next_health(ToolHealth(), HealthOutcome("limit", resets), house.clock.now())
    house.registry.update_health("shell_exec", limited)
    await house.play()
    house.clock.advance(30)
    await house.play()
    assert house.offered == [set(), {"shell_exec"}]


@pytest.mark.proves("S5.2.1-ARGUMENTS-FIRST")
async def test_arguments_that_do_not_fit_are_told_to_the_model_which_may_correct_them(
    house: House,
) -> None:
    house.approve(["ls"])
    wrong = ToolCallPart("shell_exec", {"argv": "ls"}, tool_call_id="a")
    first, second = await house.play([wrong], [run("ls", call_id="b")])
    assert first.outcome == "retried"
    assert "argv" in first.model_response_str()
    assert second.outcome == "success"
    assert len(house.sandbox.runs) == 1


@pytest.mark.proves("S5.2.1-ARGUMENTS-FIRST")
@pytest.mark.parametrize("args", ['["ls"]', '"ls"', "{", '{"argv": ["ls"], "argv2": 1}'])
async def test_malformed_json_from_a_model_runs_nothing(house: House, args: str) -> None:
    house.approve(["ls"])
    call = ToolCallPart("shell_exec", args, tool_call_id="a")
    (answer,) = await house.play([call])
    assert answer.outcome == "retried"
    assert house.sandbox.runs == []


@pytest.mark.proves("S5.2.1-TOOL-GATES", "S15-NEVER-BYPASS-GATES", "A11-NEVER-GATES")
async def test_the_reason_of_a_blocking_gate_is_returned_to_the_agent(house: House) -> None:
    house.approve(["ls"])
    no = GateResult(gate_name="hours", lane=GateLane.policy, action="block", reason="not on Sunday")

    def closed(context: dict[str, Any]) -> Any:
        return [no], [], context

    house.gates.answer = closed
    (answer,) = await house.play([run("ls")])
    assert answer.outcome == "failed"
    assert "not on Sunday" in answer.model_response_str()
    assert house.sandbox.runs == []


@pytest.mark.proves("TR-SCOPES-NOT-RETRIED")
async def test_a_missing_scope_is_told_once_and_not_retried(house: House) -> None:
    house.approve(["ls"])
    house.changes = {"granted_scopes": frozenset[str]()}
    (answer,) = await house.play([run("ls")])
    assert answer.outcome == "failed"
    assert house.audit.events() == ["scope.violation"]


async def test_a_worker_that_always_asks_pauses_before_the_door(house: House) -> None:
    house.approve(["ls"])
    house.changes = {"worker_policy": WorkerApprovalPolicy(tools={"shell_exec": Stance.ask})}
    house.says_yes = False
    (answer,) = await house.play([run("ls")])
    assert answer.outcome == "denied"
    assert [call.args for call, *_ in house.asked] == [{"argv": ["ls"]}]
    assert house.audit.events() == ["gate.denied"]
    assert house.sandbox.runs == []


async def test_several_calls_of_one_answer_are_asked_together_and_answered_each(
    house: House,
) -> None:
    house.approve(["a"])
    answers = await house.play(
        [run("a", call_id="1"), run("b", call_id="2"), run("c", call_id="3")]
    )
    assert [answer.outcome for answer in answers] == ["success"] * 3
    assert [call.args["argv"] for call, *_ in house.asked] == [["b"], ["c"]]
    assert sorted(r.argv for r in house.sandbox.runs) == [("a",), ("b",), ("c",)]


async def test_the_same_command_in_a_later_step_runs_again_even_under_the_same_call_id(
    house: House,
) -> None:
    house.approve(["pytest"])
    await house.play([run("pytest", call_id="call_0")], [run("pytest", call_id="call_0")])
    assert len(house.sandbox.runs) == 2
    assert [result.deduped for _, _, result in house.ledger] == [False, False]


@pytest.mark.proves("S3.7-METADATA-NEVER-IN-CONTEXT")
async def test_metadata_never_reaches_the_model(house: House) -> None:
    async def work(request: dict[str, Any]) -> ToolResult:
        return ToolResult(
            ok=True, return_value="seen", content=({"k": "v"},), metadata={"raw": "hidden"}
        )

    house.registry.register(
        FakeTool("fake", work), ToolConfig(connector_id="t", risk_default=RiskLevel.low)
    )
    (answer,) = await house.play([ToolCallPart("fake", {}, tool_call_id="1")])
    assert content_of(answer.model_response_str()) == 'seen\n{"k":"v"}'
    assert "hidden" not in answer.model_response_str()
    assert house.ledger[0][2].metadata == {"raw": "hidden"}


@pytest.mark.parametrize(
    ("broken", "raised"),
    [
        (SandboxUnavailable("bubblewrap is missing"), SandboxUnavailable),
        (SandboxError("the supervisor died"), SandboxError),
        (DatabaseError("locked"), DatabaseError),
        (RuntimeError("bug"), OutcomeUnknown),
    ],
)
async def test_an_infrastructure_error_ends_the_run(
    house: House, broken: Exception, raised: type[SilasError]
) -> None:
    async def work(request: dict[str, Any]) -> ToolResult:
        raise broken

    house.registry.register(
        FakeTool("fake", work), ToolConfig(connector_id="t", risk_default=RiskLevel.low)
    )
    with pytest.raises(raised):
        await house.play([ToolCallPart("fake", {}, tool_call_id="1")])


@pytest.mark.proves("S15-NEVER-UNAPPROVED")
async def test_without_the_handler_a_paused_call_runs_nothing(house: House) -> None:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[run("ls")])

    agent = Agent(
        FunctionModel(model),
        deps_type=ToolRun,
        toolsets=[build_chain(house.executor, house.registry)],
    )
    deps = ToolRun("executor", AllTools.ALL, house.context, house.ask, house.record, watch_no_call)
    with pytest.raises(UserError):
        await agent.run("go", deps=deps)
    assert house.sandbox.runs == []
