"""Where the owner's private key lives (spec 5.8): the OS key store, else one encrypted file."""

import re
from collections.abc import Callable
from pathlib import Path

from nacl.utils import random

from silas.canonical import canonical_json, digest
from silas.errors import ConfigError
from silas.keys.files import read_private, write_new
from silas.keys.models import KeysConfig
from silas.keys.oskeyring import Keyring, read_secret, write_secret
from silas.keys.sealed import damaged, read_document, seal, unseal
from silas.keys.signer import SEED_BYTES, Ed25519Signer

_OWNER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_SHORTEST_PASSPHRASE = 8  # characters; what is shorter falls to guessing whatever argon2id costs
_SMALLEST_KEY_FILE = 16  # bytes; 128 bits, if they are random

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
    """Keeps one key pair an owner; a key is created once and never overwritten.

    Beside the key there is a record `<owner>.key.json` with the public key and where the private
    one is. It pins the choice: a key store that is locked or gone is then an error, and never a
    reason to make a second identity.
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

    def exists(self, owner_id: str) -> bool:
        """Whether a key was created for this owner."""
        return self._record(owner_id).exists()

    def public_key(self, owner_id: str) -> str:
        """The owner's verify key, without unlocking the private one.

        Raises:
            ConfigError: There is no key, or its record is damaged.
        """
        path = self._record(owner_id)
        return str(
            read_document(read_private(path).decode(errors="replace"), str(path))["public_key"]
        )

    def create(self, owner_id: str) -> Ed25519Signer:
        """The owner's key, made where there is none yet. Safe to repeat; never overwrites.

        Raises:
            ConfigError: The key can neither be loaded nor stored.
        """
        if self.exists(owner_id):
            return self.load(owner_id)
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = self._keyring_for_new_key()
        if store is not None:
            return self._create_in(store, owner_id)
        signer = Ed25519Signer.generate()
        facts = _facts("file", owner_id, signer)
        document = seal(signer.seed_for_vault(), self._new_secret(), facts)
        return self._keep(owner_id, document, signer)

    def load(self, owner_id: str) -> Ed25519Signer:
        """The owner's key; unlocked once, then kept in this process's memory.

        Raises:
            ConfigError: There is no key, the passphrase is wrong, the file is damaged or open to
                others, or the key store does not answer. The sentence says which.
        """
        if owner_id in self._unlocked:
            return self._unlocked[owner_id]
        path = self._record(owner_id)
        text = read_private(path).decode(errors="replace")
        record = read_document(text, str(path))
        if record.get("backend") == "keyring":
            seed = self._from_keyring(owner_id)
        else:
            seed = unseal(text, self._secret(owner_id), str(path))
        if len(seed) != SEED_BYTES:
            raise damaged(str(path))
        signer = Ed25519Signer.from_seed(seed)
        if signer.public_key != record.get("public_key") or record.get("owner") != owner_id:
            raise ConfigError(
                f"The private key that was found does not belong to the record {path}; restore the "
                "record or the key from a backup.",
                code="E_CFG_KEY_MISMATCH",
            )
        self._unlocked[owner_id] = signer
        return signer

    def describe(self, owner_id: str) -> str:
        """What is in force for this owner's key, and what it does and does not protect against."""
        if self.exists(owner_id):
            path = self._record(owner_id)
            record = read_document(read_private(path).decode(errors="replace"), str(path))
            in_keyring = record.get("backend") == "keyring"
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

    def _create_in(self, store: Keyring, owner_id: str) -> Ed25519Signer:
        stored = read_secret(store, owner_id)
        if stored is None:
            signer = Ed25519Signer.generate()
            write_secret(store, owner_id, signer.seed_for_vault().hex())
        else:  # the record was lost, the key was not
            signer = Ed25519Signer.from_seed(_seed_from_text(stored))
        facts = _facts("keyring", owner_id, signer)
        document = canonical_json({**facts, "checksum": digest(facts)})
        return self._keep(owner_id, document, signer)

    def _from_keyring(self, owner_id: str) -> bytes:
        store = self._find_keyring()
        stored = None if store is None else read_secret(store, owner_id)
        if stored is None:
            raise ConfigError(
                "The private key was put into the operating system's key store, and is not there "
                "now; log in to the session that has it.",
                code="E_CFG_KEYRING",
            )
        return _seed_from_text(stored)

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
            return _key_file_bytes(path)
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
            return _key_file_bytes(self._config.key_file)
        return self._prompt(f"Passphrase for the signing key of {owner_id}").encode()


def _facts(backend: str, owner_id: str, signer: Ed25519Signer) -> dict[str, str]:
    return {"backend": backend, "owner": owner_id, "public_key": signer.public_key}


def _seed_from_text(text: str) -> bytes:
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise damaged("in the operating system's key store")
    return seed


def _key_file_bytes(path: Path) -> bytes:
    secret = read_private(path)
    if len(secret) < _SMALLEST_KEY_FILE:
        raise ConfigError(
            f"The key file {path} is too short to protect anything; it needs at least "
            f"{_SMALLEST_KEY_FILE} random bytes.",
            code="E_CFG_KEY_LOCKED",
        )
    return secret
