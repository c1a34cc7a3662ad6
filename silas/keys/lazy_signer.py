"""The owner's key for those who mostly look: it is unlocked when it first signs."""

from collections.abc import Callable

from silas.keys.port import Signer
from silas.keys.signer import verify_with


class LazySigner:
    """Checks with the public half; whoever never signs is asked for no passphrase."""

    def __init__(self, public_key: str, unlock: Callable[[], Signer]) -> None:
        """Unlock nothing.

        Args:
            public_key: 64 hex digits.
            unlock: Gives the key itself, and keeps it for the next time.
        """
        self.public_key = public_key
        self._unlock = unlock

    def sign(self, data: bytes) -> bytes:
        """The 64 signature bytes over `data`. Raises `ConfigError` where it stays locked."""
        return self._unlock().sign(data)

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """As the key's own."""
        return await self._unlock().sign_shown(data, shown)

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is the owner's over exactly `data`."""
        return verify_with(self.public_key, data, signature)
