"""What one turn knows while its steps go by, and what its scope knows between them."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from silas.agents import AgentResponse, RouteDecision, TurnRequest
from silas.cards import CardChannel
from silas.context import ContextItem
from silas.gates import GateOutcome
from silas.memory import MemoryItem
from silas.persona import SpeakingStyle
from silas.plans import NO_MESSAGE, AskedBy, WorkItem
from silas.stream.models import Incoming, Outcome, SendText
from silas.stream.turn_gates import TurnGates
from silas.stream.turn_place import Aside
from silas.tools import ToolResult
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.tools.look_limits import NO_LOOKS, LookLimits
from silas.tools.provenance import Provenance
from silas.tools.toolset import ToolRun
from silas.types import (
    OWNER,
    InteractionMode,
    TaintLevel,
    address_of,
    conversation_at,
    join_taint,
    new_id,
    whose,
)

T = TypeVar("T")

_OF = "/"  # in the name of a sitting, before its conversation

NEUTRAL = SpeakingStyle("", "", 0.5)
"""How Silas speaks before the personality was asked."""


class Lookup(NamedTuple):
    """A tool call that answered in a turn: what was asked and what came back."""

    tool_name: str
    args: dict[str, Any]
    result: ToolResult


@dataclass
class ScopeState:
    """What is known of one conversation between its turns.

    Attributes:
        turn_number: The turn that is under way, or the next one.
        session_id: Names this sitting: from a start of Silas to its end.
        awake: Whether what was before this sitting is back in view.
        folder: The directory that the turn is about; empty where it names none.
        conversation: Which conversation of its scope; empty for the first one.
        to_change: The ids of its plans that the owner wants changed.
    """

    id: str
    turn_number: int = 0
    session_id: str = field(default_factory=lambda: new_id("session"))
    awake: bool = False
    folder: str = ""
    conversation: str = ""
    to_change: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        """Names its view: what its models are shown, and nobody else's."""
        return address_of(self.id, self.conversation)

    def has(self, session_id: str) -> bool:
        """Whether a sitting was one of this conversation."""
        return _conversation_of(session_id) == self.conversation


class ConversationPosition(NamedTuple):
    """Where in its conversation something stands.

    Attributes:
        turn_number: In which turn it came.
        folder: The directory that the turn was about; empty for none.
        conversation: Which conversation of its scope it is.
    """

    turn_number: int
    folder: str
    conversation: str


def _session(conversation: str) -> str:
    """A new sitting, which says which conversation it is one of."""
    return f"{new_id('session')}{_OF}{conversation}" if conversation else new_id("session")


def _conversation_of(session_id: str) -> str:
    """Which conversation a sitting was one of; those of former versions were of the first one."""
    return session_id.partition(_OF)[2]


class Conversations:
    """What is known of every conversation, made when it is first asked for."""

    def __init__(self) -> None:
        self._scopes: dict[str, ScopeState] = {}

    def of(self, address: str) -> ScopeState:
        """The conversation at this address."""
        scope = self._scopes.get(address)
        if scope is None:
            told = conversation_at(address)
            scope = ScopeState(whose(address), session_id=_session(told), conversation=told)
            self._scopes[address] = scope
        return scope


class PlanReview(NamedTuple):
    """What is wrong with a plan that was proposed: nothing, where it may be asked about.

    Attributes:
        mistakes: All of them, one sentence each.
        hint: What its planner is told once, though it may be asked about; empty for nothing.
        trial: What its checks said before the work, in one line for the card.
    """

    mistakes: tuple[str, ...] = ()
    hint: str = ""
    trial: str = ""


@dataclass
class TurnWrites:
    """What a turn has to write, until it is written together.

    Attributes:
        chronicle: What was said.
        memories: What left the view.
        raw: Records of the raw lane.
    """

    chronicle: list[ContextItem] = field(default_factory=list[ContextItem])
    memories: list[MemoryItem] = field(default_factory=list[MemoryItem])
    raw: list[MemoryItem] = field(default_factory=list[MemoryItem])


@dataclass
class TurnMessage:
    """What was asked.

    Attributes:
        arrival: Names the message among those that are not answered yet.
        text: The message, as input gates may have rewritten it.
        taint: Where the message came from; untrusted until step 2 says otherwise.
        message_id: The message among the items in view; empty before step 3.
    """

    arrival: str
    incoming: Incoming
    text: str
    taint: TaintLevel = TaintLevel.external
    message_id: str = ""
    input_results: GateOutcome | None = None


@dataclass
class TurnOrigin:
    """Where it is asked and answered.

    Attributes:
        place: Leaves its place in the conversation for a while; `Turn.aside` is what uses it.
        on_leaving: Takes down what it was made from, before others change what is in view.
        counted_as: Its number, once it has one of its own.
    """

    send: SendText
    channel: CardChannel
    scope: ScopeState
    place: Aside
    on_leaving: Callable[[], None] = lambda: None
    counted_as: int | None = None


@dataclass
class TurnShown:
    """What its models are shown, and what they may look at.

    Attributes:
        lookups: What tools answered to proxy and planner.
        provenance: The labels of everything that the models of this turn are shown.
        looks: What the models of this turn may still see of the workspace.
        tools, request: Made by steps 6 and 7; `need` where a step relies on one.
    """

    lookups: list[Lookup] = field(default_factory=list[Lookup])
    provenance: Provenance = field(default_factory=lambda: Provenance({}))
    looks: LookLimits = NO_LOOKS
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    manner: SpeakingStyle = NEUTRAL
    tools: ToolRun | None = None
    request: TurnRequest | None = None


@dataclass
class TurnAnswer:
    """What is answered, by whom, and how the turn ends with it.

    Attributes:
        notes: What the owner is told besides the answer.
        said: What of the answer was said before he decided.
        route, response: Made by step 7; `need` where a step relies on one.
    """

    route: RouteDecision | None = None
    mode: InteractionMode = InteractionMode.confirm_only_when_required
    speaker: str = "agent:proxy"
    response: AgentResponse | None = None
    notes: list[str] = field(default_factory=list[str])
    said: str = ""
    outcome: Outcome = "answered"


@dataclass
class TurnProposal:
    """The plan that it proposes, if it does.

    Attributes:
        asked: A policy gate required an approval in this turn.
        planning: What the planner was asked, with all that was looked up by then.
        review: What is wrong with the plan.
        returned: How often it went back to the planner.
        made_from: What it was made from.
    """

    asked: bool = False
    planning: TurnRequest | None = None
    review: PlanReview = field(default_factory=PlanReview)
    returned: int = 0
    plan: WorkItem | None = None
    made_from: tuple[str, ...] = ()


@dataclass
class Turn:
    """What one turn knows; made at step 0, filled in as the steps go by.

    Attributes:
        gates: The active gate set, frozen at step 0 and never rebuilt.
        kept: What is still to be written.
    """

    id: str
    gates: TurnGates
    message: TurnMessage
    seat: TurnOrigin
    shown: TurnShown = field(default_factory=TurnShown)
    answer: TurnAnswer = field(default_factory=TurnAnswer)
    proposal: TurnProposal = field(default_factory=TurnProposal)
    kept: TurnWrites = field(default_factory=TurnWrites)

    @property
    def scope_id(self) -> str:
        """Whose turn it is."""
        return self.seat.scope.id

    @property
    def address(self) -> str:
        """Which conversation it is part of; names what its models are shown."""
        return self.seat.scope.address

    @property
    def asked_by(self) -> AskedBy:
        """What a plan of this turn was asked for by; others than the owner are not told so."""
        if self.scope_id != OWNER:
            return NO_MESSAGE
        return AskedBy(self.seat.scope.conversation, self.message.incoming.message.id)

    @property
    def door(self) -> str:
        """The channel whose words its answer has; see `Incoming.door`."""
        return self.message.incoming.door(self.seat.channel.channel_name)

    @property
    def number(self) -> int:
        """Its number in the scope; its own from the moment that another turn may go on."""
        return self.seat.scope.turn_number if self.seat.counted_as is None else self.seat.counted_as

    @property
    def standing(self) -> ConversationPosition:
        """Where in its conversation it stands, also while others have gone on."""
        folder = self.message.incoming.workspace or ""
        return ConversationPosition(self.number, folder, self.seat.scope.conversation)

    @property
    def source(self) -> str:
        """Where the message came from, as memories and context say it."""
        return f"channel:{self.message.incoming.message.channel}"

    @property
    def response_taint(self) -> TaintLevel:
        """The least trusted of what the answer was made from: everything the models were shown."""
        levels = (lookup.result.taint for lookup in self.shown.lookups)
        return join_taint((self.message.taint, self.shown.provenance.taint, *levels))

    @property
    def may_have_acted(self) -> bool:
        """Whether a tool answered that could have done something: those that look cannot."""
        return any(one.tool_name not in WORKSPACE_TOOL_NAMES for one in self.shown.lookups)

    def count(self) -> None:
        """Take its number, once: whoever speaks next has the next one."""
        if self.seat.counted_as is None:
            self.seat.counted_as = self.seat.scope.turn_number
            self.seat.scope.turn_number += 1

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[bool]:
        """Let the conversation go on while the owner decides; gives whether it does.

        What the models of this turn were shown is taken down first: others change what is in view.
        """
        async with self.seat.place() as goes_on:
            if goes_on:
                self.count()
                self.shown.provenance.settle()
                self.seat.on_leaving()
            yield goes_on

    def note(self, tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
        """Remember a tool's answer; what the tool chain calls."""
        self.shown.lookups.append(Lookup(tool_name, args, result))


def need(value: T | None, made_by: str) -> T:
    """A value that an earlier step has made.

    Raises:
        AssertionError: The steps ran out of order.
    """
    if value is None:
        raise AssertionError(f"{made_by} has not run")
    return value
