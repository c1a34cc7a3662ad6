"""Secrets of the owner by opaque reference: encrypted at rest, opened for one run (spec 0.5)."""

import fcntl
import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Literal, NamedTuple

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox
from nacl.utils import random

from silas.errors import ConfigError
from silas.keys.files import read_private, replace, write_new
from silas.keys.oskeyring import Keyring, forget_secret, read_secret, write_secret
from silas.keys.process_hardening import disable_core_dumps
from silas.keys.redact import SHORTEST
from silas.keys.sealed import damaged_error, read_document, read_unsealed, seal, unseal

LONGEST = 16_384  # bytes of a secret; a key fits, a file of them does not

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
_REF = re.compile(r"ref_[0-9a-f]{32}\Z")
_LOCK = "lock.json"

Unlock = Callable[[bool], bytes]
"""What opens the encrypted secrets: a passphrase or a key file's bytes. True: it is chosen now."""


class SecretFacts(NamedTuple):
    """What may be said about a secret.

    Attributes:
        name: What the owner calls it.
        ref_id: What everybody else does; it says nothing about the secret.
        added_at, used_at: When, in ISO 8601; `used_at` is empty where no run was given it yet.
    """

    name: str
    ref_id: str
    added_at: str
    used_at: str


class SecretVault:
    """Keeps secrets, each in the operating system's key store or in an encrypted file of its own.

    The files are encrypted with a random key, which lies beside them behind argon2id. Values are
    in no representation, message or record of this class; they leave it through `values` alone.
    """

    def __init__(
        self,
        backend: Literal["auto", "keyring", "file"],
        directory: Path,
        unlock: Unlock,
        find_keyring: Callable[[], Keyring | None],
    ) -> None:
        """Touch nothing yet.

        Args:
            backend: As `keys.backend`: where a new secret goes.
            directory: One file a secret is here; made with mode 0700.
            unlock: Asked once, when the first encrypted secret is written or read.
            find_keyring: `silas.keys.oskeyring.system_keyring`, or another key store.
        """
        self._backend = backend
        self._directory = directory
        self._unlock = unlock
        self._find_keyring = find_keyring
        self._unlocked: list[SecretBox] = []  # one, once it is

    def facts(self) -> tuple[SecretFacts, ...]:
        """Every secret by name, without opening any.

        Raises:
            ConfigError: A file is damaged or open to others.
        """
        found = [self._read(ref_id) for ref_id in self.refs()]
        return tuple(
            sorted(
                SecretFacts(d["name"], d["ref_id"], d["added_at"], self._used_at(d["ref_id"]))
                for d in found
            )
        )

    def refs(self) -> frozenset[str]:
        """The references of all secrets; cheap, and asked anew each time."""
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return frozenset()
        refs = (name.removesuffix(".json") for name in names)
        return frozenset(ref for ref in refs if _REF.match(ref))

    def add(self, name: str, value: str, at: datetime) -> SecretFacts:
        """Keep a new secret under a reference of its own; see `keep`."""
        return self.keep(new_ref(), name, value, at)

    def refuse_name(self, name: str) -> None:
        """Refuse a name before anybody is asked for its value.

        Raises:
            ConfigError: It is taken, or no name.
        """
        _check_name(name)
        if any(known.name == name for known in self.facts()):
            raise _taken_error(name)

    def keep(
        self, ref_id: str, name: str, value: str, at: datetime, *, replaces: bool = False
    ) -> SecretFacts:
        """Keep a new secret under a reference that `new_ref` made.

        Args:
            ref_id, name, value, at: The secret, and when it was added.
            replaces: Whether it takes the place of the one of this name, which is forgotten once
                the new one is kept.

        Raises:
            ConfigError: The name is taken or no name, the value cannot be recognised in output, or
                it cannot be stored.
        """
        _check(name, value)
        if not _REF.match(ref_id) or ref_id in self.refs():
            raise AssertionError("a reference is made by `new_ref`, and used once")
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._lock_vault():
            before = [known.ref_id for known in self.facts() if known.name == name]
            if before and not replaces:
                raise _taken_error(name)
            facts = {"added_at": at.isoformat(), "name": name, "ref_id": ref_id}
            store = self._keyring_for_new()
            if store is not None:
                write_secret(store, ref_id, lambda: value)
                document = {**facts, "backend": "keyring"}
            else:
                sealed = bytes(self._open_box().encrypt(_bind_value(ref_id, value))).hex()
                document = {**facts, "backend": "file", "box": sealed}
            write_new(self._file(ref_id), read_unsealed(document).encode())
            for one in before:
                self._forget(one)
        return SecretFacts(name, ref_id, facts["added_at"], "")

    def remove(self, name: str) -> SecretFacts:
        """Forget a secret, by name or reference; no run is given it from now on.

        Raises:
            ConfigError: There is none, or the key store does not let go of it.
        """
        with self._lock_vault() if self._directory.is_dir() else _nothing_to_lock():
            known = self.find(name)
            self._forget(known.ref_id)
        return known

    def find(self, name: str) -> SecretFacts:
        """One secret, by name or reference. Raises `ConfigError` where there is none."""
        known = next((f for f in self.facts() if name in (f.name, f.ref_id)), None)
        if known is None:
            raise ConfigError(
                f"There is no secret named {name!r}; `silas secrets list` shows them.",
                code="E_CFG_SECRET",
            )
        return known

    def _forget(self, ref_id: str) -> None:
        in_keyring = self._read(ref_id)["backend"] == "keyring"
        store = self._find_keyring() if in_keyring else None
        self._file(ref_id).unlink()
        self._use_file(ref_id).unlink(missing_ok=True)
        if store is not None:
            forget_secret(store, ref_id)

    def missing(self, refs: Mapping[str, str]) -> str:
        """Why a plan cannot have the secrets it names, or nothing.

        A plan names each by the owner's own name for it, so that a card cannot call it another.

        Args:
            refs: Reference by name.
        """
        for name, ref_id in sorted(refs.items()):
            if ref_id not in self.refs():
                return f"the secret {name} ({ref_id}) is not known, or was removed"
            if self._read(ref_id)["name"] != name:
                return f"{ref_id} is not the secret that is named {name}"
        return ""

    def values(self, refs: frozenset[str]) -> dict[str, tuple[str, str]]:
        """Name and value of secrets, by reference. For one run, or to recognise them.

        Raises:
            ConfigError: One is gone, damaged, or cannot be opened; the sentence says which.
        """
        disable_core_dumps()
        return {ref_id: self._value(ref_id) for ref_id in sorted(refs)}

    def record_use(self, ref_id: str, at: datetime) -> None:
        """Remember when a run was last given a secret."""
        replace(self._use_file(ref_id), at.isoformat().encode())

    def _used_at(self, ref_id: str) -> str:
        try:
            return self._use_file(ref_id).read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def _value(self, ref_id: str) -> tuple[str, str]:
        document = self._read(ref_id)
        if document["backend"] == "file":
            return document["name"], self._unseal_value(ref_id, document["box"])
        store = self._find_keyring()
        value = None if store is None else read_secret(store, ref_id)
        if value is None:
            raise ConfigError(
                f"The secret {document['name']} was put into the operating system's key store, and "
                "is not there now; log in to the session that has it, or remove and add it again.",
                code="E_CFG_SECRET",
            )
        return document["name"], value

    def _unseal_value(self, ref_id: str, box: str) -> str:
        try:
            owner, value = json.loads(self._open_box().decrypt(bytes.fromhex(box)))
        except (CryptoError, ValueError):
            owner, value = "", ""
        if owner != ref_id:
            raise damaged_error(str(self._file(ref_id)))
        return value

    def _read(self, ref_id: str) -> dict[str, str]:
        path = self._file(ref_id)
        document = read_document(read_private(path).decode(errors="replace"), str(path))
        if document.get("ref_id") != ref_id:
            raise damaged_error(str(path))
        return document

    def _open_box(self) -> SecretBox:
        """What encrypts the files of this directory; made where there is none."""
        if not self._unlocked:
            path = self._directory / _LOCK
            new = not path.exists()
            secret = self._unlock(new)
            if new:
                facts = {"kind": "secrets"}
                write_new(path, seal(random(SecretBox.KEY_SIZE), secret, facts).encode())
            text = read_private(path).decode(errors="replace")
            document = read_document(text, str(path))
            self._unlocked.append(SecretBox(unseal(document, secret, str(path))))
        return self._unlocked[0]

    def _keyring_for_new(self) -> Keyring | None:
        if self._backend == "file":
            return None
        store = self._find_keyring()
        if store is None and self._backend == "keyring":
            raise ConfigError(
                "There is no operating system key store here; set `keys.backend: file`.",
                code="E_CFG_KEYRING",
            )
        return store

    def _file(self, ref_id: str) -> Path:
        return self._directory / f"{ref_id}.json"

    def _use_file(self, ref_id: str) -> Path:
        return self._directory / f"{ref_id}.used"

    @contextmanager
    def _lock_vault(self) -> Generator[None]:
        descriptor = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def opens_secrets(directory: Path, secret: bytes) -> bool:
    """Whether a passphrase opens the secrets of a directory."""
    path = directory / _LOCK
    try:
        text = read_private(path).decode(errors="replace")
        unseal(read_document(text, str(path)), secret, str(path))
    except (ConfigError, OSError):
        return False
    return True


def new_ref() -> str:
    """A reference for a secret that is still to come; it says nothing about it."""
    return f"ref_{random(16).hex()}"


def _taken_error(name: str) -> ConfigError:
    return ConfigError(
        f"There is a secret named {name} already; remove it first, or use another name.",
        code="E_CFG_SECRET",
        field="label",
    )


@contextmanager
def _nothing_to_lock() -> Generator[None]:
    yield


def _bind_value(ref_id: str, value: str) -> bytes:
    """A value with its reference, so that two boxes cannot be exchanged."""
    return json.dumps([ref_id, value]).encode()


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise ConfigError(
            "A secret's name has 1 to 64 letters, digits and underscores and starts with no digit; "
            "use another name.",
            code="E_CFG_SECRET",
            field="label",
        )


def _check(name: str, value: str) -> None:
    """Refuse what could not be kept out of sight. The words never hold the value."""
    _check_name(name)
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        size = LONGEST + 1
    enough = len(value.strip()) >= SHORTEST and value == value.strip("\n")
    if "\0" in value or not enough or size > LONGEST:
        raise ConfigError(
            f"The value of {name} must be text of {SHORTEST} characters to {LONGEST} bytes: what "
            "is shorter could not be told from ordinary words in output.",
            code="E_CFG_SECRET",
            field="value",
        )
    if value.lower() in name.lower() or value.lower() in "[secret ]":
        raise ConfigError(
            "A secret's name must not hold its value; use another name.",
            code="E_CFG_SECRET",
            field="label",
        )
