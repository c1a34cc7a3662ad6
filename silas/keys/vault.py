"""Where the owner's private key lives (spec 5.8): the OS key store, else one encrypted file.

A record beside it names the public key and where the private one is. A key store that is locked
or gone is an error, never a reason for a second identity. There is no setting for a passphrase.
"""

import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from nacl.utils import random

from silas.errors import ConfigError
from silas.keys.account import Account, not_there, signer_of
from silas.keys.files import clear_partials, read_key_file, read_private, replace, write_new
from silas.keys.key_lock import KeyLock, NoKeyLock, lock_directory
from silas.keys.key_ring import KeyRing, Succession, successions_of
from silas.keys.models import KeysConfig
from silas.keys.oskeyring import Keyring
from silas.keys.process_hardening import disable_core_dumps
from silas.keys.rotation import Rotation
from silas.keys.sealed import read_document, read_unsealed, seal, unseal
from silas.keys.signed_heads import carried_mark
from silas.keys.signer import SEED_BYTES, Ed25519Signer

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_SHORTEST_PASSPHRASE = 8  # characters; what is shorter falls to guessing whatever argon2id costs

_FILE_LIMITS = (
    "It does not protect against a program that runs as you while Silas runs, nor against root."
)


def refuse_to_prompt(words: str) -> str:
    """The prompt of a machine without a terminal: nobody is there to answer.

    Raises:
        ConfigError: Always.
    """
    raise ConfigError(
        f"There is no terminal to ask for a passphrase ({words}); set `keys.key_file`.",
        code="E_CFG_KEY_LOCKED",
    )


class Vault:
    """Keeps one key pair an owner; only `rotation` ever replaces one.

    Beside the key there is a record `<owner>.key.json` with the public key, where the private one
    is, and how it followed the keys before it. It pins the choice: a key store that is locked or
    gone is then an error, and never a reason to make a second identity.

    Whoever has a key or its ring from here holds it: it is not replaced until the ring is released,
    or both are forgotten.
    """

    def __init__(
        self,
        config: KeysConfig,
        directory: Path,
        prompt: Callable[[str], str],
        find_keyring: Callable[[], Keyring | None],
    ) -> None:
        """Touch nothing yet.

        Args:
            config: Which backend, and what unlocks a file.
            directory: Where records and encrypted files are; made with mode 0700.
            prompt: Asks a person for a passphrase without showing it; `refuse_to_prompt` where
                there is nobody.
            find_keyring: `silas.keys.oskeyring.system_keyring`, or another key store.
        """
        self._config = config
        self._directory = directory
        self._prompt = prompt
        self._find_keyring = find_keyring
        self._unlocked: dict[str, Ed25519Signer] = {}
        self._held: KeyLock | NoKeyLock = NoKeyLock()

    def exists(self, owner_id: str) -> bool:
        """Whether a key was created for this owner."""
        return self._record(owner_id).exists()

    def public_key(self, owner_id: str) -> str:
        """The owner's verify key, without unlocking the private one.

        Raises:
            ConfigError: There is no key, or its record is damaged.
        """
        return str(self._read(owner_id)["public_key"])

    def ring(self, owner_id: str) -> KeyRing:
        """The owner's public keys, the one in force and those before it; unlocks nothing.

        Raises:
            ConfigError: There is no key, its record is damaged, or it is being replaced.
        """
        self._record(owner_id)
        hold = self._hold(owner_id)
        return _ring(owner_id, self._read(owner_id), hold)

    def in_force_since(self, owner_id: str) -> datetime:
        """When the key that is in force was made, in UTC.

        Of the first key the moment of its record, which nothing writes again.
        """
        if former := self.ring(owner_id).former:
            return former[-1].retired_at
        return datetime.fromtimestamp(self._record(owner_id).stat().st_mtime, UTC)

    def create(self, owner_id: str) -> Ed25519Signer:
        """The owner's key, made where there is none yet. Safe to repeat; never overwrites.

        Raises:
            ConfigError: The key can neither be loaded nor stored.
        """
        if self.exists(owner_id):
            return self.load(owner_id)
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        hold = self._hold(owner_id)
        disable_core_dumps()
        store = self._keyring_for_new_key()
        if store is None:
            signer = _Held.taking(Ed25519Signer.generate(), hold)
            facts = _facts("file", owner_id, signer, ())
            document = seal(signer.seed_for_vault(), self._new_secret(), facts)
        else:
            signer = _Held.taking(Account(store, owner_id).find_or_create(), hold)
            document = read_unsealed(_facts("keyring", owner_id, signer, ()))
        return self._keep(owner_id, document, signer)

    def load(self, owner_id: str) -> Ed25519Signer:
        """The owner's key; unlocked once, then kept in this process's memory.

        Raises:
            ConfigError: There is no key, the passphrase is wrong, the file is damaged or open to
                others, the key store does not answer, or the key is being replaced. The sentence
                says which.
        """
        self._record(owner_id)
        hold = self._hold(owner_id)
        if owner_id in self._unlocked:
            return self._unlocked[owner_id]
        record = self._read(owner_id)
        secret = b"" if _in_keyring(record) else self._secret(owner_id)
        self._unlocked[owner_id] = _Held.taking(self._open_key_pair(owner_id, record, secret), hold)
        return self._unlocked[owner_id]

    def try_opening(self, owner_id: str) -> None:
        """Open the key as far as nobody is asked for anything: with a key file, it is opened.

        A key store is looked for and not unlocked, and a passphrase is not asked for.

        Raises:
            ConfigError: As `load`.
        """
        if _in_keyring(self._read(owner_id)):
            self._account(owner_id)
        elif self._config.key_file is not None:
            self.load(owner_id)

    @contextmanager
    def rotation(self, owner_id: str) -> "Generator[Rotation]":
        """Replace the owner's key; `Rotation.succeed` does it, and without it nothing changes.

        Nobody else may rely on the key meanwhile. A crash at any moment leaves the old key or the
        new one in force: the one that the record names, which is exchanged in one step.

        Raises:
            ConfigError: As `load`; also while any Silas is running with the key.
        """
        self._unlocked.clear()
        self._held = NoKeyLock()
        if not self.exists(owner_id):
            raise ConfigError(
                "There is no owner key to replace; run `silas init`.", code="E_CFG_NOT_INITIALISED"
            )
        with lock_directory(self._directory):
            clear_partials(self._record(owner_id))
            record = self._read(owner_id)
            ring = _ring(owner_id, record, NoKeyLock())
            secret = b"" if _in_keyring(record) else self._secret(owner_id)
            old = self._open_key_pair(owner_id, record, secret)
            new = Ed25519Signer.generate()

            backend = str(record.get("backend"))

            def keep(successions: Sequence[Succession]) -> None:
                facts = {**_facts(backend, owner_id, new, successions), **carried_mark(record)}
                path = self._record(owner_id)
                if _in_keyring(record):
                    text = read_unsealed(facts)
                    self._account(owner_id).replace(new, lambda: replace(path, text.encode()))
                else:
                    replace(path, seal(new.seed_for_vault(), secret, facts).encode())

            yield Rotation(owner_id, old, new, ring, keep)

    @property
    def asks_for_passphrase(self) -> bool:
        """Whether a key that is made here is unlocked by a passphrase that its owner chooses."""
        return self._config.key_file is None and self._keyring_for_new_key() is None

    def describe(self, owner_id: str) -> str:
        """What is in force for this owner's key, and what it does and does not protect against."""
        if self.exists(owner_id):
            in_keyring = _in_keyring(self._read(owner_id))
        else:
            in_keyring = self._keyring_for_new_key() is not None
        if in_keyring:
            return (
                "The private key is in the operating system's key store, behind your login. It is "
                "protected when the disk or a backup is read by somebody else. "
                "It does not protect against a program that runs as you while you are logged in."
            )
        if self._config.key_file is None:
            return (
                "The private key is in an encrypted file (argon2id, mode 0600), unlocked by your "
                "passphrase. It is protected, as well as the passphrase is, when the disk or a "
                f"backup is read by somebody else. {_FILE_LIMITS}"
            )
        return (
            "The private key is in an encrypted file (argon2id, mode 0600), unlocked by the key "
            f"file {self._config.key_file}. It is protected only where that file is not: keep it "
            f"on another device or out of backups. {_FILE_LIMITS}"
        )

    def _record(self, owner_id: str) -> Path:
        if not _OWNER.match(owner_id):
            raise ConfigError(
                "An owner id has 1 to 64 letters, digits, dots, dashes or underscores; change "
                "`owner_id`.",
                code="E_CFG_OWNER",
            )
        return self._directory / f"{owner_id}.key.json"

    def _keyring_for_new_key(self) -> Keyring | None:
        if self._config.backend == "file":
            return None
        store = self._find_keyring()
        if store is None and self._config.backend == "keyring":
            raise ConfigError(
                "There is no operating system key store here; set `keys.backend: file`.",
                code="E_CFG_KEYRING",
            )
        return store

    def _read(self, owner_id: str) -> dict[str, Any]:
        path = self._record(owner_id)
        return read_document(read_private(path).decode(errors="replace"), str(path))

    def _hold(self, owner_id: str) -> KeyLock:
        """One for everything that came from this vault, so that it can be released at once."""
        if isinstance(self._held, KeyLock) and self._held.holds:
            return self._held
        self._unlocked.clear()  # what was released may have been replaced since
        try:
            self._held = KeyLock(self._directory)
        except OSError:
            self._read(owner_id)  # says what is wrong with the directory
            raise
        return self._held

    def _open_key_pair(self, owner_id: str, record: dict[str, Any], secret: bytes) -> Ed25519Signer:
        """The key pair that the record names, and no other."""
        disable_core_dumps()
        path, public_key = str(self._record(owner_id)), str(record.get("public_key"))
        if _in_keyring(record):
            signer = self._account(owner_id).signer(public_key)
        else:
            signer = signer_of(unseal(record, secret, path), path)
        if signer.public_key != public_key or record.get("owner") != owner_id:
            raise ConfigError(
                f"The private key that was found does not belong to the record {path}; restore the "
                "record or the key from a backup.",
                code="E_CFG_KEY_MISMATCH",
            )
        return signer

    def _account(self, owner_id: str) -> Account:
        store = self._find_keyring()
        if store is None:
            raise not_there()
        return Account(store, owner_id)

    def _keep(self, owner_id: str, document: str, signer: Ed25519Signer) -> Ed25519Signer:
        if write_new(self._record(owner_id), document.encode()):
            self._unlocked[owner_id] = signer
            return signer
        return self.load(owner_id)  # somebody else was first; theirs is the key

    def _new_secret(self) -> bytes:
        path = self._config.key_file
        if path is not None:
            if self._config.create_key_file and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                write_new(path, random(SEED_BYTES))
            return read_key_file(path)
        first = self._prompt("Choose a passphrase for Silas's signing key")
        if len(first) < _SHORTEST_PASSPHRASE:
            raise ConfigError(
                f"A passphrase needs at least {_SHORTEST_PASSPHRASE} characters; choose a longer "
                "one.",
                code="E_CFG_KEY_LOCKED",
            )
        if self._prompt("The same passphrase again") != first:
            raise ConfigError(
                "The two passphrases differ; nothing was written, try again.",
                code="E_CFG_KEY_LOCKED",
            )
        return first.encode()

    def _secret(self, owner_id: str) -> bytes:
        if self._config.key_file is not None:
            return read_key_file(self._config.key_file)
        return self._prompt(f"Passphrase for the signing key of {owner_id}").encode()


class _Held(Ed25519Signer):
    """A key from the vault: while it lives, nobody replaces it."""

    __slots__ = ("_hold",)
    _hold: KeyLock

    @classmethod
    def taking(cls, signer: Ed25519Signer, hold: KeyLock) -> Self:
        held = cls.from_seed(signer.seed_for_vault())
        held._hold = hold
        return held


def _ring(owner_id: str, record: dict[str, Any], hold: KeyLock | NoKeyLock) -> KeyRing:
    return KeyRing(owner_id, str(record.get("public_key")), successions_of(record), hold)


def _in_keyring(record: dict[str, Any]) -> bool:
    return record.get("backend") == "keyring"


def _facts(
    backend: str, owner_id: str, signer: Ed25519Signer, successions: Sequence[Succession]
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "backend": backend,
        "owner": owner_id,
        "public_key": signer.public_key,
    }
    return {**facts, "former": [each._asdict() for each in successions]} if successions else facts
