"""What became of a folder or a batch, in sentences; file names are made visible (language.md)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from silas.language import tr, tr_later, tr_many
from silas.language.doors import WHY_FILES_STAY
from silas.plans.characters import show, show_exactly
from silas.work.batches.execution import ALL, MovedBatch, UndoneBatch
from silas.work.batches.models import FileMove, SkippedFile
from silas.work.batches.plan import FolderPlan
from silas.work.batches.proposals import reasons
from silas.work.batches.reason_words import file_words
from silas.work.batches.review import TidiedFolder
from silas.work.batches.store import ItemState, KeptBatch

_SHOWN: Final = 20
_TOLD_ALONE: Final = 3  # batches with a line each; more are told together
_ID: Final = 14  # characters of an id that are enough to name it: `batch-` and eight digits


def short_id(batch_id: str) -> str:
    """As much of an id as a person types."""
    return batch_id[:_ID]


def tidied_words(tidied: TidiedFolder) -> list[str]:
    """What was moved, how it is taken back, and what stays, with why."""
    place = show_exactly(str(tidied.folder.path))
    lines = [_first(tidied, place)]
    for batch in tidied.batches:
        lines += moved_words(batch)
    if tidied.declined:
        batches = tr_many(tidied.declined, "{count} batch", "{count} batches")
        lines.append(tr("Not approved: {batches}.", batches=batches))
    if tidied.unseen:
        lines.append(tr("Not shown any more: {many}.", many=_files(tidied.unseen)))
    return [*lines, *_lines_of_skipped(tidied.left)]


def _first(tidied: TidiedFolder, place: str) -> str:
    if tidied.batches:
        return tr("Moved {many} in {place}.", many=_files(tidied.moved), place=place)
    if tidied.declined or tidied.unseen:
        return tr("Nothing was moved in {place}.", place=place)
    return tr("There is nothing to tidy in {place}.", place=place)


def moved_words(batch: MovedBatch) -> list[str]:
    """One batch: how many went, until when it is taken back, and what stays."""
    name = short_id(batch.batch_id)
    lines = [tr("{batch}: {many} moved.", batch=name, many=_files(len(batch.moved)))]
    if batch.moved:
        until = f"{batch.undo_until:%H:%M}"
        back = tr(
            "Until {until} `silas batch undo {batch}` takes them back.", until=until, batch=name
        )
        lines[0] += f" {back}"
    return [*lines, *_lines_of_skipped(batch.left)]


def tidied_in_short(tidied: TidiedFolder) -> str:
    """As `tidied_words`, for a conversation: no file's name is in it, because models read those
    words later, and names are words of others.
    """
    lines = [_first(tidied, show_exactly(str(tidied.folder.path)))]
    if len(tidied.batches) > _TOLD_ALONE:
        lines.append(_together(tidied.batches))
        lines += _whys([one for batch in tidied.batches for one in batch.left])
    else:
        for batch in tidied.batches:
            lines.append(moved_words(batch._replace(left=()))[0])
            lines += _whys(batch.left)
    if tidied.declined:
        batches = tr_many(tidied.declined, "{count} batch", "{count} batches")
        lines.append(tr("Not approved: {batches}.", batches=batches))
    if tidied.unseen:
        lines.append(tr("Not shown any more: {many}.", many=_files(tidied.unseen)))
    if tidied.left:
        stay = tr_many(
            len(tidied.left),
            "{count} file stays where it is.",
            "{count} files stay where they are.",
        )
        lines.append(f"{stay} {tr(WHY_FILES_STAY)}")
    return "\n".join(lines)


def _together(batches: Sequence[MovedBatch]) -> str:
    """Many batches in one sentence: how many there are, and until when all can go back."""
    until = f"{min(batch.undo_until for batch in batches):%H:%M}"
    return tr(
        'In {count} batches; until {until} "undo all batches" or `silas batch undo all` takes '
        "them back, and the page Moved files each file.",
        count=len(batches),
        until=until,
    )


def undone_in_short(undone: UndoneBatch) -> str:
    """As `undone_words`, for a conversation."""
    return "\n".join([undone_words(undone._replace(left=()))[0], *_whys(undone.left)])


def undone_words(undone: UndoneBatch) -> list[str]:
    """What went back, and what did not."""
    many = _files(len(undone.undone))
    back = tr("{many} back where they were.", many=many)
    lines = [f"{tr('All batches')}: {back}" if undone.batch_id == ALL else back]
    return [*lines, *(_stays(one) for one in undone.left)]


def batch_state(kept: KeptBatch) -> str:
    """How many of its files were moved, and how many of them went back."""
    stands, back = len(kept.in_state(ItemState.moved)), len(kept.in_state(ItemState.undone))
    if kept.ended_at is None:
        return f"{kept.id} is being moved, or was interrupted."
    if back and not stands:
        return (
            f"{kept.id} was taken back: {count_words(back, 'file', 'files')} back where they were."
        )
    if back:
        moved = count_words(stands, "file stays", "files stay")
        return f"{kept.id} was taken back in part: {back} back, {moved} moved."
    return f"{kept.id} is done: {count_words(stands, 'file', 'files')} moved."


_STATES: Final = {
    ItemState.planned: tr_later("planned"),
    ItemState.moved: tr_later("moved"),
    ItemState.left: tr_later("left"),
    ItemState.undoing: tr_later("going back"),
    ItemState.undone: tr_later("back"),
}


def state_words(state: str) -> str:
    """How one file of a batch stands, in the owner's language."""
    return tr(_STATES[ItemState(state)])


def files_in(many: int, folder: str) -> str:
    """`3 files in /home/me/Downloads`."""
    return tr("{many} in {folder}", many=_files(many), folder=folder)


def plan_words(plan: FolderPlan, size: int) -> list[str]:
    """What would be proposed; nothing was asked and nothing moved."""
    place = show_exactly(str(plan.folder.path))
    known = [move for move in plan.moves if move.target]
    unknown = [move for move in plan.moves if not move.target]
    if not plan.moves:
        return [
            tr("There is nothing to tidy in {place}.", place=place),
            *_lines_of_skipped(plan.left),
        ]
    asked = tr_many(-(-len(known) // size), "{count} batch", "{count} batches")
    lines = [
        tr(
            "{many} in {place} would be asked about in {batches}.",
            many=_files(len(known)),
            place=place,
            batches=asked,
        )
    ]
    if known:
        lines.append(f"{reasons(known)}.")
    lines += [f"  {show(move.name)} -> {show(move.goal)}: {_why(move)}" for move in known]
    if unknown:
        lines.append(tr("You would be asked where these go:"))
        lines += [f"  {show(move.name)}: {_why(move)}" for move in unknown]
    return [*lines, *_lines_of_skipped(plan.left)]


def _why(move: FileMove) -> str:
    return show(file_words(move.reason))


def _lines_of_skipped(left: Sequence[SkippedFile]) -> list[str]:
    lines = [_stays(one) for one in left[:_SHOWN]]
    more = len(left) - len(lines)
    return [*lines, *([f"  {tr('... and {more} more', more=more)}"] if more else [])]


def _stays(one: SkippedFile) -> str:
    words = tr("stays: {file}: {why}", file=show(one.name), why=show(file_words(one.why)))
    return f"  {words}"


def _whys(left: Sequence[SkippedFile]) -> list[str]:
    """How many stay for each reason."""
    whys = Counter(one.why for one in left)
    return [f"  {_stay(many)}: {show(file_words(why))}" for why, many in whys.items()]


def _files(many: int) -> str:
    return tr_many(many, "{count} file", "{count} files")


def _stay(many: int) -> str:
    return tr_many(many, "{count} file stays", "{count} files stay")


def count_words(many: int, one: str, several: str) -> str:
    """`1 file`, `2 files`."""
    return f"{many} {one if many == 1 else several}"
