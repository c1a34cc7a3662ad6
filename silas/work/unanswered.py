"""Work that ended without an answer to its question: its plan is asked about anew (5.2.1).

Nothing of the old approval carries over: the plan is the same, and its card, signature and budget
are new.
"""

from typing import Final

from silas.language import tr
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore, WorkItemType
from silas.plans.subject import plan_alone
from silas.work.attempt import again_words

_WITHOUT_SUCCESS: Final = frozenset(
    {WorkItemStatus.blocked, WorkItemStatus.failed, WorkItemStatus.stuck}
)


def add_unanswered(item: WorkItem, result: WorkItemResult, store: WorkItemStore) -> WorkItemResult:
    """A result that says that a question got no answer, and how to ask anew, where that is so."""
    if result.status not in _WITHOUT_SUCCESS or not store.was_unanswered(item):
        return result
    words = f"{result.summary.rstrip()}\n{unanswered_words(item)}".lstrip()
    return result.model_copy(update={"summary": words, "last_error": words, "unanswered": True})


def unanswered_words(item: WorkItem) -> str:
    """That a question of this work got no answer in time, and how its plan is asked about anew."""
    return tr("Its question got no answer in time. {again}", again=_again_words(item))


def _again_words(item: WorkItem) -> str:
    if item.spawned_by is not None:
        return again_words(item)
    if item.parent is not None:
        return tr(
            "`silas projects rest {project}` asks about what is not done as a new project, with a "
            "budget and an approval of its own; what is done stays.",
            project=item.parent,
        )
    return tr(
        "`silas approve {id}` shows its plan again; after a new yes it begins anew.", id=item.id
    )


def plan_anew(item: WorkItem, result: WorkItemResult | None) -> WorkItem | None:
    """The plan of work that ended so, as it was; None where it is not to be asked about by itself.

    Args:
        item: The work, part of nothing.
        result: How it ended.
    """
    alone = item.type is WorkItemType.task and item.parent is None and item.spawned_by is None
    if result is None or not result.unanswered or not alone:
        return None
    return plan_alone(item)
