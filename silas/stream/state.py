"""What one turn knows while its steps go by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from silas.agents import AgentResponse, RouteDecision, TurnRequest
from silas.cards import CardChannel
from silas.gates import GateOutcome
from silas.plans import WorkItem
from silas.stream.gating import TurnGates
from silas.stream.models import Incoming, Outcome, Send
from silas.tools import ToolResult
from silas.tools.provenance import Provenance
from silas.tools.toolset import ToolRun
from silas.types import InteractionMode, TaintLevel, join_taint

T = TypeVar("T")


class Lookup(NamedTuple):
    """A tool call that answered in a turn: what was asked and what came back."""

    tool_name: str
    args: dict[str, Any]
    result: ToolResult


@dataclass
class Turn:
    """What one turn knows; made at step 0, filled in as the steps go by.

    Attributes:
        gates: The active gate set, frozen at step 0 and never rebuilt.
        text: The message, as input gates may have rewritten it.
        taint: Where the message came from; untrusted until step 2 says otherwise.
        asked: A policy gate required an approval in this turn.
        recalled: Memories in view already, so that none is brought twice.
        lookups: What tools answered to proxy and planner.
        provenance: The labels of everything that the models of this turn are shown.
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
    recalled: set[str] = field(default_factory=set[str])
    lookups: list[Lookup] = field(default_factory=list[Lookup])
    provenance: Provenance = field(default_factory=lambda: Provenance({}))
    tools: ToolRun | None = None
    request: TurnRequest | None = None
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    mode: InteractionMode = InteractionMode.confirm_only_when_required
    route: RouteDecision | None = None
    speaker: str = "agent:proxy"
    response: AgentResponse | None = None
    plan: WorkItem | None = None
    outcome: Outcome = "answered"

    @property
    def response_taint(self) -> TaintLevel:
        """The least trusted of what the answer was made from: the message and tool results."""
        return join_taint([self.taint, *(lookup.result.taint for lookup in self.lookups)])

    def note(self, tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
        """Remember a tool's answer; what the tool chain calls."""
        self.lookups.append(Lookup(tool_name, args, result))


def need(value: T | None, made_by: str) -> T:
    """A value that an earlier step has made.

    Raises:
        AssertionError: The steps ran out of order.
    """
    if value is None:
        raise AssertionError(f"{made_by} has not run")
    return value
