"""What the cockpit's HTTP routes need, as ports; `silas.services.cockpit` implements them.

Every method raises `SilasError` with a sentence for a person where it cannot do what is asked;
`silas.channels.web.answers` knows which code is which HTTP status.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from silas.audit.kinds import Kind
from silas.channels.web.choices_port import (
    AnsweringRoom,
    ConnectionRoom,
    SettingsRoom,
    ShowingRoom,
)
from silas.channels.web.conversations_port import AttachmentRoom, BatchRoom, ConversationRoom
from silas.channels.web.pairing import DeviceFacts
from silas.channels.web.session import WebSession
from silas.channels.web.views import (
    Activity,
    Doctor,
    Done,
    EntryDetail,
    Memories,
    Metric,
    Onboarding,
    SecretAsked,
    Settings,
    SignedEntry,
    ToolRow,
    WorkDetail,
    WorkerRow,
    WorkRow,
)
from silas.channels.web.views_ahead import AheadView
from silas.channels.web.views_kept import (
    ReminderRows,
    ReminderView,
    SecretRows,
)
from silas.channels.web.wire import Proof


class Door(Protocol):
    """What the routes need of the pairing door."""

    async def prove(self, session: WebSession, data: bytes, proof: Proof) -> str:
        """Why a proof does not count, or nothing where it does; then its nonce is spent."""
        ...

    async def link(self, base: str) -> str:
        """A fresh pairing link below this address."""
        ...

    def devices(self) -> Sequence[DeviceFacts]:
        """Every paired device."""
        ...

    async def rename(self, device_id: str, name: str) -> str:
        """Give a device another name; returns it as it is kept. Raises where there is none."""
        ...

    async def revoke(self, device_id: str) -> None:
        """End a device's sessions; its key counts no more. Raises where there is none."""
        ...


class ActivityRecord(Protocol):
    """What happened: the audit log as a narrative, and what it says about the cockpit itself."""

    async def activity(
        self, *, before: int, last: int, kind: Kind | None, item: str, everything: bool
    ) -> Activity:
        """At most `last` entries before a number (0: from the newest on), the newest first."""
        ...

    async def entry(self, seq: int) -> EntryDetail:
        """One entry with what was shown, signed and run. Raises where there is none."""
        ...

    async def ux_metrics(self) -> tuple[Metric, ...]:
        """The measures of spec 0.5.6, each with what is known so far."""
        ...


class Work(Protocol):
    """The work items, and what the owner may do about them."""

    async def rows(self) -> tuple[WorkRow, ...]:
        """Every work item and every plan that waits, the newest first."""
        ...

    async def one(self, work_item_id: str) -> WorkDetail:
        """One of them. Raises where there is none."""
        ...

    async def cancel(self, work_item_id: str) -> Done:
        """Stop running work. Raises where it is not running."""
        ...

    async def stop_answer(self, message_id: str) -> Done:
        """Stop one answer that is under way. Raises where none is to this message."""
        ...

    async def ask(self, work_item_id: str) -> Done:
        """Show a waiting plan's card again; its work goes on by itself after a yes."""
        ...

    async def rest(self, work_item_id: str) -> Done:
        """Show a card about what a project did not come to, as a new project."""
        ...

    async def undo(self, work_item_id: str) -> Done:
        """Take back what a work item changed."""
        ...

    async def stop(self) -> Done:
        """The emergency stop."""
        ...

    async def resume(self) -> Done:
        """End the emergency stop. What was interrupted needs a new approval."""
        ...


class Overview(Protocol):
    """What there is: tools, workers, settings, and whether all is well."""

    async def tools(self) -> tuple[ToolRow, ...]:
        """Every tool and how it fares."""
        ...

    async def workers(self) -> tuple[WorkerRow, ...]:
        """The owner's workers."""
        ...

    async def settings(self) -> Settings:
        """What is in force, without secrets."""
        ...

    async def doctor(self) -> Doctor:
        """Every part, and whether it is well."""
        ...

    async def witness(self) -> SignedEntry:
        """Sign the newest entry of the record, and tell every witness."""
        ...


class MemoryRoom(Protocol):
    """What is remembered; each change raises `Stopped` while the record is found changed."""

    async def look(self, query: str) -> Memories:
        """What is remembered and fits; with nothing asked, the newest."""
        ...

    async def add(self, text: str) -> Done:
        """Remember the owner's signed words."""
        ...

    async def correct(self, memory_id: str, text: str) -> Done:
        """Put the owner's signed words in a memory's place. Raises where nothing may."""
        ...

    async def forget(self, memory_id: str) -> Done:
        """Forget one memory. Raises where there is none, or it says who Silas is."""
        ...


class ReminderRoom(Protocol):
    """What the owner wants to be told."""

    async def rows(self) -> ReminderRows:
        """What is to come, the first to come first."""
        ...

    async def read(self, said: str) -> ReminderView:
        """What a sentence would make. Raises where it says no time, or nothing to be told."""
        ...

    async def read_move(self, reminder_id: str, said: str) -> ReminderView:
        """Where a reminder would be moved. Raises where it is over, or no time is said."""
        ...

    async def confirm(self, shown_id: str) -> Done:
        """Let what was shown count. Raises where it is over, or the record was changed."""
        ...

    async def cancel(self, reminder_id: str) -> Done:
        """It will not be told. Raises where it is over."""
        ...


class AheadRoom(Protocol):
    """What is to come, and the goals. Each change raises where there is no such goal."""

    async def look(self, days: int) -> AheadView:
        """What comes within so many days, what may run without asking, what is paused."""
        ...

    async def pause(self, goal_id: str) -> Done:
        """It runs no more until it is resumed."""
        ...

    async def resume(self, goal_id: str) -> Done:
        """It runs again; what was due meanwhile is not made up for."""
        ...

    async def run(self, goal_id: str) -> Done:
        """One cycle as soon as possible."""
        ...

    async def take_back(self, goal_id: str) -> Done:
        """Take its approval back. Raises where it authorises nothing any more."""
        ...

    async def narrow(self, goal_id: str, uses: int) -> Done:
        """Leave its approval fewer uses. Raises where that would not be fewer."""
        ...

    async def tighten(self) -> Done:
        """Every setting that was widened is as configured again."""
        ...


class PersonaRoom(Protocol):
    """How Silas speaks (spec 8.1). Each raises where there is no personality to tune."""

    async def state(self) -> Mapping[str, object]:
        """The effective persona: axes, mood, context, preset, and the directives as they stand."""
        ...

    async def preset(self, name: str) -> Mapping[str, object]:
        """Take a preset. Raises where there is none of this name."""
        ...

    async def feedback(self, kind: str, *, signed: bool) -> Mapping[str, object]:
        """Take note of how the owner was spoken to: for good where his device signed, else for a
        while. Raises where there is no such kind.
        """
        ...

    async def tune(self, delta: Mapping[str, float], *, signed: bool) -> Mapping[str, object]:
        """Move axes: the baseline where the owner's device signed, else for a while."""
        ...


class Setup(Protocol):
    """The first run, and secrets on a path outside the agent."""

    async def onboarding(self) -> Onboarding:
        """Where the first run stands."""
        ...

    async def onboard(self, provider: str, name: str, email: str, phone: str) -> Onboarding:
        """Keep the choices of the first run; asks for the provider's key where it needs one."""
        ...

    async def ask_secret(self, label: str) -> SecretAsked:
        """Make a pending secure input and show its card. Raises where the name is taken."""
        ...

    async def secrets(self) -> SecretRows:
        """Every secret by its name."""
        ...

    async def remove_secret(self, ref_id: str) -> Done:
        """Forget a secret. Raises where there is none."""
        ...

    async def store_secret(self, ref_id: str, value: str) -> None:
        """Keep the value of a pending secure input, and nothing else of it.

        Raises:
            ConfigError: `E_CFG_SECRET_UNKNOWN`: nothing waits for it; `E_CFG_SECRET_STORED`: it
                was stored already; `E_CFG_SECRET`: it cannot be kept, and can be sent again.
        """
        ...


class ConfigurationRooms(Protocol):
    """What the owner sets: how Silas speaks, who answers, what is connected."""

    @property
    def persona(self) -> PersonaRoom:
        """How Silas speaks."""
        ...

    @property
    def answering(self) -> AnsweringRoom:
        """Who answers."""
        ...

    @property
    def showing(self) -> ShowingRoom:
        """Who may be shown what."""
        ...

    @property
    def connections(self) -> ConnectionRoom:
        """Servers of tools and channels."""
        ...

    @property
    def settings(self) -> SettingsRoom:
        """Settings that can be changed."""
        ...

    @property
    def setup(self) -> Setup:
        """The first run, and secrets."""
        ...


class Cockpit(Protocol):
    """Everything the routes need, by room."""

    @property
    def record(self) -> ActivityRecord:
        """What happened."""
        ...

    @property
    def work(self) -> Work:
        """The work items."""
        ...

    @property
    def overview(self) -> Overview:
        """What there is."""
        ...

    @property
    def memory(self) -> MemoryRoom:
        """What is remembered."""
        ...

    @property
    def conversations(self) -> ConversationRoom:
        """The owner's conversations."""
        ...

    @property
    def batches(self) -> BatchRoom:
        """Files that were moved in batches."""
        ...

    @property
    def attachments(self) -> AttachmentRoom:
        """Files that are attached to them."""
        ...

    @property
    def reminders(self) -> ReminderRoom:
        """What the owner wants to be told."""
        ...

    @property
    def ahead(self) -> AheadRoom:
        """What is to come."""
        ...

    @property
    def configuration(self) -> ConfigurationRooms:
        """What the owner sets."""
        ...
