"""Memories by what they mean: an exact index over vectors in the database (decision A16).

A first pass over one bit per number finds the candidates, a second one over the numbers themselves
orders them. Only the bits are kept in memory, 48 bytes for a memory of 384 numbers; what the second
pass reads is at the same time what tells that a memory is still there.
"""

import json
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from silas.db import Database
from silas.memory.partitions import SCOPE_BITS
from silas.memory.sqlite_statements import IDS_AT, VECTORS_AT, VECTORS_OF_IDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]
    Numbers = NDArray[np.float32]

_WORD = 64  # bits that are compared at once
_AT_ONCE = 5_000  # rows of one look at the database: others wait for its end
_CANDIDATES = 200  # of the first pass, at least
_PER_RESULT = 10  # candidates for each result that is asked for
_ROUNDS = 3  # of candidates; before the last everything that is gone is looked for at once
_MOST_SCOPES = 64  # whose bits are kept at the same time

_PUT = """
INSERT INTO memory_vectors (place, model, scope, stamp, bits, vector)
SELECT place, :model, place >> 40, :stamp, :bits, :vector FROM memory_items
WHERE place = :place AND content = :content
ON CONFLICT (place) DO UPDATE SET model = excluded.model, scope = excluded.scope,
  stamp = excluded.stamp, bits = excluded.bits, vector = excluded.vector
"""
_STAMP = """
INSERT INTO memory_vector_stamps (scope, last) VALUES (:scope, 1)
ON CONFLICT (scope) DO UPDATE SET last = memory_vector_stamps.last + 1 RETURNING last
"""
_MISSING = """
SELECT place, CASE WHEN reingestion_tier = 'active' AND NOT EXISTS (
  SELECT 1 FROM memory_vectors AS v WHERE v.place = memory_items.place AND v.model = :model
) THEN content END FROM memory_items
WHERE place > :after AND place <= :upto ORDER BY place LIMIT :limit
"""
_NUMBER = "SELECT number FROM memory_scopes WHERE scope_id = :scope_id"
_SINCE = """
SELECT stamp, place, bits FROM memory_vectors
WHERE model = :model AND scope = :scope AND stamp > :stamp ORDER BY stamp LIMIT :limit
"""
_THERE = "SELECT place FROM memory_vectors WHERE model = :model AND scope = :scope"


class Unembedded(NamedTuple):
    """A memory that has no vector yet: its place, and the words to make one of."""

    place: int
    content: str


class VectorIndex(Protocol):
    """Keeps the vectors of one model and finds the nearest; every call may take long."""

    def put(self, made: Sequence[tuple[Unembedded, Sequence[float]]]) -> int:
        """Keep vectors, each only if its memory still has the words; returns how many were."""
        ...

    def missing(self, after: int, upto: int, limit: int) -> tuple[list[Unembedded], int]:
        """Of the next `limit` memories behind a place, up to another, those without a vector.

        And the place to go on behind; 0 where there is nothing left.
        """
        ...

    def nearest(
        self, scope_id: str, vector: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """Ids of this scope's nearest active memories with their cosine, the best first."""
        ...

    def likeness(
        self, scope_id: str, vector: Sequence[float], memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """The cosines of those of these memories of a scope that have a vector, by id."""
        ...


class NumpyVectorIndex:
    """`VectorIndex` over NumPy. One is used by several threads, one after the other."""

    def __init__(self, db: Database, model: str, dim: int) -> None:
        self._db = db
        self._model = model
        self._dim = dim
        self._scopes: dict[int, _Bits] = {}
        self._lock = threading.Lock()

    @property
    def scopes_in_memory(self) -> int:
        """Of how many scopes the bits are kept."""
        return len(self._scopes)

    def put(self, made: Sequence[tuple[Unembedded, Sequence[float]]]) -> int:
        """See `VectorIndex.put`."""
        rows = [(each, _unit(vector)) for each, vector in made]
        kept = 0
        with self._db.write() as tx:
            for (place, content), vector in rows:
                (stamp,) = tx.run(_STAMP, scope=place >> SCOPE_BITS).fetchone()
                kept += tx.run(
                    _PUT,
                    model=self._model,
                    stamp=stamp,
                    bits=_bits(vector),
                    vector=vector.tobytes(),
                    place=place,
                    content=content,
                ).rowcount
        return kept

    def missing(self, after: int, upto: int, limit: int) -> tuple[list[Unembedded], int]:
        """See `VectorIndex.missing`."""
        with self._db.read() as tx:
            rows = tx.run(
                _MISSING, model=self._model, after=after, upto=upto, limit=limit
            ).fetchall()
        found = [Unembedded(place, content) for place, content in rows if content is not None]
        return found, rows[-1][0] if len(rows) == limit else 0

    def nearest(
        self, scope_id: str, vector: Sequence[float], limit: int
    ) -> list[tuple[str, float]]:
        """See `VectorIndex.nearest`."""
        wanted = _unit(vector)
        with self._lock:
            bits = self._load_bits(scope_id)
            if bits is None or limit < 1:
                return []
            found = self._nearest_there(bits, wanted, limit)
        best = _rank_places(found, wanted)[:limit]
        names = self._names([place for place, _ in best])
        return [(names[place], score) for place, score in best if place in names]

    def likeness(
        self, scope_id: str, vector: Sequence[float], memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """See `VectorIndex.likeness`."""
        with self._db.read() as tx:
            rows: list[tuple[str, bytes]] = tx.run(
                VECTORS_OF_IDS,
                memory_ids=json.dumps(memory_ids),
                scope_id=scope_id,
                model=self._model,
            ).fetchall()
        cosines = _cosines([numbers for _, numbers in rows], _unit(vector))
        return dict(zip((name for name, _ in rows), cosines, strict=True))

    def _nearest_there(
        self, bits: "_Bits", wanted: "Numbers", limit: int
    ) -> list[tuple[int, bytes]]:
        """Candidates that are still there; what is not is dropped, and others take its place."""
        found: list[tuple[int, bytes]] = []
        for tried in range(_ROUNDS):
            if tried == _ROUNDS - 1:  # so much is gone that all of it is
                bits.keep_only(self._vector_places(bits))
            near = bits.nearest(wanted, max(_CANDIDATES, limit * _PER_RESULT))
            found = self._vectors_at(near)
            if len(found) == len(near) or len(found) >= limit:
                break
            bits.drop(set(near) - {place for place, _ in found})
        return found

    def _load_bits(self, scope_id: str) -> "_Bits | None":
        """The scope's bits with everything that came since they were last asked for."""
        with self._db.read() as tx:
            row = tx.run(_NUMBER, scope_id=scope_id).fetchone()
        if row is None:
            return None
        bits = self._scopes.pop(row[0], None) or _Bits(row[0], self._dim)
        self._scopes[row[0]] = bits  # the newest last
        if len(self._scopes) > _MOST_SCOPES:
            del self._scopes[next(iter(self._scopes))]
        while rows := self._since(bits):
            bits.add(rows)
        return bits

    def _since(self, bits: "_Bits") -> list[tuple[int, int, bytes]]:
        with self._db.read() as tx:
            return tx.run(
                _SINCE, model=self._model, scope=bits.scope, stamp=bits.stamp, limit=_AT_ONCE
            ).fetchall()

    def _vector_places(self, bits: "_Bits") -> set[int]:
        """The places of a scope that have a vector now."""
        with self._db.read() as tx:
            rows = tx.run(_THERE, model=self._model, scope=bits.scope).fetchall()
        return {place for (place,) in rows}

    def _vectors_at(self, places: Sequence[int]) -> list[tuple[int, bytes]]:
        with self._db.read() as tx:
            return tx.run(VECTORS_AT, places=json.dumps(places), model=self._model).fetchall()

    def _names(self, places: Sequence[int]) -> dict[int, str]:
        with self._db.read() as tx:
            return dict(tx.run(IDS_AT, places=json.dumps(places)).fetchall())


class _Bits:
    """One scope's bits in memory: word by word, so that one pass runs through one array."""

    def __init__(self, scope: int, dim: int) -> None:
        import numpy as np  # noqa: PLC0415 - an extra, and a tenth of a second

        self.scope = scope
        self.stamp = 0
        self._np = np
        self._count = 0
        self._gone = 0
        self._words: Words = np.zeros((-(-dim // _WORD), 1024), np.uint64)
        self._places = np.zeros(1024, np.int64)

    def add(self, rows: Sequence[tuple[int, int, bytes]]) -> None:
        """Rows of stamp, place and bits; a place that is here already has new ones."""
        np = self._np
        places = np.fromiter((place for _, place, _ in rows), np.int64, len(rows))
        self.drop(set(places.tolist()))
        packed = np.frombuffer(b"".join(bits for _, _, bits in rows), np.uint64)
        end = self._count + len(rows)
        while end > self._places.size:
            self._words = np.concatenate([self._words, np.zeros_like(self._words)], axis=1)
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
        self._words[:, self._count : end] = packed.reshape(len(rows), -1).T
        self._places[self._count : end] = places
        self._count, self.stamp = end, rows[-1][0]

    def drop(self, places: set[int]) -> None:
        """Find these no more."""
        np, here = self._np, self._places[: self._count]
        gone = np.isin(here, np.fromiter(places, np.int64, len(places)))
        self._gone += int(np.count_nonzero(gone))
        here[gone] = -1
        if self._gone > self._count // 2:
            self._compact()

    def keep_only(self, places: set[int]) -> None:
        """Find nothing but these."""
        self.drop(set(self._places[: self._count].tolist()) - places - {-1})

    def _compact(self) -> None:
        stay = self._np.flatnonzero(self._places[: self._count] >= 0)
        self._words[:, : stay.size] = self._words[:, stay]
        self._places[: stay.size] = self._places[stay]
        self._count, self._gone = int(stay.size), 0

    def nearest(self, vector: "Numbers", limit: int) -> list[int]:
        """The places whose bits differ least from those of a vector."""
        np, count = self._np, self._count
        if count == self._gone:
            return []
        wanted = np.frombuffer(_bits(vector), np.uint64)
        differ = np.zeros(count, np.uint16)
        for word, bits in zip(self._words, wanted, strict=True):
            differ += np.bitwise_count(word[:count] ^ bits)
        places = self._places[:count]
        if self._gone:
            differ[places < 0] = np.iinfo(np.uint16).max
        some = min(limit, count - self._gone)
        near = np.argpartition(differ, some - 1)[:some]
        return places[near].tolist()


def _unit(vector: Sequence[float]) -> "Numbers":
    """The vector with length one, or of zeros where it had no direction."""
    import numpy as np  # noqa: PLC0415 - an extra, and a tenth of a second

    numbers = np.asarray(vector, np.float32)
    length = float(np.linalg.norm(numbers))
    return numbers / np.float32(length) if length > 0 else numbers


def _bits(vector: "Numbers") -> bytes:
    """One bit for each number, filled up to whole words."""
    import numpy as np  # noqa: PLC0415 - an extra, and a tenth of a second

    bits = np.zeros(-(-vector.size // _WORD) * _WORD, np.bool_)
    bits[: vector.size] = vector > 0
    return np.packbits(bits, bitorder="little").tobytes()


def _rank_places(rows: Sequence[tuple[int, bytes]], wanted: "Numbers") -> list[tuple[int, float]]:
    """Places with their cosines, the best first; equal ones in the order of their places."""
    rows = sorted(rows)
    scores = _cosines([vector for _, vector in rows], wanted)
    order = sorted(range(len(rows)), key=lambda n: -scores[n])
    return [(rows[n][0], scores[n]) for n in order]


def _cosines(vectors: Sequence[bytes], wanted: "Numbers") -> list[float]:
    """Of vectors of length one, as they are stored."""
    import numpy as np  # noqa: PLC0415 - an extra, and a tenth of a second

    if not vectors:
        return []
    numbers = np.frombuffer(b"".join(vectors), np.float32)
    found: Any = numbers.reshape(len(vectors), -1) @ wanted
    return found.tolist()
