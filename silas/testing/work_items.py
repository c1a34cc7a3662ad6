"""Work items in memory, for tests; runs through the store's contract tests."""

import asyncio
from collections.abc import Callable

from silas.errors import DatabaseError
from silas.plans import (
    BudgetUsed,
    WaitingPlan,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    plan_hash,
)
from silas.plans.source_marks import UNKNOWN_MARKS, KeptMarks


class InMemoryWorkItemStore:
    """`WorkItemStore` in a dictionary of copies."""

    def __init__(self) -> None:
        self._items: dict[str, WorkItem] = {}
        self._results: dict[str, WorkItemResult] = {}

    async def save(self, item: WorkItem) -> None:
        """Keep a copy."""
        self._items[item.id] = item.model_copy(deep=True)

    async def get(self, work_item_id: str) -> WorkItem | None:
        """A copy, or None."""
        return next(iter(self._select(lambda item: item.id == work_item_id)), None)

    async def list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        """Items that stand there."""
        return self._select(lambda item: item.status is status)

    async def list_by_parent(self, parent_id: str) -> list[WorkItem]:
        """Children of an item."""
        return self._select(lambda item: item.parent == parent_id)

    async def list_by_follow_up(self, work_item_id: str) -> list[WorkItem]:
        """Items that deepen or correct an item."""
        return self._select(lambda item: item.follow_up_of == work_item_id)

    async def update_status(
        self, work_item_id: str, status: WorkItemStatus, budget_used: BudgetUsed
    ) -> None:
        """Change both together."""
        if work_item_id not in self._items:
            raise DatabaseError(f"There is no work item {work_item_id}.", code="E_DB_MISSING")
        item = self._items[work_item_id]
        item.status, item.budget_used = status, budget_used

    async def save_result(self, result: WorkItemResult) -> None:
        """Keep a copy."""
        self._results[result.work_item_id] = result.model_copy(deep=True)

    async def get_result(self, work_item_id: str) -> WorkItemResult | None:
        """A copy, or None."""
        found = self._results.get(work_item_id)
        return None if found is None else found.model_copy(deep=True)

    def asking(self) -> frozenset[str]:
        """None: questions are kept in a database only."""
        return frozenset()

    def was_unanswered(self, item: WorkItem) -> bool:
        """False, as above."""
        del item
        return False

    async def finish(
        self, item: WorkItem, result: WorkItemResult, witness: Callable[[], object]
    ) -> None:
        """Keep both, unless the witness fails."""
        witness()
        await self.save_result(result)
        await self.save(item)

    def _select(self, wanted: Callable[[WorkItem], bool]) -> list[WorkItem]:
        found = [item.model_copy(deep=True) for item in self._items.values() if wanted(item)]
        return sorted(found, key=lambda item: item.created_at)


class InMemoryWaitingPlans:
    """`SharedWaitingPlans` in a dictionary of copies, the oldest first."""

    def __init__(self) -> None:
        self._waiting: dict[str, WaitingPlan] = {}
        self._asking: list[tuple[str, asyncio.Event]] = []
        self._marks: dict[str, KeptMarks] = {}

    async def keep_marks(self, project_id: str, marks: KeptMarks) -> None:
        """Keep them under the id."""
        self._marks[project_id] = marks

    async def marks_of(self, project_id: str) -> KeptMarks:
        """What is kept under the id."""
        return self._marks.get(project_id, UNKNOWN_MARKS)

    async def put(self, waiting: WaitingPlan) -> None:
        """Keep a copy, once, as the newest."""
        item = waiting.item.model_copy(deep=True)
        await self.drop(item)
        self._waiting[plan_hash(item)] = waiting._replace(item=item)

    async def drop(self, item: WorkItem) -> None:
        """Forget exactly this plan."""
        self._waiting.pop(plan_hash(item), None)
        for _, dropped in self._asking:
            dropped.set()

    async def wait_until_closed(self, work_item_id: str, plan_hash: str) -> None:
        """Wait until this plan is not there."""
        dropped = asyncio.Event()
        asking = (plan_hash, dropped)
        self._asking.append(asking)
        try:
            while await self.stands(work_item_id, plan_hash):
                await dropped.wait()
                dropped.clear()
        finally:
            self._asking.remove(asking)

    async def shown_elsewhere(self, work_item_id: str, plan_hash: str) -> bool:
        """Whether anybody waits for this plan."""
        del work_item_id
        return any(plan_hash == asked for asked, _ in self._asking)

    async def stands(self, work_item_id: str, plan_hash: str) -> bool:
        """Whether this plan is there."""
        found = self._waiting.get(plan_hash)
        return found is not None and found.item.id == work_item_id

    async def all(self) -> list[WaitingPlan]:
        """Copies of all."""
        return [w._replace(item=w.item.model_copy(deep=True)) for w in self._waiting.values()]

    async def to_change(self) -> list[WaitingPlan]:
        """Copies of those that the owner wants changed."""
        return [waiting for waiting in await self.all() if waiting.changes_wanted]
