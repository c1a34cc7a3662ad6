"""An audit log for those who only append: they hold no key and sign no checkpoint."""

from silas.keys import verify_with


class NoKey:
    """Appending signs nothing, so it must not wait for a locked key."""

    public_key = ""

    def sign(self, data: bytes) -> bytes:
        """Never called."""
        raise AssertionError("whoever only appends signs nothing")

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Nobody's signature is believed here."""
        del data, signature
        return False


class PublicKey:
    """The owner's key where signatures are only checked."""

    def __init__(self, public_key: str) -> None:
        self.public_key = public_key

    def sign(self, data: bytes) -> bytes:
        """Never called."""
        raise AssertionError("whoever only looks signs nothing")

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """Never called."""
        raise AssertionError("whoever only looks signs nothing")

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is the owner's over exactly `data`."""
        return verify_with(self.public_key, data, signature)
