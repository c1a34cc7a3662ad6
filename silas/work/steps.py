"""Gates between the agent's work and its verification (spec 5.2.1 d)."""

from collections.abc import Sequence

from silas.audit import Audit
from silas.gates import Gate, GateResult, GateRunner, GateTrigger
from silas.plans import WorkItem
from silas.work.ledger import Ledger
from silas.work.models import AskGate


class StepGates:
    """Evaluates `after_step` gates over what the steps printed."""

    def __init__(self, gates: GateRunner, audit: Audit, ask: AskGate) -> None:
        self._gates = gates
        self._audit = audit
        self._ask = ask

    async def refuse(self, item: WorkItem, gates: Sequence[Gate], ledger: Ledger) -> str | None:
        """The reason why the work stops here, or None. A value nobody printed blocks."""
        steps = [gate for gate in gates if gate.on is GateTrigger.after_step]
        if not steps:
            return None
        outcome = await self._gates.check_gates(
            steps, GateTrigger.after_step, {"step_output": ledger.variables()}
        )
        for quality in outcome.quality:
            await self._audit.log(
                "quality_gate_after_step", gate=quality.gate_name, flags=list(quality.flags)
            )
        for result in outcome.policy:
            if await self._passes(item, result):
                continue
            await self._audit.log(
                "gate_blocked",
                gate=result.gate_name,
                reason=result.reason,
                trigger="after_step",
                work_item_id=item.id,
            )
            return f"The gate {result.gate_name} stopped the work: {result.reason}."
        return None

    async def _passes(self, item: WorkItem, result: GateResult) -> bool:
        if result.action == "require_approval":
            return await self._ask(item.id, result)
        return result.action == "continue"
