"""What an audit entry is and how its chain is computed (spec 4.16)."""

from typing import Any, NamedTuple, Protocol

GENESIS = "0" * 64
"""The hash before the first entry."""


class AuditEntry(NamedTuple):
    """One line of the chain.

    `entry_hash` is SHA-256 over `previous_hash`, a newline, and `body`; `body` is the canonical
    JSON of `{"seq", "id", "at", "event", "data"}` exactly as stored.
    """

    seq: int
    entry_id: str
    body: str
    previous_hash: str
    entry_hash: str


class ChainVerdict(NamedTuple):
    """Whether the chain holds, how many entries were checked, and the first bad one's words."""

    valid: bool
    entries_checked: int
    reason: str = ""


class Audit(Protocol):
    """The record that cannot be quietly rewritten."""

    async def log(self, event: str, **data: Any) -> str:
        """Append an entry; returns its id. Raises `DatabaseError` where it could not be written."""
        ...

    def log_now(self, event: str, **data: Any) -> str:
        """`log` for code that already holds a database transaction: joins it."""
        ...

    async def verify_chain(self) -> ChainVerdict:
        """Check every entry from the first."""
        ...

    async def write_checkpoint(self) -> str:
        """Sign and keep the current head; returns the checkpoint's id."""
        ...

    async def verify_from_checkpoint(self, checkpoint_id: str | None = None) -> ChainVerdict:
        """Check from the latest or a named checkpoint to the head."""
        ...
