"""The owner's conversations, the same from every door: listed, renamed, put away, exported."""

import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from silas.audit import Audit
from silas.audit.log import AuditLog
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.context import ChronicleStore, ContextItem
from silas.context.attachments import AttachmentRow, AttachmentStore
from silas.context.chronicle import SqlChronicleStore
from silas.context.conversation_store import ConversationRow, ConversationStore
from silas.home.database import open_existing_database
from silas.home.keyless import NoKey
from silas.home.secret_store import secrets_of
from silas.keys.secret_registry import SecretRegistry
from silas.memory.store import SqlMemoryStore
from silas.plans.characters import as_shown
from silas.services.conversation_deletion import ConversationDeletion
from silas.services.conversation_search import FoundMessage, SearchSaid, find_messages
from silas.types import OWNER, TaintLevel

ExportFormat = Literal["markdown", "json"]

_EVERYTHING: Final = 1_000_000  # entries; retention ends long before
_SHOWN_KINDS: Final = frozenset({"message", "tool_result", "plan"})


class SaidEntry(NamedTuple):
    """One thing that was said, looked up or proposed, as it is exported.

    Attributes:
        at: When, as ISO 8601.
        who: `owner`, another sender, `silas`, or `tool` for what a tool answered.
        kind: `message`, `tool_result` or `plan`.
        trust: `owner`, `auth` or `external`: the least trusted of what it was made from.
        source: Where it came from.
        text: What was said, without secrets that are known.
    """

    at: str
    who: str
    kind: str
    trust: str
    source: str
    text: str


@dataclass(frozen=True)
class ConversationService:
    """What commands and the cockpit ask for.

    Attributes:
        store: The conversations.
        chronicle: What was said in them.
        attachments: What is attached to them.
        audit: Where putting away and bringing back are recorded.
        redact: A text without known secrets.
        search: Looks in the record of what was said.
        deletion: Deletes one for good.
    """

    store: ConversationStore
    chronicle: ChronicleStore
    attachments: AttachmentStore
    audit: Audit
    redact: Callable[[str], str]
    search: SearchSaid
    deletion: ConversationDeletion

    async def find(self, query: str) -> list[FoundMessage]:
        """The messages of all conversations that fit best. Raises `ContextError` for no words."""
        return await find_messages(query, self.store.all(), self.search, self.redact)

    async def archive(self, conversation: str) -> ConversationRow:
        """Put one away, on record; nothing of it is deleted. Raises `ContextError`."""
        with self.deletion.db.write():
            row = self.store.archive(conversation)
            self.audit.log_now("conversation.archived", conversation=row.told_id)
        return row

    async def restore(self, conversation: str) -> ConversationRow:
        """Bring one back, on record. Raises `ContextError` where there is none of this id."""
        with self.deletion.db.write():
            row = self.store.restore(conversation)
            self.audit.log_now("conversation.restored", conversation=row.told_id)
        return row

    async def list_said(self, conversation: str) -> list[SaidEntry]:
        """What was said in one, the oldest first. Raises `ContextError` where there is none."""
        row = self.store.one(conversation)
        found = await self.chronicle.get_recent(OWNER, _EVERYTHING, conversation=row.id)
        return [self._entry(one) for one in found if one.kind in _SHOWN_KINDS]

    def _entry(self, item: ContextItem) -> SaidEntry:
        who, text = _speaker(item)
        return SaidEntry(
            item.created_at.isoformat(),
            who,
            item.kind,
            item.taint.value,
            as_shown(self.redact(item.source)),
            _clean(self.redact(text)),
        )

    async def export(self, conversation: str, form: ExportFormat) -> str:
        """One conversation as a document: what is external is marked, known secrets are masked.

        Raises:
            ContextError: There is none of this id.
        """
        row, said = self.store.one(conversation), await self.list_said(conversation)
        title, files = as_shown(self.redact(row.called)), self.attachments.of(row.id)
        if form == "json":
            return as_json(row, title, said, files)
        return as_markdown(title, said, files)


def row_of(row: ConversationRow) -> dict[str, Any]:
    """A conversation as `--json` shows it."""
    return {
        "id": row.told_id,
        "title": row.called,
        "named": row.named,
        "said_at": row.said_at or None,
        "archived_at": row.archived_at,
    }


def as_json(
    row: ConversationRow, title: str, said: list[SaidEntry], files: Sequence[AttachmentRow]
) -> str:
    """An export as one JSON document; of attached files it has names and digests."""
    entries = [{**one._asdict(), "external": _external(one)} for one in said]
    attached = [attachment_row(one) for one in files]
    whole = {**row_of(row), "title": title, "messages": entries, "attachments": attached}
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def attachment_row(row: AttachmentRow) -> dict[str, Any]:
    """An attached file as `--json` and an export show it."""
    return {
        "id": row.id,
        "name": row.name,
        "size": row.size,
        "digest": row.digest,
        "attached_at": row.attached_at,
        "removed": row.state == "removed",
    }


def as_markdown(title: str, said: list[SaidEntry], files: Sequence[AttachmentRow]) -> str:
    """An export as Markdown; what is external stands fenced, so that it is no part of the form."""
    parts = [f"# {title}"]
    for one in said:
        mark = f" (external, from {_one_line(one.source)})" if _external(one) else ""
        head = f"## {_one_line(one.who)}, {one.at}{mark}"
        plain = one.kind == "message" and not _external(one)
        parts.append(f"{head}\n\n{_below_heading(one.text) if plain else _fence_text(one.text)}")
    if files:
        told = (
            f"- {one.name}, {one.size} bytes, SHA-256 {one.digest}{_removed_mark(one)}"
            for one in files
        )
        parts.append("## Attached files\n\n" + "\n".join(told))
    return "\n\n".join(parts) + "\n"


_HEADING: Final = re.compile(r"^( {0,3})(#{1,2}(?:\s|$)|<h[12]\b)", re.IGNORECASE)
_UNDERLINE: Final = re.compile(r"^( {0,3})(-+|=+)\s*$")  # makes a heading of the line before it
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$")


def _below_heading(text: str) -> str:
    """A message in which no line is a heading as those of who speaks are, and no fence is open."""
    told = list[str]()
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        marks, after = found.groups() if found else ("", "")
        if fence:
            told.append(line)
            if marks.startswith(fence) and not after.strip():
                fence = ""
            continue
        fence = marks
        under = told and told[-1].strip() and _UNDERLINE.match(line)
        told.append((_UNDERLINE if under else _HEADING).sub(r"\1\\\2", line))
    return "\n".join((*told, fence) if fence else told)


def _removed_mark(row: AttachmentRow) -> str:
    return " (removed)" if row.state == "removed" else ""


def _clean(text: str) -> str:
    """A text whose hidden characters are visible, line by line."""
    return "\n".join(as_shown(line) for line in text.replace("\t", "    ").split("\n"))


def _external(one: SaidEntry) -> bool:
    return one.trust == TaintLevel.external.value


def _fence_text(text: str) -> str:
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}text\n{text}\n{ticks}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _speaker(item: ContextItem) -> tuple[str, str]:
    """Who said it, and what, without the framing that the models are shown."""
    if item.kind == "plan":
        return "silas", item.content
    if item.kind == "tool_result":
        return "tool", item.content
    head, _, text = item.content.partition(": ")
    if head == "Silas":
        return "silas", text
    return head.removeprefix(f"[{item.taint}] "), text


@asynccontextmanager
async def open_conversations(config: SilasConfig) -> AsyncGenerator[ConversationService]:
    """The conversations of an initialised Silas, without starting anything else.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    secrecy = SecretRegistry(secrets_of(config), clock.now)
    secrecy.refresh()
    with open_existing_database(config, clock) as db:
        store, audit = ConversationStore(db, clock), AuditLog(db, clock, NoKey())
        attachments = AttachmentStore(db, clock, config.data_dir / "attachments")
        memories = SqlMemoryStore(db, clock)
        yield ConversationService(
            store,
            SqlChronicleStore(db, clock, config.context.chronicle),
            attachments,
            audit,
            secrecy.redact,
            memories.search_raw,
            ConversationDeletion(db, store, attachments, memories, audit),
        )
