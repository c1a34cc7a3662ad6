"""What becomes of one task: its state and result are kept first, then told (5.2.1)."""

from contextlib import suppress
from functools import partial

from silas.audit import Audit
from silas.errors import DatabaseError
from silas.language import tr
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.work.models import Notify, ProgressEvent
from silas.work.report import NOTHING_LEFT, AttemptOutput
from silas.work.unanswered import add_unanswered

_UNDER_WAY = (WorkItemStatus.pending, WorkItemStatus.running)


def result_of(
    item: WorkItem,
    status: WorkItemStatus,
    words: str,
    *,
    artifacts: dict[str, str] | None = None,
    next_steps: list[str] | None = None,
    diff: str = "",
    left: AttemptOutput = NOTHING_LEFT,
    checks_changed: tuple[str, ...] = (),
    read_before: tuple[str, ...] = (),
) -> WorkItemResult:
    """What is said of an item that ends so."""
    return WorkItemResult(
        work_item_id=item.id,
        status=status,
        summary=words,
        last_error=None if status is WorkItemStatus.done else words,
        verification_results=item.verification_results,
        budget_used=item.budget_used,
        artifacts=artifacts or {},
        next_steps=next_steps or [],
        diff=diff,
        **left._asdict(),
        checks_changed=list(checks_changed),
        read_before=list(read_before),
    )


class TaskRecord:
    """Keeps the state of tasks; whoever listens hears of nothing that is not kept."""

    def __init__(self, store: WorkItemStore, audit: Audit) -> None:
        self._store = store
        self._audit = audit
        self._left: dict[str, AttemptOutput] = {}

    def leaves(self, item: WorkItem, left: AttemptOutput) -> None:
        """Note what the last attempt of a running item leaves; its result will have it."""
        self._left[item.id] = left

    def add_left(self, result: WorkItemResult) -> WorkItemResult:
        """A result with what was printed and reported on the way to it."""
        left = self._left.get(result.work_item_id, NOTHING_LEFT)
        return result.model_copy(update=left._asdict())

    async def attempt(self, item: WorkItem, notify: Notify) -> None:
        """An attempt is about to begin."""
        item.status = WorkItemStatus.running
        await self._store.save(item)
        await self._audit.log("work_item_attempt", work_item_id=item.id, attempt=item.attempts)
        words = tr("attempt {attempt}", attempt=item.attempts)
        await notify(ProgressEvent(item.id, item.status.value, words, item.attempts))

    async def record_end(
        self,
        item: WorkItem,
        status: WorkItemStatus,
        words: str,
        *,
        artifacts: dict[str, str] | None = None,
        next_steps: list[str] | None = None,
        diff: str = "",
    ) -> WorkItemResult:
        """The task is over."""
        result = result_of(
            item, status, words, artifacts=artifacts, next_steps=next_steps, diff=diff
        )
        result = add_unanswered(item, self.add_left(result), self._store)
        return await self.save_result(item, result)

    async def record_not_begun(self, item: WorkItem, words: str) -> WorkItemResult:
        """The task is over, and nothing of it was ever done."""
        result = result_of(item, WorkItemStatus.blocked, words)
        return await self.save_result(item, result, "work_item_not_begun")

    async def save_result(
        self, item: WorkItem, result: WorkItemResult, event: str = "work_item_finished"
    ) -> WorkItemResult:
        """Keep state, result and audit entry as one: an item that looks done is on record."""
        ended = partial(
            self._audit.log_now,
            event,
            work_item_id=item.id,
            status=result.status.value,
        )
        before, item.status = item.status, result.status
        try:
            await self._store.finish(item, result, ended)
        except BaseException:
            item.status = before  # what could not be kept has not happened
            raise
        self._left.pop(item.id, None)
        return result

    async def record_stop(self, item: WorkItem) -> WorkItemResult | None:
        """The task was cancelled: `paused`, unless it had ended already; then its result."""
        self._left.pop(item.id, None)
        with suppress(DatabaseError):  # the cancellation must go on; rehydration finds the item
            if item.status not in _UNDER_WAY:
                return await self._store.get_result(item.id)
            item.status = WorkItemStatus.paused
            await self._store.save(item)
            await self._audit.log("work_item_cancelled", work_item_id=item.id)
        return None
