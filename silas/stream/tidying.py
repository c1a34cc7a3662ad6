"""A folder that is tidied for a program or a command: its cards go to the owner (spec 5.2.4)."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from silas.audit import Audit
from silas.cards import CardChannel
from silas.clock import Clock
from silas.stream.owner import Owner

if TYPE_CHECKING:
    from silas.work.batches.review import BatchReview, TidiedFolder

OpenBatches = Callable[[], "BatchReview"]
"""Makes what asks about batches when it is first asked for."""


class Tidying:
    """Asks about a folder's files on the owner's channel.

    Args:
        batches: Makes what asks and moves.
        channel: Where the owner is.
        audit, clock: What cards are recorded and timed by.

    Attributes:
        review: Makes what asks, moves and takes back.
    """

    def __init__(
        self, batches: OpenBatches, channel: CardChannel, audit: Audit, clock: Clock
    ) -> None:
        self.review = batches
        self._owner = Owner(channel, audit, clock)

    async def tidy(self, folder: Path, only: str = "") -> "TidiedFolder":
        """As `BatchReview.tidy`."""
        return await self.review().tidy(folder, self._owner.ask, only)
