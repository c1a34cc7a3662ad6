"""What the owner is shown about files that could be sorted: four kinds of questions (spec 5.9).

Names and first lines are text of others: they stand in rows and details, never in a sentence of
Silas's own without being made visible first.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from silas.cards import Action, Detail
from silas.cards.models import (
    BatchAnswer,
    BatchReviewCard,
    BatchRow,
    DecisionAnswer,
    DecisionCard,
)
from silas.language import tr, tr_later, tr_many
from silas.plans.characters import show, show_exactly
from silas.types import Risk
from silas.work.batches.file_kinds import KINDS
from silas.work.batches.folder_scan import may_be_shown
from silas.work.batches.models import Band, FileBatch, FileMove, Folder
from silas.work.batches.reason_words import ending_words, file_words

DECLINED: Final = BatchAnswer(verdict="decline")
LEAVE: Final = DecisionAnswer()
SHOWN_NAMES: Final = 20
"""Names on a card that asks about files as a whole; more are counted."""

_MOST_OF_PATH: Final = 32  # characters of a path in a title

_KINDS_OFFERED: Final = (
    "Documents",
    "Pictures",
    "Music",
    "Videos",
    "Archives",
    "Code",
)

_WHY: Final = {
    Band.high: tr_later("Rules know these by their endings, their age and their content."),
    Band.medium: tr_later(
        "A rule fits, and could be wrong about these: choose those that you want moved."
    ),
    Band.low: tr_later("You asked to see these, though they may not be what their names say."),
    Band.novel: tr_later("You said where files of this ending go."),
}


def batch_card(
    batch: FileBatch, digest: str, number: int, of: int, *, picked: bool
) -> BatchReviewCard:
    """One batch, each file with where it goes; silence declines.

    What a rule may be wrong about starts unchosen, and of several such files a mere yes moves none
    (decision D562), until the owner `picked` these.
    """
    moves, many = batch.moves, _files(len(batch.moves))
    unsure = batch.band in (Band.medium, Band.low) and not picked
    return BatchReviewCard(
        intent=tr(
            "Move {many} in {batch} ({number} of {of})",
            many=many,
            batch=_short(batch.folder),
            number=number,
            of=of,
        ),
        risk=Risk.medium,
        rationale=tr(_WHY[batch.band]),
        affected=batch.proposal.reason_summary,
        effect=tr(
            "Moves {many} to folders below, over nothing; each can be taken back.", many=many
        ),
        details=(
            *_details_by_folder(moves),
            *_lines(moves),
            *_whole(batch.folder),
            Detail(heading=tr("Hash"), lines=(f"sha256:{digest}",)),
        ),
        actions=(
            Action(
                label=tr_many(len(moves), "Move exactly this file", "Move exactly these {count}"),
                value=BatchAnswer(verdict="approve"),
                role="alternative" if unsure and len(moves) > 1 else "recommended",
            ),
            *_choosing(moves),
            Action(label=tr("Move none of them"), value=DECLINED, role="decline"),
        ),
        safe=DECLINED,
        batch_id=batch.proposal.batch_id,
        item_ids=batch.proposal.item_ids,
        rows=tuple(
            BatchRow(
                item_id=item.item_id,
                title=f"{number}. {show(move.name)}",
                unusual=unsure,
                group=tr("To {move}", move=show(move.target)),
                reason=show(f"{file_words(move.reason)}; {move.about}"),
                picture=may_be_shown(move),
            )
            for number, (item, move) in enumerate(zip(batch.proposal.items, moves, strict=True), 1)
        ),
    )


def _short(folder: Folder) -> str:
    """A folder for a title, which a page cuts at its end: of a long path the last name alone."""
    place = show_exactly(str(folder.path))
    return place if len(place) <= _MOST_OF_PATH else f"…/{show_exactly(folder.path.name)}"


def _full_path_if_long(folder: Folder) -> str:
    """The whole path, where a title has its last name alone; else nothing."""
    place = show_exactly(str(folder.path))
    return place if len(place) > _MOST_OF_PATH else ""


def _whole(folder: Folder) -> tuple[Detail, ...]:
    """The same as a part of a card whose line is taken."""
    place = _full_path_if_long(folder)
    return (Detail(heading=tr("The folder"), lines=(place,), open=True),) if place else ()


def _choosing(moves: Sequence[FileMove]) -> tuple[Action[BatchAnswer], ...]:
    if len(moves) < 2:
        return ()
    return (
        Action(label=tr("Move only those chosen"), value=BatchAnswer(verdict="edit_selection")),
    )


def _details_by_folder(moves: Sequence[FileMove]) -> tuple[Detail, ...]:
    """Each file with its number, under the folder that it goes to."""
    numbered = list(enumerate(moves, 1))
    return tuple(
        Detail(
            heading=tr("To {target}", target=show_exactly(target)),
            lines=tuple(
                f"{number}. {show(move.name)} ({show(move.about)}): {show(file_words(move.reason))}"
                for number, move in of
            ),
            open=True,
        )
        for target, of in groupby(numbered, lambda one: one[1].target)
    )


def _lines(moves: Sequence[FileMove]) -> tuple[Detail, ...]:
    """The first lines of texts, each behind a mark: they are words of others."""
    lines = [
        line
        for number, move in enumerate(moves, 1)
        if len(move.lines) > 1  # one line is on the card already
        for line in (f"{number}. {show(move.name)}", *(f"  | {show(one)}" for one in move.lines))
    ]
    return (Detail(heading=tr("First lines of the files"), lines=tuple(lines)),) if lines else ()


def attention_card(folder: Folder, moves: Sequence[FileMove]) -> DecisionCard:
    """Files that are not what their names say: told, with what could be done."""
    many = _files(len(moves))
    return DecisionCard(
        intent=tr("Look at {many} in {folder}", many=many, folder=_short(folder)),
        risk=Risk.medium,
        rationale=tr("They are not what their names say; opening one may start a program.")
        if len(moves) > 1
        else tr("It is not what its name says; opening it may start a program."),
        affected=_full_path_if_long(folder),
        details=(Detail(heading=tr("What they are"), lines=_names(moves), open=True),),
        actions=(
            Action(
                label=tr("Show them as a batch that moves them to the folder To check"),
                value=DecisionAnswer(selected_value="batch", approved=True),
            ),
            Action(label=tr("Leave them where they are"), value=LEAVE, role="decline"),
        ),
        safe=LEAVE,
    )


def teaching_card(folder: Folder, ending: str, moves: Sequence[FileMove]) -> DecisionCard:
    """Files of an ending that no rule knows: where should they go?"""
    return DecisionCard(
        intent=(
            tr("Say where 1 file with {ending} goes", ending=show_exactly(ending_words(ending)))
            if len(moves) == 1
            else tr(
                "Say where {files} with {ending} go",
                files=_files(len(moves)),
                ending=show_exactly(ending_words(ending)),
            )
        ),
        risk=Risk.low,
        rationale=_why_undecided(len(moves), show_exactly(str(folder.path))),
        details=(Detail(heading=tr("Which"), lines=_names(moves), open=True),),
        actions=(
            *(
                Action(
                    label=tr("To {kind}", kind=tr(kind)),
                    value=DecisionAnswer(selected_value=kind, approved=True),
                )
                for kind in _KINDS_OFFERED
            ),
            Action(
                label=tr("To a folder Other"),
                value=DecisionAnswer(selected_value="Other", approved=True),
            ),
            Action(label=tr("Leave them where they are"), value=LEAVE, role="decline"),
        ),
        safe=LEAVE,
    )


def _why_undecided(many: int, folder: str) -> str:
    """Why it is asked where files should go."""
    if many == 1:
        return tr(
            "No rule knows it. What you say counts for {folder}, this time; it is shown as a "
            "batch before anything is moved.",
            folder=folder,
        )
    return tr(
        "No rule knows them. What you say counts for {folder}, this time; they "
        "are shown as a batch before anything is moved.",
        folder=folder,
    )


def go_on_card(folder: Folder, left: int) -> DecisionCard:
    """After two batches in a row that were declined: whether to show the others."""
    return DecisionCard(
        intent=tr(
            "Show the other {batches} of {folder}",
            batches=_batches(left),
            folder=_short(folder),
        ),
        risk=Risk.low,
        rationale=tr("You moved nothing of the last two."),
        affected=_full_path_if_long(folder),
        actions=(
            Action(
                label=tr("Show the next one"),
                value=DecisionAnswer(selected_value="next", approved=True),
            ),
            Action(label=tr("End here; what was moved stays moved"), value=LEAVE, role="decline"),
        ),
        safe=LEAVE,
    )


def taught_folder(value: str | None) -> str:
    """The folder that a teaching card's answer names; empty where it names none."""
    return value if value and (value in KINDS or value == "Other") else ""


def _names(moves: Sequence[FileMove]) -> tuple[str, ...]:
    shown = [f"{show(move.name)}: {show(file_words(move.reason))}" for move in moves[:SHOWN_NAMES]]
    more = len(moves) - len(shown)
    return (*shown, *((tr("... and {more} more", more=more),) if more else ()))


def _files(many: int) -> str:
    return tr_many(many, "{count} file", "{count} files")


def _batches(many: int) -> str:
    return tr_many(many, "{count} batch", "{count} batches")
