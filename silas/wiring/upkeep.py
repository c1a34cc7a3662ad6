"""The commands beside a running Silas: set up, check every part, read the audit."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from silas.audit import AuditEntry, AuditHead, ChainVerdict
from silas.audit.log import AuditLog
from silas.audit.narrate import narrate
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import SilasError
from silas.gates import GateProvider
from silas.sandbox import probe
from silas.wiring.ground import MIGRATED, model_of, open_vault

if TYPE_CHECKING:
    from silas.agents import ModelChoice


class Finding(NamedTuple):
    """One line of `silas doctor`."""

    part: str
    ok: bool
    words: str


@dataclass(frozen=True)
class AuditDesk:
    """The audit log alone, for the commands that read it."""

    log: AuditLog
    public_key: str

    async def narrate(self, last: int) -> list[str]:
        """The latest entries as plain sentences, oldest first."""
        head = await self.log.head()
        entries = await self.log.entries(after=max(head.seq - last, 0), limit=last)
        return [_line(entry) for entry in entries]

    async def verify_chain(self) -> "ChainVerdict":
        """Check every entry and every signed checkpoint."""
        return await self.log.verify_chain()

    async def export(self, path: Path) -> AuditHead:
        """Write everything for the stand-alone verifier; returns the signed head."""
        return await self.log.export(path)


def _line(entry: AuditEntry) -> str:
    body = json.loads(entry.body)
    return f"{entry.seq:>5}  {body['at'][:19]}  {narrate(body['event'], body['data'])}"


@asynccontextmanager
async def open_audit(config: SilasConfig) -> "AsyncGenerator[AuditDesk]":
    """The audit log of an initialised Silas, without starting anything else."""
    clock, signer = SystemClock(), open_vault(config).load(config.owner_id)
    db = Database(config.data_dir / "silas.db", clock)
    try:
        db.migrate("silas.audit")
        yield AuditDesk(AuditLog(db, clock, signer), signer.public_key)
    finally:
        db.close()


async def initialise(config: SilasConfig) -> list[str]:
    """`silas init`: keys, database, directories; safe to repeat. Returns what is where."""
    for folder in (config.data_dir, config.sandbox.verify_dir, config.sandbox.customer_context_dir):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    vault = open_vault(config)
    vault.create(config.owner_id)
    db = Database(config.data_dir / "silas.db", SystemClock())
    try:
        for package in MIGRATED:
            db.migrate(package)
    finally:
        db.close()
    return [
        f"Silas is ready. Its data is in {config.data_dir}.",
        f"Owner key {vault.public_key(config.owner_id)[:16]}...: {vault.describe(config.owner_id)}",
    ]


async def diagnose(config: SilasConfig) -> list[Finding]:
    """`silas doctor`: every part that is needed, whether it works, and what it protects against."""
    findings = [Finding("configuration", True, "valid")]
    vault = open_vault(config)
    exists = vault.exists(config.owner_id)
    findings.append(
        Finding("key", exists, vault.describe(config.owner_id))
        if exists
        else Finding("key", False, "there is no owner key yet; run `silas init`")
    )
    findings += [Finding(f"sandbox {name}", ok, words) for name, ok, words in probe()]
    findings += await asyncio.to_thread(_database_finding, config)
    findings += [_model_finding(config, role) for role in ("proxy", "planner", "executor")]
    available = {GateProvider.predicate}
    for gate in config.gates.system:
        ok = gate.provider in available
        words = "its provider is here" if ok else f"blocks: no provider {gate.provider} here"
        findings.append(Finding(f"gate {gate.name}", ok, words))
    return findings


def _database_finding(config: SilasConfig) -> list[Finding]:
    path = config.data_dir / "silas.db"
    if not path.exists():
        return [Finding("database", False, f"{path} does not exist; run `silas init`")]
    try:
        db = Database(path, SystemClock())
        try:
            for package in MIGRATED:
                db.migrate(package)
        finally:
            db.close()
    except SilasError as error:
        return [Finding("database", False, str(error))]
    return [Finding("database", True, f"{path} is readable and up to date")]


def _model_finding(config: SilasConfig, role: str) -> Finding:
    choice: ModelChoice = getattr(config.models, role)
    try:
        model_of(config, choice)
    except SilasError as error:
        return Finding(f"model {role}", False, str(error))
    words = "built in: follows runbooks, is no language model" if choice.name == "runbook" else ""
    return Finding(f"model {role}", True, f"{choice.name} {words}".strip())
