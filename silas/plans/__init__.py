"""Plans as prose with machine-checkable verification: data, parser, hash, budget, store."""

from silas.plans.models import (
    Budget,
    BudgetUsed,
    VerificationCheck,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemType,
)

__all__ = [
    "Budget",
    "BudgetUsed",
    "VerificationCheck",
    "WorkItem",
    "WorkItemResult",
    "WorkItemStatus",
    "WorkItemType",
]
