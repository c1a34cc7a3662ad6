"""What one turn knows while its steps go by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from silas.agents import AgentResponse, RouteDecision, TurnRequest
from silas.cards import CardChannel
from silas.gates import GateOutcome
from silas.plans import WorkItem
from silas.stream.gating import TurnGates
from silas.stream.models import Incoming, Outcome, Send
from silas.tools.toolset import ToolRun
from silas.types import InteractionMode, TaintLevel

T = TypeVar("T")


@dataclass
class Turn:
    """What one turn knows; made at step 0, filled in as the steps go by.

    Attributes:
        gates: The active gate set, frozen at step 0 and never rebuilt.
        text: The message, as input gates may have rewritten it.
        taint: Where the message came from; untrusted until step 2 says otherwise.
        asked: A policy gate required an approval in this turn.
        tools, request, route, response: Made by steps 6 and 7; `need` where a step relies on one.
    """

    id: str
    incoming: Incoming
    send: Send
    channel: CardChannel
    scope_id: str
    gates: TurnGates
    text: str
    taint: TaintLevel = TaintLevel.external
    input_results: GateOutcome | None = None
    asked: bool = False
    tools: ToolRun | None = None
    request: TurnRequest | None = None
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    mode: InteractionMode = InteractionMode.confirm_only_when_required
    route: RouteDecision | None = None
    speaker: str = "agent:proxy"
    response: AgentResponse | None = None
    plan: WorkItem | None = None
    outcome: Outcome = "answered"


def need(value: T | None, made_by: str) -> T:
    """A value that an earlier step has made.

    Raises:
        AssertionError: The steps ran out of order.
    """
    if value is None:
        raise AssertionError(f"{made_by} has not run")
    return value
