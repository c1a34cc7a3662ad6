"""Deleting a conversation for good: all that was said in it, and what is attached to it (D464).

What it led to stays: work with its plans, files and undo, and what Silas was told to remember,
which is forgotten by itself. The record keeps digests of what was deleted, and no word of it.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from silas.audit import Audit
from silas.canonical import canonical_json, sha256_hex
from silas.context.attachments import AttachmentRow, AttachmentStore
from silas.context.conversation_store import ConversationRow, ConversationStore
from silas.context.errors import ContextError
from silas.db import Database, Tx, at_once
from silas.language import tr, tr_many
from silas.memory.store import SqlMemoryStore
from silas.types import OWNER

_SAID: Final = """
SELECT item FROM chronicle WHERE scope_id = :scope_id AND conversation = :conversation ORDER BY seq
"""
_UNANSWERED: Final = """
SELECT count(*) FROM arrivals WHERE scope_id = :scope_id AND conversation = :conversation
"""
_DELETE: Final = (
    "DELETE FROM chronicle WHERE scope_id = :scope_id AND conversation = :conversation",
    "DELETE FROM web_transcript WHERE conversation = :conversation AND :scope_id <> ''",
    "DELETE FROM attachments WHERE conversation = :conversation AND :scope_id <> ''",
    # what it led to is told in the first one from now on
    "UPDATE scope_work SET conversation = '', message = '' WHERE scope_id = :scope_id"
    " AND conversation = :conversation",
    "UPDATE waiting_plans SET conversation = '', message = ''"
    " WHERE conversation = :conversation AND :scope_id <> ''",
)
_SITTING: Final = "/"  # in the id of a sitting, before its conversation


class DeletionCounts(NamedTuple):
    """What goes with a conversation.

    Attributes:
        messages: What was said, by whomever; what tools answered and plans go along uncounted.
        files: Attached files.
        memories: Records of what was said in it, by which it is found and recalled.
    """

    messages: int
    files: int
    memories: int

    def words(self, title: str) -> str:
        """The question, in one sentence, and what stays in another."""
        parts = (
            tr_many(self.messages, "{count} message", "{count} messages")
            if self.messages
            else tr("no messages"),
            tr_many(self.files, "{count} attached file", "{count} attached files")
            if self.files
            else tr("no attached files"),
            tr_many(
                self.memories,
                "{count} memory of what was said",
                "{count} memories of what was said",
            )
            if self.memories
            else tr("no memories of what was said"),
        )
        return tr(
            "Delete “{title}” for good, with {messages}, {files} and {memories}? The work that "
            "came of it stays, and so does what you told Silas to remember; nothing brings the "
            "conversation back.",
            title=title,
            messages=parts[0],
            files=parts[1],
            memories=parts[2],
        )


@dataclass(frozen=True)
class ConversationDeletion:
    """Deletes conversations.

    Attributes:
        db: Where everything of them is kept.
        store: The conversations.
        attachments: Their files.
        memories: What is remembered of them.
        audit: Where a deletion is recorded.
    """

    db: Database
    store: ConversationStore
    attachments: AttachmentStore
    memories: SqlMemoryStore
    audit: Audit

    def counts(self, conversation: str) -> DeletionCounts:
        """What would go.

        Raises:
            ContextError: There is none of this id, it is the first one, or an answer is under way.
        """
        row = self._deletable(conversation)
        with self.db.read() as tx:
            said = _items(tx, row)
        return DeletionCounts(_messages(said), len(self._files(row)), len(self._memories(row)))

    async def delete(self, conversation: str) -> tuple[ConversationRow, DeletionCounts]:
        """Delete one for good with its files: all of it, and on record, or nothing.

        Raises:
            ContextError: As `counts`; nothing was deleted.
            DatabaseError: It cannot be recorded; nothing was deleted.
        """
        row = self._deletable(conversation)
        with self.db.write() as tx:
            self._require_quiet(tx, row)
            said, files = _items(tx, row), self._files(row)
            memories = self._memories(row)
            counts = DeletionCounts(_messages(said), len(files), len(memories))
            self.audit.log_now(
                "conversation.deleted",
                conversation=row.told_id,
                **counts._asdict(),
                digest=sha256_hex(canonical_json(said).encode()),
                file_digests=[one.digest for one in files],
            )
            for one in files:
                if one.state == "kept":
                    self.attachments.remove(one.id, _on_record)
            for name in memories:
                at_once(self.memories.delete(name))
            for statement in _DELETE:
                tx.run(statement, scope_id=OWNER, conversation=row.id)
            self.store.delete(row.id)
        return row, counts

    def _deletable(self, conversation: str) -> ConversationRow:
        row = self.store.one(conversation)
        if not row.id:
            raise ContextError(
                "The main conversation cannot be deleted: reminders, goals and what other channels "
                "bring are told there. `silas memory forget SOURCE` forgets what came from a "
                "source.",
                code="E_CTX_KEPT",
            )
        with self.db.read() as tx:
            self._require_quiet(tx, row)
        return row

    def _require_quiet(self, tx: Tx, row: ConversationRow) -> None:
        (under_way,) = tx.run(_UNANSWERED, scope_id=OWNER, conversation=row.id).fetchone()
        if under_way:
            raise ContextError(
                f"An answer in “{row.called}” is under way or waits for you, so nothing was "
                "deleted: stop it or answer its card, and then delete the conversation.",
                code="E_CTX_BUSY",
            )

    def _files(self, row: ConversationRow) -> list[AttachmentRow]:
        return self.attachments.of(row.id)

    def _memories(self, row: ConversationRow) -> list[str]:
        return self.memories.list_said(f"{_SITTING}{row.id}")


def _items(tx: Tx, row: ConversationRow) -> list[str]:
    """What is kept of it, as it is kept: JSON."""
    return [str(item) for (item,) in tx.run(_SAID, scope_id=OWNER, conversation=row.id)]


def _messages(items: list[str]) -> int:
    return sum('"kind":"message"' in item for item in items)  # no text holds a bare quote


def _on_record(_: AttachmentRow) -> None:
    """The entry of the deletion has the digest of each file already."""
