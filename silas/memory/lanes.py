"""The two lanes of a scope: where their words are indexed, and how much is in them."""

from typing import NamedTuple

from silas.db import Tx
from silas.memory.models import ReingestionTier

PLACES = 1 << 40
"""Places of one scope: more memories than anybody has. See `migrations/001_memory.sql`."""


class Lane(NamedTuple):
    """One lane.

    Attributes:
        words: The full-text index of its words.
        counter: The column of `memory_scopes` that counts its memories.
    """

    words: str
    counter: str


_LANES = {
    ReingestionTier.active: Lane("memory_words", "active_items"),
    ReingestionTier.low_reingestion: Lane("memory_raw_words", "raw_items"),
}


def lane_of(tier: ReingestionTier) -> Lane:
    """The lane of a tier."""
    return _LANES[tier]


class Scope(NamedTuple):
    """A lane of one scope.

    Attributes:
        lane: Which lane.
        first, last: The places that this scope's memories have, both lanes.
        items: How many memories lie in this lane.
    """

    lane: Lane
    first: int
    last: int
    items: int


def scope_in(tx: Tx, scope_id: str, lane: Lane) -> Scope:
    """A lane of a scope; of a scope that never kept anything, an empty one."""
    row = tx.driver.execute(
        f"SELECT number, last_place, {lane.counter} FROM memory_scopes WHERE scope_id = ?",  # noqa: S608
        (scope_id,),
    ).fetchone()
    return Scope(lane, 1, 0, 0) if row is None else Scope(lane, row[0] * PLACES, row[1], row[2])


def next_place(tx: Tx, scope_id: str, lane: Lane) -> int:
    """A place for one more memory of a scope, counted in its lane; places are never used again."""
    one_more = f"last_place = last_place + 1, {lane.counter} = {lane.counter} + 1"
    counted = tx.driver.execute(
        f"UPDATE memory_scopes SET {one_more} WHERE scope_id = ? RETURNING last_place",  # noqa: S608
        (scope_id,),
    ).fetchone()
    if counted is not None:
        return int(counted[0])
    number = tx.driver.execute("SELECT coalesce(max(number), 0) + 1 FROM memory_scopes").fetchone()
    place = int(number[0]) * PLACES
    tx.driver.execute(
        f"INSERT INTO memory_scopes (number, scope_id, last_place, {lane.counter}) "  # noqa: S608
        "VALUES (?, ?, ?, 1)",
        (number[0], scope_id, place),
    )
    return place


def recount(tx: Tx, scope_id: str, lane: Lane, by: int) -> None:
    """A memory came into a lane (1) or left it (-1)."""
    tx.driver.execute(
        f"UPDATE memory_scopes SET {lane.counter} = {lane.counter} + ? WHERE scope_id = ?",  # noqa: S608
        (by, scope_id),
    )
