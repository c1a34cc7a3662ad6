"""The conversation of each scope on disk, so that it outlasts a restart (spec 4.14)."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Protocol

from pydantic import ValidationError

from silas.canonical import canonical_json
from silas.clock import Clock
from silas.context.models import ChronicleConfig, ContextItem
from silas.context.origin import comes_from
from silas.context.render import render_entering
from silas.damage import readable_rows
from silas.db import Database, Tx
from silas.errors import DatabaseError

_BATCH = 500  # rows that are pruned in one transaction

_APPEND = """
INSERT INTO chronicle (scope_id, at, ctx_id, item, folder, conversation)
VALUES (:scope_id, :at, :ctx_id, :item, :folder, :conversation)
"""
_RECENT = """
SELECT item, seq FROM chronicle
WHERE scope_id = :scope_id AND (:folder IS NULL OR folder IN ('', :folder))
AND (:conversation IS NULL OR conversation = :conversation)
ORDER BY at DESC, seq DESC LIMIT :limit
"""
_NAMED = """
SELECT item, seq FROM chronicle WHERE scope_id = :scope_id AND ctx_id IN :ctx_ids ORDER BY seq
"""
_OLDEST = """
SELECT seq, item FROM chronicle WHERE scope_id = :scope_id AND at < :before
ORDER BY at, seq LIMIT :limit
"""
_OF_SCOPE = "SELECT seq, item FROM chronicle WHERE scope_id = :scope_id"
_DROP = "DELETE FROM chronicle WHERE seq = :seq"
_SCOPES = "SELECT DISTINCT scope_id FROM chronicle ORDER BY scope_id"


class ChronicleStore(Protocol):
    """Keeps the conversation; no call ever sees another scope's."""

    async def append(self, scope_id: str, *items: ContextItem) -> None:
        """Keep entries in this order, all or none; external text is made harmless before."""
        ...

    async def get_recent(
        self,
        scope_id: str,
        limit: int,
        folder: str | None = None,
        conversation: str | None = None,
    ) -> list[ContextItem]:
        """The newest entries, at most so many, the oldest of them first.

        Args:
            folder: Only what is about this directory or about none; None for everything.
            conversation: Only of this conversation of the scope; None for all of them.
        """
        ...

    async def list_by_ids(self, scope_id: str, ctx_ids: Sequence[str]) -> list[ContextItem]:
        """The newest entry of each of these ids, as far as there is one, the oldest first."""
        ...

    async def prune_before(self, cutoff: datetime) -> int:
        """Delete entries older than this moment; returns how many."""
        ...

    async def forget(self, scope_id: str, source: str) -> int:
        """Delete what came from a source, derived entries included; returns how many."""
        ...

    async def count_from(self, scope_id: str, source: str) -> int:
        """How many entries `forget` would delete."""
        ...

    async def scopes(self) -> list[str]:
        """Every scope that has entries."""
        ...


class SqlChronicleStore:
    """`ChronicleStore` over the database; statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock, config: ChronicleConfig) -> None:
        self._db = db
        self._clock = clock
        self._config = config

    async def prune(self) -> int:
        """Delete what is older than the configured retention; returns how many."""
        days = timedelta(days=self._config.retention_days)
        return await self.prune_before(self._clock.now() - days)

    async def append(self, scope_id: str, *items: ContextItem) -> None:
        """See `ChronicleStore.append`."""
        rows = [
            {
                "scope_id": scope_id,
                "at": _moment(item.created_at),
                "ctx_id": item.ctx_id,
                "item": _text(item),
                "folder": item.folder,
                "conversation": item.conversation,
            }
            for item in items
        ]
        with self._db.write() as tx:
            tx.run_many(_APPEND, rows)

    async def get_recent(
        self,
        scope_id: str,
        limit: int,
        folder: str | None = None,
        conversation: str | None = None,
    ) -> list[ContextItem]:
        """See `ChronicleStore.get_recent`."""
        with self._db.read() as tx:
            rows = tx.run(
                _RECENT,
                scope_id=scope_id,
                folder=folder,
                conversation=conversation,
                limit=max(limit, 0),
            ).fetchall()
        return self._readable_items(rows[::-1])

    async def list_by_ids(self, scope_id: str, ctx_ids: Sequence[str]) -> list[ContextItem]:
        """See `ChronicleStore.list_by_ids`; looks through the whole scope, so once a sitting."""
        with self._db.read() as tx:
            rows = tx.run(_NAMED, scope_id=scope_id, ctx_ids=ctx_ids).fetchall()
        found = self._readable_items(rows)
        newest = {item.ctx_id: item for item in found}
        return [item for item in found if newest[item.ctx_id] is item]

    def _readable_items(self, rows: Sequence[tuple[str, int]]) -> list[ContextItem]:
        """Entries from their rows; a damaged one is set aside and the conversation goes on."""
        return readable_rows(self._db, "chronicle", rows, _number, lambda row: _item(row[0]))

    async def prune_before(self, cutoff: datetime) -> int:
        """See `ChronicleStore.prune_before`; some hundred rows at a time, oldest first by scope."""
        return sum([self._prune(scope_id, _moment(cutoff)) for scope_id in await self.scopes()])

    def _prune(self, scope_id: str, cutoff: str) -> int:
        pruned = 0
        while True:
            with self._db.write() as tx:
                rows = tx.run(_OLDEST, scope_id=scope_id, before=cutoff, limit=_BATCH).fetchall()
                if not rows:
                    return pruned
                self._archive([_archive_line(scope_id, item) for _, item in rows])
                tx.run_many(_DROP, [{"seq": seq} for seq, _ in rows])
            pruned += len(rows)

    def _archive(self, lines: Sequence[str]) -> None:
        """Written before the rows are deleted: a crash between may archive them twice."""
        file = self._config.archive_file
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as archive:
                archive.writelines(f"{line}\n" for line in lines)
                archive.flush()
                os.fsync(handle)
        except OSError as error:
            raise DatabaseError(
                f"The archive {file} of the conversation cannot be written ({error.strerror}), so "
                "nothing was pruned; set context.chronicle.archive_file to a file that can.",
                code="E_DB_ARCHIVE",
            ) from error

    async def forget(self, scope_id: str, source: str) -> int:
        """See `ChronicleStore.forget`."""
        with self._db.write() as tx:
            doomed = self._from(tx, scope_id, source)
            tx.run_many(_DROP, [{"seq": seq} for seq in doomed])
        return len(doomed)

    async def count_from(self, scope_id: str, source: str) -> int:
        """See `ChronicleStore.count_from`."""
        with self._db.read() as tx:
            return len(self._from(tx, scope_id, source))

    def _from(self, tx: Tx, scope_id: str, source: str) -> list[int]:
        """The numbers of the entries that came from a source."""
        rows = tx.run(_OF_SCOPE, scope_id=scope_id).fetchall()
        found = readable_rows(
            self._db,
            "chronicle",
            [(text, seq) for seq, text in rows],
            _number,
            lambda row: (row[1], _item(row[0])),
        )
        return [seq for seq, item in found if comes_from(item, source)]

    async def scopes(self) -> list[str]:
        """See `ChronicleStore.scopes`."""
        with self._db.read() as tx:
            rows = tx.run(_SCOPES)
            return [str(scope_id) for (scope_id,) in rows]


def _moment(moment: datetime) -> str:
    # one zone and one width, so that moments sort as text
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _text(item: ContextItem) -> str:
    text = render_entering(item)
    if text != item.content:
        item = item.model_copy(update={"content": text})
    return item.model_dump_json()


def _archive_line(scope_id: str, item: str) -> str:
    try:
        entry: object = json.loads(item)
    except (ValueError, TypeError):  # damaged: it is archived as it stands
        entry = repr(item)
    return canonical_json({"scope_id": scope_id, "item": entry})


def _number(row: tuple[str, int]) -> str:
    return f"entry {row[1]}"


def _item(text: str) -> ContextItem:
    try:
        return ContextItem.model_validate_json(text)
    except (ValidationError, TypeError) as error:
        raise DatabaseError(
            "An entry of the conversation was changed or damaged; restore the database from a "
            "backup.",
            code="E_DB_CORRUPT",
        ) from error
