"""Everything that the cockpit's routes need, by room, and how it ends."""

from dataclasses import dataclass

from silas.services.attachments.service import AttachmentService
from silas.services.cockpit.ahead import CockpitAhead
from silas.services.cockpit.answering import AnsweringDoor
from silas.services.cockpit.batches import CockpitBatches
from silas.services.cockpit.connections import CockpitConnections
from silas.services.cockpit.memory import CockpitMemory
from silas.services.cockpit.overview import OverviewRoom
from silas.services.cockpit.record import RecordRoom
from silas.services.cockpit.reminders import CockpitReminders
from silas.services.cockpit.settings import SettingsDoor
from silas.services.cockpit.setup import SetupRoom
from silas.services.cockpit.showing import CockpitShowing
from silas.services.cockpit.work import WorkRoom
from silas.services.conversations import ConversationService
from silas.services.persona import OwnersPersona


@dataclass(frozen=True)
class Configuration:
    """`silas.channels.web.port.ConfigurationRooms`: what the owner sets."""

    persona: OwnersPersona
    answering: AnsweringDoor
    showing: CockpitShowing
    connections: CockpitConnections
    settings: SettingsDoor
    setup: SetupRoom


@dataclass(frozen=True)
class Rooms:
    """`silas.channels.web.port.Cockpit`: everything the routes need, by room."""

    record: RecordRoom
    work: WorkRoom
    overview: OverviewRoom
    memory: CockpitMemory
    reminders: CockpitReminders
    ahead: CockpitAhead
    conversations: ConversationService
    batches: CockpitBatches
    attachments: AttachmentService
    configuration: Configuration

    async def close(self) -> None:
        """End what they wait for."""
        await self.configuration.setup.close()
        await self.configuration.settings.close()
        await self.configuration.connections.close()

    @property
    def first_run(self) -> bool:
        """Whether the cards of the first run should be shown."""
        return self.configuration.setup.first_run
