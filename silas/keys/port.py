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

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's over exactly `data`."""
        ...
