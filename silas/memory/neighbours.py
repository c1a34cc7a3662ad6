"""What was remembered right before and after: an answer seldom holds the words of its question."""

from collections.abc import Iterable, Sequence
from typing import LiteralString, NamedTuple

from silas.db import Tx
from silas.memory.partitions import ScopePartition
from silas.memory.postings import normalise_text
from silas.memory.sqlite_statements import (
    PLACES_OF_IDS,
    STANDALONE_AMONG,
    STANDALONE_BETWEEN,
    TURNS_BY_ID,
    TURNS_BY_PLACE,
)

ONE_THING = 300
"""Characters of a memory that says one thing, and no more."""

_KEPT = 3.0  # so that neither two neighbours nor a repeated question push it out
_REACH = 2  # memories before and after that are looked at
_READ = 4_000  # characters of a memory that are read for a common word
_AT_ONCE = 500  # rows in one statement


class NeighbourTurn(NamedTuple):
    """What is needed of a memory to place it among its neighbours.

    Attributes:
        memory_id: Its id.
        session_id: Its session, if it belongs to one.
        previous, next: The ids of the memories before and after it, where it names them.
        text: Its beginning.
        kept: It was told to be remembered, and is no piece of a conversation.
    """

    memory_id: str
    session_id: str | None
    previous: str | None
    next: str | None
    text: str
    kept: bool

    @property
    def worth(self) -> float:
        """What was told to be remembered is worth more than what was only said."""
        return _KEPT if self.kept else 1.0


class Neighbours:
    """Memories and their neighbours, by place.

    Neighbours are those that `temporal_prev` and `temporal_next` name; where these are empty, those
    that were kept right before and after in the same session.
    """

    def __init__(self, turns: dict[int, NeighbourTurn]) -> None:
        self.turns = turns
        self._places = {turn.memory_id: place for place, turn in turns.items()}
        self._before: dict[int, int | None] = {}
        self._after: dict[int, int | None] = {}
        self._plain: dict[int, bytes] = {}
        self._long = {place: max(1.0, len(turn.text) / ONE_THING) for place, turn in turns.items()}

    def plain(self, place: int) -> bytes:
        """The text of a memory, as words are looked for in it."""
        if place not in self._plain:
            self._plain[place] = normalise_text(self.turns[place].text)
        return self._plain[place]

    def long(self, place: int) -> float:
        """How many times as long a memory is as one that says one thing; at least once."""
        return self._long[place]

    def before(self, place: int) -> int | None:
        """Where the memory before this one is, if it is known."""
        if place not in self._before:
            self._before[place] = self._beside(place, self.turns[place].previous, -1)
        return self._before[place]

    def after(self, place: int) -> int | None:
        """Where the memory after this one is, if it is known."""
        if place not in self._after:
            self._after[place] = self._beside(place, self.turns[place].next, 1)
        return self._after[place]

    def asks(self, place: int) -> bool:
        """Whether it holds a question."""
        return "?" in self.turns[place].text

    def _beside(self, place: int, name: str | None, step: int) -> int | None:
        if name:
            return self._places.get(name)
        session, other = self.turns[place].session_id, self.turns.get(place + step)
        return place + step if session and other and other.session_id == session else None


def standalone_of(tx: Tx, places: Sequence[int]) -> list[int]:
    """Those of these places, in their order, whose memory is no piece of a conversation."""
    if not places:
        return []
    between = tx.run(
        STANDALONE_BETWEEN, first=min(places), last=max(places), limit=_AT_ONCE
    ).fetchall()
    found = {row[0] for row in between}
    # where much was kept, those that are asked about are fewer
    for start in range(0, len(places) if len(found) == _AT_ONCE else 0, _AT_ONCE):
        rows = tx.run(STANDALONE_AMONG, places=places[start : start + _AT_ONCE])
        found.update(row[0] for row in rows)
    return [place for place in places if place in found]


def neighbours_around(
    tx: Tx,
    scope: ScopePartition,
    places: Iterable[int],
    now: str,
    reach: int = _REACH,
    alone: Iterable[int] = (),
) -> Neighbours:
    """These memories of a scope and their neighbours, as far as they are valid now.

    Args:
        tx: The look.
        scope: Where they are.
        places: Their places.
        now: The moment that decides what is valid.
        reach: How many neighbours on each side.
        alone: Places of further memories, without their neighbours.
    """
    near = {place + step for place in places for step in range(-reach, reach + 1)}
    turns = _load(tx, TURNS_BY_PLACE, sorted(near), scope, now)
    named = {name for turn in turns.values() for name in turn[2:4] if name}
    if missing := named.difference(turn.memory_id for turn in turns.values()):
        turns |= _load(tx, TURNS_BY_ID, sorted(missing), scope, now)
    if more := sorted(set(alone) - near):
        turns |= _load(tx, TURNS_BY_PLACE, more, scope, now)
    return Neighbours(turns)


def neighbours_of(tx: Tx, scope: ScopePartition, memory_ids: Sequence[str], now: str) -> Neighbours:
    """The memories of these ids and those right before and after them."""
    places: list[int] = []
    for start in range(0, len(memory_ids), _AT_ONCE):
        some = memory_ids[start : start + _AT_ONCE]
        rows = tx.run(PLACES_OF_IDS, scope_id=scope.scope_id, memory_ids=some)
        places += [row[0] for row in rows]
    return neighbours_around(tx, scope, places, now, reach=1)


def _load(
    tx: Tx, statement: LiteralString, values: Sequence[int | str], scope: ScopePartition, now: str
) -> dict[int, NeighbourTurn]:
    turns: dict[int, NeighbourTurn] = {}
    for start in range(0, len(values), _AT_ONCE):
        rows = tx.run(
            statement,
            scope_id=scope.scope_id,
            values=values[start : start + _AT_ONCE],
            characters=_READ,
            first=scope.first,
            last=scope.last,
            now=now,
        )
        turns.update((row[0], NeighbourTurn(*row[1:])) for row in rows)
    return turns
