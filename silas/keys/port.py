"""What signs and checks signatures; the private key never leaves its implementation."""

from datetime import datetime
from typing import NamedTuple, Protocol


class Signer(Protocol):
    """An Ed25519 key pair behind a port (spec 5.8)."""

    @property
    def public_key(self) -> str:
        """The verify key as 64 hex digits."""
        ...

    def sign(self, data: bytes) -> bytes:
        """The 64 signature bytes over `data`."""
        ...

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """The signature over the owner's decision; a signer apart asks for it by itself.

        Args:
            data: What is signed: the canonical bytes of an approval.
            shown: The canonical bytes that it is about, for the signer to show.

        Raises:
            ApprovalError: The signer cannot be reached, cannot show this, or was told no.
        """
        ...

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's over exactly `data`."""
        ...


class FormerKey(NamedTuple):
    """A key that was the owner's once.

    Attributes:
        public_key: 64 hex digits.
        retired_at: From when on it signs nothing any more; UTC.
        seq, entry_hash: The audit log's head at that moment.
        running: The ids of the approvals under which work was under way at that moment, and at
            every later replacement. Nothing else that the key signed authorises anything.
    """

    public_key: str
    retired_at: datetime
    seq: int
    entry_hash: str
    running: frozenset[str]


class FormerKeys(Protocol):
    """The owner's keys before the one in force, to tell what they signed from a forgery."""

    def signed_by(self, data: bytes, signature: bytes) -> FormerKey | None:
        """The former key whose signature over exactly `data` this is, or None."""
        ...
