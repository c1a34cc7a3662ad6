"""What the pages that are open show of changes elsewhere, as soon as these happen."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from silas.channels.web.conversations import telling_of_conversations
from silas.channels.web.head_notice import telling_of_the_record
from silas.channels.web.pages import UNAUTHENTICATED, Pages
from silas.channels.web.pairing import WebDoor
from silas.channels.web.pairing_notice import telling_of_newcomers
from silas.context.conversation_store import ConversationStore


class FollowedRecord(Protocol):
    """A record that tells of its signed heads."""

    def require_whole(self) -> None:
        """Raises `Stopped` where it was changed outside Silas."""
        ...

    def follow(self, tell: Callable[[str, str], None]) -> None:
        """Call this with words of a change, and with each signed head."""
        ...


def show_changes(
    pages: Pages, door: WebDoor, record: FollowedRecord, conversations: ConversationStore
) -> None:
    """Show paired devices, signed heads and conversations on the pages, and close those of a
    session that has ended; nobody is let in from now on while the record is changed.
    """
    door.hold_to(record.require_whole)
    door.on_paired(telling_of_newcomers(pages))
    door.on_ended(partial(_close_pages, pages))
    record.follow(telling_of_the_record(pages))
    conversations.follow(telling_of_conversations(pages))


def _close_pages(pages: Pages, session_id: str) -> None:
    pages.close(UNAUTHENTICATED, (session_id,))
