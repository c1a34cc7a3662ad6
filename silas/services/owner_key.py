"""The owner's keys where several parts meet: checkpoints of former keys, replacing the key."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from silas.audit.log import AuditLog
from silas.audit.models import CHECKPOINT_DOMAIN
from silas.canonical import read_json
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import ConfigError, DatabaseError
from silas.home.audit_log import looking_log
from silas.home.data_directory import not_initialised
from silas.home.database import open_database
from silas.home.key_vault import key_exists, open_vault
from silas.home.signer_client import is_apart
from silas.keys import FormerKey, KeyRing, Signer
from silas.keys.key_ring import Handover, fingerprint
from silas.keys.vault import Vault
from silas.plans import WorkItemStatus
from silas.plans.store import SqlWorkItemStore


@dataclass(frozen=True)
class CheckpointKeys:
    """Signs checkpoints with the key in force; knows those that former keys signed in their time.

    The order of the log decides what was in a key's time, not a clock: a checkpoint counts up to
    the head that the next key vouched for when it came into force, and nowhere behind it.
    """

    signer: Signer
    ring: KeyRing

    @property
    def public_key(self) -> str:
        """The verify key in force."""
        return self.signer.public_key

    def sign(self, data: bytes) -> bytes:
        """The 64 signature bytes over `data`."""
        return self.signer.sign(data)

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """The owner's signature over a decision of the owner's."""
        return await self.signer.sign_shown(data, shown)

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the owner signed this checkpoint."""
        if self.signer.verify(data, signature):
            return True
        key = self.ring.signed_by(data, signature)
        return key is not None and _in_its_time(data, key)


def _in_its_time(data: bytes, key: FormerKey) -> bool:
    if not data.startswith(CHECKPOINT_DOMAIN):
        return False
    try:
        said = read_json(data.removeprefix(CHECKPOINT_DOMAIN))
        seq, entry_hash = said["seq"], said["entry_hash"]
    except (ValueError, TypeError, KeyError):
        return False
    if type(seq) is not int or seq > key.seq:
        return False
    return seq < key.seq or entry_hash == key.entry_hash


async def settle_succession(db: Database, log: AuditLog, ring: KeyRing) -> None:
    """Record the newest replacement where a crash came between it and its entry."""
    if not ring.former:
        return
    last = ring.former[-1]
    with db.write():  # of two processes that come at once only one still finds that head
        if tuple(await log.head()) == (last.seq, last.entry_hash):
            _record(log, ring)


async def succession_fault(log: AuditLog, ring: KeyRing, zone: ZoneInfo) -> str:
    """Words where the log is not the one in which the keys were replaced; empty where it is."""
    for key in ring.former:
        found = await log.entries(after=key.seq - 1, limit=1)
        if not found or (found[0].seq, found[0].entry_hash) != (key.seq, key.entry_hash):
            return (
                f"Entry {key.seq} is missing, or is not the one at which the owner's key was "
                f"replaced on {key.retired_at.astimezone(zone):%Y-%m-%d}."
            )
    return ""


def _record(log: AuditLog, ring: KeyRing) -> None:
    last = ring.former[-1]
    log.log_now(
        "key.rotated",
        old=last.public_key,
        new=ring.current,
        retired_at=last.retired_at.isoformat(),
        still_running=len(last.running),
    )


class KeyRotation(NamedTuple):
    """What became of the keys: the ring, and the work that goes on under its old approval."""

    ring: KeyRing
    running: tuple[str, ...]


async def rotate_key(config: SilasConfig, *, stolen: bool) -> KeyRotation:
    """`silas keys rotate`: a new key signs from now on, the old one stays known for what it signed.

    Approvals that were not used lapse. Work under way goes on, unless the old key was stolen:
    then nothing that it signed authorises anything any more.

    Raises:
        ConfigError: Silas is not set up, its key is with a signer apart, or some Silas is running;
            nothing was changed.
        DatabaseError: The record does not hold; a new key does not vouch for a broken one.
    """
    if is_apart(config):
        raise ConfigError(
            "The key is with a signer apart and is not replaced from here; end the signer, run "
            "this with `keys.signer: inside` where the private key is kept, and start it again.",
            code="E_CFG_SIGNER",
        )
    vault, clock = open_vault(config), SystemClock()
    if not key_exists(config, vault):
        raise not_initialised(config)
    with vault.rotation(config.owner_id) as change, open_database(config, clock) as db:
        log = looking_log(config, db, clock, CheckpointKeys(change.old, change.ring))
        await settle_succession(db, log, change.ring)
        await _refuse_broken(log, change.ring, config.scheduler.zone)
        await log.write_checkpoint()
        with db.write(durable=True):  # what the succession names must outlive a power loss
            log.log_now("key.rotation_began", old=change.old.public_key, new=change.new.public_key)
        running = () if stolen else await _under_way(SqlWorkItemStore(db, clock))
        head, tokens = await log.head(), tuple(token for _, token in running)
        ring = change.succeed(Handover(clock.now(), head.seq, head.entry_hash, tokens))
        log = looking_log(config, db, clock, CheckpointKeys(change.new, ring))
        _record(log, ring)
        await log.write_checkpoint()
    return KeyRotation(ring, tuple(item for item, _ in running))


async def _refuse_broken(log: AuditLog, ring: KeyRing, zone: ZoneInfo) -> None:
    """A new key vouches for the whole record, so the whole record is checked before."""
    verdict = await log.verify_chain()
    if fault := verdict.reason or await succession_fault(log, ring, zone):
        raise DatabaseError(
            f"The audit log does not hold, and no new key vouches for it: {fault} Export it, and "
            "restore a backup.",
            code="E_DB_CORRUPT",
        )


async def _under_way(store: SqlWorkItemStore) -> tuple[tuple[str, str], ...]:
    """Ids of running items, each with the id of its approval."""
    running = await store.list_by_status(WorkItemStatus.running)
    tokens = [(item.id, item.approval_token) for item in running]
    return tuple((name, token.token_id) for name, token in tokens if token is not None)


class KeyFacts(NamedTuple):
    """What `silas keys show` says; nothing in it is secret."""

    ring: KeyRing
    since: datetime
    kept: str


def key_facts(config: SilasConfig) -> KeyFacts:
    """The owner's public keys and where the private one is; unlocks nothing.

    Raises:
        ConfigError: Silas is not set up, or the record is damaged.
    """
    vault = open_vault(config)
    if not key_exists(config, vault):
        raise not_initialised(config)
    owner, ring = config.owner_id, vault.ring(config.owner_id)
    try:
        return KeyFacts(ring, vault.in_force_since(owner), vault.describe(owner))
    finally:
        ring.release()


def key_place(config: SilasConfig, vault: Vault) -> str:
    """Where the private key is, in words."""
    if is_apart(config):
        return f"kept by the signer at {config.keys.socket}"
    return vault.describe(config.owner_id)


def key_words(facts: KeyFacts, now: datetime, zone: ZoneInfo) -> str:
    """Fingerprint, age and past of the key in one sentence."""
    age = max(now - facts.since, timedelta(0))
    count = len(facts.ring.former)
    past = f"; it followed {count} former key{'s' if count > 1 else ''}" if count else ""
    return (
        f"fingerprint {fingerprint(facts.ring.current)}, {age.days} days old "
        f"(in force since {facts.since.astimezone(zone):%Y-%m-%d}){past}"
    )
