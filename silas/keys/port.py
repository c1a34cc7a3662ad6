"""What signs and checks signatures; the private key never leaves its implementation."""

from typing import Protocol


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
