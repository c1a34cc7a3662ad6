"""One pass through the loop: what it is told, what it knows, what it leaves (spec 5.2.1 b, e)."""

from dataclasses import dataclass, field
from typing import Final

from silas.context import scrub_output
from silas.language import RUN_PLAN_AGAIN, RUN_PROJECT_AGAIN, tr, tr_later
from silas.plans import BudgetTracker, VerificationReport, WorkItem, format_failures
from silas.plans.budget import shares
from silas.work.checks.check_files import check_files_note
from silas.work.ledger import Ledger
from silas.work.report import NO_REPORT, ExecutorReport


@dataclass
class Attempt:
    """What one pass knows.

    Attributes:
        ledger: What the tools really did.
        next_steps: What the agent suggests for afterwards.
        error: Why it failed before its checks were asked, if it did.
        blocked: Why the whole task must stop, if it must.
        report: What the checks found, where they were run.
        checks_changed: The files of these checks that the work changed.
        said: What the agent says of it, and whether it says that it cannot go on.
        stopped: At which step of a runbook it failed, and why; a model may try another way.
    """

    ledger: Ledger
    next_steps: list[str] = field(default_factory=list[str])
    error: str | None = None
    blocked: str | None = None
    report: VerificationReport | None = None
    checks_changed: tuple[str, ...] = ()
    said: ExecutorReport = NO_REPORT
    stopped: str = ""


def instructions(item: WorkItem, failures: str, guidance: str) -> str:
    """The briefing; on a retry with what failed and what the planner advises (2b)."""
    parts = [item.body]
    if failures:
        # What checks printed may be anybody's words: no line of it can pass for the briefing's.
        found = "\n".join(f"> {line}" for line in scrub_output(failures).split("\n"))
        parts.append(f"# Previous attempt {item.attempts - 1} failed\n\n{found}")
    if guidance:
        parts.append(f"# Planner guidance\n\n{guidance}")
    return "\n\n".join(parts)


def again_words(item: WorkItem) -> str:
    """How work that does not go on by itself is begun anew; a part has no plan file of its own."""
    if item.spawned_by is not None:
        return tr(
            "The next cycle of the goal {goal} looks again; `silas goals run {goal}` begins it "
            "now.",
            goal=item.spawned_by,
        )
    if item.parent is not None:
        return tr(
            "It is part of {project}: {again}", project=item.parent, again=tr(RUN_PROJECT_AGAIN)
        )
    return tr(RUN_PLAN_AGAIN)


def without_last_attempt(item: WorkItem) -> None:
    """Take the last attempt out of what was used; what it used beside that stays counted."""
    used = item.budget_used
    fewer = {name: max(getattr(used, name) - 1, 0) for name in ("attempts", "executor_runs")}
    item.budget_used, item.attempts = used.model_copy(update=fewer), max(item.attempts - 1, 0)


def out_of_budget(item: WorkItem, tracker: BudgetTracker) -> str:
    """Why no attempt could begin though none failed: what is used up, and how work goes on."""
    again = again_words(item)
    limit = item.budget.max_attempts
    if tracker.remaining().attempts <= 0:
        which = (
            tr("its only attempt")
            if limit == 1
            else tr("the last of its {limit} attempts", limit=limit)
        )
        return tr(
            "It was interrupted in {which}, so it does not go on by itself. {again}",
            which=which,
            again=again,
        )
    spent = [one.words for one in shares(tracker.measure_use(), tracker.budget) if one.share >= 1]
    words = ", ".join(spent) or tracker.describe()
    return tr(
        "Its budget was used up before it was interrupted: {words}. {again}",
        words=words,
        again=again,
    )


def what_was_done(attempt: Attempt) -> str:
    """The words of work that is done."""
    if attempt.report is None:
        return tr("Done; the plan has no checks, so nothing was verified.")
    passed = ", ".join(result.name for result in attempt.report.results)
    return tr(
        "Done and verified: {passed}. {check_files_note}",
        passed=passed,
        check_files_note=check_files_note(attempt.checks_changed),
    ).rstrip()


OUT_OF_FORM: Final = "executor_structured_output_invalid"
"""An attempt's error where its model never answered in the form that it was asked for."""

_NO_FORM: Final = tr_later("The model that does the work did not answer in the form that it must.")


def owner_words(failure: str) -> str:
    """Why an attempt did not do, as its owner reads it."""
    return tr(_NO_FORM) if failure == OUT_OF_FORM else failure


def failed_step(attempt: Attempt) -> str:
    """That a step of a runbook failed though each check holds; nothing where that is not so.

    A check may hold for another reason: a file that was never there is gone, too.
    """
    if not attempt.stopped or attempt.report is None or attempt.report.failed:
        return ""
    names = ", ".join(result.name for result in attempt.report.results)
    return tr(
        "{stopped}\nIts checks hold all the same: {names}. Nothing of it was applied.",
        stopped=attempt.stopped,
        names=names,
    )


def what_failed(attempt: Attempt) -> str:
    """Why an attempt did not do, in words for the next one."""
    if attempt.error is not None:
        return attempt.error
    if attempt.report is not None:
        return f"{attempt.stopped}\n{format_failures(attempt.report)}".strip("\n")
    if attempt.stopped:
        return attempt.stopped
    failed = next((e for e in attempt.ledger.entries if not e.result.ok), None)
    return f"{failed.tool_name} failed: {failed.result.error}" if failed else "nothing was done"
