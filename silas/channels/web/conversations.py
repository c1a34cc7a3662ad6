"""The owner's conversations as pages list them."""

from collections.abc import Callable
from datetime import datetime

from silas.cards import Arrived, ChannelMessage, SignedMessage
from silas.channels.web.answer_stream import WaitNotices
from silas.channels.web.events import (
    ConversationEvent,
    ConversationView,
    MessageEvent,
    StatusEvent,
)
from silas.channels.web.pages import Pages
from silas.channels.web.results import PostExecution
from silas.channels.web.wire import Message
from silas.context.conversation_store import FIRST, ConversationRow, ConversationStore
from silas.errors import SilasError
from silas.plans import AskedBy
from silas.types import OWNER, TaintLevel


class ConversationPlaces:
    """In which of the owner's conversations something on the pages belongs.

    Args:
        conversations: The conversations.
        asked_by: Which of the owner's messages asked for work, and in which conversation.
    """

    def __init__(
        self, conversations: ConversationStore, asked_by: Callable[[str], AskedBy]
    ) -> None:
        self.conversations = conversations
        self._asked_by = asked_by
        self._waits = dict[str, WaitNotices]()

    def of_work(self, work_item_id: str) -> str:
        """The conversation that work was asked for in; empty for the first one."""
        return self._asked_by(work_item_id).conversation if work_item_id else ""

    def place(self, ended: PostExecution) -> PostExecution:
        """A result in the conversation of the message that asked for the work, and under it."""
        by = self._asked_by(ended.work_item_id)
        update = {"conversation": by.conversation, "reply_to": by.message}
        return ended.model_copy(update=update)

    def waits(self, where: str, source: str, words: str) -> StatusEvent | None:
        """What a conversation waits for now; None where that is what it was."""
        waits = self._waits.setdefault(where, WaitNotices())
        said = waits.said
        if waits.say(source, words) == said:
            return None
        return StatusEvent(words=waits.said, conversation=where)


def arrived_of(message: Message, channel: str, where: str, now: datetime) -> Arrived:
    """What a page sent as the Stream hears it, said in a conversation."""
    proof = message.proof
    said = ChannelMessage(
        channel=channel,
        sender_id=OWNER,  # what the page claims is not looked at
        text=message.text,
        timestamp=now if proof is None else proof.timestamp,
        reply_to=message.reply_to,
        id=message.id,
        conversation=where,
    )
    if proof is None:
        return said
    return SignedMessage(
        message=said,
        signature=proof.signature,
        nonce=proof.nonce,
        taint=TaintLevel.external,  # what it is worth, the turn finds out
    )


def kept_of(message: Message, where: str, now: datetime) -> MessageEvent:
    """What a page sent as the pages keep it; its place comes with keeping."""
    return MessageEvent(
        seq=0,
        id=message.id,
        text=message.text,
        sender="auth" if message.proof is None else "owner",
        timestamp=now,
        conversation=where,
        replaces=message.replaces,
    )


def show_conversation(row: ConversationRow) -> ConversationView:
    """One of them."""
    return ConversationView(
        id=row.id,
        title=row.called,
        named=row.named,
        said_at=row.said_at,
        archived=row.archived_at is not None,
        deleted=row.deleted,
    )


def shown_conversations(conversations: ConversationStore) -> tuple[ConversationView, ...]:
    """All of them, those that are archived, too."""
    return tuple(map(show_conversation, conversations.all()))


def open_conversation(conversations: ConversationStore, wanted: str) -> str:
    """The conversation that a page shows; the first one where this is not there, or archived."""
    try:
        return conversations.open(wanted or FIRST).id
    except SilasError:
        return ""


def telling_of_conversations(pages: Pages) -> Callable[[ConversationRow], None]:
    """What is told of a change to one of them, as a frame on every page."""

    def tell(row: ConversationRow) -> None:
        pages.all(ConversationEvent(conversation=show_conversation(row)).model_dump_json())

    return tell
