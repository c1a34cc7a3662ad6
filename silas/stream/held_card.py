"""The card of verified changes that wait for the owner's yes (decision B22)."""

from silas.cards import Action, Detail, HeldCard
from silas.language import tr, tr_later, tr_many
from silas.plans import WorkItemResult, show
from silas.plans.characters import show_exactly
from silas.types import Risk
from silas.work.changes.held_store import HeldChanges
from silas.work.printed_output import PRINTED
from silas.work.report import report_heading
from silas.workspace.diff import heading

_MOST_LINES = 200  # of paths; more are counted

_WHY_LED = tr_later(
    "The work is done, and nothing of it is applied. It followed text that it had "
    "read, which is neither yours nor the plan's: look at what it wants to change."
)
_WHY = tr_later(
    "The work is done, and nothing of it is applied: its plan does not let all of "
    "this be changed without your word."
)


def held_card(held: HeldChanges, diff: str) -> HeldCard:
    """All changes with each path that needs a word; silence applies nothing and loses nothing."""
    changes, many = held.kept.changes, len(held.kept.changes)
    waiting = [f"{show_exactly(one.path)}: {one.why}" for one in held.paths]
    return HeldCard(
        intent=tr(
            "Apply {counted} of '{held}'", counted=_change_count(many), held=show(held.title)
        ),
        risk=Risk.high,
        rationale=tr(_WHY_LED if held.sources else _WHY),
        affected=tr(
            "{counted} in {held}",
            counted=_change_count(many),
            held=show_exactly(str(held.kept.original)),
        ),
        details=(
            Detail(heading=tr("What needs your word, and why"), lines=_first(waiting)),
            *_words_of_others(held.sources),
            Detail(
                heading=tr("Everything it changes"),
                lines=_first([show(heading(change).rstrip("\n")) for change in changes]),
            ),
            Detail(heading=tr("Line by line"), lines=tuple(map(show, diff.splitlines())) or ("",)),
            *_details_of_result(held.result),
            Detail(heading=tr("Hash"), lines=(f"sha256:{held.kept.digest}",)),
        ),
        actions=(
            Action(label=tr("Apply exactly these changes"), value="apply", role="recommended"),
            Action(label=tr("Drop them for good"), value="drop"),
            Action(label=tr("Apply nothing, keep them"), value="keep", role="decline"),
        ),
        safe="keep",
        work_item_id=held.work_item_id,
        digest=held.kept.digest,
    )


def _details_of_result(result: WorkItemResult) -> tuple[Detail, ...]:
    """What its checks found and run, what its programs printed, what its executor says of it."""
    last = result.verification_results[-1:]
    checks = [f"{one['name']}: {one['reason']}" for each in last for one in each["results"]]
    parts = (
        (tr("What its checks found"), "\n".join(checks)),
        (tr("What its own checks run, and it changed"), "\n".join(result.checks_changed)),
        (tr(PRINTED), result.output),
        (report_heading(result.grounds), result.report),
    )
    return tuple(
        Detail(heading=heading, lines=_first([show(line) for line in text.splitlines()]))
        for heading, text in parts
        if text
    )


def _change_count(many: int) -> str:
    return tr_many(many, "{count} change", "{count} changes")


def _words_of_others(sources: tuple[str, ...]) -> tuple[Detail, ...]:
    """What was read before: words in it may be what the work followed."""
    if not sources:
        return ()
    lines = (
        tr("neither yours nor the plan's, and read before the work changed this:"),
        *_first([tr("  what came of: {source}", source=source) for source in map(show, sources)]),
    )
    return (Detail(heading=tr("Whose words led there"), lines=lines),)


def _first(lines: list[str]) -> tuple[str, ...]:
    left = len(lines) - _MOST_LINES
    return (*lines[:_MOST_LINES], *((tr("... and {left} more", left=left),) if left > 0 else ()))
