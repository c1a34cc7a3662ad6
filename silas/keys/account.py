"""One owner's private key in the operating system's key store, and how it is exchanged there."""

from collections.abc import Callable

from silas.errors import ConfigError
from silas.keys.oskeyring import Keyring, forget_secret, read_secret, write_secret
from silas.keys.sealed import damaged_error
from silas.keys.signer import SEED_BYTES, Ed25519Signer


class Account:
    """The key in force is under the owner's id; while it is exchanged, the next one beside it."""

    def __init__(self, store: Keyring, owner_id: str) -> None:
        self._store = store
        self._owner_id = owner_id
        self._next = f"{owner_id}:next"  # no owner id has a colon

    def find_or_create(self) -> Ed25519Signer:
        """The key that is there, where only its record was lost; else a new one, stored."""
        stored = read_secret(self._store, self._owner_id)
        if stored is not None:
            return _from_text(stored)
        signer = Ed25519Signer.generate()
        self._write(self._owner_id, signer)
        return signer

    def signer(self, public_key: str) -> Ed25519Signer:
        """The key pair with this public key, or whatever else is there.

        An exchange that was cut short after the record had named the new key is finished here.

        Raises:
            ConfigError: There is nothing, or it is no key.
        """
        stored = read_secret(self._store, self._owner_id)
        if stored is None:
            raise not_there()
        signer = _from_text(stored)
        if signer.public_key == public_key:
            return signer
        waiting = read_secret(self._store, self._next)
        following = signer if waiting is None else _from_text(waiting)
        if following.public_key == public_key:
            self._move_in(following)
        return following

    def replace(self, new: Ed25519Signer, name_it: Callable[[], None]) -> None:
        """Exchange the key.

        Args:
            new: The next key.
            name_it: Makes the record name the new key, in one step; from then on it is in force.
        """
        self._write(self._next, new)
        name_it()
        self._move_in(new)

    def _move_in(self, signer: Ed25519Signer) -> None:
        self._write(self._owner_id, signer)
        forget_secret(self._store, self._next)

    def _write(self, account: str, signer: Ed25519Signer) -> None:
        write_secret(self._store, account, lambda: signer.seed_for_vault().hex())


def signer_of(seed: bytes, where: str) -> Ed25519Signer:
    """The key pair of a stored seed.

    Raises:
        ConfigError: It is no seed.
    """
    if len(seed) != SEED_BYTES:
        raise damaged_error(where)
    return Ed25519Signer.from_seed(seed)


def not_there() -> ConfigError:
    """The error for a key store that has not what was put into it."""
    return ConfigError(
        "The private key was put into the operating system's key store, and is not there now; log "
        "in to the session that has it.",
        code="E_CFG_KEYRING",
    )


def _from_text(text: str) -> Ed25519Signer:
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    return signer_of(seed, "in the operating system's key store")
