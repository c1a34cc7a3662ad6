"""Running and finished work as a page shows it: pure functions."""

from datetime import datetime, timedelta

from silas.channels.web.events import BudgetLine, Progress, ProgressStep
from silas.channels.web.results import CheckResult, PostExecution
from silas.language import COCKPIT, retell, said_at
from silas.plans import WorkItem, WorkItemResult
from silas.plans.characters import show
from silas.work.checks.reason_words import REASONS, reason_words
from silas.work.end_words import END_SENTENCES, tell_end
from silas.work.models import PATCH, SETTLED, ProgressEvent
from silas.work.unanswered import plan_anew

UNDO_WINDOW = timedelta(minutes=5)
"""For how long one tap takes back what work changed (spec 0.5.5); later it takes two."""

_LONGEST_DIFF = 200_000  # characters; `silas diff ID` has all of it


def progress_of(item: WorkItem, event: ProgressEvent, conversation: str = "") -> Progress:
    """How an item is going that was asked for in a conversation."""
    running = event.status == "running"  # then it may say what a step does
    return Progress(
        work_item_id=item.id,
        title=item.title,
        status=event.status,
        message=said_at(
            COCKPIT,
            event.message if running else tell_end(event.message),
            [one.words for one in event.going.steps],
        ),
        attempt=event.attempt,
        steps=tuple(ProgressStep(**one._asdict()) for one in event.going.steps),
        log_tail=event.going.log_tail,
        budget=tuple(BudgetLine(**one._asdict()) for one in event.going.budget),
        stoppable=event.status not in SETTLED,
        conversation=conversation,
    )


def result_of(
    item: WorkItem, event: ProgressEvent, result: WorkItemResult | None, now: datetime
) -> PostExecution:
    """How an item ended: its checks, what changed, and until when one tap takes it back."""
    if result is None:  # it ended before anything of it could be kept
        result = WorkItemResult(work_item_id=item.id, status=item.status, summary=event.message)
    patch = result.artifacts.get(PATCH, "") or result.diff
    return PostExecution(
        seq=0,
        work_item_id=item.id,
        title=item.title,
        status=event.status,
        summary=said_at(COCKPIT, tell_end(result.summary), quoted_in(result)),
        checks=_checks(result),
        checks_changed=tuple(map(show, result.checks_changed)),
        diff=patch[:_LONGEST_DIFF],
        output=result.output,
        report=result.report,
        grounds=result.grounds,
        undo_until=now + UNDO_WINDOW if event.status == "done" and patch else None,
        again=plan_anew(item, result) is not None,
        timestamp=now,
    )


def retold(kept: PostExecution) -> PostExecution:
    """A result that was told before, in the owner's language of now: what is Silas's own of it."""
    lines = [retell(one, END_SENTENCES) for one in kept.summary.split("\n")]
    checks = tuple(
        one.model_copy(update={"words": retell(one.words, REASONS)}) for one in kept.checks
    )
    return kept.model_copy(update={"summary": "\n".join(lines), "checks": checks})


def quoted_in(result: WorkItemResult) -> list[str]:
    """What a summary may quote: the executor's report, on one line, and what its checks found."""
    checks = [one for attempt in result.verification_results for one in attempt["results"]]
    return [" ".join(result.report.split()), *(str(check["reason"]) for check in checks)]


def _checks(result: WorkItemResult) -> tuple[CheckResult, ...]:
    """What the last attempt's checks found; none where there was no attempt."""
    attempts = result.verification_results[-1:]
    return tuple(
        CheckResult(
            name=str(check["name"]),
            passed=check["passed"] is True,
            words=reason_words(str(check["reason"])),
        )
        for attempt in attempts
        for check in attempt["results"]
    )
