"""Putting a bundle in the place of everything remembered, while others go on (spec 6.5).

What comes is kept beside under a name of its own, in small steps, words and sources included; then
names are exchanged in one transaction, and what went is deleted in small steps behind it. So the
replacement happens whole or not at all, and nobody waits for the work of it.
"""

from collections.abc import Iterable, Iterator, Sequence

from silas.db import Database, Tx
from silas.errors import MemoryRefused
from silas.memory import forgotten, records
from silas.memory.bundle_rules import BundleFacts, goes
from silas.memory.models import MemoryItem, TrustLevel
from silas.types import new_id

COMING, GOING = "silas:coming:", "silas:going:"
"""What the names begin with under which memories lie that nobody's conversation has."""

_AT_ONCE = 100  # memories of one transaction: some milliseconds, and others wait for its end

# the stamp: the lower 40 bits of a place are a memory's own number, from 0
_VECTORS = """
INSERT INTO memory_vectors (place, model, scope, stamp, bits, vector)
SELECT new.place, v.model, new.place >> 40, (new.place & 1099511627775) + 1, v.bits, v.vector
FROM memory_items AS new
JOIN memory_items AS old ON old.scope_id = :scope_id AND old.memory_id = new.memory_id
  AND old.content = new.content AND old.reingestion_tier = new.reingestion_tier
JOIN memory_vectors AS v ON v.place = old.place
WHERE new.scope_id = :coming AND new.memory_id IN :memory_ids
"""
_ASKED = """
INSERT INTO memory_asked (place, asked_at, answer)
SELECT new.place, asked.asked_at, asked.answer FROM memory_asked AS asked
JOIN memory_items AS old ON old.place = asked.place AND old.scope_id = :scope_id
JOIN memory_items AS new ON new.scope_id = :coming AND new.memory_id = old.memory_id
WHERE new.content = old.content ON CONFLICT (place) DO NOTHING
"""
# vectors that were carried over have their place as stamp: the next one comes after
_STAMPS = """
INSERT INTO memory_vector_stamps (scope, last)
SELECT number, (active_last & 1099511627775) + 1 FROM memory_scopes WHERE scope_id = :scope_id
ON CONFLICT (scope) DO UPDATE SET last = excluded.last
"""
_RENAMES = (
    "UPDATE memory_items SET scope_id = :name WHERE scope_id = :former",
    "UPDATE memory_sources SET scope_id = :name WHERE scope_id = :former",
    "UPDATE memory_scopes SET scope_id = :name WHERE scope_id = :former",
)
_HELD = "SELECT active_items + raw_items FROM memory_scopes WHERE scope_id = :scope_id"
_TRUSTED = f"{records.SELECT} WHERE scope_id = :scope_id AND trust_level <> :working"
_PAGE = f"""
{records.SELECT} WHERE scope_id = :scope_id AND place > :after ORDER BY place LIMIT :limit
"""
_NAMES = "SELECT scope_id FROM memory_scopes"
_DROP_SCOPE = "DELETE FROM memory_scopes WHERE scope_id = :scope_id"


def replace_memories(
    db: Database, facts: BundleFacts, batches: Iterable[Sequence[MemoryItem]]
) -> dict[str, int]:
    """Replace a scope's memories; what may not go stays.

    Returns:
        How many memories were `stored`, `updated`, `kept` as they were here, and `deleted`.

    Raises:
        MemoryRefused: Another import took this one's place; nothing was changed.
    """
    _drop(db, COMING)
    coming, going = COMING + new_id("import"), GOING + new_id("import")
    try:
        count = _beside(db, facts.scope_id, coming, batches)
        stayed = _exchange(db, facts, coming, going, count)
    except BaseException:
        _drop(db, coming)
        raise
    updated, kept, deleted = _compare_pages(db, facts.scope_id, going)
    kept += stayed
    _drop(db, GOING)
    return {
        "stored": count - updated - kept,
        "updated": updated,
        "kept": kept,
        "deleted": deleted,
    }


def drop_what_went(db: Database) -> None:
    """Delete what a replacement that was broken off after its exchange has left."""
    _drop(db, GOING)


def is_beside(scope_id: str) -> bool:
    """Whether a memory of this scope comes or goes with a replacement, and is nobody's."""
    return scope_id.startswith((COMING, GOING))


def _beside(
    db: Database, scope_id: str, coming: str, batches: Iterable[Sequence[MemoryItem]]
) -> int:
    """Keep everything that comes under a name of its own; returns how many."""
    count = 0
    for batch in batches:
        with db.write() as tx:
            records.insert(tx, [item.model_copy(update={"scope_id": coming}) for item in batch])
            names = [item.memory_id for item in batch]
            tx.run(_VECTORS, scope_id=scope_id, coming=coming, memory_ids=names)
        count += len(batch)
    return count


def _exchange(db: Database, facts: BundleFacts, coming: str, going: str, count: int) -> int:
    """In one transaction: what came is the scope's, what was the scope's goes.

    Returns:
        How many memories of the bundle gave way to one that stays.
    """
    with db.write() as tx:
        if _count_held(tx, coming) != count:
            raise MemoryRefused(
                "Another import began meanwhile, and nothing was changed by this one; run it again "
                "when the other one has ended.",
                code="E_MEM_BUNDLE",
                scope_id=facts.scope_id,
            )
        stayed = 0
        for record in _select_trusted(tx, facts.scope_id):
            if goes(record.item, facts.whose):
                continue
            given_way = records.find(tx, record.item.memory_id, coming)
            if given_way is not None:
                records.remove(tx, given_way)
                stayed += 1
            records.remove(tx, record)
            records.insert(tx, [record.item.model_copy(update={"scope_id": coming})])
        tx.run(_ASKED, scope_id=facts.scope_id, coming=coming)
        tx.run(_STAMPS, scope_id=coming)
        for former, name in ((facts.scope_id, going), (coming, facts.scope_id)):
            for rename in _RENAMES:
                tx.run(rename, name=name, former=former)
        forgotten.note(tx, facts.scope_id, forgotten.EVERY_MEMORY)
    return stayed


def _count_held(tx: Tx, scope_id: str) -> int:
    row = tx.run(_HELD, scope_id=scope_id).fetchone()
    return 0 if row is None else int(row[0])


def _select_trusted(tx: Tx, scope_id: str) -> list[records.MemoryRecord]:
    return records.select_records(tx, _TRUSTED, scope_id=scope_id, working=TrustLevel.working.value)


def _compare_pages(db: Database, scope_id: str, going: str) -> tuple[int, int, int]:
    """Of what goes: how many were changed, are the same, and are not there any more."""
    updated = kept = deleted = 0
    for page in _pages(db, going):
        with db.read() as tx:
            for old in page:
                new = records.find(tx, old.item.memory_id, scope_id)
                same = {"scope_id": scope_id, "embedding": None}
                deleted += new is None
                kept += new is not None and old.item.model_copy(update=same) == new.item
        updated += len(page)
    return updated - kept - deleted, kept, deleted


def _pages(db: Database, scope_id: str) -> Iterator[list[records.MemoryRecord]]:
    """A scope's memories, some at a time."""
    last = 0
    while True:
        with db.read() as tx:
            page = records.select_records(tx, _PAGE, scope_id=scope_id, after=last, limit=_AT_ONCE)
        if not page:
            return
        yield page
        last = page[-1].place


def _drop(db: Database, beginning: str) -> None:
    """Delete everything under names that begin so, some at a time."""
    with db.read() as tx:
        names = [name for (name,) in tx.run(_NAMES).fetchall() if name.startswith(beginning)]
    for name in names:
        for page in _pages(db, name):
            with db.write() as tx:
                for record in page:
                    records.remove(tx, record)
        with db.write() as tx:
            tx.run(_DROP_SCOPE, scope_id=name)
