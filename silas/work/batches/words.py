"""What became of a folder or a batch, in sentences; file names are made visible (language.md)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from silas.plans.characters import show, show_exactly
from silas.work.batches.execution import MovedBatch, UndoneBatch
from silas.work.batches.models import LeftAlone
from silas.work.batches.plan import FolderPlan
from silas.work.batches.proposals import reasons
from silas.work.batches.review import TidiedFolder

_SHOWN: Final = 20
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
        lines.append(f"Not approved: {counted(tidied.declined, 'batch', 'batches')}.")
    if tidied.unseen:
        lines.append(f"Not shown any more: {counted(tidied.unseen, 'file', 'files')}.")
    return [*lines, *_left(tidied.left)]


def _first(tidied: TidiedFolder, place: str) -> str:
    if tidied.batches:
        return f"Moved {counted(tidied.moved, 'file', 'files')} in {place}."
    if tidied.declined or tidied.unseen:
        return f"Nothing was moved in {place}."
    return f"There is nothing to tidy in {place}."


def moved_words(batch: MovedBatch) -> list[str]:
    """One batch: how many went, until when it is taken back, and what stays."""
    name = short_id(batch.batch_id)
    lines = [f"{name}: {counted(len(batch.moved), 'file', 'files')} moved."]
    if batch.moved:
        until = batch.undo_until.astimezone()
        lines[0] += f" Until {until:%H:%M} `silas batch undo {name}` takes them back."
    return [*lines, *_left(batch.left)]


def tidied_in_short(tidied: TidiedFolder) -> str:
    """As `tidied_words`, for a conversation: no file's name is in it, because models read those
    words later, and names are words of others.
    """
    lines = [_first(tidied, show_exactly(str(tidied.folder.path)))]
    for batch in tidied.batches:
        lines.append(moved_words(batch._replace(left=()))[0])
        whys = Counter(one.why for one in batch.left)
        lines += [
            f"  {counted(many, 'file stays', 'files stay')}: {why}" for why, many in whys.items()
        ]
    if tidied.declined:
        lines.append(f"Not approved: {counted(tidied.declined, 'batch', 'batches')}.")
    if tidied.unseen:
        lines.append(f"Not shown any more: {counted(tidied.unseen, 'file', 'files')}.")
    if tidied.left:
        many = counted(len(tidied.left), "file stays", "files stay")
        lines.append(f"{many} where they are; `silas batch FOLDER --dry-run` says why.")
    return "\n".join(lines)


def undone_in_short(undone: UndoneBatch) -> str:
    """As `undone_words`, for a conversation."""
    whys = Counter(one.why for one in undone.left)
    stays = [f"  {counted(many, 'file stays', 'files stay')}: {why}" for why, many in whys.items()]
    return "\n".join([undone_words(undone._replace(left=()))[0], *stays])


def undone_words(undone: UndoneBatch) -> list[str]:
    """What went back, and what did not."""
    name = short_id(undone.batch_id)
    lines = [f"{name}: {counted(len(undone.undone), 'file', 'files')} back where they were."]
    return [*lines, *(f"  stays: {show(one.name)}: {show(one.why)}" for one in undone.left)]


def plan_words(plan: FolderPlan, size: int) -> list[str]:
    """What would be proposed; nothing was asked and nothing moved."""
    place = show_exactly(str(plan.folder.path))
    known = [move for move in plan.moves if move.target]
    unknown = [move for move in plan.moves if not move.target]
    if not plan.moves:
        return [f"There is nothing to tidy in {place}.", *_left(plan.left)]
    cards = -(-len(known) // size)
    asked = counted(cards, "batch", "batches")
    lines = [f"{counted(len(known), 'file', 'files')} in {place} would be asked about in {asked}."]
    if known:
        lines.append(f"{reasons(known)}.")
    lines += [f"  {show(move.name)} -> {show(move.goal)}: {show(move.reason)}" for move in known]
    if unknown:
        lines.append("You would be asked where these go:")
        lines += [f"  {show(move.name)}: {show(move.reason)}" for move in unknown]
    return [*lines, *_left(plan.left)]


def _left(left: Sequence[LeftAlone]) -> list[str]:
    lines = [f"  stays: {show(one.name)}: {show(one.why)}" for one in left[:_SHOWN]]
    more = len(left) - len(lines)
    return [*lines, *([f"  ... and {more} more"] if more else [])]


def counted(many: int, one: str, several: str) -> str:
    """`1 file`, `2 files`."""
    return f"{many} {one if many == 1 else several}"
