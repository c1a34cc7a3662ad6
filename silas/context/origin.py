"""Whether something came from a source, directly or through what it was made of."""

from typing import Final

from silas.context.models import ContextItem
from silas.types import SOURCE_BOUNDARIES

UNKNOWN_SOURCE: Final = "unreadable source"
"""In place of sources that are kept and cannot be read: it may be any, so it is named by each."""


def names(source: str, wanted: str) -> bool:
    """Whether a source is the wanted one, or lies below it.

    `tool:web_fetch` and `tool:web_fetch https://example.org` name
    `tool:web_fetch https://example.org/page`; `tool:web` names neither.
    Each names `UNKNOWN_SOURCE`.
    """
    if not wanted or not source.startswith(wanted):
        return bool(wanted) and source == UNKNOWN_SOURCE
    rest = source[len(wanted) :]
    return not rest or wanted[-1] in SOURCE_BOUNDARIES or rest[0] in SOURCE_BOUNDARIES


def comes_from(item: ContextItem, wanted: str) -> bool:
    """Whether an item or anything it was made of came from the wanted source."""
    return any(names(source, wanted) for source in (item.source, *item.sources))
