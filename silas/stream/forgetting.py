"""What was forgotten beside a running conversation leaves its view, too."""

from silas.context import ChronicleStore
from silas.memory import MemoryStore
from silas.memory.forgotten import EVERY_MEMORY
from silas.stream.ports import ModelView


class Forgetting:
    """Follows what `silas memory forget` takes back, from whatever process it is called.

    Nothing is taken out of the middle of a turn: its models have read it. What the turn kept of it
    goes when the turn is over, or before the next one where that failed.
    """

    def __init__(self, memory: MemoryStore, context: ModelView, chronicle: ChronicleStore) -> None:
        self._memory = memory
        self._context = context
        self._chronicle = chronicle
        self._last: dict[str, int] = {}
        self._under_way: set[str] = set()

    async def before(self, scope_id: str) -> None:
        """Out of view with what was forgotten since the last turn.

        Before the first one there is no view, and what comes into it is read after this.
        """
        if scope_id in self._under_way:
            await self.after(scope_id)
        self._last[scope_id], _ = self._out_of_view(scope_id)
        self._under_way.add(scope_id)

    async def after(self, scope_id: str) -> None:
        """What was forgotten while the turn ran goes, with all that the turn made of it."""
        last, sources = self._out_of_view(scope_id)
        for source in sources:
            if source.startswith(EVERY_MEMORY):
                continue  # it stood in view alone: what is made of a memory has its sources
            await self._chronicle.forget(scope_id, source)
            await self._memory.forget_again(source, scope_id)
        self._last[scope_id] = last
        self._under_way.discard(scope_id)

    def _out_of_view(self, scope_id: str) -> tuple[int, tuple[str, ...]]:
        found = self._memory.forgotten_since(self._last.get(scope_id, 0), scope_id)
        for source in found.sources:
            self._context.forget(scope_id, source)
        return found
