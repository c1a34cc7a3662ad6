"""Runs gates in two lanes: policy decides and may rewrite, quality only observes (spec 5.4).

Policy fails closed, quality fails open with a flag in the record. Rewrites are recorded as
digests, because what a gate removes must not survive in the log.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from silas.audit import Audit
from silas.canonical import sha256_hex
from silas.gates.models import (
    ALLOWED_MUTATIONS,
    Gate,
    GateLane,
    GateProvider,
    GateResult,
    GateTrigger,
)
from silas.gates.port import GateCheckProvider, GateOutcome, Gates


class _Count:
    """Evaluations still allowed."""

    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


class GateRunner:
    """The one place where lanes, the mutation allowlist and missing providers are enforced.

    - A policy gate whose provider is missing, fails, or comes after the limit of evaluations
      blocks: the policy lane fails closed.
    - A quality gate in the same situation continues with a flag (`no_provider`, `llm_error`,
      `limit`): the quality lane fails open, and the audit says so.
    - After a block the remaining policy gates still run, so that the audit is complete.

    Args:
        providers: Who evaluates, by the name a gate gives.
        audit: Where rejected and applied mutations and failures are recorded, never with values.
        max_evals_per_turn: `limits.max_gate_evals_per_turn`; counted over one `check_gates` call,
            or over all calls of the runner that `for_turn` returns.
    """

    def __init__(
        self,
        providers: Mapping[GateProvider, GateCheckProvider],
        audit: Audit,
        max_evals_per_turn: int,
    ) -> None:
        self._providers = dict(providers)
        self._audit = audit
        self._limit = max_evals_per_turn

    def for_turn(self) -> Gates:
        """The same gates, counting evaluations over everything that happens in one turn."""
        return _TurnGates(self, _Count(self._limit))

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> GateOutcome:
        """Evaluate the gates of this trigger; for `after_step`, those of `context["step"]`.

        Policy gates run in order, each seeing the mutations of those before it; quality gates run
        after them, on the mutated context. The given context is not changed.
        """
        return await self.check_counted(gates, trigger, context, _Count(self._limit))

    async def check_gate(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        """Evaluate a single gate; its mutations are filtered, and the caller merges them."""
        return await self.check_one(gate, context, _Count(self._limit))

    async def check_counted(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any], count: _Count
    ) -> GateOutcome:
        """`check_gates` against a given count."""
        matching = [gate for gate in gates if _fires(gate, trigger, context)]
        merged = _copy_context(context)
        policy: list[GateResult] = []
        for gate in (g for g in matching if self._lane(g) is GateLane.policy):
            result = await self.check_one(gate, merged, count)
            if result.action == "block" and any(r.action == "block" for r in policy):
                await self._audit.log(
                    "gate_additional_block", gate=gate.name, on_block=gate.on_block
                )
            policy.append(result)
            await self._merge(gate, merged, result.modified_context or {})
        quality = [
            await self.check_one(gate, merged, count)
            for gate in matching
            if self._lane(gate) is GateLane.quality
        ]
        return GateOutcome(policy, quality, merged)

    async def check_one(self, gate: Gate, context: dict[str, Any], count: _Count) -> GateResult:
        """`check_gate` against a given count."""
        provider = self._providers.get(gate.provider)
        if provider is None:
            return await self._unavailable(
                gate, GateLane.policy, "no_provider", f"No provider: {gate.provider.value}"
            )
        if not count.spend():
            return await self._unavailable(
                gate, gate.lane, "limit", f"more than {self._limit} gate evaluations in one turn"
            )
        try:
            given = await provider.check(gate, _copy_context(context))
        except Exception as error:  # noqa: BLE001, RUF100 - a provider may be anybody's code
            return await self._unavailable(
                gate, gate.lane, "llm_error", f"the gate's provider failed: {type(error).__name__}"
            )
        result = given
        if (given.gate_name, given.lane) != (gate.name, gate.lane):
            result = given.model_copy(update={"gate_name": gate.name, "lane": gate.lane})
        if gate.lane is GateLane.quality:
            return await self._only_advise(gate, result)
        return await self._filter(gate, result)

    def _lane(self, gate: Gate) -> GateLane:
        """A gate whose provider is not there is a policy gate: it blocks (5.4, decision A14)."""
        return gate.lane if gate.provider in self._providers else GateLane.policy

    async def _unavailable(self, gate: Gate, lane: GateLane, flag: str, reason: str) -> GateResult:
        """Policy closed, quality open with a flag (spec 18.1, `E_GATE_*`)."""
        await self._audit.log(
            "gate_unavailable",
            gate=gate.name,
            lane=lane.value,
            provider=gate.provider.value,
            code="E_GATE_PROVIDER",
            reason=reason,
        )
        if lane is GateLane.quality:
            return GateResult(
                gate_name=gate.name,
                lane=lane,
                action="continue",
                reason=reason,
                flags=(flag,),
            )
        return GateResult(gate_name=gate.name, lane=lane, action="block", reason=reason)

    async def _only_advise(self, gate: Gate, result: GateResult) -> GateResult:
        if result.action == "continue" and result.modified_context is None:
            return result
        await self._audit.log(
            "quality_lane_violation",
            gate=gate.name,
            action=result.action,
            mutation=result.modified_context is not None,
        )
        return result.model_copy(update={"action": "continue", "modified_context": None})

    async def _filter(self, gate: Gate, result: GateResult) -> GateResult:
        """Drop every mutation that is not on the allowlist or not of its type."""
        if result.modified_context is None:
            return result
        kept: dict[str, Any] = {}
        for key, value in result.modified_context.items():
            wanted = dict if key == "tool_args" else str
            if key in ALLOWED_MUTATIONS and isinstance(value, wanted):
                kept[key] = value
            else:
                await self._audit.log("rejected_mutation", gate=gate.name, key=key)
        return result.model_copy(update={"modified_context": kept or None})

    async def _merge(self, gate: Gate, merged: dict[str, Any], changes: dict[str, Any]) -> None:
        for key, value in changes.items():
            before: Any = merged.get(key)
            if isinstance(value, dict) and isinstance(before, dict):
                merged[key] = cast(dict[str, Any], before) | cast(dict[str, Any], value)
            else:
                merged[key] = value
            # digests, not values: what a gate redacts must not survive in the audit
            await self._audit.log(
                "gate_mutation",
                gate=gate.name,
                key=key,
                original=_digest(before),
                modified=_digest(merged[key]),
            )


class _TurnGates:
    """A runner with one count for a whole turn."""

    def __init__(self, runner: GateRunner, count: _Count) -> None:
        self._runner = runner
        self._count = count

    async def check_gates(
        self, gates: Sequence[Gate], trigger: GateTrigger, context: dict[str, Any]
    ) -> GateOutcome:
        return await self._runner.check_counted(gates, trigger, context, self._count)

    async def check_gate(self, gate: Gate, context: dict[str, Any]) -> GateResult:
        return await self._runner.check_one(gate, context, self._count)

    def for_turn(self) -> Gates:
        return self


def _copy_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing that can be changed; most of a context is text."""
    return {
        key: value if isinstance(value, str) else deepcopy(value) for key, value in context.items()
    }


def _digest(value: Any) -> str:
    return sha256_hex(repr(value).encode("utf-8", "backslashreplace"))


def _fires(gate: Gate, trigger: GateTrigger, context: Mapping[str, Any]) -> bool:
    """Whether a gate is for this moment; `after_step` without a number means every step."""
    if gate.on is not trigger:
        return False
    if trigger is not GateTrigger.after_step or gate.after_step is None:
        return True
    return context.get("step") == gate.after_step
