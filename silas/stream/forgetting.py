"""What was forgotten beside a running conversation leaves its view, too."""

from silas.context import ChronicleStore
from silas.memory import MemoryStore
from silas.memory.forgotten import EVERY_MEMORY, ForgottenEntry
from silas.stream.ports import ModelView
from silas.types import whose


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
        self._since: dict[str, int] = {}
        self._under_way: dict[str, int] = {}

    async def before(self, address: str) -> None:
        """Out of view with what was forgotten since the last turn.

        Before the first one there is no view, and what comes into it is read after this. A turn
        that waits for its owner may write later of what it read before: until it is over, all that
        was forgotten since it began counts.
        """
        if address in self._since:
            await self._forget(address)
        last = self._out_of_view(address, self._last.get(address, 0)).last
        self._last[address] = last
        if not self._under_way.get(address):
            self._since[address] = last
        self._under_way[address] = self._under_way.get(address, 0) + 1

    async def after(self, address: str) -> None:
        """What was forgotten while the turn ran goes, with all that the turn made of it."""
        self._under_way[address] = max(self._under_way.get(address, 0) - 1, 0)
        await self._forget(address)
        if not self._under_way[address]:
            self._since.pop(address, None)

    async def _forget(self, address: str) -> None:
        last = self._last.get(address, 0)
        found = self._out_of_view(address, self._since.get(address, last))
        for source in found.sources:
            if source.startswith(EVERY_MEMORY):
                continue  # it stood in view alone: what is made of a memory has its sources
            await self._chronicle.forget(whose(address), source)
            await self._memory.forget_again(source, whose(address))
        self._last[address] = found.last

    def _out_of_view(self, address: str, since: int) -> ForgottenEntry:
        found = self._memory.forgotten_since(since, whose(address))
        for source in found.sources:
            self._context.forget(address, source)
        return found
