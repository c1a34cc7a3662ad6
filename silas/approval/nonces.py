"""The nonce store in the database: what was used once stays used (spec 4.5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Column, MetaData, Table, Text, bindparam, delete, insert, select

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

_WITHIN = (
    select(_NONCES.c.key)
    .where(_NONCES.c.key >= bindparam("low"), _NONCES.c.key < bindparam("high"))
    .order_by(_NONCES.c.recorded_at, _NONCES.c.key)
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
        key = nonce_key(domain, nonce)
        with self._db.write() as tx:
            if _exists(tx, key):
                raise replayed()
            tx.execute(insert(_NONCES), _row(key, now, now + self._ttl))

    async def spend(self, use: TokenUse, witness: Callable[[int], object]) -> int:
        """Count one use of a token, durably, together with what `witness` writes."""
        key = nonce_key("exec", use.binding)
        row = _row(key, self._clock.now(), use.expires_at + SAFETY_BUFFER)
        with self._db.write(durable=True) as tx:
            spent = _keys(tx, use_prefix(use.token_id))
            if key in spent:
                raise replayed()
            if len(spent) >= use.max_executions:
                return 0
            tx.execute(insert(_NONCES), row)
            witness(len(spent) + 1)
        return len(spent) + 1

    async def uses(self, token_id: str, digest: str = "") -> int:
        """How many uses were spent, of the token or of it for one digest."""
        with self._db.read() as tx:
            return len(_keys(tx, use_prefix(token_id, digest)))

    async def execution_nonces(self, token_id: str) -> tuple[str, ...]:
        """The nonces of the token's uses, oldest first."""
        with self._db.read() as tx:
            keys = _keys(tx, use_prefix(token_id))
        return tuple(key.rpartition(":")[2] for key in keys)

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


def _keys(tx: Tx, prefix: str) -> list[str]:
    """The keys that begin so, oldest first: at most as many as a token has uses."""
    # A range over the primary key; ";" follows ":" in ASCII, and SQLite compares bytes.
    within = {"low": prefix, "high": prefix[:-1] + ";"}
    return [str(row.key) for row in tx.execute(_WITHIN, within)]


def _exists(tx: Tx, key: str) -> bool:
    return tx.execute(select(_NONCES.c.key).where(_NONCES.c.key == key)).first() is not None


def _row(key: str, now: datetime, expires_at: datetime) -> dict[str, str]:
    return {"key": key, "recorded_at": _stamp(now), "expires_at": _stamp(expires_at)}
