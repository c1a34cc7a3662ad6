"""Gates between the agent's work and its verification (spec 5.2.1 d)."""

from collections.abc import Sequence

from silas.audit import Audit
from silas.gates import Gate, GateResult, Gates, GateTrigger
from silas.plans import WorkItem
from silas.types import OWNER
from silas.work.ledger import Ledger
from silas.work.models import AskGate


class StepGates:
    """Evaluates `after_step` gates over what the steps printed."""

    def __init__(self, gates: Gates, audit: Audit, ask: AskGate) -> None:
        self._gates = gates
        self._audit = audit
        self._ask = ask

    async def refuse(self, item: WorkItem, gates: Sequence[Gate], ledger: Ledger) -> str | None:
        """The reason why the work stops here, or None. A value nobody printed blocks.

        A block goes before every question: nobody is asked about what is not going to happen.
        """
        results = await self._results(item, gates, ledger)
        blocked = next((result for result in results if result.action == "block"), None)
        for result in results if blocked is None else ():
            if result.action != "continue" and not await self._ask(item.id, result):
                blocked = result
                break
        if blocked is None:
            return None
        await self._audit.log(
            "gate_blocked",
            gate=blocked.gate_name,
            reason=blocked.reason,
            trigger="after_step",
            work_item_id=item.id,
        )
        return f"The gate {blocked.gate_name} stopped the work: {blocked.reason}."

    async def pass_report(self, item: WorkItem, gates: Sequence[Gate], words: str) -> str:
        """What may be told of an agent's report: as the gates for answers leave it (5.1 step 8).

        A report that is blocked is withheld; the work itself goes on to its checks.
        """
        trigger = GateTrigger.every_agent_response
        outcome = await self._gates.for_turn().check_gates(
            list(gates), trigger, {"response": words, "sender_id": OWNER}
        )
        blocked = outcome.block
        for result in outcome.approvals if blocked is None else ():
            if not await self._ask(item.id, result):
                blocked = result
                break
        if blocked is None:
            return str(outcome.context["response"])
        await self._audit.log(
            "gate_blocked",
            gate=blocked.gate_name,
            reason=blocked.reason,
            trigger=trigger.value,
            work_item_id=item.id,
        )
        return f"[Withheld by the gate {blocked.gate_name}: {blocked.reason}.]"

    async def _results(
        self, item: WorkItem, gates: Sequence[Gate], ledger: Ledger
    ) -> list[GateResult]:
        """What the policy gates say; the quality gates' ratings are recorded.

        The attempt is over, so all its steps are: each gate is asked at the step it is for.
        """
        policy: list[GateResult] = []
        runner, printed = self._gates.for_turn(), ledger.variables()
        for gate in gates:
            if gate.on is not GateTrigger.after_step:
                continue
            context = {"step": gate.after_step, "step_output": printed}
            outcome = await runner.check_gates([gate], GateTrigger.after_step, context)
            policy += outcome.policy
            for quality in outcome.quality:
                await self._audit.log(
                    "quality_gate_after_step",
                    gate=quality.gate_name,
                    score=quality.score,
                    flags=list(quality.flags),
                    work_item_id=item.id,
                )
        return policy
