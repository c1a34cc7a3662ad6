"""Which entry of the record was signed last, kept outside the database that holds the record.

One implementation for the process that has the key and for a signer apart: the first keeps the
owner-signed head to compare the record with, the second refuses to sign an earlier one.
"""

import fcntl
import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from silas.canonical import canonical_json
from silas.errors import ConfigError
from silas.keys.files import read_private, replace
from silas.keys.oskeyring import Keyring, read_secret, write_secret
from silas.keys.sealed import read_document, read_unsealed

_MARK = "keeps_head"

AnswerT = TypeVar("AnswerT")


class SignedHead(NamedTuple):
    """An entry of the record.

    Attributes:
        seq, entry_hash: Its number from 1 (0 for an empty record) and its hash.
        line: The owner's signature over it, in the form that witnesses keep; empty where a signer
            apart keeps it, which makes the signature itself.
    """

    seq: int
    entry_hash: str
    line: str = ""


class HeadPlace(Protocol):
    """A place that keeps one head."""

    @property
    def name(self) -> str:
        """What the owner calls it."""
        ...

    def read(self) -> SignedHead | None:
        """The head that is kept; None where there is none.

        Raises:
            ConfigError: What is there is not what was written, or cannot be read.
        """
        ...

    def write(self, head: SignedHead) -> None:
        """Keep this one instead, durably. Raises `ConfigError` or `OSError`."""
        ...


class FileHead:
    """A head in a file of its own, mode 0600, exchanged whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def name(self) -> str:
        """Its path."""
        return str(self.path)

    def read(self) -> SignedHead | None:
        """See `HeadPlace`."""
        if not os.path.lexists(self.path):
            return None
        return _parse_head(read_private(self.path).decode(errors="replace"), self.name)

    def write(self, head: SignedHead) -> None:
        """See `HeadPlace`."""
        replace(self.path, canonical_json(head._asdict()).encode())


class KeyringHead:
    """A head in the operating system's key store."""

    name = "the operating system's key store"

    def __init__(self, find: Callable[[], Keyring | None], account: str) -> None:
        self._find = find
        self._account = account

    def read(self) -> SignedHead | None:
        """See `HeadPlace`."""
        text = self._ask_keyring(lambda store: read_secret(store, self._account))
        return None if text is None else _parse_head(text, self.name)

    def write(self, head: SignedHead) -> None:
        """See `HeadPlace`."""
        text = canonical_json(head._asdict())
        self._ask_keyring(lambda store: write_secret(store, self._account, lambda: text))

    def _ask_keyring(self, ask: Callable[[Keyring], AnswerT]) -> AnswerT:
        """What the key store answers; its refusals are about a key, and this is none."""
        store = self._find()
        if store is not None:
            with suppress(ConfigError):
                return ask(store)
        raise ConfigError(
            "The operating system's key store, which keeps the newest signed head of the record, "
            "does not answer; unlock it, or log in to the session that has it.",
            code="E_CFG_KEYRING",
        )


class SignedHeads:
    """The newest head that was signed, in a file and in any other places beside it.

    Nobody here sees the entries, so whether a later head follows from an earlier one is for the
    chain to show. What would go back is refused.
    """

    def __init__(self, path: Path, *beside: HeadPlace) -> None:
        """Touch nothing yet; the file's directory must be there before anything is kept."""
        self._lock = path.with_name(f"{path.name}.lock")
        self.places: tuple[HeadPlace, ...] = (*beside, FileHead(path))

    def newest(self) -> SignedHead | None:
        """The newest head of all places; None where there is none. Raises `ConfigError`."""
        found = [head for place in self.places if (head := place.read())]
        return max(found, key=lambda head: head.seq, default=None)

    def advance(self, head: SignedHead) -> str:
        """Keep a later head; words if it is another or an earlier one, which is not kept.

        Raises:
            ConfigError, OSError: It could not be kept.
        """
        with self._lock_heads():
            newest = self.newest()
            if newest is not None and head.seq <= newest.seq and head[:2] != newest[:2]:
                return _goes_back(newest)
            self._write(head)
        return ""

    def put(self, head: SignedHead) -> None:
        """Keep a head that the owner accepted, an earlier one, too.

        Raises:
            ConfigError, OSError: It could not be kept.
        """
        with self._lock_heads():
            self._write(head)

    def _write(self, head: SignedHead) -> None:
        for place in self.places:
            place.write(head)

    @contextmanager
    def _lock_heads(self) -> Generator[None]:
        """One process at a time looks and writes, so that a slower one never puts a head back."""
        descriptor = os.open(self._lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _goes_back(newest: SignedHead) -> str:
    return (
        f"entry {newest.seq} of the record was signed already, and this would put another or an "
        "earlier one in its place; if you restored a backup, run `silas audit accept`"
    )


def _parse_head(text: str, place: str) -> SignedHead:
    try:
        said: Any = json.loads(text)
        return SignedHead(int(said["seq"]), str(said["entry_hash"]), str(said.get("line", "")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ConfigError(
            f"The newest signed head of the record in {place} is damaged; restore it, or run "
            "`silas audit accept` if the record is in order.",
            code="E_CFG_HEAD",
        ) from error


# ── Beside the key ───────────────────────────────────────────────────────────────────────────────


def keeps_head(record: Path) -> bool:
    """Whether the key's own record says that a head is kept. Raises `ConfigError` if damaged."""
    return record.exists() and _document(record).get(_MARK) is True


def mark_keeps_head(record: Path) -> None:
    """Say in the key's record that a head is kept, so that one that vanishes is missed.

    Its time stays: it tells how old the first key is.
    """
    if not record.exists():
        return
    document = _document(record)
    if document.get(_MARK) is True:
        return
    facts = record.stat()
    replace(record, read_unsealed({**document, _MARK: True}).encode())
    os.utime(record, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def carried_mark(document: dict[str, Any]) -> dict[str, bool]:
    """What a key's next record takes over of this one: whether a head is kept."""
    return {_MARK: True} if document.get(_MARK) is True else {}


def _document(record: Path) -> dict[str, Any]:
    return read_document(read_private(record).decode(errors="replace"), str(record))
