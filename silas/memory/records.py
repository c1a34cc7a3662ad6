"""Memories as they lie in their tables: the row, its words in an index, its sources."""

from collections.abc import Iterable, Sequence
from typing import Any, LiteralString, NamedTuple

from pydantic import ValidationError

from silas.damage import forget_damaged
from silas.db import Tx
from silas.errors import DatabaseError, MemoryRefused, misfits
from silas.memory.models import MemoryItem, TrustLevel
from silas.memory.partitions import Partition, longer, next_places, one_less, partition_of
from silas.memory.rows import COLUMNS, FIELDS, TABLE, item_of, list_text, row_of, salvage_row
from silas.memory.terms import index_text
from silas.types import SOURCE_BOUNDARIES, TaintLevel

SELECT = f"SELECT place, {COLUMNS} FROM memory_items"
"""What a statement for `select_records` begins with."""

_INSERT = f"""
INSERT INTO memory_items (place, {COLUMNS})
VALUES (:place, {", ".join([f":{name}" for name in FIELDS])}) ON CONFLICT DO NOTHING
"""
_UPDATE = f"""
UPDATE memory_items SET {", ".join([f"{name} = :{name}" for name in FIELDS])} WHERE place = :place
"""
_BY_ID = f"{SELECT} WHERE scope_id = :scope_id AND memory_id = :memory_id"
_PAGE = f"{SELECT} WHERE place > :after ORDER BY place LIMIT :limit"
_DELETE = "DELETE FROM memory_items WHERE place = :place"
_NOTE_SOURCE = """
INSERT INTO memory_sources (scope_id, source, place) VALUES (:scope_id, :source, :place)
ON CONFLICT (scope_id, source, place) DO NOTHING
"""
_FORGET_SOURCE = """
DELETE FROM memory_sources WHERE scope_id = :scope_id AND source = :source AND place = :place
"""
_ENDS: dict[str, LiteralString] = dict(
    zip(SOURCE_BOUNDARIES, ("0", "1", "2", "3", "4", "5"), strict=True)
)
"""What each boundary's pair of placeholders is called: the text of a statement is never data."""

_BELOW = " OR ".join([f"source >= :first_{n} AND source < :past_{n}" for n in _ENDS.values()])
_OF_SOURCE_BELOW = f"""
{SELECT} WHERE trust_level <> :constitutional AND place IN
(SELECT place FROM memory_sources WHERE scope_id = :scope_id
AND (source = :source OR source >= :first_0 AND source < :past_0))
ORDER BY place LIMIT :limit
"""
_OF_SOURCE = f"""
{SELECT} WHERE trust_level <> :constitutional AND place IN
(SELECT place FROM memory_sources WHERE scope_id = :scope_id
AND (source = :source OR {_BELOW}))
ORDER BY place LIMIT :limit
"""


class MemoryRecord(NamedTuple):
    """A memory, and its place in the tables.

    Attributes:
        damaged: The id under which it was set aside; empty where it could be read.
    """

    place: int
    item: MemoryItem
    damaged: str = ""


def insert(tx: Tx, items: Sequence[MemoryItem]) -> None:
    """Keep memories, each in the lane of its tier, in their order.

    Raises:
        MemoryRefused: One is there under its id, or it is trusted more than where it came from.
    """
    lanes: dict[tuple[str, Partition], list[MemoryItem]] = {}
    for item in items:
        check_trust(item)
        lanes.setdefault((item.scope_id, partition_of(item.reingestion_tier)), []).append(item)
    for (scope_id, lane), together in lanes.items():
        characters = sum(len(item.content) for item in together)
        first = next_places(tx, scope_id, lane, len(together), characters)
        new = [MemoryRecord(place, item) for place, item in enumerate(together, first)]
        rows = [{"place": place, **row_of(item)} for place, item, _ in new]
        if tx.run_many(_INSERT, rows) != len(new):
            raise _there_already(tx, new)
        _index(tx, new, lane)
        _note_sources(tx, new)


def _there_already(tx: Tx, new: Sequence[MemoryRecord]) -> MemoryRefused:
    """The error for the first of these memories whose id another one has."""
    item = next(
        record.item
        for record in new
        if (found := find(tx, record.item.memory_id, record.item.scope_id)) is None
        or found.place != record.place
    )
    return MemoryRefused(
        f"There is a memory {item.memory_id} already; change it, or give a new id.",
        code="E_MEM_EXISTS",
        scope_id=item.scope_id,
    )


def find(tx: Tx, memory_id: str, scope_id: str) -> MemoryRecord | None:
    """The memory of an id, if this scope has it."""
    row = tx.run(_BY_ID, scope_id=scope_id, memory_id=memory_id).fetchone()
    return None if row is None else MemoryRecord(row[0], item_of(row[1:]))


def select_records(tx: Tx, statement: LiteralString, **values: object) -> list[MemoryRecord]:
    """The memories that a statement finds; it begins with `SELECT`."""
    rows = tx.run(statement, **values).fetchall()
    return [MemoryRecord(row[0], item_of(row[1:])) for row in rows]


def page(tx: Tx, after: int, limit: int) -> list[tuple[Any, ...]]:
    """Rows of every scope and lane behind a place, each with its place before its `FIELDS`."""
    return tx.run(_PAGE, after=after, limit=limit).fetchall()


def rows_of(tx: Tx, memory_ids: Iterable[str], scope_id: str) -> list[tuple[Any, ...]]:
    """The rows of these ids that this scope has, in this order, by `FIELDS`."""
    found = [
        tx.run(_BY_ID, scope_id=scope_id, memory_id=memory_id).fetchone()
        for memory_id in memory_ids
    ]
    return [tuple(row)[1:] for row in found if row is not None]


def require_changeable(tx: Tx, memory_id: str, scope_id: str) -> MemoryRecord:
    """The memory of an id, if it may be changed at all.

    Raises:
        DatabaseError: It is damaged.
        MemoryRefused: This scope has none, or it is constitutional.
    """
    return _changeable(find(tx, memory_id, scope_id), memory_id, scope_id)


def _changeable(found: MemoryRecord | None, memory_id: str, scope_id: str) -> MemoryRecord:
    if found is None:
        raise unknown_memory(memory_id, scope_id)
    if found.item.trust_level is TrustLevel.constitutional:
        raise MemoryRefused(
            f"The memory {memory_id} says who Silas is; nothing changes it while Silas runs.",
            code="E_MEM_CONSTITUTIONAL",
            scope_id=scope_id,
        )
    return found


def unknown_memory(memory_id: str, scope_id: str) -> MemoryRefused:
    """The error for a memory that should be there."""
    return MemoryRefused(
        f"There is no memory {memory_id[:80]}; `silas memory search` finds those there are.",
        code="E_MEM_UNKNOWN",
        scope_id=scope_id,
    )


def replace(tx: Tx, old: MemoryRecord, changes: dict[str, Any]) -> None:
    """Change fields of a memory, and whatever is found by them.

    Raises:
        MemoryRefused: A value does not fit its field, or the new trust does not fit its taint.
    """
    new = MemoryRecord(old.place, _apply_changes(old.item, changes))
    check_trust(new.item)
    if new.item.trust_level is TrustLevel.constitutional:
        raise MemoryRefused(
            f"The memory {new.item.memory_id} cannot become constitutional while Silas runs.",
            code="E_MEM_CONSTITUTIONAL",
            scope_id=new.item.scope_id,
        )
    if new.item.reingestion_tier is not old.item.reingestion_tier:
        remove(tx, old)
        insert(tx, [new.item])
        return
    lane, more = (
        partition_of(new.item.reingestion_tier),
        len(new.item.content) - len(old.item.content),
    )
    _unindex(tx, old)
    _forget_sources(tx, old)
    tx.run(_UPDATE, **row_of(new.item), place=new.place)
    _index(tx, [new], lane)
    if more:
        longer(tx, new.item.scope_id, lane, more)
    _note_sources(tx, [new])


def remove(tx: Tx, record: MemoryRecord) -> None:
    """Delete a memory and everything it is found by."""
    _unindex(tx, record)
    _forget_sources(tx, record)
    tx.run(_DELETE, place=record.place)
    if record.damaged:
        forget_damaged(tx, TABLE, record.damaged)
    item = record.item
    one_less(tx, item.scope_id, partition_of(item.reingestion_tier), len(item.content))


def of_source(tx: Tx, source: str, scope_id: str, limit: int) -> list[MemoryRecord]:
    """Memories that came from a source and may be changed, at most `limit`, in their order."""
    if not source:
        return []
    after = source[-1] in SOURCE_BOUNDARIES
    ends = {"0": source} if after else {n: source + end for end, n in _ENDS.items()}
    bounds = {f"first_{n}": end for n, end in ends.items()}
    # up to the next character, as no text sorts after all that begins with a boundary
    bounds |= {f"past_{n}": end[:-1] + chr(ord(end[-1]) + 1) for n, end in ends.items()}
    rows = tx.run(
        _OF_SOURCE_BELOW if after else _OF_SOURCE,
        constitutional=TrustLevel.constitutional,
        scope_id=scope_id,
        source=source,
        limit=limit,
        **bounds,
    ).fetchall()
    return [_to_forget(row) for row in rows]


def _to_forget(row: Sequence[Any]) -> MemoryRecord:
    try:
        return MemoryRecord(row[0], item_of(row[1:]))
    except DatabaseError:
        return MemoryRecord(row[0], salvage_row(row[1:]), str(row[1]))


def to_forget(tx: Tx, memory_id: str, scope_id: str) -> MemoryRecord:
    """The memory of an id that is only to be forgotten: damage does not keep it.

    Raises:
        MemoryRefused: This scope has none, or it is constitutional.
    """
    row = tx.run(_BY_ID, scope_id=scope_id, memory_id=memory_id).fetchone()
    return _changeable(None if row is None else _to_forget(row), memory_id, scope_id)


def check_trust(item: MemoryItem) -> None:
    """What is external is never more than `working`, and only the owner says who Silas is.

    Raises:
        MemoryRefused: The memory is trusted more than where it came from.
    """
    highest = {
        TaintLevel.owner: (TrustLevel.working, TrustLevel.verified, TrustLevel.constitutional),
        TaintLevel.auth: (TrustLevel.working, TrustLevel.verified),
        TaintLevel.external: (TrustLevel.working,),
    }
    if item.trust_level not in highest[item.taint]:
        raise MemoryRefused(
            f"What is {item.taint} cannot be remembered as {item.trust_level}; ask the owner to "
            "confirm it.",
            code="E_MEM_TRUST",
            scope_id=item.scope_id,
        )


def _apply_changes(item: MemoryItem, changes: dict[str, Any]) -> MemoryItem:
    try:
        return MemoryItem.model_validate({**dict(item), **changes})
    except ValidationError as error:
        first = misfits(error)[0]
        raise MemoryRefused(
            f"A memory's {first.place!r} cannot be changed to that: {first.words}.",
            code="E_MEM_FIELD",
        ) from error


def _index(tx: Tx, new: Sequence[MemoryRecord], lane: Partition) -> None:
    tx.run_many(lane.words.insert, [_index_columns(record) for record in new])


def _unindex(tx: Tx, record: MemoryRecord) -> None:
    words = partition_of(record.item.reingestion_tier).words
    tx.run(words.delete, **_index_columns(record))


def _index_columns(record: MemoryRecord) -> dict[str, str | int]:
    item = record.item
    return {
        "place": record.place,
        "content": index_text(item.content),
        "tags": index_text(list_text(item.semantic_tags)),
    }


def _note_sources(tx: Tx, new: Sequence[MemoryRecord]) -> None:
    tx.run_many(_NOTE_SOURCE, [source for record in new for source in _sources(record)])


def _forget_sources(tx: Tx, record: MemoryRecord) -> None:
    tx.run_many(_FORGET_SOURCE, _sources(record))


def _sources(record: MemoryRecord) -> list[dict[str, str | int]]:
    item = record.item
    return [
        {"scope_id": item.scope_id, "source": source, "place": record.place}
        for source in item.sources
    ]
