"""What a goal does once it is approved: nothing but to say when its clock runs it (spec 5.2.3)."""

from collections.abc import Callable
from datetime import datetime

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore, subject_of
from silas.work.authority.plan_approval import MISSING_APPROVAL, refusal_of
from silas.work.models import Notify, ProgressEvent

Coming = Callable[[str], list[datetime]]
"""The next moment of a goal by its id; nothing where the clock does not run it."""


class GoalStart:
    """The runner of goals: their work is done by the tasks that their cycles spawn.

    Args:
        approval: Whether its standing approval holds.
        store: Keeps the goal.
        coming: When it runs next.
        audit: The record.
    """

    def __init__(
        self, approval: ApprovalVerifier, store: WorkItemStore, coming: Coming, audit: Audit
    ) -> None:
        self._approval = approval
        self._store = store
        self._coming = coming
        self._audit = audit

    async def run(self, item: WorkItem, notify: Notify) -> WorkItemResult:
        """Note that it stands, and say when its checks run first; blocked without its approval."""
        token = item.approval_token
        verdict = (
            MISSING_APPROVAL
            if token is None
            else await self._approval.stands(token, subject_of(item))
        )
        refusal = refusal_of(verdict)
        moments = [] if refusal else self._coming(item.id)
        if not refusal and not moments:
            refusal = "The clock does not run this goal; approve it again."
        status = WorkItemStatus.blocked if refusal else WorkItemStatus.healthy
        what = "It runs" if item.cycle is not None else "Its checks run"
        words = refusal or (
            f"{what} first on {moments[0]:%Y-%m-%d at %H:%M} UTC, while `silas start` or "
            "`silas chat` runs."
        )
        item.status = status
        result = WorkItemResult(
            work_item_id=item.id, status=status, summary=words, last_error=refusal or None
        )

        def witness() -> None:
            if refusal:
                self._audit.log_now(
                    "execution_blocked_no_approval", work_item_id=item.id, reason=refusal
                )
            else:
                self._audit.log_now("goal.stands", work_item_id=item.id)

        await self._store.finish(item, result, witness)
        await notify(ProgressEvent(item.id, status.value, words, 0))
        return result
