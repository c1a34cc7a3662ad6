"""An audit log for those who only append: they hold no key and sign no checkpoint."""


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
