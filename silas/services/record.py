"""The audit log for the commands that read, check, witness and export it."""

from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from silas.audit import AuditEntry, AuditHead, ChainVerdict
from silas.audit.kept_head import KeptAuditLog
from silas.audit.log import signed_head
from silas.audit.narrate import documents, timeline
from silas.audit.witness import FileWitness
from silas.audit.witnessed_log import WitnessState
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import SilasError, Stopped
from silas.home.audit_log import audit_log, looking_log
from silas.home.database import database_path, open_database
from silas.home.key_vault import open_vault, owner_keys
from silas.home.keyless import PublicKey
from silas.keys import KeyRing, Signer
from silas.services.owner_key import CheckpointKeys, settle_succession, succession_fault

_WIDTH = 88  # columns, as cards have


@dataclass(frozen=True)
class AuditService:
    """The audit log alone, for the commands that read it.

    Attributes:
        warnings: What the owner must be told about witnesses that failed.
        zone: Whose days and hours the entries are told in: the owner's.
    """

    log: KeptAuditLog
    ring: KeyRing
    warnings: list[str]
    zone: ZoneInfo

    async def head(self) -> AuditHead:
        """The newest entry."""
        return await self.log.head()

    async def narrate(self, last: int) -> list[str]:
        """The latest entries as plain sentences under their days, oldest first."""
        return list(timeline(await self._latest(last), zone=self.zone, width=_WIDTH))

    async def documents(self, last: int) -> list[dict[str, Any]]:
        """The same entries as data, each with its sentence."""
        return documents(await self._latest(last))

    async def _latest(self, last: int) -> list[AuditEntry]:
        head = await self.log.head()
        return await self.log.entries(after=max(head.seq - last, 0), limit=last)

    async def verify_chain(self) -> ChainVerdict:
        """Check every entry, every signed checkpoint, and where the owner's key was replaced."""
        return await self.verify((), ())

    async def verify(self, files: Iterable[Path], noted: Iterable[AuditHead]) -> ChainVerdict:
        """Check every entry, every signed checkpoint, and what is remembered elsewhere.

        Args:
            files: What witnesses kept that cannot be asked: a head a line.
            noted: Heads for which the caller vouches.
        """
        kept = [line for file in files for line in FileWitness(file).lines()]
        verdict = await self.log.verify_witnessed(kept, noted)
        fault = await succession_fault(self.log, self.ring, self.zone) if verdict.valid else ""
        return ChainVerdict(False, verdict.entries_checked, fault) if fault else verdict

    async def witness(self) -> str:
        """Tell every witness the newest head; returns the head's line."""
        return await self.log.witness()

    def witnesses(self) -> list[WitnessState]:
        """How it stands with each configured witness."""
        return self.log.witnesses()

    async def accept(self, head: AuditHead) -> AuditHead:
        """Take the changed record for the owner's from now on; returns its new signed head."""
        return signed_head(await self.log.accept(head))

    async def export(self, path: Path) -> AuditHead:
        """Write everything for the stand-alone verifier; returns the signed head."""
        return await self.log.export(path)


@asynccontextmanager
async def open_audit(config: SilasConfig, *, sign: bool = False) -> "AsyncGenerator[AuditService]":
    """The audit log of an initialised Silas, without starting anything else."""
    warnings: list[str] = []
    with open_record(config, warnings, unlock=sign) as (db, audit, ring):
        warn_if_changed(audit, warnings)
        await settle_succession(db, audit, ring)
        yield AuditService(audit, ring, warnings, config.scheduler.zone)


def warn_if_changed(audit: KeptAuditLog, warnings: list[str]) -> None:
    """Hold the record against its kept head, for a command that starts nothing."""
    if words := audit.look():
        warnings.append(words)


def require_whole_record(config: SilasConfig, db: Database) -> None:
    """Refuse what a changed record refuses, for a command that holds no key and writes.

    Raises:
        Stopped: The record was changed outside Silas (`E_STOPPED_RECORD`).
    """
    ring = open_vault(config).ring(config.owner_id)
    try:
        keys = CheckpointKeys(PublicKey(ring.current), ring)
        record = looking_log(config, db, SystemClock(), keys)
        record.look()
        record.require_whole()
    finally:
        ring.release()


def record_words(config: SilasConfig, db: Database) -> str:
    """The sentence about a record that was changed outside Silas; empty where it was not."""
    try:
        require_whole_record(config, db)
    except Stopped as error:
        return error.message
    return ""


def require_whole_home(config: SilasConfig) -> None:
    """As `require_whole_record`, before a command opens anything; a home that was not set up yet
    has no record that could be changed.

    Raises:
        Stopped: The record was changed outside Silas (`E_STOPPED_RECORD`).
    """
    if not database_path(config).exists():
        return
    with open_database(config, SystemClock()) as db:
        require_whole_record(config, db)


def home_words(config: SilasConfig) -> str:
    """As `record_words`, before a command that only looks opens anything.

    Empty, too, where the home cannot be opened: the command itself meets that and says it.
    """
    try:
        require_whole_home(config)
    except Stopped as error:
        return error.message
    except (SilasError, OSError):
        return ""
    return ""


class OpenRecord(NamedTuple):
    """The database with its audit log and the owner's keys, and nothing else."""

    db: Database
    log: KeptAuditLog
    ring: KeyRing


@contextmanager
def open_record(
    config: SilasConfig, warnings: list[str], *, unlock: bool = False
) -> Generator[OpenRecord]:
    """The database, its audit log and the owner's keys, and nothing else.

    Whoever signs nothing is asked for no passphrase; who signs says `unlock`, and is asked at once.
    """
    keys = owner_keys(config, open_vault(config), unlock=unlock)
    with open_record_with(config, warnings, *keys) as parts:
        yield parts


@contextmanager
def open_record_with(
    config: SilasConfig, warnings: list[str], signer: Signer, ring: KeyRing
) -> Generator[OpenRecord]:
    """As `open_record`, with keys that were unlocked already; the ring is released at the end."""

    async def warn(words: str) -> None:
        warnings.append(words)

    clock = SystemClock()
    with ExitStack() as stack:
        stack.callback(ring.release)
        db = stack.enter_context(open_database(config, clock))
        log = audit_log(config, db, clock, CheckpointKeys(signer, ring), warn)
        yield OpenRecord(db, log, ring)
