"""The PydanticAI wrapper chain of spec 4.24; every call it lets through ends at the tool door.

    DoorToolset -> PreparedToolset -> FilteredToolset -> ApprovalRequiredToolset

The wrappers decide what a model sees and when a run pauses. None of them authorises: PydanticAI
keys an approval by call id, and arguments can change afterwards, so the door asks again (step 7).
"""

from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pydantic_ai import ApprovalRequired as Pause
from pydantic_ai import ModelRetry, RunContext, ToolDenied, ToolFailed
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from silas.canonical import canonical_json
from silas.context import frame_text, scrub
from silas.tools.executor import ToolExecutor
from silas.tools.models import (
    RiskLevel,
    ToolCallContext,
    ToolResult,
    ValidatedCall,
)
from silas.tools.pending_call import AskReason, PendingCall
from silas.tools.port import BaseTool, RegisteredTool
from silas.tools.refusals import (
    ApprovalRequired,
    DuplicateKey,
    HardBlocked,
    InvalidArguments,
    OutcomeUnknown,
    PreviewRequired,
    RateLimited,
    ScopeViolation,
    ToolUnavailable,
)
from silas.tools.registry import ToolRegistry
from silas.types import Origin

MAX_CORRECTIONS: Final = 3  # how often in a row a model may correct the arguments of one tool

_ANY_OBJECT = SchemaValidator(
    core_schema.dict_schema(keys_schema=core_schema.str_schema(strict=True))
)

_TOLD_TO_THE_MODEL = (
    ScopeViolation,
    HardBlocked,
    PreviewRequired,
    ToolUnavailable,
    DuplicateKey,
    RateLimited,
)
"""Stops that the model should know and work around; repeating the same call helps none of them."""


WORKER: Final = "worker"
"""The role of a worker: what an executor is offered, and what only workers are."""

_SEES: Final = {WORKER: frozenset({WORKER, "executor"})}


class AllTools(Enum):
    """The marker for a connection that may use every tool: the owner's (decision A11)."""

    ALL = "all"


AskAboutCalls = Callable[[Sequence[PendingCall]], Awaitable[Sequence[bool]]]
"""Gets an approval for each of these very calls, which one answer of a model asks for together;
false where nobody says yes, or nobody is there."""


CallEnded = Callable[[ToolResult], None]
"""Told what a call did; not called where it was stopped."""

Watch = Callable[[str, dict[str, Any]], AbstractContextManager[CallEnded]]
"""Stands around one call: tool, and arguments as the model gave them. Decides nothing."""


@contextmanager
def watch_no_call(tool: str, args: dict[str, Any]) -> Generator[CallEnded]:
    """Nobody looks on."""
    del tool, args
    yield lambda _: None


@dataclass(frozen=True)
class ToolRun:
    """The deps of an agent run: what the tool door needs to know about it.

    Attributes:
        role: `proxy`, `planner`, `executor` or `worker`; decides which tools are offered.
        allowed: Names the access controller allows, or `AllTools.ALL`.
        context: The call context for a step; the step names one call of this run, so a second
            run of the same task must put its attempt into the task or step id.
        ask: See `AskAboutCalls`.
        record: Notes what really ran, with the arguments it ran with, in the order of the calls.
        watch: See `Watch`.
    """

    role: str
    allowed: frozenset[str] | AllTools
    context: Callable[[str], ToolCallContext]
    ask: AskAboutCalls
    record: Callable[[str, dict[str, Any], ToolResult], None]
    watch: Watch


class DoorToolset(AbstractToolset[ToolRun]):
    """The usable tools of the registry as PydanticAI tools; calling one is `ToolExecutor.call`."""

    def __init__(self, executor: ToolExecutor, registry: ToolRegistry) -> None:
        self._executor = executor
        self._registry = registry
        self._offered: dict[str, tuple[BaseTool, ToolsetTool[ToolRun]]] = {}

    @property
    def id(self) -> str | None:
        """One door per agent."""
        return "silas-door"

    async def get_tools(self, ctx: RunContext[ToolRun]) -> dict[str, ToolsetTool[ToolRun]]:
        """Every tool that may be tried now; an unavailable one is not offered."""
        return {tool.tool_name: self._offer(tool) for tool in self._registry.list_healthy()}

    def _offer(self, tool: RegisteredTool) -> ToolsetTool[ToolRun]:
        """Made once a tool: its schema is a copy. Another tool may have the name later."""
        known = self._offered.get(tool.tool_name)
        if known is None or known[0] is not tool.tool:
            offered = ToolsetTool(
                toolset=self,
                tool_def=_definition(tool),
                max_retries=MAX_CORRECTIONS,
                args_validator=_ANY_OBJECT,
            )
            known = self._offered[tool.tool_name] = (tool.tool, offered)
        return known[1]

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[ToolRun],
        tool: ToolsetTool[ToolRun],
    ) -> Any:
        """Go through the door; say to the model what it may know, and end the run on the rest.

        Raises:
            ModelRetry: The arguments do not fit; the model may correct them.
            ToolFailed: The call was stopped; the message says why.
            ApprovalRequired: PydanticAI's; the run pauses for the question.
            DatabaseError, SandboxError, OutcomeUnknown: The run cannot go on.
        """
        context = ctx.deps.context(_step(ctx, ctx.tool_call_id or ""))
        try:
            with ctx.deps.watch(name, tool_args) as ended:
                result = await self._executor.call(name, _action(tool), tool_args, context)
                ended(result)
        except InvalidArguments as error:
            raise ModelRetry(scrub(error.message)) from error
        except ApprovalRequired as error:
            if ctx.tool_call_approved:
                # It was approved, and what would run now is something else.
                raise ToolFailed(f"Refused: {scrub(error.message)}") from error
            raise Pause(_pending_facts(error.asked)) from error
        except OutcomeUnknown as error:
            if error.repeatable:
                raise ToolFailed(error.message) from error
            raise
        except _TOLD_TO_THE_MODEL as error:
            raise ToolFailed(scrub(error.message)) from error
        ran = tool_args if result.ran is None else result.ran.args
        ctx.deps.record(name, ran, result)
        return model_facing(result)


def model_facing(result: ToolResult) -> str:
    """What of a result a model may see: text and content, never metadata (spec 3.7).

    In a block that names where it comes from and ends only where Silas ends it (decision B9).
    """
    text = result.return_value or result.error or ("done" if result.ok else "failed")
    shown = [text, *map(canonical_json, result.content)]
    tool = "" if result.ran is None else result.ran.tool_name
    origin = Origin(kind=result.origin, name=result.source, tool=tool, taint=result.taint)
    return frame_text("\n".join(shown), origin)


def build_chain(executor: ToolExecutor, registry: ToolRegistry) -> AbstractToolset[ToolRun]:
    """The chain in the order of spec 4.24: door, prepared, filtered, approval."""

    def asks_first(ctx: RunContext[ToolRun], tool: ToolDefinition, args: dict[str, Any]) -> bool:
        context = ctx.deps.context(_step(ctx, ctx.tool_call_id or ""))
        return executor.asks_first(tool.name, _first_action(registry, tool.name), args, context)

    door = DoorToolset(executor, registry)
    return door.prepared(_for_role).filtered(_is_allowed).approval_required(asks_first)


def approval_handler(
    executor: ToolExecutor, registry: ToolRegistry
) -> HandleDeferredToolCalls[ToolRun]:
    """The capability that asks `deps.ask` for every paused call and lets the run go on.

    What one answer of the model asks for is one question, in the order of the calls. A yes resumes
    a call with its own arguments and the door then checks that the approval covers them.
    """

    def about(
        part: ToolCallPart, told: dict[str, Any] | None, ctx: RunContext[ToolRun]
    ) -> PendingCall:
        """The call the door refused, with gates applied; else the call as the model made it."""
        if told is not None:
            return _parse_pending(told)
        name, context = part.tool_name, ctx.deps.context(_step(ctx, part.tool_call_id))
        return executor.foresee(name, _first_action(registry, name), part.args_as_dict(), context)

    async def resolve(
        ctx: RunContext[ToolRun], requests: DeferredToolRequests
    ) -> DeferredToolResults:
        ids = [part.tool_call_id for part in requests.approvals]
        asked = [
            about(part, requests.metadata.get(part.tool_call_id), ctx)
            for part in requests.approvals
        ]
        answers: dict[str, bool | ToolDenied] = {}
        for call_id, one, yes in zip(ids, asked, await ctx.deps.ask(asked), strict=True):
            if not yes:
                await executor.record_decline(one.call, ctx.deps.context(_step(ctx, call_id)))
            answers[call_id] = yes or ToolDenied(
                "This call was not approved; nothing ran. Do without it."
            )
        return requests.build_results(approvals=answers)

    return HandleDeferredToolCalls[ToolRun](handler=resolve)


def _pending_facts(asked: PendingCall) -> dict[str, Any]:
    """What a pause keeps of a call that the door refused, with gates applied."""
    return {
        "call": asked.call.model_dump(),
        "risk": asked.risk.value,
        "reason": asked.reason.value,
    }


def _parse_pending(told: dict[str, Any]) -> PendingCall:
    return PendingCall(
        ValidatedCall.model_validate(told["call"]),
        RiskLevel(told["risk"]),
        AskReason(told["reason"]),
    )


def _for_role(ctx: RunContext[ToolRun], tools: list[ToolDefinition]) -> list[ToolDefinition]:
    seen = _SEES.get(ctx.deps.role, frozenset({ctx.deps.role}))
    return [tool for tool in tools if seen.intersection((tool.metadata or {}).get("roles", ()))]


def _is_allowed(ctx: RunContext[ToolRun], tool: ToolDefinition) -> bool:
    allowed = ctx.deps.allowed
    return allowed is AllTools.ALL or tool.name in allowed


def _definition(tool: RegisteredTool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.tool_name,
        description=tool.tool.description,
        parameters_json_schema=tool.tool.schema,
        metadata={"roles": tool.capabilities, "action": tool.tool.actions[0]},
        # What must not be repeated must not overlap either: such calls run alone and in order.
        sequential=not tool.tool.idempotent,
    )


def _action(tool: ToolsetTool[ToolRun]) -> str:
    return (tool.tool_def.metadata or {}).get("action", "")


def _first_action(registry: ToolRegistry, name: str) -> str:
    tool = registry.get(name)
    return "" if tool is None else tool.tool.actions[0]


def _step(ctx: RunContext[ToolRun], call_id: str) -> str:
    """One call of one run: some model servers give every call the same id."""
    return f"{ctx.run_step}.{call_id}"
