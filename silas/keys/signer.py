"""Ed25519 through libsodium (spec 5.8): the private key never leaves the signer."""

from functools import lru_cache
from typing import NoReturn, Self

from nacl.bindings import crypto_core_ed25519_is_valid_point
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey
from nacl.utils import random

from silas.errors import ApprovalError

SEED_BYTES = 32


class Ed25519Signer:
    """A key pair in memory. Its text, its `vars` and a pickle of it never show the private key."""

    __slots__ = ("_key", "_public", "_public_hex")

    def __init__(self, key: SigningKey) -> None:
        self._key = key
        self._public = key.verify_key
        self._public_hex = bytes(key.verify_key).hex()

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """The key pair of a 32-byte seed (RFC 8032's private key).

        Raises:
            ApprovalError: The seed is not 32 bytes.
        """
        if len(seed) != SEED_BYTES:
            raise ApprovalError("A signing seed has exactly 32 bytes.", code="E_APPROVAL_KEY")
        return cls(SigningKey(bytes(seed)))

    @classmethod
    def generate(cls) -> Self:
        """A new key pair from the operating system's randomness."""
        return cls.from_seed(random(SEED_BYTES))

    @property
    def public_key(self) -> str:
        """The verify key as 64 hex digits."""
        return self._public_hex

    def seed_for_vault(self) -> bytes:
        """The private key itself, for the vault that stores it and for nobody else."""
        return bytes(self._key)

    def sign(self, data: bytes) -> bytes:
        """The 64 signature bytes over `data`."""
        return self._key.sign(data).signature

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """As `sign`: who holds the key inside was already shown what it is about."""
        del shown
        return self.sign(data)

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's over exactly `data`; malformed means no."""
        return _verify_signature(self._public, data, signature)

    def __repr__(self) -> str:
        return f"<Ed25519Signer {self._public_hex}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a signing key is never pickled or copied")


def import_public_key(text: str) -> str:
    """A public key from outside, checked: 64 lower-case hex digits of a point that can be a key.

    Points of small order verify forged signatures over any message, and other encodings of one
    point would make one key look like two.

    Raises:
        ApprovalError: The text is no usable Ed25519 public key.
    """
    return bytes(_verify_key(text)).hex()


def verify_with(public_key: str, data: bytes, signature: bytes) -> bool:
    """Whether the signature is this public key's over exactly `data`; malformed means no."""
    try:
        key = _verify_key(public_key)
    except ApprovalError:
        return False
    return _verify_signature(key, data, signature)


@lru_cache(maxsize=64)  # a handful of enrolled devices; checking a point costs as much as verifying
def _verify_key(text: str) -> VerifyKey:
    try:
        raw = bytes.fromhex(text)
    except (ValueError, TypeError):
        raw = b""
    if len(raw) != SEED_BYTES or raw.hex() != text.lower():
        raise ApprovalError("A public key has exactly 64 hex digits.", code="E_APPROVAL_KEY")
    if not crypto_core_ed25519_is_valid_point(raw):
        raise ApprovalError(
            "This is not a usable Ed25519 public key; enrol the device again.",
            code="E_APPROVAL_KEY",
        )
    return VerifyKey(raw)


def _verify_signature(key: VerifyKey, data: bytes, signature: bytes) -> bool:
    try:
        key.verify(data, signature)  # refuses a signature of another length than 64 bytes, too
    except (CryptoError, TypeError, ValueError):
        return False
    return True
