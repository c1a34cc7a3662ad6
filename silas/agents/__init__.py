"""Agents: what models are asked, in which form, and what happens when they fail.

Nothing here may act: tools come wrapped from outside, keys and approvals are out of reach. What
needs PydanticAI is imported when an agent is made, so that importing this package stays light.
"""

from silas.agents.choice import ModelChoice, ModelsConfig, OutputSetting, default_models
from silas.agents.executor import ExecutorAgent
from silas.agents.models import (
    AgentResponse,
    ExecutorAgentOutput,
    MemoryOp,
    MemoryQuery,
    PlanAction,
    PlanActionType,
    PlannerAdvice,
    RouteDecision,
    ScorerOutput,
)
from silas.agents.outcome import ModelRunFailed, ModelUsage, StructuredRun
from silas.agents.planner import PlannerAgent
from silas.agents.prompt import TurnRequest
from silas.agents.proxy import ProxyAgent
from silas.agents.scorer import ScorerAgent
from silas.context import frame

__all__ = [
    "AgentResponse",
    "ExecutorAgent",
    "ExecutorAgentOutput",
    "MemoryOp",
    "MemoryQuery",
    "ModelChoice",
    "ModelRunFailed",
    "ModelUsage",
    "ModelsConfig",
    "OutputSetting",
    "PlanAction",
    "PlanActionType",
    "PlannerAdvice",
    "PlannerAgent",
    "ProxyAgent",
    "RouteDecision",
    "ScorerAgent",
    "ScorerOutput",
    "StructuredRun",
    "TurnRequest",
    "default_models",
    "frame",
]
