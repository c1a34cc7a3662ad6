"""What the Stream needs of rooms that other domains make: the view of the models, the review."""

from collections.abc import Callable, Sequence, Set
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from silas.autonomy import Signal
from silas.context import (
    ContextItem,
    ContextPressure,
    ContextSubscription,
    ContextZone,
    RenderedContext,
)
from silas.plans import WorkItem, WorkItemResult
from silas.stream.turn_place import Aside
from silas.tools import ToolResult
from silas.tools.look_limits import LookLimits
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun
from silas.types import TaintLevel

if TYPE_CHECKING:
    from silas.goals.goal_names import GoalName
    from silas.goals.models import Goal


class LooksAhead(Protocol):
    """What is to come, what may run without asking, what runs in several steps."""

    async def look(self, days: int) -> object:
        """Within so many days from now, at least one; whoever wires it knows what it returns."""
        ...

    async def why(self, goal_id: str) -> str:
        """How a goal stands, and why it is paused or starts nothing without asking, in words."""
        ...

    async def question(self, goal_id: str) -> str:
        """That work of a goal waits for its owner's answer; empty where none does."""
        ...

    async def trouble(self, goal_id: str) -> str:
        """Why it is paused or starts nothing without asking; empty where it is neither."""
        ...

    async def runs(self, goal_id: str) -> str:
        """How often a goal ran and when it runs next, in words."""
        ...

    async def goals_named(self, which: str) -> Sequence["GoalName"]:
        """The goals that are not over which the owner means: by id, or by words of the title."""
        ...

    async def goal_name(self, goal_id: str) -> str:
        """What its owner calls a goal: its title, and its id where another one has that title."""
        ...

    async def goal_lines(self, goal_ids: Sequence[str], most: int) -> Sequence[str]:
        """The same for a model, a line each; of those that are not over, so many at most."""
        ...

    async def agenda(self, first: int, days: int) -> str:
        """What so many days bring by the clock, from so many days after today, in words."""
        ...

    async def alone_words(self) -> str:
        """What may run without asking, in words."""
        ...


class LooksBack(Protocol):
    """What was done."""

    async def tell_done(self, first: int, days: int) -> str:
        """Within so many days, the first of which is so many from today (0 or fewer), in words."""
        ...


class TellsUnderWay(Protocol):
    """What runs and what waits for the owner."""

    async def words(self) -> str:
        """All of it, in words."""
        ...


class ModelView(Protocol):
    """What the models see, per scope; no scope ever sees another's (spec 4.3)."""

    def add(self, scope_id: str, item: ContextItem) -> str:
        """Take an item into view; one of the same id, or that names the same thing, gives way."""
        ...

    def renew(self, scope_id: str, ctx_id: str, relevance: float, turn_number: int) -> None:
        """Take note that an item in view is what this turn was looking for."""
        ...

    def drop(self, scope_id: str, ctx_id: str) -> None:
        """Take an item out of view, if it is there."""
        ...

    def complete(self, scope_id: str, ctx_id: str, *, succeeded: bool = False) -> None:
        """The work of a plan is over, or it was declined: from now on it may be evicted."""
        ...

    def get_zone(self, scope_id: str, zone: ContextZone) -> list[ContextItem]:
        """The items of a zone, the oldest first."""
        ...

    def subscribe(self, scope_id: str, sub: ContextSubscription) -> str:
        """Look at a file, some of its lines or a question to memory anew for each call."""
        ...

    def set_profile(self, scope_id: str, profile_name: str) -> None:
        """Divide the window as this profile says from now on."""
        ...

    def forget(self, scope_id: str, source: str) -> int:
        """Take out of view what came from a source, derived items included; returns how many."""
        ...

    async def refresh(self, scope_id: str, turn_number: int) -> None:
        """Look at what is subscribed to, before it is rendered."""
        ...

    def render(
        self, scope_id: str, turn_number: int, leave_out: frozenset[str] = frozenset()
    ) -> RenderedContext:
        """Everything in view, each item in framing that names its origin, or as Silas said it."""
        ...

    async def enforce_budget(
        self, scope_id: str, turn_number: int, current_goal: str | None = None
    ) -> list[ContextItem]:
        """Make room where the context is too full; returns what had to go (decision A12)."""
        ...

    def pressure(self, scope_id: str, turn_number: int) -> ContextPressure:
        """How full the window is, the fixed parts of prompts included."""
        ...

    def in_view(self, scope_id: str) -> Sequence[ContextItem]:
        """Every item in view, in the order in which it is rendered."""
        ...

    def ways(self, scope_id: str) -> Sequence[tuple[str, ...]]:
        """What the items in view came from, each way that any of them came once."""
        ...

    def taints(self, scope_id: str) -> Set[TaintLevel]:
        """How far the items in view are trusted, each level that any of them has."""
        ...


class Review(Protocol):
    """What waits for the owner's look: reviews, suggestions, proposals (step 0.5, 5.1.6)."""

    async def poll(self, scope_id: str) -> None:
        """Show what waits, beside the turn; never keeps it waiting."""
        ...

    def turn_ended(self, scope_id: str) -> None:
        """A turn of this scope is over: what waits may be shown now."""
        ...

    async def note_signal(self, signal: Signal) -> None:
        """Take note of what the owner decided; never fails."""
        ...

    async def after_result(self, item: WorkItem, result: WorkItemResult) -> None:
        """Turn the next steps of finished work into suggestions."""
        ...


class ScopeFiles(Protocol):
    """The files of the directory that each scope's work is about."""

    def enter(self, scope_id: str, root: Path) -> None:
        """From now on the scope's work is about this directory."""
        ...

    def __call__(self, scope_id: str, path: str) -> bytes:
        """A file's bytes. Raises `ContextError` where the scope may not see it."""
        ...


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


MakeAccess = Callable[[str], Access]
"""Makes the access of one connection (spec 5.1 `access_controller_factory`)."""

Note = Callable[[str, dict[str, Any], ToolResult], None]
"""Takes note of what a tool answered: its name, its arguments as they ran, the result."""

MakeToolRun = Callable[
    [str, str, str, frozenset[str] | AllTools, Provenance, Note, LookLimits, Aside], ToolRun
]
"""(role, turn id, address, allowed names, labels, note, looks, aside) to what a run is given."""

MakeLooks = Callable[[str, str, str, Aside], LookLimits]
"""(workspace, the owner's words, conversation, aside) to what a turn of his may look at there."""

Together = Callable[[], AbstractContextManager[object]]
"""Makes one transaction of everything that is written within; nothing may be awaited in it."""


class GoalControls(Protocol):
    """The service of goals, as far as its owner's words, pages and a program reach it."""

    def get_goal(self, goal_id: str) -> "Goal | None":
        """One goal; None where there is none of this id."""
        ...

    def only_goal(self) -> str:
        """The id of the one goal that is not over; empty where there are more, or none."""
        ...

    def coming_words(self, goal_id: str) -> str:
        """When a goal runs next as a person says it; empty where it does not."""
        ...

    def pause(self, goal_id: str, why: str = "") -> "Goal":
        """It runs no more until it is resumed; raises `GoalRefused` where it does not run."""
        ...
