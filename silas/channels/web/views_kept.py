"""What the cockpit shows of reminders, secrets, moved files and answers that are kept."""

from pydantic import AwareDatetime

from silas.types import FrozenModel


class ReminderRow(FrozenModel):
    """A reminder that is to come.

    Attributes:
        due: Its next moment.
        words: The same moment to the minute with its zone, and how it comes again.
        again: The rule it comes by, in words; empty where it comes once.
    """

    id: str
    text: str
    due: AwareDatetime
    words: str
    again: str = ""


class ReminderRows(FrozenModel):
    """What is to come, the first first; `words`: why none can be, where that is so."""

    reminders: tuple[ReminderRow, ...]
    words: str = ""


class ReminderView(FrozenModel):
    """What was understood, before it counts.

    Attributes:
        id: Names it in the request that makes it count; what is shown is kept for a while.
        title: What would be done.
        text: What will be said.
        words: When, to the minute with its zone, and what daylight saving does to it.
        times: The first times of one that recurs; empty where it comes once.
    """

    id: str
    title: str
    text: str
    words: str
    times: tuple[str, ...] = ()


class SecretRow(FrozenModel):
    """A secret by its name; the value is nowhere but in the key store.

    Attributes:
        added_at, used_at: In ISO 8601; `used_at` is empty where no run was given it yet.
        servers: The servers of tools that are given it.
    """

    ref_id: str
    name: str
    added_at: str
    used_at: str
    servers: tuple[str, ...]


class SecretRows(FrozenModel):
    """Every secret by its name."""

    secrets: tuple[SecretRow, ...]


class MovedFileRow(FrozenModel):
    """A file of a batch: its number there, where it was and is, and why where it is not.

    Attributes:
        state: `moved`, `undone`, or what else became of it.
        why: Why it was not moved or put back; empty for nothing.
    """

    number: int
    name: str
    goal: str
    state: str
    why: str = ""


class MovedBatchRow(FrozenModel):
    """Files that were moved with one approval; `undo_until`: until when they can go back."""

    id: str
    folder: str
    at: AwareDatetime
    undo_until: AwareDatetime | None
    files: tuple[MovedFileRow, ...]


class ShowingAnswer(FrozenModel):
    """What the owner answered about one directory and those who would be shown it.

    Attributes:
        answer: `yes`, `never`, or `unreadable`, which allows nothing.
        words: What follows from it.
        answered_at: When; null where that cannot be read.
    """

    answer: str
    words: str
    answered_at: AwareDatetime | None


class ShowingRow(FrozenModel):
    """A directory, as the owner's command to be asked again names it, and what he answered."""

    workspace: str
    answers: tuple[ShowingAnswer, ...]


class ShowingRows(FrozenModel):
    """Every directory that the owner was asked about."""

    directories: tuple[ShowingRow, ...]
