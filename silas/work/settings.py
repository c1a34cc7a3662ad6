"""What running a task needs of the configuration."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from silas.gates import Gate
from silas.plans import Budget, WorkItem
from silas.sandbox import SandboxLimits
from silas.tools import AutonomyLevel
from silas.work.checks.verify import WatchCheck
from silas.work.left_waiting import LeftWaiting


@dataclass(frozen=True)
class TaskSettings:
    """Numbers and places that come from the configuration.

    Attributes:
        scratch: Where private workspace copies live while a task runs.
        undo: Where what a task overwrote is kept, one directory a work item.
        limits: Sandbox limits of one tool call.
        autonomy: The autonomy level of execution (decision table C).
        system_gates: `gates.system`, evaluated before the work item's own.
        follows_runbook: Whether the executor is the built-in model, which does the same each time;
            another one is put in force only while nothing runs.
        budget_of: What a run of an item may use: its plan's budget, or what its project has left.
        watch_checks: Who looks at the checks of an item while they run, by its id.
        left: What was asked when an attempt was cut off, and what an orderly end leaves.
        scopes: What the owner's work is granted beside the sandbox: the mounted toolsets.
        refresh: Brings the tools of others up to what is trusted now, before work begins.
    """

    scratch: Path
    undo: Path
    limits: SandboxLimits
    autonomy: AutonomyLevel
    system_gates: tuple[Gate, ...]
    scopes: frozenset[str]
    follows_runbook: Callable[[], bool]
    budget_of: Callable[[WorkItem], Budget]
    watch_checks: Callable[[str], WatchCheck]
    left: LeftWaiting
    refresh: Callable[[], Awaitable[None]]
