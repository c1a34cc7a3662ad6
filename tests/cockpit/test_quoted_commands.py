"""What a program or an executor said keeps its commands on the page; Silas's own name a place."""

from silas.channels.web.reports import progress_of, result_of
from silas.plans import WorkItemResult, WorkItemStatus
from silas.testing import MockClock, a_plan
from silas.work.models import ProgressEvent, WorkProgress, WorkStep

ITEM = a_plan()
COMMAND = "Run sh -c 'echo \"see `silas status`\"'"


def test_a_step_under_way_is_told_as_it_runs() -> None:
    going = WorkProgress(steps=(WorkStep(COMMAND, "running"),))
    event = ProgressEvent(ITEM.id, "running", COMMAND, 1, going)
    assert progress_of(ITEM, event).message == COMMAND
    own = event._replace(message="See `silas status`.")
    assert progress_of(ITEM, own).message == "See “Work” under “More”."


def test_a_summary_quotes_the_executor_and_a_check_word_for_word() -> None:
    report = "I need\n`silas secrets list` first."
    reason = "output 'run `silas undo w1`', expected exactly 'x'"
    quoted = f"{' '.join(report.split())} note: {reason}"
    result = WorkItemResult(
        work_item_id=ITEM.id,
        status=WorkItemStatus.blocked,
        summary=f"The executor reports that it cannot go on: {quoted} `silas status` has more.",
        report=report,
        verification_results=[{"results": [{"name": "note", "passed": False, "reason": reason}]}],
    )
    event = ProgressEvent(ITEM.id, "blocked", result.summary)
    told = result_of(ITEM, event, result, MockClock().now()).summary
    assert told == (
        f"The executor reports that it cannot go on: {quoted} “Work” under “More” has more."
    )
