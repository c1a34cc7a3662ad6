"""What running work tells the outside, and what it asks of it."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from silas.approval import ApprovalDecision
from silas.errors import SilasError
from silas.gates import GateResult
from silas.plans import WorkItem, WorkItemResult
from silas.plans.budget import BudgetShare
from silas.tools import RiskLevel, ValidatedCall
from silas.tools.pending_call import AskReason
from silas.tools.provenance import Provenance
from silas.types import Origin

ENDED = frozenset({"done", "failed", "stuck", "blocked", "paused"})
"""The statuses of work after which nothing more comes."""

SETTLED = ENDED | {"healthy"}
"""Those, and that of a goal that stands: what comes of it is work of its own."""

PATCH = "changes.diff"
"""The artifact that holds what a task changed, to the byte."""


class AlreadyRunning(SilasError):
    """The item is at work; a second run beside it was refused and changed nothing."""


class WorkStep(NamedTuple):
    """One call or check of running work, in plain words, and how many seconds it took so far."""

    words: str
    state: Literal["running", "done", "failed"]
    seconds: float = 0.0


class WorkProgress(NamedTuple):
    """How running work is going.

    Attributes:
        steps: What was done, oldest first; the last ones where there are many.
        log_tail: The last lines that was put out, also by what still runs, cleaned and without
            secrets.
        budget: What of the plan's budget is used.
        phase: Where the work is: before its first attempt, in one, or after one.
    """

    steps: tuple[WorkStep, ...] = ()
    log_tail: tuple[str, ...] = ()
    budget: tuple[BudgetShare, ...] = ()
    phase: Literal["before", "attempt", "after"] = "before"


NOTHING_YET = WorkProgress()


class ProgressEvent(NamedTuple):
    """One step of running work: `running`, `verification_failed`, `done`, `blocked`, ... (5.1).

    `going` is filled in for a channel that shows it; lines of text go without.
    """

    work_item_id: str
    status: str
    message: str
    attempt: int = 0
    going: WorkProgress = NOTHING_YET


Notify = Callable[[ProgressEvent], Awaitable[None]]
"""Where progress goes; must not raise."""

FindResult = Callable[[str], Awaitable[WorkItemResult | None]]
"""How work ended, as it may be shown; None where none of this id has ended."""


class UntrustedArgument(NamedTuple):
    """A part of a call's arguments that is neither the owner's nor the plan's: which argument,
    the words, and where they were read.
    """

    path: str
    text: str
    origin: Origin


class CallQuestion(NamedTuple):
    """One tool call to be decided about: what decided that it asks, what of it is in doubt, and
    which worker asks, if any.
    """

    call: ValidatedCall
    risk: RiskLevel
    reason: AskReason
    doubts: tuple[UntrustedArgument, ...] = ()
    asked_by: str = ""


def doubts_of(provenance: Provenance, call: ValidatedCall) -> tuple[UntrustedArgument, ...]:
    """What of a call's arguments is neither the owner's nor the plan's, and where it was read."""
    return tuple(
        UntrustedArgument(leaf.path, part.text, part.origin)
        for leaf in provenance.derive(call.tool_name, call.args).unproved_leaves
        for part in provenance.parts(leaf.text)
    )


AskCalls = Callable[[WorkItem, Sequence[CallQuestion]], Awaitable[Sequence[ApprovalDecision]]]
"""Shows one card for the tool calls of one step and brings the owner's decision on each back."""

AskGate = Callable[[str, GateResult], Awaitable[bool]]
"""Shows a card for a gate that requires approval; False on anything but a clear yes."""

MissingSecrets = Callable[[Mapping[str, str]], str]
"""Why a plan cannot have the secrets it names (reference by name); nothing if it can."""


class Secrets(Protocol):
    """What work needs to know of secrets; their values are not part of it."""

    def missing(self, refs: Mapping[str, str]) -> str:
        """Why a plan cannot have the secrets it names; nothing if it can."""
        ...

    def redact(self, text: str) -> str:
        """A text without any known secret."""
        ...

    def names_in(self, text: str) -> tuple[str, ...]:
        """Which secrets a text holds, by name."""
        ...

    def names_in_file(self, chunks: Iterable[bytes]) -> tuple[str, ...]:
        """Which secrets a file holds, by name."""
        ...


Advise = Callable[[WorkItem, str], Awaitable["Advice"]]
"""Asks the planner for guidance about failures (5.2.1 e)."""


class Advice(NamedTuple):
    """The planner's guidance and what it cost.

    Attributes:
        plan_is_wrong: It says that no attempt can succeed; that ends work, and never passes it.
    """

    text: str
    tokens: int
    cost_usd: float
    plan_is_wrong: bool = False
