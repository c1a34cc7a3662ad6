"""Batches of files for the cockpit: what was moved, and the same way back as `silas batch undo`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from silas.channels.web.views import Done
from silas.channels.web.views_kept import MovedBatchRow, MovedFileRow
from silas.sandbox import Sandbox

if TYPE_CHECKING:
    from silas.work.batches.models import FileBatch
    from silas.work.batches.review import FolderReview
    from silas.work.batches.store import KeptBatch

_MOST = 20  # batches, the newest; older ones only while they can be taken back


class CockpitBatches:
    """`silas.channels.web.port.BatchRoom` over the service that `silas batch` uses.

    Args:
        review: Opens it; what nobody asks for is not loaded.
        shown: Batches whose cards are open, by their ids.
        sandbox: Where small pictures are made.
        redact: Takes secrets out of what is shown.
    """

    def __init__(
        self,
        review: "Callable[[], FolderReview]",
        shown: "Mapping[str, FileBatch]",
        sandbox: Sandbox,
        redact: Callable[[str], str],
    ) -> None:
        self._review = review
        self._shown = shown
        self._sandbox = sandbox
        self._one = asyncio.Lock()
        self._redact = redact

    async def rows(self) -> tuple[MovedBatchRow, ...]:
        """See `BatchRoom.rows`."""
        return await asyncio.to_thread(self._rows)

    async def picture(self, batch_id: str, number: int) -> bytes:
        """See `BatchRoom.picture`; one is made after the other."""
        from silas.services.batches.pictures import card_picture  # noqa: PLC0415 - few pages ask

        async with self._one:
            return await card_picture(self._shown, batch_id, number, self._sandbox)

    def _rows(self) -> tuple[MovedBatchRow, ...]:
        execution = self._review().execution
        return tuple(
            self._row(kept, execution.undo_until(kept)) for kept in execution.newest(_MOST)
        )

    def _row(self, kept: "KeptBatch", until: datetime | None) -> MovedBatchRow:
        from silas.plans.characters import show  # noqa: PLC0415 - few pages ask
        from silas.work.batches.reason_words import file_words  # noqa: PLC0415 - as above

        def clean(text: str) -> str:
            return show(self._redact(text))

        files = tuple(
            MovedFileRow(
                number=item.number,
                name=clean(item.move.name),
                goal=clean(item.move.goal),
                state=item.state.value,
                why=clean(file_words(item.why)),
            )
            for item in kept.items
        )
        return MovedBatchRow(
            id=kept.id,
            folder=clean(str(kept.folder.path)),
            at=kept.began_at,
            undo_until=until,
            files=files,
        )

    async def undo(self, batch_id: str, numbers: Sequence[int]) -> Done:
        """See `BatchRoom.undo`."""
        from silas.work.batches.words import undone_in_short  # noqa: PLC0415 - as above

        return Done(words=undone_in_short(await self._review().undo(batch_id, numbers)))
