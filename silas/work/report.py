"""What an executor says of its attempt: gated, cleaned, labelled; it decides nothing (3.7, 5.2.1).

The words are the model's, made from whatever it read, so they are external text. Beside them stands
what the ledger holds, which no model wrote.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from silas.context import scrub_output
from silas.language import tr, tr_many
from silas.plans import WorkItemResult
from silas.tools.builtin.sandboxed import exit_code_of
from silas.work.ledger import Ledger, LedgerEntry
from silas.work.printed_output import format_output
from silas.work.printed_output import printed_message as output_told

if TYPE_CHECKING:
    from silas.work.attempt import Attempt

LONGEST_REPORT = 8_000
"""Characters of a report that are kept; an answer that is longer belongs into a file."""

_NAMED = 5  # calls that are told apart
_TAIL = 3_000  # characters of what an attempt printed that the next one is told


class ExecutorReport(NamedTuple):
    """An executor's own account of one attempt.

    Attributes:
        words: What it says; empty where it says nothing.
        status: `done`, `blocked` or `needs_another_plan`; what it says, never what is so.
    """

    words: str = ""
    status: str = "done"

    def gives_up(self, kept: str) -> str:
        """That the work stops here, and why, in one sentence.

        Args:
            kept: Its words as they are kept.
        """
        what = (
            "this takes another plan" if self.status == "needs_another_plan" else "it cannot go on"
        )
        return (
            f"The executor reports that {what}: {' '.join(kept.split()) or 'it gives no reason.'}"
        )


NO_REPORT = ExecutorReport()


class AttemptOutput(NamedTuple):
    """What an attempt leaves for the owner besides its changes; the fields of a result.

    Attributes:
        output: What its calls printed.
        report: What its executor says.
        grounds: What the ledger holds of it.
    """

    output: str = ""
    report: str = ""
    grounds: str = ""


NOTHING_LEFT = AttemptOutput()


def attempt_output(attempt: "Attempt", redact: Callable[[str], str]) -> AttemptOutput:
    """What is kept of an attempt, however it ended."""
    return AttemptOutput(
        format_output(attempt.ledger.distinct(), redact),
        kept_words(attempt.said.words, redact),
        grounds(attempt.ledger),
    )


def kept_words(words: str, redact: Callable[[str], str]) -> str:
    """A report without known secrets, harmless to models, at most 8,000 characters."""
    return cut_report(scrub_output(redact(words)).strip())


def cut_report(text: str) -> str:
    """The beginning of a report, and how much of it is left out."""
    if len(text) <= LONGEST_REPORT:
        return text
    left_out = len(text) - LONGEST_REPORT
    return f"{text[:LONGEST_REPORT]}\n[{left_out:,} characters of the report were left out here.]"


def grounds(ledger: Ledger) -> str:
    """What the ledger holds of an attempt: how many calls ran, how many were answered from before
    without running, and which did not end well.
    """
    ran, answered = ledger.ran(), ledger.list_answered()
    parts = [tr_many(len(ran), "{count} call ran", "{count} calls ran")]
    if not ran:
        parts = [tr("no call ran")]
    if answered:
        again = tr_many(
            len(answered),
            "{count} call was answered from before without running again",
            "{count} calls were answered from before without running again",
        )
        parts.append(f"{again} ({_steps(answered)})")
    exits: dict[int, list[LedgerEntry]] = {}
    failed: list[LedgerEntry] = []
    for entry in ledger.distinct():
        code = exit_code_of(entry.result)
        if code:  # a red test is an answer, and often the wanted one
            exits.setdefault(code, []).append(entry)
        elif not entry.result.ok:
            failed.append(entry)
    for code, those in sorted(exits.items()):
        ended = tr("exited with {code} ({steps})", code=code, steps=_steps(those))
        parts.append(f"{_calls(len(those))} {ended}")
    if failed:
        ended = tr("failed ({steps})", steps=_steps(failed))
        parts.append(f"{_calls(len(failed))} {ended}")
    return ", ".join(parts)


def _calls(count: int) -> str:
    return tr_many(count, "{count} call", "{count} calls")


def _steps(entries: Sequence[LedgerEntry]) -> str:
    """Which calls: the tool and its place."""
    named = [
        tr("{tool}, step {step}", tool=entry.tool_name, step=entry.step)
        for entry in entries[:_NAMED]
    ]
    more = len(entries) - _NAMED
    return "; ".join([*named, tr("{more} more", more=more)] if more > 0 else named)


def report_message(words: str, rests_on: str) -> str:
    """A report as a message to the owner, under a heading that says whose words it is."""
    lines = "\n".join(f"    {line}" for line in words.split("\n"))
    return f"{report_heading(rests_on)}:\n{lines}"


def report_heading(rests_on: str) -> str:
    """The heading of a report: whose words it is, and what the record holds beside it."""
    if not rests_on:
        return tr("The executor's report (its own words)")
    return tr("The executor's report (its own words; on record: {grounds})", grounds=rests_on)


def result_texts(result: WorkItemResult) -> Iterator[str]:
    """What a result says besides its verdict, each part under a heading that names its author."""
    if result.report:  # the answer, so it comes first
        yield report_message(result.report, result.grounds)
    if result.output:
        yield output_told(result.output)


def for_next(failures: str, left: AttemptOutput) -> str:
    """What the next attempt and the planner that advises are told of one that failed."""
    parts = [failures]
    if left.report:
        parts.append(f"It reported:\n{left.report[:_TAIL]}")
    if left.output:
        parts.append(f"It printed, at the end:\n{left.output[-_TAIL:]}")
    return "\n\n".join(parts)
