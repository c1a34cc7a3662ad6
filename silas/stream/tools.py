"""What proxy and planner hand the tool chain in a turn: look-ups only, nothing that acts."""

from collections.abc import Sequence
from pathlib import Path

from silas.approval import Verdict
from silas.gates import Gate
from silas.sandbox import SandboxFiles, SandboxLimits
from silas.stream.models import OWNER
from silas.stream.rooms import MakeToolRun, Note
from silas.tools import AutonomyLevel, ToolCallContext, ValidatedCall
from silas.tools.models import Asked
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun


async def _no_authority(call: ValidatedCall) -> Verdict:
    return Verdict(False, f"a turn has no approval for {call.tool_name}", "E_APPROVAL_MISSING")


async def _nobody_to_ask(asked: Sequence[Asked]) -> list[bool]:
    return [False for _ in asked]


def turn_tools(
    gates: tuple[Gate, ...], autonomy: AutonomyLevel, scopes: frozenset[str]
) -> MakeToolRun:
    """Tool runs without any authority: what acts needs a plan (spec 7.1, 7.2)."""

    def make(
        role: str,
        turn_id: str,
        scope_id: str,
        allowed: frozenset[str] | AllTools,
        provenance: Provenance,
        note: Note,
    ) -> ToolRun:
        def context(step: str) -> ToolCallContext:
            return ToolCallContext(
                trace_id=turn_id,
                task_id=f"{turn_id}.{role}",
                step_id=step,
                idempotency_key="",
                autonomy_level=autonomy,
                granted_scopes=scopes if scope_id == OWNER else frozenset(),
                scope_id=scope_id,
                gates=gates,
                authorise=_no_authority,
                authorise_alone=_no_authority,
                provenance=provenance,
                files=SandboxFiles(cwd=Path("/work")),
                limits=SandboxLimits(),
            )

        return ToolRun(role=role, allowed=allowed, context=context, ask=_nobody_to_ask, record=note)

    return make
