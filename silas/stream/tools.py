"""What proxy and planner hand the tool chain in a turn: look-ups only, nothing that acts."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from silas.approval import ApprovalDecision, ApprovalVerifier
from silas.gates import Gate
from silas.sandbox import SandboxFiles, SandboxLimits
from silas.stream.ports import MakeToolRun, Note
from silas.stream.turn_authority import TurnAuthority, nobody
from silas.stream.turn_place import Aside
from silas.tools import AutonomyLevel, ToolCallContext, ToolRegistry
from silas.tools.look_limits import LOOK_SCOPE, LookLimits
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun, watch_no_call
from silas.types import OWNER, conversation_at, whose
from silas.work.models import CallQuestion

AskIn = Callable[[str, Sequence[CallQuestion]], Awaitable[Sequence[ApprovalDecision]]]
"""(address, look-ups): shows one card in a conversation, and brings the decisions back."""


def turn_tools(
    gates: tuple[Gate, ...],
    autonomy: AutonomyLevel,
    scopes: frozenset[str],
    approval: ApprovalVerifier,
    registry: ToolRegistry,
    ask: AskIn,
) -> MakeToolRun:
    """Tool runs that look things up: what acts needs a plan (spec 7.1, 7.2).

    Only in the owner's own turns is anybody asked.
    """

    def make(
        role: str,
        turn_id: str,
        address: str,
        allowed: frozenset[str] | AllTools,
        provenance: Provenance,
        note: Note,
        looks: LookLimits,
        aside: Aside,
    ) -> ToolRun:
        task_id, scope_id = f"{turn_id}.{role}", whose(address)

        async def ask_aside(questions: Sequence[CallQuestion]) -> Sequence[ApprovalDecision]:
            async with aside():
                return await ask(address, questions)

        authority = TurnAuthority(
            task_id, approval, registry, provenance, ask_aside if scope_id == OWNER else nobody
        )

        granted = scopes if scope_id == OWNER else frozenset[str]()
        if looks.open:
            granted |= {LOOK_SCOPE}

        def context(step: str) -> ToolCallContext:
            return ToolCallContext(
                trace_id=turn_id,
                task_id=task_id,
                step_id=step,
                idempotency_key="",
                autonomy_level=autonomy,
                granted_scopes=granted,
                scope_id=scope_id,
                conversation=conversation_at(address),
                gates=gates,
                authorise=authority.authorise,
                authorise_alone=authority.authorise,
                provenance=provenance,
                files=SandboxFiles(cwd=Path("/work")),
                limits=SandboxLimits(),
                looks=looks,
            )

        return ToolRun(
            role=role,
            allowed=allowed,
            context=context,
            ask=authority.ask,
            record=note,
            watch=watch_no_call,
        )

    return make
