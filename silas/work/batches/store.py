"""The journal of moved files, in SQL that SQLite and PostgreSQL read alike (decision B4)."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from silas.damage import readable_rows
from silas.db import Database
from silas.work.batches.models import FileBatch, FileIdentity, FileMove, Folder

_BATCH = "id, folder, phase, token_id, made, began_at, ended_at"


class ItemState(StrEnum):
    """How one file of a batch stands."""

    planned = "planned"
    """Approved; whether it was moved is not known yet."""
    moved = "moved"
    left = "left"
    """It stays where it is; `why` says the reason."""
    undoing = "undoing"
    undone = "undone"


class KeptItem(NamedTuple):
    """One file of a batch, by its number from 1."""

    number: int
    move: FileMove
    state: ItemState
    why: str


class KeptBatch(NamedTuple):
    """A batch that was approved.

    Attributes:
        made: Folders that moving made.
        ended_at: When its files were moved; None where that is not known yet.
    """

    id: str
    folder: Folder
    phase: str
    token_id: str
    made: tuple[str, ...]
    began_at: datetime
    ended_at: datetime | None
    items: tuple[KeptItem, ...]

    def in_state(self, state: ItemState) -> list[KeptItem]:
        """Its files that stand so."""
        return [item for item in self.items if item.state is state]


class SqlBatchStore:
    """Rows of batches; every call joins the transaction that is open."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def begin(
        self,
        batch: FileBatch,
        digest: str,
        token_id: str,
        made: Sequence[str],
        at: datetime,
        witness: Callable[[], object],
    ) -> None:
        """Keep what is about to be moved, on the disk before this returns.

        Args:
            witness: Called inside the transaction; if it raises, nothing was kept.
        """
        with self._db.write(durable=True) as tx:
            tx.run(
                "INSERT INTO file_batches (id, folder, phase, digest, token_id, made, began_at,"
                " ended_at) VALUES (:id, :folder, 'moving', :digest, :token_id, :made, :at, '')",
                id=batch.proposal.batch_id,
                folder=json.dumps([str(batch.folder.path), *batch.folder[1:]]),
                digest=digest,
                token_id=token_id,
                made=json.dumps(list(made)),
                at=_stamp(at),
            )
            tx.run_many(
                "INSERT INTO file_batch_items (batch_id, number, move, state, why)"
                " VALUES (:id, :number, :move, 'planned', '')",
                [
                    {
                        "id": batch.proposal.batch_id,
                        "number": number,
                        "move": json.dumps(_without_words(move)),
                    }
                    for number, move in enumerate(batch.moves, 1)
                ],
            )
            witness()

    def undoing(self, batch_id: str, numbers: Sequence[int], witness: Callable[[], object]) -> None:
        """These files are about to go back; on the disk before this returns, as in `begin`."""
        with self._db.write(durable=True) as tx:
            tx.run("UPDATE file_batches SET phase = 'undoing' WHERE id = :id", id=batch_id)
            tx.run_many(
                "UPDATE file_batch_items SET state = 'undoing'"
                " WHERE batch_id = :id AND number = :number",
                [{"id": batch_id, "number": number} for number in numbers],
            )
            witness()

    def save_end(
        self,
        batch_id: str,
        states: Sequence[tuple[int, ItemState, str]],
        at: datetime,
        witness: Callable[[], object],
    ) -> None:
        """What became of these files; the batch is at rest, and began its time to undo once."""
        with self._db.write() as tx:
            tx.run(
                "UPDATE file_batches SET phase = 'moved',"
                " ended_at = CASE WHEN ended_at = '' THEN :at ELSE ended_at END WHERE id = :id",
                id=batch_id,
                at=_stamp(at),
            )
            tx.run_many(
                "UPDATE file_batch_items SET state = :state, why = :why"
                " WHERE batch_id = :id AND number = :number",
                [
                    {"id": batch_id, "number": number, "state": state.value, "why": why}
                    for number, state, why in states
                ],
            )
            witness()

    def newest(self, most: int, ended_after: datetime) -> list[KeptBatch]:
        """The newest batches and older ones that ended after a moment, the newest first."""
        return self._query_batches(
            f"SELECT {_BATCH} FROM file_batches WHERE ended_at > :after OR id IN"
            " (SELECT id FROM file_batches ORDER BY began_at DESC, id LIMIT :n)"
            " ORDER BY began_at DESC, id",
            n=most,
            after=_stamp(ended_after),
        )

    def list_by_prefix(self, begins: str) -> list[KeptBatch]:
        """Those whose ids begin so."""
        return self._query_batches(
            f"SELECT {_BATCH} FROM file_batches WHERE substr(id, 1, :length) = :begins",
            begins=begins,
            length=len(begins),
        )

    def list_unsettled(self) -> list[KeptBatch]:
        """Those in the middle of something: of a living process, or left by a crash."""
        return self._query_batches(
            f"SELECT {_BATCH} FROM file_batches WHERE phase <> 'moved' ORDER BY began_at"
        )

    def prune(self, before: datetime) -> None:
        """Forget batches that ended before; their time to undo is long over."""
        found = {"before": _stamp(before)}
        with self._db.write() as tx:
            tx.run(
                "DELETE FROM file_batch_items WHERE batch_id IN (SELECT id FROM file_batches"
                " WHERE ended_at <> '' AND ended_at < :before)",
                **found,
            )
            tx.run("DELETE FROM file_batches WHERE ended_at <> '' AND ended_at < :before", **found)

    def _query_batches(self, statement: Any, **values: Any) -> list[KeptBatch]:
        with self._db.read() as tx:
            rows = tx.run(statement, **values).fetchall()
            items = {
                row[0]: tx.run(
                    "SELECT number, move, state, why FROM file_batch_items"
                    " WHERE batch_id = :id ORDER BY number",
                    id=row[0],
                ).fetchall()
                for row in rows
            }
        return readable_rows(
            self._db,
            "file_batches",
            rows,
            lambda row: row[0],
            lambda row: _batch(row, items[row[0]]),
        )


def _batch(row: Any, items: list[Any]) -> KeptBatch:
    path, device, inode = json.loads(row[1])
    return KeptBatch(
        id=row[0],
        folder=Folder(Path(path), int(device), int(inode)),
        phase=row[2],
        token_id=row[3],
        made=tuple(json.loads(row[4])),
        began_at=datetime.fromisoformat(row[5]),
        ended_at=datetime.fromisoformat(row[6]) if row[6] else None,
        items=tuple(
            KeptItem(int(number), _move(move), ItemState(state), why)
            for number, move, state, why in items
        ),
    )


def _without_words(move: FileMove) -> FileMove:
    """A move as it is kept: nothing of a file's own words."""
    return move._replace(about="", lines=())


def _move(text: str) -> FileMove:
    name, target, identity, *rest = json.loads(text)
    return FileMove(name, target, FileIdentity(*identity), *rest)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
