"""Files that the owner attaches to his conversations: announced, taken in, listed, removed."""

from collections.abc import AsyncIterable, Generator
from dataclasses import dataclass

from silas.audit import Audit
from silas.context.attachments import AttachmentRow, AttachmentStore
from silas.context.conversation_store import FIRST, ConversationStore
from silas.sandbox import Sandbox
from silas.services.attachments.pictures import made_anew


@dataclass(frozen=True)
class AttachmentService:
    """What the cockpit and `silas conversations` ask for.

    Attributes:
        store: The files.
        conversations: What they are attached to.
        audit: Where it is recorded that one was attached or removed.
        sandbox: Where pictures are made anew.
    """

    store: AttachmentStore
    conversations: ConversationStore
    audit: Audit
    sandbox: Sandbox

    async def announce(self, conversation: str, name: str, size: int, digest: str) -> AttachmentRow:
        """Say which file comes; see `AttachmentStore.announce`. Raises `ContextError`, too, where
        there is no such conversation, or it is archived.
        """
        where = self.conversations.open(conversation).id
        return self.store.announce(where, name, size, digest)

    async def receive(
        self, attachment_id: str, pieces: AsyncIterable[bytes], device: str
    ) -> AttachmentRow:
        """Take in what was announced, on record. Raises `ContextError` where it is not that."""

        def witness(row: AttachmentRow) -> None:
            self.audit.log_now(
                "attachment.added",
                conversation=row.conversation or FIRST,
                name=row.name,
                size=row.size,
                digest=row.digest,
                device=device,
            )

        return await self.store.receive(attachment_id, pieces, witness)

    def of(self, conversation: str) -> list[AttachmentRow]:
        """The files of a conversation, with those that were removed. Raises `ContextError`."""
        return self.store.of(self.conversations.one(conversation).id)

    def content(self, attachment_id: str) -> Generator[bytes]:
        """The bytes of one, piece by piece. Raises `ContextError` where it is not there."""
        return self.store.content(attachment_id)

    async def picture(self, attachment_id: str) -> bytes:
        """One that is a picture, made anew. Raises `ContextError` where it is none."""
        row = self.store.get_kept(attachment_id)
        return await made_anew(row, self.store.folder_of(row.conversation), self.sandbox)

    async def remove(self, attachment_id: str) -> AttachmentRow:
        """Delete one, on record. Raises `ContextError` where it is not there."""

        def witness(row: AttachmentRow) -> None:
            self.audit.log_now(
                "attachment.removed",
                conversation=row.conversation or FIRST,
                name=row.name,
                digest=row.digest,
            )

        return self.store.remove(attachment_id, witness)
