"""Where work items live, so that a crash loses none (spec 4.13)."""

from typing import Protocol

from silas.plans.models import BudgetUsed, WorkItem, WorkItemResult, WorkItemStatus


class WorkItemStore(Protocol):
    """Durable work items and their results. Lists are ordered by creation, then id.

    What is loaded is a copy: changing it changes nothing stored. Every method raises
    `DatabaseError` where the store cannot answer; `E_DB_CORRUPT` where what it holds does not
    match what was approved.
    """

    async def save(self, item: WorkItem) -> None:
        """Insert or replace the item, state and approval token included."""
        ...

    async def get(self, work_item_id: str) -> WorkItem | None:
        """The item, or None."""
        ...

    async def list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        """Items that stand there."""
        ...

    async def list_by_parent(self, parent_id: str) -> list[WorkItem]:
        """Children of an item."""
        ...

    async def list_by_follow_up(self, work_item_id: str) -> list[WorkItem]:
        """Items that deepen or correct an item."""
        ...

    async def update_status(
        self, work_item_id: str, status: WorkItemStatus, budget_used: BudgetUsed
    ) -> None:
        """Change both together. An unknown item is `E_DB_MISSING`."""
        ...

    async def save_result(self, result: WorkItemResult) -> None:
        """Insert or replace what executing an item returned, artifacts included."""
        ...

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """The latest result of an item, or None."""
        ...
