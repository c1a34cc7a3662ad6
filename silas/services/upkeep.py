"""The commands beside a running Silas: set up, check every part, read the record, undo."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from silas.audit import AuditEntry, AuditHead, ChainVerdict
from silas.audit.kept import KeptAuditLog
from silas.audit.log import signed_head
from silas.audit.narrate import documents, timeline
from silas.audit.witness import FileWitness
from silas.audit.witnessed import WitnessState
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.damage import Damaged
from silas.db import Database
from silas.errors import SandboxError, SilasError
from silas.home.audit_log import audit_log, record_finding
from silas.home.crash_recovery import recovered
from silas.home.damaged_rows import all_damaged
from silas.home.effective_clock import clock_finding
from silas.home.findings import Finding
from silas.home.keyless import PublicKey
from silas.home.lease import Lease
from silas.home.runtime import (
    MIGRATED,
    key_exists,
    open_vault,
    owner_keys,
    sandbox_of,
    unusable_home,
)
from silas.home.sandbox_tools import tool_findings
from silas.home.signer_client import arrangement, enrol, is_apart, remote_signer
from silas.home.witnesses import witness_findings
from silas.keys import KeyRing, Signer
from silas.keys.vault import Vault
from silas.plans import WorkItem
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting import SqlWaitingPlans
from silas.sandbox import probe
from silas.services.doctor.reachability import answered, reached
from silas.services.doctor.readiness import configuration_finding, settings_findings
from silas.services.owner_key import (
    CheckpointKeys,
    key_facts,
    key_words,
    settle_succession,
    succession_fault,
)
from silas.services.tools.listed import add_uncalled
from silas.services.tools.prompt_overhead import window_finding
from silas.services.tools.registry import built_in_tools, toolset_findings
from silas.services.workers import nobody_works, offer_delegation
from silas.stop import Sentinel
from silas.stream.personqueue import PersonQueues
from silas.tools.outcomes import SqlOutcomeStore
from silas.work.effects import Effects
from silas.work.halfway import HalfChanged, half_changed_in
from silas.work.held_store import HeldStore
from silas.work.models import PATCH
from silas.work.settling import Settling
from silas.work.undo import Undo

_WIDTH = 88  # columns, as cards have


@dataclass(frozen=True)
class AuditDesk:
    """The audit log alone, for the commands that read it.

    Attributes:
        warnings: What the owner must be told about witnesses that failed.
    """

    log: KeptAuditLog
    ring: KeyRing
    warnings: list[str]

    async def head(self) -> AuditHead:
        """The newest entry."""
        return await self.log.head()

    async def narrate(self, last: int) -> list[str]:
        """The latest entries as plain sentences under their days, oldest first."""
        return list(timeline(await self._latest(last), zone=None, width=_WIDTH))

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
        fault = await succession_fault(self.log, self.ring) if verdict.valid else ""
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


@dataclass(frozen=True)
class WorkDesk:
    """The work items alone, for the commands that look at them or take them back.

    Attributes:
        warnings: What the owner must be told, such as that the record was changed.
    """

    store: SqlWorkItemStore
    undoing: Undo
    waiting: SqlWaitingPlans
    held: HeldStore
    settling: Settling
    people: PersonQueues
    recover: Callable[[], Awaitable[frozenset[str]]]
    warnings: list[str]
    db: Database

    def half_changed(self) -> list[HalfChanged]:
        """Directories that a crash left neither as before nor as after some work."""
        return self.undoing.files.left()

    async def questions(self) -> list[WorkItem]:
        """Plans that the owner was asked about and has not answered."""
        return [waiting.item for waiting in await self.waiting.all()]

    def damaged(self) -> list[Damaged]:
        """What was set aside because it cannot be read."""
        return all_damaged(self.db)

    async def items(self) -> list[WorkItem]:
        """Every work item, newest last."""
        return sorted(await self.store.every(), key=lambda item: (item.created_at, item.id))

    async def undo(self, work_item_id: str) -> None:
        """Restore the workspace that a work item changed; see `Undo.undo`."""
        if work_item_id not in await self.recover():
            await self.undoing.undo(work_item_id)

    async def leave(self, work_item_id: str) -> None:
        """Keep a half-changed workspace as it is now; see `FileRecovery.leave`."""
        await self.undoing.files.leave(work_item_id)

    async def patch(self, work_item_id: str) -> str:
        """What the last finished run of an item changed, to the byte; empty if nothing.

        Raises:
            SandboxError: No run of it has finished.
        """
        result = await self.store.get_result(work_item_id)
        if result is None:
            raise SandboxError(
                f"No run of {work_item_id!r} has finished; see `silas status` for the ids.",
                code="E_SANDBOX_NO_DIFF",
            )
        return result.artifacts.get(PATCH, "")


@asynccontextmanager
async def open_audit(config: SilasConfig, *, sign: bool = False) -> "AsyncGenerator[AuditDesk]":
    """The audit log of an initialised Silas, without starting anything else."""
    warnings: list[str] = []
    with opened(config, warnings, unlock=sign) as (db, audit, ring):
        compared(audit, warnings)
        await settle_succession(db, audit, ring)
        yield AuditDesk(audit, ring, warnings)


@asynccontextmanager
async def open_work(config: SilasConfig) -> "AsyncGenerator[WorkDesk]":
    """The work items of an initialised Silas, without starting anything else."""
    warnings: list[str] = []
    with opened(config, warnings) as (db, audit, ring):
        compared(audit, warnings)
        await settle_succession(db, audit, ring)
        clock = SystemClock()
        store, outcomes = SqlWorkItemStore(db, clock), SqlOutcomeStore(db, clock)
        registry = built_in_tools(clock, sandbox_of(config))
        add_uncalled(registry, config)
        offer_delegation(config, registry, nobody_works)  # it vouches for what was delegated
        settling = Settling(Effects(outcomes, registry), outcomes, store, audit, db.write)
        undoing, waiting = Undo(config.data_dir / "undo", audit), SqlWaitingPlans(db, clock)

        async def recover() -> frozenset[str]:
            taken_back = await undoing.files.recover()
            rest = (config.data_dir, undoing, store, waiting, outcomes, audit)
            async with Lease(config.data_dir) as lease:
                await recovered(*rest, alone=lease.alone, resume=False)
            return taken_back

        people = PersonQueues(db, audit, clock)
        held = HeldStore(config.data_dir / "held")
        yield WorkDesk(store, undoing, waiting, held, settling, people, recover, warnings, db)


def compared(audit: KeptAuditLog, warnings: list[str]) -> None:
    """Hold the record against its kept head, for a command that starts nothing."""
    if words := audit.look():
        warnings.append(words)


@contextmanager
def opened(
    config: SilasConfig, warnings: list[str], *, unlock: bool = False
) -> Generator[tuple[Database, KeptAuditLog, KeyRing]]:
    """The database, its audit log and the owner's keys, and nothing else.

    Whoever signs nothing is asked for no passphrase; who signs says `unlock`, and is asked at once.
    """
    keys = owner_keys(config, open_vault(config), unlock=unlock)
    with opened_with(config, warnings, *keys) as parts:
        yield parts


@contextmanager
def opened_with(
    config: SilasConfig, warnings: list[str], signer: Signer, ring: KeyRing
) -> Generator[tuple[Database, KeptAuditLog, KeyRing]]:
    """As `opened`, with keys that were unlocked already; the ring is released at the end."""

    async def warn(words: str) -> None:
        warnings.append(words)

    clock = SystemClock()
    with ExitStack() as stack:
        stack.callback(ring.release)
        db = Database(config.data_dir / "silas.db", clock)
        stack.callback(db.close)
        for package in MIGRATED:
            db.migrate(package)
        yield db, audit_log(config, db, clock, CheckpointKeys(signer, ring), warn), ring


async def initialise(config: SilasConfig) -> list[str]:
    """`silas init`: keys, database, directories; safe to repeat. Returns what is where."""
    folders = (config.data_dir, config.sandbox.verify_dir, config.sandbox.customer_context_dir)
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise unusable_home(config, error) from error
    vault = open_vault(config)
    if is_apart(config) and not key_exists(config, vault):
        enrol(config)
    made = None if is_apart(config) else vault.create(config.owner_id)
    ring = vault.ring(config.owner_id)
    warnings: list[str] = []
    with opened_with(config, warnings, made or remote_signer(config, ring.current), ring) as parts:
        await parts[1].open()
    return [
        *warnings,
        f"Silas is ready. Its data is in {config.data_dir}.",
        f"Owner key {vault.public_key(config.owner_id)[:16]}...: {_key_words(config, vault)}",
    ]


def _key_words(config: SilasConfig, vault: Vault) -> str:
    if is_apart(config):
        return f"kept by the signer at {config.keys.socket}"
    return vault.describe(config.owner_id)


async def diagnose(config: SilasConfig, *, deep: bool = False) -> list[Finding]:
    """`silas doctor`: every part that is needed, whether it works, and what it protects against.

    Args:
        config: What is held against the machine.
        deep: Also ask every model for one word.
    """
    findings = [configuration_finding(config)]
    vault = open_vault(config)
    exists = key_exists(config, vault)
    findings.append(
        Finding("key", "ok", _key_words(config, vault))
        if exists
        else Finding("key", "failed", "there is no owner key yet; run `silas init`")
    )
    if exists:
        findings.append(Finding("public key", "ok", vault.public_key(config.owner_id)))
        findings.append(_key_finding(config))
    findings.append(Finding.of("signer", *arrangement(config)))
    findings.append(_stop_finding(config))
    findings += [
        Finding.of(f"sandbox {name}", ok, words) for name, ok, words in probe(config.sandbox)
    ]
    findings += await tool_findings(config, sandbox_of(config))
    findings += await asyncio.to_thread(_database_finding, config)
    findings += await asyncio.to_thread(_workspace_findings, config)
    findings.append(Finding.of(*await asyncio.to_thread(clock_finding, config)))
    if exists and (config.data_dir / "silas.db").exists():
        findings.append(await _record_finding(config, vault))
    findings += await asyncio.to_thread(witness_findings, config)
    findings += await reached(config, await settings_findings(config))
    findings += [Finding.of(*row) for row in await toolset_findings(config)]
    findings.append(Finding.of(*await window_finding(config)))
    if deep:
        findings += await answered(config, findings, SystemClock())
    return findings


def _key_finding(config: SilasConfig) -> Finding:
    try:
        return Finding("key age", "ok", key_words(key_facts(config), SystemClock().now()))
    except SilasError as error:
        return Finding("key age", "failed", str(error))


async def _record_finding(config: SilasConfig, vault: Vault) -> Finding:
    try:
        ring = vault.ring(config.owner_id)
    except SilasError as error:
        return Finding("record", "failed", str(error))
    try:
        keys = CheckpointKeys(PublicKey(ring.current), ring)
        return Finding.of(*await record_finding(config, keys))
    finally:
        ring.release()


def _stop_finding(config: SilasConfig) -> Finding:
    sentinel = Sentinel(config.data_dir)
    words = sentinel.words()
    ready = f"not stopped; `silas stop --now`, or a file {sentinel.path}, stops everything"
    return Finding.of("emergency stop", not words, words or ready)


def _database_finding(config: SilasConfig) -> list[Finding]:
    path = config.data_dir / "silas.db"
    if not path.exists():
        return [Finding("database", "failed", f"{path} does not exist; run `silas init`")]
    try:
        db = Database(path, SystemClock())
        try:
            for package in MIGRATED:
                db.migrate(package)
            damaged = all_damaged(db)
        finally:
            db.close()
    except SilasError as error:
        return [Finding("database", "failed", str(error))]
    found = [Finding("database row", "failed", row.words) for row in damaged]
    return [Finding("database", "ok", f"{path} is readable and up to date"), *found]


def _workspace_findings(config: SilasConfig) -> list[Finding]:
    halves = half_changed_in(config.data_dir / "undo")
    if not halves:
        return [Finding("workspaces", "ok", "none was left half-changed by a crash")]
    return [Finding("workspace", "failed", half.words) for half in halves]
