"""The nonce store in the database: what was used once stays used (spec 4.5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, MetaData, Table, Text, delete, func, insert, select
from sqlalchemy.sql import ColumnElement

from silas.approval.models import NonceConfig, TokenUse
from silas.approval.port import NonceStore
from silas.clock import Clock
from silas.db import Database, Tx
from silas.errors import ApprovalError

__all__ = ["DOMAINS", "SAFETY_BUFFER", "NonceStore", "SqlNonceStore"]

DOMAINS = frozenset({"msg", "exec"})
"""Message nonces and execution nonces (spec 4.5); they cannot collide."""

SAFETY_BUFFER = timedelta(minutes=10)
"""How long a use is remembered after its token has expired, against a clock that steps back."""

_NONCES = Table(
    "approval_nonces",
    MetaData(),
    Column("key", Text, primary_key=True),
    Column("recorded_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
)


class SqlNonceStore:
    """Keys in one table; several processes may spend at once."""

    def __init__(self, db: Database, clock: Clock, config: NonceConfig) -> None:
        self._db = db
        self._clock = clock
        self._ttl = timedelta(minutes=config.ttl_minutes)

    async def is_used(self, domain: str, nonce: str) -> bool:
        """Whether this binding was consumed within the domain."""
        with self._db.read() as tx:
            return _exists(tx, nonce_key(domain, nonce))

    async def record(self, domain: str, nonce: str) -> None:
        """Consume a binding.

        Raises:
            ApprovalError: It was consumed before; of two callers at once only one gets through.
        """
        now = self._clock.now()
        with self._db.write() as tx:
            _insert(tx, nonce_key(domain, nonce), now, now + self._ttl)

    async def spend(self, use: TokenUse, witness: Callable[[int], object]) -> int:
        """Count one use of a token, durably, together with what `witness` writes."""
        key = nonce_key("exec", use.binding)
        kept_until = use.expires_at + SAFETY_BUFFER
        with self._db.write(durable=True) as tx:
            number = _count(tx, use_prefix(use.token_id)) + 1
            if number > use.max_executions:
                return 0
            _insert(tx, key, self._clock.now(), kept_until)
            witness(number)
        return number

    async def uses(self, token_id: str, digest: str = "") -> int:
        """How many uses were spent, of the token or of it for one digest."""
        with self._db.read() as tx:
            return _count(tx, use_prefix(token_id, digest))

    async def execution_nonces(self, token_id: str) -> tuple[str, ...]:
        """The nonces of the token's uses, oldest first."""
        wanted = _begins_with(use_prefix(token_id))
        with self._db.read() as tx:
            rows = tx.execute(
                select(_NONCES.c.key).where(wanted).order_by(_NONCES.c.recorded_at, _NONCES.c.key)
            ).all()
        return tuple(str(row.key).rpartition(":")[2] for row in rows)

    async def prune_expired(self, older_than: datetime) -> int:
        """Forget what was recorded before `older_than` and has expired; returns how many."""
        gone = (_NONCES.c.recorded_at < _stamp(older_than)) & (
            _NONCES.c.expires_at <= _stamp(self._clock.now())
        )
        with self._db.write() as tx:
            return int(tx.execute(delete(_NONCES).where(gone)).rowcount)


def nonce_key(domain: str, binding: str) -> str:
    """The store's key, `"{domain}:{binding}"`.

    Raises:
        ApprovalError: The domain is unknown or the binding empty.
    """
    if domain not in DOMAINS or not binding:
        raise ApprovalError(
            f"A nonce needs one of the domains {', '.join(sorted(DOMAINS))} and a value.",
            code="E_APPROVAL_NONCE",
        )
    return f"{domain}:{binding}"


def use_prefix(token_id: str, digest: str = "") -> str:
    """What the keys of a token's uses begin with; ends in a colon, so that no other token's do."""
    return f"exec:{token_id}:{digest}:" if digest else f"exec:{token_id}:"


def replayed() -> ApprovalError:
    """The error for a nonce that comes a second time."""
    return ApprovalError("This nonce was used before; refused.", code="E_APPROVAL_REPLAY")


def _stamp(moment: datetime) -> str:
    """UTC text of one fixed width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _begins_with(prefix: str) -> ColumnElement[bool]:
    # A range over the primary key; ";" follows ":" in ASCII, and SQLite compares bytes.
    return (_NONCES.c.key >= prefix) & (_NONCES.c.key < prefix[:-1] + ";")


def _count(tx: Tx, prefix: str) -> int:
    query = select(func.count()).select_from(_NONCES).where(_begins_with(prefix))
    return int(tx.execute(query).scalar_one())


def _exists(tx: Tx, key: str) -> bool:
    row: Any = tx.execute(select(_NONCES.c.key).where(_NONCES.c.key == key)).first()
    return row is not None


def _insert(tx: Tx, key: str, now: datetime, expires_at: datetime) -> None:
    if _exists(tx, key):
        raise replayed()
    tx.execute(
        insert(_NONCES).values(key=key, recorded_at=_stamp(now), expires_at=_stamp(expires_at))
    )
