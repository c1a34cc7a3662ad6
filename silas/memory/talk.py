"""What was remembered right before and after: an answer seldom holds the words of its question."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from silas.db import Tx
from silas.memory.lanes import Scope

_REACH = 2  # memories before and after that are looked at
_READ = 4_000  # characters of a memory that are read for a common word
_AT_ONCE = 500  # rows in one statement


class Turn(NamedTuple):
    """What is needed of a memory to place it among its neighbours.

    Attributes:
        before, after: The places of the memories before and after it in its conversation.
        asks: It holds a question.
        text: Its beginning.
    """

    before: int | None
    after: int | None
    asks: bool
    text: str


class _Row(NamedTuple):
    memory_id: str
    session_id: str | None
    previous: str | None
    next: str | None
    text: str


def turns_around(tx: Tx, scope: Scope, places: Iterable[int], now: str) -> dict[int, Turn]:
    """These memories and their neighbours, as far as they hold now; by place.

    Neighbours are those that `temporal_prev` and `temporal_next` name; where these are empty, those
    that were kept right before and after in the same session.
    """
    near = {place + step for place in places for step in range(-_REACH, _REACH + 1)}
    rows = _load(tx, "place", sorted(near), scope, now)
    named = {name for row in rows.values() for name in (row.previous, row.next) if name}
    if missing := named - {row.memory_id for row in rows.values()}:
        rows |= _load(tx, "memory_id", sorted(missing), scope, now)
    by_id = {row.memory_id: place for place, row in rows.items()}
    return {
        place: Turn(
            _beside(rows, by_id, place, row.previous, -1),
            _beside(rows, by_id, place, row.next, 1),
            "?" in row.text,
            row.text,
        )
        for place, row in rows.items()
    }


def _beside(
    rows: Mapping[int, _Row], by_id: Mapping[str, int], place: int, name: str | None, step: int
) -> int | None:
    if name:
        return by_id.get(name)
    session, other = rows[place].session_id, rows.get(place + step)
    return place + step if session and other and other.session_id == session else None


def _load(
    tx: Tx, column: str, values: Sequence[int | str], scope: Scope, now: str
) -> dict[int, _Row]:
    rows: dict[int, _Row] = {}
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        found = tx.driver.execute(
            "SELECT place, memory_id, session_id, temporal_prev, temporal_next, "  # noqa: S608
            f"substr(content, 1, {_READ}) FROM memory_items "
            f"WHERE scope_id = ? AND {column} IN ({', '.join('?' * len(some))}) "
            "AND place BETWEEN ? AND ? AND (valid_from IS NULL OR valid_from <= ?) "
            "AND (valid_until IS NULL OR valid_until > ?)",
            (scope.scope_id, *some, scope.first, scope.last, now, now),
        )
        rows |= {row[0]: _Row(*row[1:]) for row in found}
    return rows
