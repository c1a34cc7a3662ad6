"""Finding memories by meaning, and making their vectors beside everybody's work (spec 6.2)."""

import asyncio
from collections.abc import Sequence

from silas.clock import Clock, time_limit
from silas.db import Database
from silas.errors import SilasError
from silas.memory.embed import Embedder, Vector
from silas.memory.partitions import SCOPE_BITS
from silas.memory.replacing import is_beside
from silas.memory.vectors import Unembedded, VectorIndex

_PATIENCE = 3.0  # seconds that a question waits for its vector; then words alone must do
_PAUSE = 60.0  # seconds without a try after one failed
_BATCH = 32  # texts that are embedded at once
_WINDOW = 500  # memories that one look for missing vectors goes through
_LOOK_SECONDS = 5.0  # from a write to the look for new memories: a turn writes several times


class SemanticSearch:
    """`Vectors`: an embedder, an index, and the upkeep that keeps the one in the other.

    What is new is embedded in the background: until then it is found by its words.
    """

    def __init__(self, db: Database, embedder: Embedder, index: VectorIndex, clock: Clock) -> None:
        self._db = db
        self._embedder = embedder
        self._index = index
        self._clock = clock
        self._not_before = 0.0
        self._asked: tuple[str, Vector] = ("", [])
        self._next_places: dict[int, int] = {}  # where to look on, by scope
        self._one_at_a_time = asyncio.Lock()
        self._something_new = asyncio.Event()

    async def search(self, scope_id: str, text: str, limit: int) -> list[tuple[str, float]]:
        """See `Vectors.search`; nothing is found where no vector can be had in time."""
        vector = await self._vector_of(text) if limit > 0 else None
        if vector is None:
            return []
        return await asyncio.to_thread(self._index.nearest, scope_id, vector, limit)

    async def likeness(
        self, scope_id: str, text: str, memory_ids: Sequence[str]
    ) -> dict[str, float]:
        """See `Vectors.likeness`; nobody is near where no vector can be had in time."""
        vector = await self._vector_of(text) if memory_ids else None
        if vector is None:
            return {}
        return await asyncio.to_thread(self._index.likeness, scope_id, vector, memory_ids)

    async def _vector_of(self, text: str) -> Vector | None:
        """The vector of a question; what was asked last is asked again at once, and known."""
        self._something_new.set()  # what another process wrote is found by the next question
        if not text.strip() or self._clock.monotonic() < self._not_before:
            return None
        if text == self._asked[0]:
            return self._asked[1]
        try:
            async with time_limit(self._clock, _PATIENCE):
                vector = await self._embedder.embed(text)
        except (SilasError, TimeoutError):
            self._not_before = self._clock.monotonic() + _PAUSE
            return None
        self._asked = (text, vector)
        return vector

    async def catch_up(self) -> int:
        """Embed the memories that came since this was last called; returns how many."""
        async with self._one_at_a_time:
            now = self._ends()
            made = 0
            for scope, last in now.items():
                after = self._next_places.get(scope, scope << SCOPE_BITS) - 1
                if last > after:
                    made += await self._embed_after(after, last)
                self._next_places[scope] = last + 1
            return made

    async def reembed(self) -> int:
        """Embed every memory that has no vector, those that were changed among them.

        Raises:
            LLMError: No vector can be had; what was made stays.
        """
        async with self._one_at_a_time:
            made = 0
            for scope, last in self._ends().items():
                made += await self._embed_after((scope << SCOPE_BITS) - 1, last)
            return made

    async def keep_up(self) -> None:
        """Embed what is new for as long as this runs; cancel it to stop.

        It looks after a write of this process and after a question, which finds what others wrote.
        """
        loop = asyncio.get_running_loop()

        def wake() -> None:  # in the thread that wrote
            if not self._something_new.is_set():
                loop.call_soon_threadsafe(self._something_new.set)

        with self._db.heard_writes(wake):
            while True:
                self._something_new.clear()
                try:
                    await self.catch_up()
                except SilasError:  # `silas doctor` says why; the next begins where this ended
                    await self._clock.sleep(_PAUSE)
                    continue
                await self._something_new.wait()
                await self._clock.sleep(_LOOK_SECONDS)

    def _ends(self) -> dict[int, int]:
        """The last place of each scope's active lane."""
        with self._db.read() as tx:
            rows = tx.run("SELECT number, active_last, scope_id FROM memory_scopes")
            return {number: last for number, last, scope_id in rows if not is_beside(scope_id)}

    async def _embed_after(self, after: int, upto: int) -> int:
        made = 0
        while True:
            missing, onward = await asyncio.to_thread(self._index.missing, after, upto, _WINDOW)
            for start in range(0, len(missing), _BATCH):
                made += await self._embed(missing[start : start + _BATCH])
            if not onward:
                return made
            after = onward

    async def _embed(self, texts: list[Unembedded]) -> int:
        vectors = await self._embedder.embed_batch([text.content for text in texts])
        return await asyncio.to_thread(self._index.put, list(zip(texts, vectors, strict=True)))
