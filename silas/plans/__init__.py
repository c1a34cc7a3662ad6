"""Plans as prose with machine-checkable verification: parser, hash, budget, card, library, port.

What must not go in: anything that runs a plan, asks a person, or knows a tool or an agent. The
database store is imported by its full name.
"""

from silas.plans.budget import BudgetExhausted, BudgetTracker, RemainingBudget, Reservation
from silas.plans.card import plan_card
from silas.plans.characters import show, show_lines
from silas.plans.errors import PlanError
from silas.plans.failures import format_failures
from silas.plans.goals.recurring import recurring_task
from silas.plans.markdown import PlanParser
from silas.plans.models import (
    Budget,
    BudgetUsed,
    VerificationCheck,
    VerificationReport,
    VerificationResult,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemType,
)
from silas.plans.port import (
    NO_MESSAGE,
    AskedBy,
    SharedWaitingPlans,
    WaitingPlan,
    WaitingPlans,
    WorkItemStore,
)
from silas.plans.runbooks.library import LibraryPlan, Parameter, PlanLibrary, shipped_plans
from silas.plans.spawn import spawn_policy_hash, spawn_task
from silas.plans.subject import plan_bytes, plan_hash, subject_of

__all__ = [
    "NO_MESSAGE",
    "AskedBy",
    "Budget",
    "BudgetExhausted",
    "BudgetTracker",
    "BudgetUsed",
    "LibraryPlan",
    "Parameter",
    "PlanError",
    "PlanLibrary",
    "PlanParser",
    "RemainingBudget",
    "Reservation",
    "SharedWaitingPlans",
    "VerificationCheck",
    "VerificationReport",
    "VerificationResult",
    "WaitingPlan",
    "WaitingPlans",
    "WorkItem",
    "WorkItemResult",
    "WorkItemStatus",
    "WorkItemStore",
    "WorkItemType",
    "format_failures",
    "plan_bytes",
    "plan_card",
    "plan_hash",
    "recurring_task",
    "shipped_plans",
    "show",
    "show_lines",
    "spawn_policy_hash",
    "spawn_task",
    "subject_of",
]
