"""A folder that is tidied for a program or a command: its cards go to the owner (spec 5.2.4)."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from silas.audit import Audit
from silas.cards import CardChannel
from silas.clock import Clock
from silas.plans import WorkItem
from silas.plans.goals.limits import TIDIES
from silas.stream.owner import Owner

if TYPE_CHECKING:
    from silas.work.batches.review import FolderReview, TidiedFolder


class OpenBatches(Protocol):
    """Makes what asks about batches when it is first asked for."""

    def __call__(self) -> "FolderReview":
        """Made over the open database."""
        ...


@dataclass(frozen=True)
class Tidying:
    """Asks about a folder's files on the owner's channel.

    Attributes:
        review: Makes what asks, moves and takes back.
        channel: Where the owner is.
        audit, clock: What cards are recorded and timed by.
    """

    review: OpenBatches
    channel: CardChannel
    audit: Audit
    clock: Clock

    async def tidy(self, folder: Path, only: str = "") -> "TidiedFolder":
        """As `FolderReview.tidy`."""
        owner = Owner(self.channel, self.audit, self.clock)
        return await self.review().tidy(folder, owner.ask, only)

    def unable(self, item: WorkItem) -> str:
        """Why a goal could not ask about its folder, told before its card; else nothing."""
        if item.cycle != TIDIES or item.workspace is None:
            return ""
        from silas.work.batches.models import BatchRefused  # noqa: PLC0415 - few plans need it

        try:
            self.review().look(Path(item.workspace))
        except BatchRefused as error:
            return error.message
        return ""
