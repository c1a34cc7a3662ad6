"""What is remembered, for the cockpit: found, explained, added, corrected, forgotten."""

from collections.abc import Callable

from silas.channels.web.views import Done, Memories, MemoryRow
from silas.language import tr
from silas.memory import MemoryItem
from silas.memory.models import TrustLevel
from silas.memory.trust_words import trust_words
from silas.services.memory import MemoryService
from silas.services.memory_search import MemorySearch
from silas.types import OWNER

_MOST = 50
_SOURCE = "channel:web"


class CockpitMemory:
    """`silas.channels.web.port.MemoryRoom` over the service that `silas memory` uses.

    Args:
        search: Finds as a turn does.
        service: Opens the service; what nobody asks for is not loaded.
        redact: Takes secrets out of what is shown.
    """

    def __init__(
        self,
        search: MemorySearch,
        service: Callable[[], MemoryService],
        redact: Callable[[str], str],
    ) -> None:
        self._search = search
        self._service = service
        self._redact = redact

    async def look(self, query: str) -> Memories:
        """See `MemoryRoom.look`."""
        if query.strip():
            found = await self._search.find(OWNER, query, _MOST)
            nothing = tr("Nothing is remembered that fits.")
        else:
            found = await self._search.newest(_MOST)
            nothing = tr("Nothing is remembered yet.")
        return Memories(
            memories=tuple(self._row(one) for one in found), words="" if found else nothing
        )

    async def add(self, text: str) -> Done:
        """See `MemoryRoom.add`."""
        await self._service().add(text, _SOURCE)
        return Done(words=tr("Silas remembers it as your own words."))

    async def correct(self, memory_id: str, text: str) -> Done:
        """See `MemoryRoom.correct`."""
        await self._service().correct(memory_id, text, _SOURCE)
        return Done(words=tr("Your words stand there now."))

    async def forget(self, memory_id: str) -> Done:
        """See `MemoryRoom.forget`."""
        await self._service().forget_one(memory_id)
        return Done(words=tr("Silas has forgotten it. What was said in the Stream stays there."))

    def _row(self, item: MemoryItem) -> MemoryRow:
        return MemoryRow(
            id=item.memory_id,
            text=self._redact(item.content),
            taint=item.taint.value,
            trust=item.trust_level.value,
            trust_words=trust_words(item),
            sources=tuple(self._redact(source) for source in item.sources),
            at=item.updated_at,
            uses=item.access_count,
            fixed=item.trust_level is TrustLevel.constitutional,
        )
