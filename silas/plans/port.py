"""Where work items live, so that a crash loses none (spec 4.13)."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from silas.plans.models import BudgetUsed, WorkItem, WorkItemResult, WorkItemStatus
from silas.plans.source_marks import KeptMarks


class WorkItemStore(Protocol):
    """Durable work items and their results. Lists are ordered by creation, then by first saving.

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

    def asking(self) -> frozenset[str]:
        """The ids of work with a question that waits for its owner's answer."""
        ...

    def was_unanswered(self, item: WorkItem) -> bool:
        """Whether the last question that work asked under its approval got no answer."""
        ...

    async def finish(
        self, item: WorkItem, result: WorkItemResult, witness: Callable[[], object]
    ) -> None:
        """Save the item, its result and what `witness` records in one transaction, or nothing."""
        ...


class AskedBy(NamedTuple):
    """What asked for a plan; the first conversation and no message where no message did.

    Attributes:
        conversation: Which of the owner's conversations; empty for the first one.
        message: The message's id; empty where it has none.
    """

    conversation: str = ""
    message: str = ""


NO_MESSAGE: Final = AskedBy()


class WaitingPlan(NamedTuple):
    """A plan that the owner is asked about.

    Attributes:
        item: The plan; it has no approval.
        rationale: Why it is proposed, in the proposer's words.
        changes_wanted: The owner has answered that he wants it changed; it waits for its change.
        asked_by: What asked for it, so that what is said of it later stands under that.
    """

    item: WorkItem
    rationale: str
    changes_wanted: bool = False
    asked_by: AskedBy = NO_MESSAGE


class WaitingPlans(Protocol):
    """Where open questions about plans live until they are answered, so that a crash loses none.

    Every method raises `DatabaseError` where the store cannot answer.
    """

    async def put(self, waiting: WaitingPlan) -> None:
        """Keep the question; the same plan is kept once."""
        ...

    async def drop(self, item: WorkItem) -> None:
        """The question about exactly this plan is answered, or was never kept."""
        ...

    async def stands(self, work_item_id: str, plan_hash: str) -> bool:
        """Whether the question about exactly this plan is open; another process may answer it."""
        ...

    async def all(self) -> list[WaitingPlan]:
        """Every open question, the oldest first."""
        ...

    async def to_change(self) -> list[WaitingPlan]:
        """The plans that the owner wants changed, the one he said so of last at the end."""
        ...


class SharedWaitingPlans(WaitingPlans, Protocol):
    """The same where several processes of one home may ask about a plan at once."""

    async def wait_until_closed(self, work_item_id: str, plan_hash: str) -> None:
        """Wait until the question about exactly this plan is open no longer, whoever closes it."""
        ...

    async def shown_elsewhere(self, work_item_id: str, plan_hash: str) -> bool:
        """Whether anybody waits like this for the question about exactly this plan; whoever asks
        waits no more.
        """
        ...

    async def keep_marks(self, project_id: str, marks: KeptMarks) -> None:
        """Keep what of an approved project was read elsewhere, for the card of its rest."""
        ...

    async def marks_of(self, project_id: str) -> KeptMarks:
        """The same of an approved project; unknown where nothing of it is kept."""
        ...
