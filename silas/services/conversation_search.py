"""Search through all of the owner's conversations: what was said, word for word (spec 12)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple

from silas.context import ContextError
from silas.context.conversation_store import ConversationRow
from silas.memory import MemoryItem
from silas.memory.terms import words
from silas.plans.characters import as_shown
from silas.types import TaintLevel

SearchSaid = Callable[[str, int], Awaitable[Sequence[MemoryItem]]]
"""(words, most) to what was said and fits, best first; other records may be among it."""

MOST_FOUND: Final = 50
"""Results of one search."""

_LOOKED_AT: Final = 400  # records, as those of tools are among them
_AROUND: Final = 80  # characters before the first word that fits, and twice as many after it
_WHO: Final = {"conversation_raw": "owner", "agent_response_raw": "silas"}
"""The kinds of records that are what somebody said in a conversation."""


class FoundMessage(NamedTuple):
    """A message that fits.

    Attributes:
        conversation: The id of its conversation, as it is told.
        title: That one's title.
        archived: Whether that one is put away.
        at: When it was said, as ISO 8601.
        who: `owner` or `silas`.
        external: Whether it, or something that it was made from, is external.
        excerpt: The words around the first one that fits, without known secrets.
    """

    conversation: str
    title: str
    archived: bool
    at: str
    who: str
    external: bool
    excerpt: str


def required_words(query: str) -> str:
    """What is looked for. Raises `ContextError` where that is no word at all."""
    if not words(query):
        raise ContextError("Say at least one word to look for.", code="E_CTX_QUERY")
    return query


async def find_messages(
    query: str,
    rows: Sequence[ConversationRow],
    search: SearchSaid,
    redact: Callable[[str], str],
) -> list[FoundMessage]:
    """The messages that fit best, at most `MOST_FOUND`.

    Args:
        query: Words.
        rows: Every conversation.
        search: Looks in the record of what was said.
        redact: A text without known secrets.

    Raises:
        ContextError: There is no word in the query.
    """
    known = {row.id: row for row in rows}
    found = list[FoundMessage]()
    for item in await search(required_words(query), _LOOKED_AT):
        row = known.get((item.session_id or "").partition("/")[2])
        who = _WHO.get(item.source_kind)
        if row is None or who is None:
            continue
        found.append(
            FoundMessage(
                row.told_id,
                as_shown(redact(row.called)),
                row.archived_at is not None,
                item.created_at.isoformat(),
                who,
                item.taint is TaintLevel.external,
                excerpt_of(redact(item.content), query),
            )
        )
    return found[:MOST_FOUND]


def excerpt_of(text: str, query: str) -> str:
    """The words of a text around the first one that was looked for, on one line."""
    line = as_shown(" ".join(text.split()))
    low = line.lower()
    places = [place for word in words(query) if (place := low.find(word)) >= 0]
    start = max(min(places, default=0) - _AROUND, 0)
    end = start + 3 * _AROUND
    before, after = "…" if start else "", "…" if end < len(line) else ""
    return f"{before}{line[start:end].strip()}{after}"
