"""What the routes about conversations, their files and batches of files need, as ports.

Like those of `port.py` they raise `SilasError` with a sentence for a person.
"""

from collections.abc import AsyncIterable, Generator, Sequence
from typing import Literal, Protocol

from silas.channels.web.views import Done
from silas.channels.web.views_kept import MovedBatchRow
from silas.context.attachments import AttachmentRow
from silas.context.conversation_store import ConversationRow, ConversationStore


class DeletionPreview(Protocol):
    """What goes with a conversation."""

    def words(self, title: str) -> str:
        """The question whether it is to go, and what stays."""
        ...


class ConversationDeletions(Protocol):
    """Deletes conversations. Each raises where there is no such one, or it cannot go now."""

    def counts(self, conversation: str) -> DeletionPreview:
        """What would go."""
        ...

    async def delete(self, conversation: str) -> tuple[ConversationRow, DeletionPreview]:
        """Delete one for good, on record."""
        ...


class ConversationRoom(Protocol):
    """What stands behind the endpoints; the same as behind `silas conversations`."""

    @property
    def store(self) -> ConversationStore:
        """The conversations."""
        ...

    async def archive(self, conversation: str) -> ConversationRow:
        """Put one away, on record."""
        ...

    async def restore(self, conversation: str) -> ConversationRow:
        """Bring one back, on record."""
        ...

    @property
    def deletion(self) -> "ConversationDeletions":
        """Deletes one for good."""
        ...

    async def find(self, query: str) -> Sequence[object]:
        """The messages of all conversations that fit best, with the fields of `FoundShown`."""
        ...

    async def export(self, conversation: str, form: Literal["markdown", "json"]) -> str:
        """One as a document: what is external is marked, known secrets are masked."""
        ...


class AttachmentRoom(Protocol):
    """Files that are attached to conversations. Each raises where there is no such file or
    conversation.
    """

    async def announce(self, conversation: str, name: str, size: int, digest: str) -> AttachmentRow:
        """Say which file comes; raises where it is too large, or there is no room."""
        ...

    async def receive(
        self, attachment_id: str, pieces: AsyncIterable[bytes], device: str
    ) -> AttachmentRow:
        """Take in what was announced, on record; raises where it is not that."""
        ...

    def of(self, conversation: str) -> Sequence[AttachmentRow]:
        """The files of a conversation, with those that were removed."""
        ...

    def content(self, attachment_id: str) -> Generator[bytes]:
        """The bytes of one, piece by piece."""
        ...

    async def picture(self, attachment_id: str) -> bytes:
        """A picture, made anew; raises where it is shown as a file."""
        ...

    async def remove(self, attachment_id: str) -> AttachmentRow:
        """Delete one, on record."""
        ...


class BatchRoom(Protocol):
    """Files of batches: those on an open card, and those that were moved."""

    async def picture(self, batch_id: str, number: int) -> bytes:
        """A small picture of a file on an open card; raises where there is none."""
        ...

    async def rows(self) -> tuple[MovedBatchRow, ...]:
        """The newest batches, the newest first."""
        ...

    async def undo(self, batch_id: str, numbers: Sequence[int]) -> Done:
        """Put the files of these numbers back, or all. Raises where there is no such batch."""
        ...
