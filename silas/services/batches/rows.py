"""What commands show of batches: sentences, and rows of a JSON document."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from silas.services.batches.service import BatchService
from silas.work.batches.models import FileMove, Folder, SkippedFile
from silas.work.batches.reason_words import file_words
from silas.work.batches.review import TidiedFolder
from silas.work.batches.store import ItemState, KeptBatch
from silas.work.batches.words import (
    files_in,
    plan_words,
    short_id,
    state_words,
    tidied_words,
    undone_words,
)

__all__ = [
    "file_rows",
    "file_words",
    "files_in",
    "left_rows",
    "moment",
    "plan_rows",
    "plan_words",
    "row_of",
    "short_id",
    "state_words",
    "tidied_row",
    "tidied_words",
    "undone_words",
]


def tidied_row(tidied: TidiedFolder) -> dict[str, Any]:
    """What became of a folder."""
    return {
        "folder": str(tidied.folder.path),
        "batches": [
            {
                "id": one.batch_id,
                "moved": [
                    {"number": item.number, "from": item.move.name, "to": item.move.goal}
                    for item in one.moved
                ],
                "left": left_rows(one.left),
                "undo_until": moment(one.undo_until if one.moved else None),
            }
            for one in tidied.batches
        ],
        "declined": tidied.declined,
        "unseen": tidied.unseen,
        "left": left_rows(tidied.left),
    }


def row_of(service: BatchService, kept: KeptBatch) -> dict[str, Any]:
    """A batch."""
    return {
        "id": kept.id,
        "folder": str(kept.folder.path),
        "at": kept.began_at.isoformat(),
        "phase": kept.phase,
        "moved": len(kept.in_state(ItemState.moved)),
        "undo_until": moment(service.undo_until(kept)),
    }


def file_rows(kept: KeptBatch) -> list[dict[str, Any]]:
    """Its files."""
    return [
        {
            "number": item.number,
            "state": item.state.value,
            "from": item.move.name,
            "to": item.move.goal,
            "why": item.why,
        }
        for item in kept.items
    ]


def plan_rows(folder: Folder, moves: Sequence[FileMove]) -> list[dict[str, object]]:
    """The moves as rows of a JSON document."""
    return [
        {
            "from": str(folder.path / move.name),
            "to": str(folder.path / move.goal) if move.target else "",
            "reason": move.reason,
            "confidence": max(move.confidence, 0.0),
        }
        for move in moves
    ]


def left_rows(left: Sequence[SkippedFile]) -> list[dict[str, str]]:
    """What stays, as rows of a JSON document."""
    return [one._asdict() for one in left]


def moment(at: datetime | None) -> str:
    """A moment as JSON has it; empty for none."""
    return "" if at is None else at.isoformat()
