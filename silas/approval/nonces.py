"""The nonce store in the database: what was used once stays used (spec 4.5)."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from silas.approval.models import NonceConfig, TokenUse
from silas.approval.port import NonceStore
from silas.clock import Clock
from silas.damage import set_aside
from silas.db import Database, Tx
from silas.errors import ApprovalError

__all__ = ["DOMAINS", "SAFETY_BUFFER", "NonceStore", "SqlNonceStore"]

DOMAINS = frozenset({"msg", "exec", "proof", "revoked"})
"""Message nonces and execution nonces (spec 4.5), those of what a device signed, and the ids of
approvals that the owner took back; they cannot collide."""

SAFETY_BUFFER = timedelta(minutes=10)
"""How long a use is remembered after its token has expired, against a clock that steps back."""

FRESHEST = timedelta(minutes=10)
"""How long what somebody signed may count: from five minutes before its timestamp to five after."""

_TAKE = """
INSERT INTO approval_nonces (key, recorded_at, expires_at)
VALUES (:key, :recorded_at, :expires_at)
"""
_TAKE_ONCE = f"{_TAKE} ON CONFLICT DO NOTHING"
_EXISTS = "SELECT 1 FROM approval_nonces WHERE key = :key"
_WITHIN = """
SELECT key FROM approval_nonces WHERE key >= :first AND key < :end ORDER BY recorded_at, key
"""
_FORGOTTEN = "SELECT max(until) FROM nonces_forgotten"
_NOTE_FORGOTTEN = """
INSERT INTO nonces_forgotten (one, until) VALUES (1, :until)
ON CONFLICT (one) DO UPDATE SET until = excluded.until
WHERE nonces_forgotten.until < excluded.until
"""
_MEND_FORGOTTEN = "UPDATE nonces_forgotten SET until = :until"
_FORGET = """
DELETE FROM approval_nonces WHERE recorded_at < :recorded_before AND expires_at <= :now
"""


class SqlNonceStore:
    """Keys in one table; several processes may spend at once."""

    def __init__(self, db: Database, clock: Clock, config: NonceConfig) -> None:
        self._db = db
        self._clock = clock
        self._ttl = retention(config)

    async def is_used(self, domain: str, nonce: str) -> bool:
        """Whether this binding was consumed within the domain."""
        key = nonce_key(domain, nonce)
        with self._db.read() as tx:
            return tx.run(_EXISTS, key=key).fetchone() is not None

    async def record(self, domain: str, nonce: str) -> None:
        """Consume a binding.

        Raises:
            ApprovalError: It was consumed before; of two callers at once only one gets through.
        """
        now = self._clock.now()
        row = _row(nonce_key(domain, nonce), now, now + self._ttl)
        with self._db.write() as tx:
            if tx.run(_TAKE_ONCE, **row).rowcount != 1:
                raise replay_error()

    async def spend(self, use: TokenUse, witness: Callable[[int], object]) -> int:
        """Count one use of a token, durably, together with what `witness` writes."""
        key = nonce_key("exec", use.binding)
        row = _row(key, self._clock.now(), use.expires_at + SAFETY_BUFFER)
        with self._db.write(durable=True) as tx:
            spent = _keys(tx, use_prefix(use.token_id))
            if key in spent:
                raise replay_error()
            if len(spent) >= use.max_executions:
                return 0
            if tx.run(_EXISTS, key=nonce_key("revoked", use.token_id)).fetchone():
                return 0
            tx.run(_TAKE, **row)
            witness(len(spent) + 1)
        return len(spent) + 1

    async def revoke(
        self, token_id: str, expires_at: datetime, witness: Callable[[], object]
    ) -> bool:
        """Take every use of a token that is left, durably, together with what `witness` writes."""
        now = self._clock.now()
        row = _row(nonce_key("revoked", token_id), now, max(now, expires_at) + SAFETY_BUFFER)
        with self._db.write(durable=True) as tx:
            if tx.run(_TAKE_ONCE, **row).rowcount != 1:
                return False
            witness()
        return True

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
        now = self._clock.now()
        with self._db.write() as tx:
            tx.run(_NOTE_FORGOTTEN, until=_stamp(forgotten_until(older_than, now - self._ttl)))
            return tx.run(_FORGET, recorded_before=_stamp(older_than), now=_stamp(now)).rowcount

    async def remembers(self, moment: datetime) -> bool:
        """Whether what was signed at that moment, and used, is still known to have been."""
        with self._db.read() as tx:
            (until,) = tx.run(_FORGOTTEN).fetchone()
        if until is None or _is_stamp(until):
            return until is None or _stamp(moment) > until
        # the mark was damaged: what was signed until now may have been forgotten
        set_aside(self._db, "nonces_forgotten", "1", until)
        with self._db.write() as tx:
            tx.run(_MEND_FORGOTTEN, until=_stamp(self._clock.now()))
        return False


def _is_stamp(text: object) -> bool:
    try:
        return isinstance(text, str) and _stamp(datetime.fromisoformat(text)) == text
    except ValueError:
        return False


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


def retention(config: NonceConfig) -> timedelta:
    """How long a message's nonce is remembered: never less than it could be replayed for."""
    return max(timedelta(minutes=config.ttl_minutes), FRESHEST + SAFETY_BUFFER)


def forgotten_until(older_than: datetime, expired: datetime) -> datetime:
    """Before which moment what was signed may be forgotten, by what pruning has forgotten.

    Args:
        older_than: What was recorded before this went,
        expired: if it was recorded before this, too; it was signed up to `FRESHEST` / 2 later.
    """
    return min(older_than, expired) + FRESHEST / 2


def use_prefix(token_id: str, digest: str = "") -> str:
    """What the keys of a token's uses begin with; ends in a colon, so that no other token's do."""
    return f"exec:{token_id}:{digest}:" if digest else f"exec:{token_id}:"


def replay_error() -> ApprovalError:
    """The error for a nonce that comes a second time."""
    return ApprovalError("This nonce was used before; refused.", code="E_APPROVAL_REPLAY")


def _stamp(moment: datetime) -> str:
    """UTC text of one fixed width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _keys(tx: Tx, prefix: str) -> list[str]:
    """The keys that begin so, oldest first: at most as many as a token has uses."""
    # A range over the primary key; ";" follows ":" in ASCII, and keys are compared byte by byte.
    return [str(key) for (key,) in tx.run(_WITHIN, first=prefix, end=prefix[:-1] + ";")]


def _row(key: str, now: datetime, expires_at: datetime) -> dict[str, str]:
    return {"key": key, "recorded_at": _stamp(now), "expires_at": _stamp(expires_at)}
