"""Where the newest signed head of the record is kept outside its database (decision D295)."""

from hashlib import sha256
from pathlib import Path

from silas.audit import AuditHead
from silas.audit.kept_head import KeptAuditLog, KeptHead
from silas.audit.models import OwnerSigner
from silas.audit.witnessed_log import Warn
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import DatabaseError, SilasError, reason
from silas.home.database import open_database
from silas.home.signer_client import record_of
from silas.home.witnesses import witnesses_of
from silas.keys.oskeyring import system_keyring
from silas.keys.sealed import read_document
from silas.keys.signed_heads import (
    KeyringHead,
    SignedHead,
    SignedHeads,
    keeps_head,
    mark_keeps_head,
)


class HeadsBesideKey:
    """A file beside the key, and the operating system's key store where the key is there."""

    def __init__(self, config: SilasConfig) -> None:
        """Touch nothing yet."""
        self._record = record_of(config)
        path = self._record.with_name(f"{config.owner_id}.kept-head.json")
        # One key store serves every home of its user, and each home has a record of its own.
        home = sha256(str(config.data_dir.resolve()).encode()).hexdigest()[:16]
        store = KeyringHead(system_keyring, f"{config.owner_id}:head:{home}")
        self._heads = SignedHeads(path, *([store] if _in_keyring(self._record) else []))

    def look(self) -> KeptHead:
        """See `KeptHeads`."""
        lines: list[tuple[str, str]] = []
        missing: list[str] = []
        try:
            for place in self._heads.places:
                head = place.read()
                if head is None:
                    missing.append(place.name)
                else:
                    lines.append((place.name, head.line))
            marked = keeps_head(self._record)
        except (OSError, SilasError) as error:
            words = error.message if isinstance(error, SilasError) else reason(error)
            return KeptHead(fault=words)
        return KeptHead(tuple(lines), tuple(missing), marked)

    def move(self, head: AuditHead, line: str) -> None:
        """See `KeptHeads`."""
        self._record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._heads.advance(SignedHead(*head, line))

    def put(self, head: AuditHead, line: str) -> None:
        """See `KeptHeads`."""
        self._record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._heads.put(SignedHead(*head, line))

    def mark(self) -> None:
        """See `KeptHeads`."""
        mark_keeps_head(self._record)


def _in_keyring(record: Path) -> bool:
    try:
        document = read_document(record.read_text(encoding="utf-8"), str(record))
    except (OSError, UnicodeDecodeError, SilasError):
        return False  # who needs the key says what is wrong with its record
    return document.get("backend") == "keyring"


def audit_log(
    config: SilasConfig, db: Database, clock: Clock, keys: OwnerSigner, warn: Warn
) -> KeptAuditLog:
    """The one audit log of a database."""
    return KeptAuditLog(db, clock, keys, witnesses_of(config), warn, HeadsBesideKey(config))


async def _unheard(words: str) -> None:
    """Whoever made this log says by itself what it found."""
    del words


def looking_log(config: SilasConfig, db: Database, clock: Clock, keys: OwnerSigner) -> KeptAuditLog:
    """The record of a command that signs or checks something and starts nothing."""
    return audit_log(config, db, clock, keys, _unheard)


async def record_finding(config: SilasConfig, keys: OwnerSigner) -> tuple[str, bool, str]:
    """How it stands with the record, for `silas doctor`: part, well or not, words."""
    clock = SystemClock()
    try:
        with open_database(config, clock, ("silas.audit",)) as db:
            verdict = await looking_log(config, db, clock, keys).verify_chain()
    except DatabaseError as error:
        return "record", False, str(error)
    if verdict.valid:
        many = verdict.entries_checked
        one, all_of = (
            "its only entry is the one that was",
            f"all of its {many} entries are those that were",
        )
        head = "the newest signed head is kept beside the key"
        return "record", True, f"{one if many == 1 else all_of} signed; {head}"
    words = f"it was changed outside Silas: {verdict.reason}"
    then = "effects are refused; see `silas audit verify`, and `silas audit accept` after a backup"
    return "record", False, f"{words} {then}"
