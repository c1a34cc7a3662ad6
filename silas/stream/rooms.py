"""Everything a turn may use, in one frozen container filled at wiring (spec 5.1 `TurnContext`)."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from silas.agents import PlannerAgent, ProxyAgent
from silas.audit import Audit
from silas.clock import Clock
from silas.context import ChronicleStore
from silas.gates import Gate, Gates
from silas.memory import MemoryOperations, MemoryRetriever, MemoryStore
from silas.persona import Persona
from silas.plans import WorkItem
from silas.skills import Skills
from silas.stream.arrivals import Arrivals
from silas.stream.escalate import Escalator
from silas.stream.followed import FollowedFiles
from silas.stream.items import Items
from silas.stream.models import Send
from silas.stream.personqueue import PersonQueues
from silas.stream.ports import Files, Review, View
from silas.stream.propose import Proposer
from silas.stream.scopework import ScopeWork
from silas.stream.signin import SignIn
from silas.stream.state import Conversations, Turn
from silas.stream.workview import WorkView
from silas.tools import ToolResult
from silas.tools.look_limits import Looks
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun
from silas.types import InteractionMode, InteractionRegister

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset

    from silas.stream.planreview import ReviewPlans


class Access(Protocol):
    """What a connection may use (spec 5.6)."""

    @property
    def level(self) -> str:
        """The current access level's name."""
        ...

    async def gate_passed(self, gate_name: str) -> None:
        """Record a satisfied gate; may raise the level."""
        ...

    async def get_allowed_tools(self) -> list[str]:
        """Names of the tools of the current level."""
        ...


class Interaction(Protocol):
    """The `interaction:` section that modes are resolved with."""

    @property
    def high_initiative_min(self) -> float:
        """From which initiative on Silas acts first."""
        ...

    @property
    def default_mode_by_register(self) -> Mapping[InteractionRegister, InteractionMode]:
        """What applies where nothing else decides."""
        ...


Note = Callable[[str, dict[str, Any], ToolResult], None]
"""Takes note of what a tool answered: its name, its arguments as they ran, the result."""

MakeToolRun = Callable[[str, str, str, frozenset[str] | AllTools, Provenance, Note, Looks], ToolRun]
"""(role, turn id, scope id, allowed names, labels, note, looks) to what a run hands the chain."""

MakeLooks = Callable[[str, str], Looks]
"""(workspace, the owner's words) to what a turn of his may look at there."""

MakeAccess = Callable[[str], Access]
"""Makes the access of one connection (spec 5.1 `access_controller_factory`)."""

Together = Callable[[], AbstractContextManager[object]]
"""Makes one transaction of everything that is written within; nothing may be awaited in it."""


@dataclass(frozen=True)
class TurnRooms:
    """Ports only; absence is a null object, never None.

    Attributes:
        system_gates: `gates.system` of the configuration.
        access: What a connection may use; a controller of its own for each.
        toolset: The PydanticAI wrapper chain that ends at the tool door.
        looks: What a turn of the owner's own words may look at.
        dispatch: Starts approved work in the background, its progress going to `Send`.
        remember: Notes whose words a plan was made from, in case it takes another one.
        plans: Looks at a plan before its owner is asked about it.
        arrivals: Messages that are not answered yet.
        conversations: What is known of each between its turns.
        work: Whose work is whose.
        items: Makes items of the context.
        files: What the owner may name to be followed.
        followed, followed_turns: What is followed, and for how many turns without mention.
        together: Makes one transaction of several writes.
        discreet: A text without any known secret.
        rehydrated_entries: Chronicle entries that come back into view after a restart.
        profiles: Names of the context profiles, the default first.
        facts: Facts for plans in this workspace, such as what runs there.
    """

    proxy: ProxyAgent
    planner: PlannerAgent
    toolset: "AbstractToolset[ToolRun]"
    tool_run: MakeToolRun
    looks: MakeLooks
    access: MakeAccess
    gates: Gates
    system_gates: tuple[Gate, ...]
    escalator: Escalator
    people: PersonQueues
    sign_in: SignIn
    proposer: Proposer
    plans: "ReviewPlans"
    dispatch: Callable[[WorkItem, Send], None]
    remember: Callable[[Turn, WorkItem, str], None]
    arrivals: Arrivals
    conversations: Conversations
    work: ScopeWork
    work_view: WorkView
    items: Items
    context: View
    files: Files
    followed: FollowedFiles
    followed_turns: int
    chronicle: ChronicleStore
    memory: MemoryStore
    retriever: MemoryRetriever
    memory_ops: MemoryOperations
    persona: Persona
    skills: Skills
    review: Review
    interaction: Interaction
    audit: Audit
    clock: Clock
    together: Together
    discreet: Callable[[str], str]
    rehydrated_entries: int
    profiles: tuple[str, ...]
    facts: Callable[[str], Awaitable[Mapping[str, str]]]
    max_memory_ops: int
