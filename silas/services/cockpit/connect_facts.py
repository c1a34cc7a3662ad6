"""What a page is told when it connects, besides the conversation and the cards."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from silas.agents.choice import RUNBOOK, ModelsConfig
from silas.audit.kept_head import KeptAuditLog
from silas.channels.web.events import WaitingPlanView
from silas.config import SilasConfig
from silas.language import refusal_words
from silas.services.cockpit.setup import SetupRoom
from silas.stop import Sentinel
from silas.stream.session import Session
from silas.work.changes.held_store import HeldStore


class OpenQuestions(Protocol):
    """What the owner is asked now."""

    @property
    def cards(self) -> Sequence[object]:
        """The cards; those about work name it in `work_item_id`."""
        ...


@dataclass(frozen=True)
class ConnectFacts:
    """`silas.channels.web.socket.Standing` over an open Silas."""

    config: SilasConfig
    silas: Session
    setup: SetupRoom
    log: KeptAuditLog
    models: Callable[[], ModelsConfig]
    held: HeldStore
    questions: OpenQuestions

    async def waiting(self) -> tuple[WaitingPlanView, ...]:
        """Plans that wait, and changes of finished work, that nobody is asked about now."""
        unasked = await self.silas.runs.proposer.list_unasked()
        changed = {one.item.id for one in await self.silas.runs.proposer.to_change()}
        plans = tuple(
            WaitingPlanView(
                work_item_id=item.id, title=item.title, changes_wanted=item.id in changed
            )
            for item in unasked
        )
        asked = {str(getattr(card, "work_item_id", "")) for card in self.questions.cards}
        if not (names := sorted(set(self.held.ids()) - asked)):
            return plans
        found = [self.held.find(name) for name in names]
        return (
            *plans,
            *(
                WaitingPlanView(work_item_id=one.work_item_id, title=one.title)
                for one in found
                if one
            ),
        )

    def turns_waiting(self) -> int:
        """How many turns wait in all conversations."""
        return self.silas.stream.pressure

    def stop_words(self) -> str:
        """Words about a stop in force."""
        sentinel = Sentinel(self.config.data_dir, self.config.scheduler.zone)
        return refusal_words(sentinel.words())

    async def compare_seen(self, head: str, device: str) -> None:
        """Compare the record with the newest signed head that a device was told."""
        await self.log.compare_head(head, f"the device {device}")

    def record(self) -> tuple[str, str]:
        """Words where the record was changed, and its newest signed head."""
        return self.log.words, self.log.newest_line()

    @property
    def runbook(self) -> bool:
        """Whether the built-in model answers now."""
        return self.models().proxy.name == RUNBOOK

    async def onboarding(self) -> bool:
        """Whether nobody has said yet which model to use and who the owner is."""
        return (await self.setup.onboarding()).needed
