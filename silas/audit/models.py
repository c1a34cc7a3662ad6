"""What an audit entry is and how its chain is computed (spec 4.16)."""

from typing import Any, NamedTuple, Protocol

GENESIS = "0" * 64
"""The hash before the first entry."""

CHECKPOINT_DOMAIN = b"silas.audit.checkpoint.v1\n"
"""Stands before a checkpoint's body where it is signed.

No approval token and no message begins with it, so a signature over one is never one over another.
"""


ACCEPTANCE_DOMAIN = b"silas.audit.acceptance.v1\n"
"""Stands before an acceptance's body where it is signed; see `CHECKPOINT_DOMAIN`."""


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


class AuditHead(NamedTuple):
    """The newest entry. Kept elsewhere, as `SEQ:HASH`, it proves that nothing was cut off."""

    seq: int
    entry_hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.entry_hash}"


class Checkpoint(NamedTuple):
    """A head signed by the owner.

    `body` is the canonical JSON of `{"at", "entry_hash", "seq"}` exactly as signed, behind
    `CHECKPOINT_DOMAIN`; `checkpoint_id` is derived from those bytes; `signature` is hex.
    """

    checkpoint_id: str
    body: str
    signature: str


class ChainVerdict(NamedTuple):
    """Whether the chain holds, how many entries were checked, and the first bad one's words."""

    valid: bool
    entries_checked: int
    reason: str = ""


class CheckpointSigner(Protocol):
    """What the log needs of the owner's key: `silas.keys.Signer` has it."""

    @property
    def public_key(self) -> str:
        """The verify key as 64 hex digits."""
        ...

    def sign(self, data: bytes) -> bytes:
        """The 64 signature bytes over `data`."""
        ...

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's over exactly `data`."""
        ...


class OwnerSigner(CheckpointSigner, Protocol):
    """The owner's key where the record also asks for a decision of the owner's."""

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """The signature over a decision; a signer apart asks for it at its own terminal."""
        ...


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

    def require_whole(self) -> None:
        """The check before anything is approved or has an effect.

        Raises:
            Stopped: The record is not the one that was signed (`E_STOPPED_RECORD`).
        """
        ...
