"""Moves as proposals to approve: chunks, bands, and the bytes that a token binds (spec 3.11)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from silas.approval import Subject
from silas.canonical import canonical_bytes, sha256_hex
from silas.language import tr
from silas.types import new_id
from silas.work.batches.models import (
    MOVE,
    Band,
    BatchActionItem,
    BatchProposal,
    BatchRefused,
    FileBatch,
    FileMove,
    Folder,
    item_id_of,
)


class Thresholds(NamedTuple):
    """What is in force: from which confidence on, and how many items a card has (spec 11)."""

    size: int
    high: float
    medium: float


def band_of(confidence: float, thresholds: Thresholds) -> Band:
    """Where an item of this confidence goes (spec 5.9)."""
    if confidence < 0:
        return Band.novel
    if confidence >= thresholds.high:
        return Band.high
    return Band.medium if confidence >= thresholds.medium else Band.low


def in_bands(moves: Iterable[FileMove], thresholds: Thresholds) -> dict[Band, list[FileMove]]:
    """Each band's moves, in their order."""
    found: dict[Band, list[FileMove]] = {band: [] for band in Band}
    for move in moves:
        found[band_of(move.confidence, thresholds)].append(move)
    return found


def chunks(moves: Sequence[FileMove], size: int) -> list[tuple[FileMove, ...]]:
    """At most so many together (5.2.4 step 2)."""
    return [tuple(moves[at : at + size]) for at in range(0, len(moves), size)]


def file_batch(
    folder: Folder, moves: Sequence[FileMove], band: Band, at: datetime, goal_id: str = ""
) -> FileBatch:
    """A proposal of exactly these moves, in this order.

    Raises:
        BatchRefused: Two of them would end at one place, or none is left.
    """
    if not moves or len({move.goal for move in moves}) != len(moves):
        raise BatchRefused("A batch needs files, each with a place of its own.")
    proposal = BatchProposal(
        batch_id=new_id("batch"),
        goal_id=goal_id,
        action=MOVE,
        items=tuple(_item(folder, move) for move in moves),
        reason_summary=reasons(moves),
        confidence_min=min(max(move.confidence, 0.0) for move in moves),
        created_at=at,
    )
    return FileBatch(proposal, folder, tuple(moves), band)


def _item(folder: Folder, move: FileMove) -> BatchActionItem:
    return BatchActionItem(
        item_id=item_id_of(folder, move),
        title=f"{move.name} -> {move.goal}",
        actor=str(folder.path),
        occurred_at=datetime.fromtimestamp(move.identity.modified / 1e9, UTC),
        reason=move.reason,
        confidence=max(move.confidence, 0.0),
    )


def reasons(moves: Sequence[FileMove]) -> str:
    """How many go where: `7 to Pictures, 3 to Documents`."""
    ordered = sorted(moves, key=lambda move: move.target)
    counted = [(len(list(of)), target) for target, of in groupby(ordered, lambda m: m.target)]
    return ", ".join(tr("{many} to {target}", many=many, target=target) for many, target in counted)


def batch_bytes(proposal: BatchProposal) -> bytes:
    """The canonical projection that is hashed (3.11): action, ids in order, how many."""
    return canonical_bytes(
        {
            "goal_id": proposal.goal_id,
            "action": proposal.action,
            "item_ids": list(proposal.item_ids),
            "count": len(proposal.items),
        }
    )


def batch_subject(batch: FileBatch) -> Subject:
    """What a token binds to: recomputed from the moves that are about to be made.

    Raises:
        BatchRefused: The proposal names other moves than those.
    """
    proposal = batch.proposal
    if proposal.item_ids != tuple(item_id_of(batch.folder, move) for move in batch.moves):
        raise BatchRefused("The moves are not those that were proposed; nothing was moved.")
    said = batch_bytes(proposal)
    return Subject(id=proposal.batch_id, kind="batch", digest=sha256_hex(said), canonical=said)


def select_items(batch: FileBatch, item_ids: Sequence[str], at: datetime) -> FileBatch | None:
    """A new proposal of some of the items, in the order in which they were chosen (5.2.4 step 5).

    None where these are no strict subset: nothing, everything, an unknown item or one twice.
    """
    moves = dict(zip(batch.proposal.item_ids, batch.moves, strict=True))
    chosen = set(item_ids)
    strict = 0 < len(item_ids) < len(moves)
    if not strict or len(chosen) != len(item_ids) or not chosen <= moves.keys():
        return None
    picked = [moves[one] for one in item_ids]
    return file_batch(batch.folder, picked, batch.band, at, batch.proposal.goal_id)
