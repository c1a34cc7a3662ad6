"""The two lanes of a scope: where their words are indexed, and how much is in them."""

from typing import NamedTuple

from silas.db import Tx
from silas.memory.models import ReingestionTier

SCOPE_BITS = 40
"""A memory's place is its scope's number and, below these bits, its own; see
`migrations/001_memory.sql`."""

_SCOPE = 1 << SCOPE_BITS
_RAW = 1 << 39  # where its raw lane begins


class Partition(NamedTuple):
    """One lane.

    Attributes:
        words: The full-text index of its words.
        name: What its columns of `memory_scopes` begin with.
    """

    words: str
    name: str


_LANES = {
    ReingestionTier.active: Partition("memory_words", "active"),
    ReingestionTier.low_reingestion: Partition("memory_raw_words", "raw"),
}


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
    row = tx.driver.execute(
        f"SELECT number, {lane.name}_last, {lane.name}_items, {lane.name}_characters "  # noqa: S608
        "FROM memory_scopes "
        "WHERE scope_id = ?",
        (scope_id,),
    ).fetchone()
    if row is None:
        return ScopePartition(scope_id, lane, 1, 0, 0, 0)
    return ScopePartition(scope_id, lane, _first(row[0], lane), *row[1:])


def next_places(tx: Tx, scope_id: str, lane: Partition, many: int, characters: int) -> int:
    """The first of so many places for memories of a scope, one after the other, counted in its
    lane.
    """
    last, items, long = f"{lane.name}_last", f"{lane.name}_items", f"{lane.name}_characters"
    counted = tx.driver.execute(
        f"UPDATE memory_scopes SET {last} = {last} + ?, {items} = {items} + ?, "  # noqa: S608
        f"{long} = {long} + ? WHERE scope_id = ? RETURNING {last}",
        (many, many, characters, scope_id),
    ).fetchone()
    if counted is not None:
        return int(counted[0]) - many + 1
    row = tx.driver.execute("SELECT coalesce(max(number), 0) + 1 FROM memory_scopes").fetchone()
    lasts = {each.name: _first(row[0], each) - 1 for each in _LANES.values()}
    tx.driver.execute(
        "INSERT INTO memory_scopes (number, scope_id, active_last, active_items, raw_last, "
        "raw_items) VALUES (?, ?, ?, 0, ?, 0)",
        (row[0], scope_id, lasts["active"], lasts["raw"]),
    )
    return next_places(tx, scope_id, lane, many, characters)


def one_less(tx: Tx, scope_id: str, lane: Partition, characters: int) -> None:
    """A memory of so many characters left a lane."""
    tx.driver.execute(
        f"UPDATE memory_scopes SET {lane.name}_items = {lane.name}_items - 1, "  # noqa: S608
        f"{lane.name}_characters = {lane.name}_characters - ? WHERE scope_id = ?",
        (characters, scope_id),
    )


def longer(tx: Tx, scope_id: str, lane: Partition, characters: int) -> None:
    """A memory of a lane became longer by so many characters; shorter by a negative number."""
    tx.driver.execute(
        f"UPDATE memory_scopes SET {lane.name}_characters = {lane.name}_characters + ? "  # noqa: S608
        "WHERE scope_id = ?",
        (characters, scope_id),
    )


def _first(number: int, lane: Partition) -> int:
    return number * _SCOPE + (_RAW if lane.name == "raw" else 0)
