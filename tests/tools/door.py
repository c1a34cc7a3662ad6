"""A tool door with everything around it in reach of a test, and short words for its gates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from silas.db import Database
from silas.gates import GateLane, GateResult
from silas.testing import MemoryAudit, MockClock
from silas.testing.tools import FakeGates, FakeTool, GateAnswer, MemoryOutcomeStore, never_stopped
from silas.tools import (
    RiskLevel,
    ToolConfig,
    ToolExecutor,
    ToolPolicyConfig,
    ToolRegistry,
    ToolResult,
)


@dataclass
class Door:
    """A tool door with everything around it in reach of a test."""

    db: Database
    clock: MockClock
    config: ToolPolicyConfig = field(default_factory=ToolPolicyConfig)
    audit: MemoryAudit = field(default_factory=MemoryAudit)
    gates: FakeGates = field(default_factory=FakeGates)

    def __post_init__(self) -> None:
        self.outcomes = MemoryOutcomeStore(self.clock)
        self.registry = ToolRegistry(self.clock)
        self.executor = ToolExecutor(
            self.registry,
            self.gates,
            audit=self.audit,
            outcomes=self.outcomes,
            clock=self.clock,
            db=self.db,
            config=self.config,
            require_running=never_stopped,
            scrub=lambda text: text.replace("s3cr3t", "[secret]").replace("k<b id=1>y", "[key]"),
        )

    def add(self, tool: FakeTool, risk: RiskLevel = RiskLevel.low, **config: Any) -> FakeTool:
        self.registry.register(tool, ToolConfig(connector_id="t", risk_default=risk, **config))
        return tool


def blocking(name: str = "no", reason: str = "not here") -> GateResult:
    return GateResult(gate_name=name, lane=GateLane.policy, action="block", reason=reason)


def answering(
    policy: list[GateResult] | None = None, quality: list[GateResult] | None = None
) -> GateAnswer:
    return lambda context: (policy or [], quality or [], context)


def rewriting(args: Any) -> GateAnswer:
    return lambda context: ([], [], {**context, "tool_args": args})


def failing(error: BaseException) -> Callable[[dict[str, Any]], Any]:
    async def work(request: dict[str, Any]) -> ToolResult:
        raise error

    return work
