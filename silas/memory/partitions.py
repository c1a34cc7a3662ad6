"""The two lanes of a scope: where their words are indexed, and how much is in them.

`bm25()` counts over the whole index, so what a guest says would change what the owner finds.
Rarity is counted within the scope.
"""

from typing import LiteralString, NamedTuple

from silas.db import Tx
from silas.memory.models import ReingestionTier
from silas.memory.sqlite_statements import ACTIVE_WORDS, RAW_WORDS, WordsIndex

SCOPE_BITS = 40
"""A memory's place is its scope's number and, below these bits, its own; see
`migrations/001_memory.sql`."""

_SCOPE = 1 << SCOPE_BITS
_RAW = 1 << 39  # where its raw lane begins


class Partition(NamedTuple):
    """One lane.

    Attributes:
        raw: Whether it is the raw lane.
        words: The full-text index of its words.
        counted: What `memory_scopes` has of it: the scope's number, then of the lane its last
            place, how many memories lie in it and how long they are together.
        add: Counts new memories; gives the last place, and the scope's number.
        mend: Sets what is counted.
        drop: Counts one less.
        lengthen: Counts characters.
    """

    raw: bool
    words: WordsIndex
    counted: LiteralString
    add: LiteralString
    mend: LiteralString
    drop: LiteralString
    lengthen: LiteralString


def _partition(*, raw: bool, name: LiteralString, words: WordsIndex) -> Partition:
    last, items, characters = f"{name}_last", f"{name}_items", f"{name}_characters"
    return Partition(
        raw,
        words,
        f"SELECT number, {last}, {items}, {characters} FROM memory_scopes "
        "WHERE scope_id = :scope_id",
        f"UPDATE memory_scopes SET {last} = {last} + :many, {items} = {items} + :many, "
        f"{characters} = {characters} + :characters WHERE scope_id = :scope_id "
        f"RETURNING {last}, number",
        f"UPDATE memory_scopes SET {last} = :last, {items} = :items, "
        f"{characters} = :characters WHERE scope_id = :scope_id",
        f"UPDATE memory_scopes SET {items} = {items} - 1, "
        f"{characters} = {characters} - :characters WHERE scope_id = :scope_id",
        f"UPDATE memory_scopes SET {characters} = {characters} + :characters "
        "WHERE scope_id = :scope_id",
    )


_LANES = {
    ReingestionTier.active: _partition(raw=False, name="active", words=ACTIVE_WORDS),
    ReingestionTier.low_reingestion: _partition(raw=True, name="raw", words=RAW_WORDS),
}
_NEXT_NUMBER = "SELECT coalesce(max(number), 0) + 1 FROM memory_scopes"
_NEW_SCOPE = """
INSERT INTO memory_scopes (number, scope_id, active_last, active_items, raw_last, raw_items)
VALUES (:number, :scope_id, :active_last, 0, :raw_last, 0)
"""


def partition_of(tier: ReingestionTier) -> Partition:
    """The lane of a tier."""
    return _LANES[tier]


class ScopePartition(NamedTuple):
    """A lane of one scope.

    Attributes:
        scope_id: Whose.
        lane: Which lane.
        first, last: The places that this lane's memories have.
        items: How many memories lie in it.
        characters: How long they are together.
    """

    scope_id: str
    lane: Partition
    first: int
    last: int
    items: int
    characters: int

    @property
    def usual(self) -> float:
        """How many characters a memory has on average."""
        return self.characters / max(1, self.items)


def scope_in(tx: Tx, scope_id: str, lane: Partition) -> ScopePartition:
    """A lane of a scope; of a scope that never kept anything, an empty one."""
    row = tx.run(lane.counted, scope_id=scope_id).fetchone()
    if row is None:
        return ScopePartition(scope_id, lane, 1, 0, 0, 0)
    if not all(isinstance(one, int) and one >= 0 for one in row):
        # damaged: what it counted is still there
        return _recount_lane(tx, scope_id, lane, row[0])
    return ScopePartition(scope_id, lane, _first(row[0], lane), *row[1:])


def next_places(tx: Tx, scope_id: str, lane: Partition, many: int, characters: int) -> int:
    """The first of so many places for memories of a scope, one after the other, counted in its
    lane.
    """
    counted = tx.run(lane.add, many=many, characters=characters, scope_id=scope_id).fetchone()
    if counted is not None:
        first = int(counted[0]) - many + 1
        if first >= _first(counted[1], lane):
            return first
        found = _recount_lane(tx, scope_id, lane, counted[1])  # it was damaged, and is no place
        tx.run(
            lane.mend,
            last=found.last,
            items=found.items,
            characters=found.characters,
            scope_id=scope_id,
        )
        return next_places(tx, scope_id, lane, many, characters)
    (number,) = tx.run(_NEXT_NUMBER).fetchone()
    active, raw = (_first(number, each) - 1 for each in _LANES.values())
    tx.run(_NEW_SCOPE, number=number, scope_id=scope_id, active_last=active, raw_last=raw)
    return next_places(tx, scope_id, lane, many, characters)


def one_less(tx: Tx, scope_id: str, lane: Partition, characters: int) -> None:
    """A memory of so many characters left a lane."""
    tx.run(lane.drop, characters=characters, scope_id=scope_id)


def longer(tx: Tx, scope_id: str, lane: Partition, characters: int) -> None:
    """A memory of a lane became longer by so many characters; shorter by a negative number."""
    tx.run(lane.lengthen, characters=characters, scope_id=scope_id)


def _recount_lane(tx: Tx, scope_id: str, lane: Partition, number: int) -> ScopePartition:
    """A lane by the memories that lie in it, where its counts were damaged."""
    first = _first(number, lane)
    items, characters, last = tx.run(
        "SELECT count(*), coalesce(sum(length(content)), 0), coalesce(max(place), :none)"
        " FROM memory_items WHERE place >= :first AND place < :end",
        none=first - 1,
        first=first,
        end=first + _RAW,
    ).fetchone()
    return ScopePartition(scope_id, lane, first, last, items, characters)


def _first(number: int, lane: Partition) -> int:
    return number * _SCOPE + (_RAW if lane.raw else 0)
