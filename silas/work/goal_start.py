"""What a goal does once it is approved: nothing but to say when its clock runs it (spec 5.2.3)."""

from collections.abc import Callable
from typing import Final

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.language import tr, tr_later
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore, subject_of
from silas.work.authority.plan_approval import MISSING_APPROVAL, refusal_of
from silas.work.models import Notify, ProgressEvent

_WORKS: Final = tr_later(
    "It was approved; its first run was set for {first}, while `silas start` or `silas chat` runs."
)
_CHECKS: Final = tr_later(
    "It was approved; its checks were set to run first on {first}, while `silas start` or `silas "
    "chat` runs."
)
"""Kept as they are, so that they are true whenever they are read."""

ComingWords = Callable[[str], str]
"""When a goal of this id runs next, in words; empty where the clock does not run it."""


class GoalStart:
    """The runner of goals: their work is done by the tasks that their cycles spawn.

    Args:
        approval: Whether its standing approval holds.
        store: Keeps the goal.
        coming: When it runs next, in words.
        audit: The record.
    """

    def __init__(
        self, approval: ApprovalVerifier, store: WorkItemStore, coming: ComingWords, audit: Audit
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
        first = "" if refusal else self._coming(item.id)
        if not refusal and not first:
            refusal = "The clock does not run this goal; approve it again."
        status = WorkItemStatus.blocked if refusal else WorkItemStatus.healthy
        words = refusal or (
            tr(_WORKS, first=first) if item.cycle is not None else tr(_CHECKS, first=first)
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

        kept = await self._store.get(item.id)
        if kept is not None and kept.approval_token is not None:
            item.approval_token = kept.approval_token  # narrowed since it was approved
        await self._store.finish(item, result, witness)
        await notify(ProgressEvent(item.id, status.value, words, 0))
        return result
