"""What importing a bundle may do to each memory: one table of rules (spec 6.5, 5.12).

What a bundle says about trust counts only where the owner's own key signed it.
"""

import re
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from silas.memory.models import MemoryItem, TrustLevel
from silas.memory.port import as_sources
from silas.types import TaintLevel

Mode = Literal["merge", "replace"]
"""`merge` adds to what is here; `replace` puts the bundle in its place."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME = 60  # characters


class BundleTrust(StrEnum):
    """Who vouches for a bundle."""

    yours = "yours"
    """The owner's own key; what the bundle says about trust counts."""
    anothers = "anothers"
    """Some other key."""
    nobodys = "nobodys"
    """Nobody: it is not signed."""


class ImportFate(StrEnum):
    """What becomes of one memory of a bundle."""

    stored = "stored"
    """It is new here."""
    updated = "updated"
    """It takes the place of the one that is here under its id."""
    kept = "kept"
    """The one that is here stays as it is."""
    refused = "refused"
    """It would change what is more trusted than the bundle; none of the bundle comes in."""


class BundleFacts(NamedTuple):
    """What a bundle is, and what importing it would do.

    Attributes:
        name: What its memories' source is called, after `bundle:`.
        owner_key: Who signed it; 64 hex digits, or empty.
        exported_at: When, as it says itself.
        digest: SHA-256 over its memories.
        memories: How many it has.
        stored, updated, kept: What becomes of how many.
        deleted: How many that are here now, and not in the bundle, would go.
    """

    name: str
    mode: Mode
    scope_id: str
    whose: BundleTrust
    owner_key: str
    exported_at: datetime
    digest: str
    memories: int
    stored: int = 0
    updated: int = 0
    kept: int = 0
    deleted: int = 0


def fate(old: MemoryItem | None, item: MemoryItem, whose: BundleTrust, mode: Mode) -> ImportFate:
    """What becomes of a memory of a bundle.

    Args:
        old: What is here under its id.
        item: As it would be kept; see `capped`.
        whose: Who vouches for the bundle.
        mode: How it is imported.
    """
    if old is None:
        return ImportFate.stored
    if old.model_copy(update={"embedding": None}) == item:
        return ImportFate.kept
    if goes(old, whose) and (mode == "replace" or not _outranks(old, whose)):
        return ImportFate.updated
    if old.content == item.content and old.memory_type is item.memory_type:
        return ImportFate.kept  # it says the same, and is trusted more
    return ImportFate.kept if whose is BundleTrust.yours else ImportFate.refused


def goes(old: MemoryItem, whose: BundleTrust) -> bool:
    """Whether `replace` may delete a memory. What is constitutional never goes, and what the owner
    confirmed only for a bundle of his own.
    """
    if old.trust_level is TrustLevel.constitutional:
        return False
    return whose is BundleTrust.yours or old.trust_level is TrustLevel.working


def _outranks(old: MemoryItem, whose: BundleTrust) -> bool:
    """Whether a memory is more trusted than a bundle that would change it."""
    return whose is not BundleTrust.yours and old.taint is not TaintLevel.external


def cap_trust(item: MemoryItem, name: str) -> MemoryItem:
    """A memory of somebody else's bundle: how often it was used and what it is trusted with there
    does not count here, and neither does the conversation it was made in.
    """
    return item.model_copy(
        update={
            "trust_level": TrustLevel.working,
            "taint": TaintLevel.external,
            "sources": as_sources(f"bundle:{name}", item.sources),
            "access_count": 0,
            "last_accessed": None,
            "session_id": None,
        }
    )


def plain_name(name: str) -> str:
    """A bundle's name as a source can have it: letters, digits, dots, dashes."""
    return _NOT_PLAIN.sub("-", name)[:_LONGEST_NAME].strip("-.") or "import"
