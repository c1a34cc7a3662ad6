"""`silas doctor`: every part that is needed, and whether it works."""

import asyncio

from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import SilasError
from silas.home.audit_log import record_finding
from silas.home.damaged_rows import all_damaged
from silas.home.database import database_path, open_database
from silas.home.effective_clock import clock_finding
from silas.home.findings import DoctorFinding
from silas.home.key_vault import key_exists, open_vault
from silas.home.keyless import PublicKey
from silas.home.runtime import sandbox_of
from silas.home.sandbox_tools import tool_findings
from silas.home.signer_client import arrangement, is_apart
from silas.home.witnesses import witness_findings
from silas.keys.vault import Vault
from silas.plans import PlanLibrary
from silas.sandbox import probe
from silas.services.doctor.mcp_servers import mcp_findings
from silas.services.doctor.reachability import check_models, check_reachability
from silas.services.doctor.readiness import configuration_finding, settings_findings
from silas.services.owner_key import CheckpointKeys, key_facts, key_place, key_words
from silas.services.phone.state import phone_finding
from silas.services.tools.prompt_overhead import window_finding
from silas.services.tools.registry import toolset_findings
from silas.stop import Sentinel
from silas.work.changes.file_recovery import left_in


async def diagnose(config: SilasConfig, *, deep: bool = False) -> list[DoctorFinding]:
    """`silas doctor`: every part that is needed, whether it works, and what it protects against.

    Args:
        config: What is held against the machine.
        deep: Also ask every model for one word, and start the MCP servers that are trusted.
    """
    findings = [configuration_finding(config)]
    vault = open_vault(config)
    exists = key_exists(config, vault)
    findings.append(await asyncio.to_thread(_place_finding, config))
    if exists:
        findings.append(DoctorFinding("public key", "ok", vault.public_key(config.owner_id)))
        findings.append(_key_finding(config))
    findings.append(DoctorFinding.of("signer", *arrangement(config)))
    findings.append(_stop_finding(config))
    findings += [
        DoctorFinding.of(f"sandbox {name}", ok, words) for name, ok, words in probe(config.sandbox)
    ]
    findings += await tool_findings(config, sandbox_of(config))
    findings += await asyncio.to_thread(_database_finding, config)
    findings += await asyncio.to_thread(_workspace_findings, config)
    findings.append(DoctorFinding.of(*await asyncio.to_thread(clock_finding, config)))
    if exists and database_path(config).exists():
        findings.append(await _record_finding(config, vault))
    findings += await asyncio.to_thread(witness_findings, config)
    findings += await check_reachability(config, await settings_findings(config))
    findings += await asyncio.to_thread(_runbook_findings, config)
    findings.append(await asyncio.to_thread(phone_finding, config))
    findings += [DoctorFinding.of(*row) for row in await toolset_findings(config)]
    if database_path(config).exists():
        findings += await mcp_findings(config, deep=deep)
    findings.append(DoctorFinding.of(*await window_finding(config)))
    if deep:
        findings += await check_models(config, findings, SystemClock())
    return findings


def _place_finding(config: SilasConfig) -> DoctorFinding:
    vault = open_vault(config)
    if not key_exists(config, vault):
        return DoctorFinding("key", "failed", "there is no owner key yet; run `silas init`")
    try:
        if not is_apart(config):
            vault.try_opening(config.owner_id)
    except SilasError as error:
        return DoctorFinding("key", "failed", error.message)
    return DoctorFinding("key", "ok", key_place(config, vault))


def _key_finding(config: SilasConfig) -> DoctorFinding:
    try:
        words = key_words(key_facts(config), SystemClock().now(), config.scheduler.zone)
        return DoctorFinding("key age", "ok", words)
    except SilasError as error:
        return DoctorFinding("key age", "failed", str(error))


async def _record_finding(config: SilasConfig, vault: Vault) -> DoctorFinding:
    try:
        ring = vault.ring(config.owner_id)
    except SilasError as error:
        return DoctorFinding("record", "failed", str(error))
    try:
        keys = CheckpointKeys(PublicKey(ring.current), ring)
        return DoctorFinding.of(*await record_finding(config, keys))
    finally:
        ring.release()


def _stop_finding(config: SilasConfig) -> DoctorFinding:
    sentinel = Sentinel(config.data_dir, config.scheduler.zone)
    words = sentinel.words()
    ready = f"not stopped; `silas stop --now`, or a file {sentinel.path}, stops everything"
    return DoctorFinding.of("emergency stop", not words, words or ready)


def _database_finding(config: SilasConfig) -> list[DoctorFinding]:
    path = database_path(config)
    if not path.exists():
        return [DoctorFinding("database", "failed", f"{path} does not exist; run `silas init`")]
    try:
        with open_database(config, SystemClock()) as db:
            damaged = all_damaged(db)
    except SilasError as error:
        return [DoctorFinding("database", "failed", str(error))]
    found = [DoctorFinding("database row", "failed", row.words) for row in damaged]
    return [DoctorFinding("database", "ok", f"{path} is readable and up to date"), *found]


def _runbook_findings(config: SilasConfig) -> list[DoctorFinding]:
    """The owner's own runbooks; who has none is told nothing."""
    faults = PlanLibrary(config.plans_dirs, leave_out=True).faults
    if config.plans_dirs and not faults:
        return [DoctorFinding("runbooks", "ok", "each file of your own can be used")]
    return [DoctorFinding("runbook", "failed", fault) for fault in faults.values()]


def _workspace_findings(config: SilasConfig) -> list[DoctorFinding]:
    halves = left_in(config.data_dir / "undo")
    if not halves:
        return [DoctorFinding("workspaces", "ok", "none was left half-changed by a crash")]
    return [DoctorFinding("workspace", "failed", half.words) for half in halves]
