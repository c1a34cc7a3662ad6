"""What was forgotten, for the conversation on the pages: which words were made of it."""

from collections.abc import Callable, Sequence

from silas.context.chronicle import SqlChronicleStore
from silas.context.origin import names
from silas.db import Database, at_once
from silas.memory.forgotten import ForgottenLog
from silas.stream.scope_work import ScopeWork
from silas.types import OWNER

_ABOUT = 20  # entries of the conversation that words may be made of which stand in none


class PagesMadeOf:
    """`silas.channels.web.transcript.MadeOf` over the conversation as it is kept.

    What a turn answers is written there before it is sent, with its sources. What is said outside
    of a turn, such as that work waits, is in no entry: it counts as made of the newest ones.
    """

    def __init__(self, db: Database, chronicle: SqlChronicleStore) -> None:
        self._log = ForgottenLog(db)
        self._chronicle = chronicle

    def last(self) -> int:
        """See `MadeOf.last`."""
        return self._log.forgotten_since(0, OWNER).last

    def sources_of_said(self, text: str) -> Sequence[str]:
        """See `MadeOf.said`."""
        newest = at_once(self._chronicle.get_recent(OWNER, _ABOUT))
        exact = [item for item in newest if item.content == f"Silas: {text}"]
        found = exact[-1:] or newest
        return tuple(dict.fromkeys(name for one in found for name in (one.source, *one.sources)))


class PagesForgotten:
    """`silas.channels.web.forgotten_content.WhatIsForgotten` over what memory and work know."""

    def __init__(self, log: ForgottenLog, work: ScopeWork) -> None:
        self._log = log
        self._work = work

    def newest(self) -> tuple[tuple[str, int], ...]:
        """See `WhatIsForgotten.newest`."""
        return self._log.newest()

    async def rests(self, work_item_id: str, *, ever: bool) -> bool:
        """See `WhatIsForgotten.rests`."""
        return await self._work.rests_on_forgotten(work_item_id, ever=ever)

    def gone_since(self, last: int) -> Callable[[Sequence[str]], bool]:
        """See `WhatIsForgotten.gone_since`."""
        gone = self._log.forgotten_since(last, OWNER).sources

        def any_gone(sources: Sequence[str]) -> bool:
            return any(names(source, wanted) for wanted in gone for source in sources)

        return any_gone
