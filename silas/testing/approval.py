"""Approvals for tests: keys from fixed seeds, a nonce store in memory."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from silas.approval.models import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    NonceConfig,
    Subject,
    TokenUse,
    token_bytes,
    token_id_of,
)
from silas.approval.nonces import (
    SAFETY_BUFFER,
    forgotten_until,
    nonce_key,
    replay_error,
    retention,
    use_prefix,
)
from silas.canonical import sha256_hex
from silas.clock import Clock
from silas.keys.port import Signer
from silas.keys.signer import Ed25519Signer
from silas.types import new_nonce


def a_signer(name: str = "owner") -> Ed25519Signer:
    """A real Ed25519 signer whose key follows from a name: the same name, the same key."""
    return Ed25519Signer.from_seed(bytes.fromhex(sha256_hex(f"silas test key {name}".encode())))


def a_subject(**overrides: Any) -> Subject:
    """A task as an approval sees it; `a_subject(kind="goal", policy=...)` and so on."""
    fields: dict[str, Any] = {"id": "task-1", "kind": "task", "digest": sha256_hex(b"task-1")}
    return Subject.model_validate({**fields, **overrides})


def a_goal(**overrides: Any) -> Subject:
    """A goal that may spawn tasks of one policy, each within three limits."""
    fields: dict[str, Any] = {
        "id": "goal-1",
        "kind": "goal",
        "digest": sha256_hex(b"goal-1"),
        "policy": sha256_hex(b"policy"),
        "limits": (1000, 2.5, 60),
    }
    return Subject.model_validate({**fields, **overrides})


def a_spawned_task(**overrides: Any) -> Subject:
    """What `a_goal` spawns, at the very limits it may have."""
    fields: dict[str, Any] = {
        "id": "task-2",
        "kind": "task",
        "digest": sha256_hex(b"task-2"),
        "parent": "goal-1",
        "policy": sha256_hex(b"policy"),
        "limits": (1000, 2.5, 60),
    }
    return Subject.model_validate({**fields, **overrides})


def a_decision(
    verdict: ApprovalVerdict = ApprovalVerdict.approved, **conditions: Any
) -> ApprovalDecision:
    """What a channel collected from the owner."""
    return ApprovalDecision(verdict=verdict, conditions=conditions)


def a_token(signer: Signer, clock: Clock, **overrides: Any) -> ApprovalToken:
    """A token for `a_subject` with any fields at all, properly signed: what a thief of the key
    could make, and what no engine would issue.
    """
    fields: dict[str, Any] = {
        "token_id": "",
        "plan_hash": a_subject().digest,
        "work_item_id": a_subject().id,
        "scope": ApprovalScope.full_plan,
        "verdict": ApprovalVerdict.approved,
        "signature": b"",
        "issued_at": clock.now(),
        "expires_at": clock.now() + timedelta(minutes=30),
        "nonce": new_nonce(),
    }
    draft = ApprovalToken.model_validate({**fields, **overrides})
    signed = token_bytes(draft)
    return draft.model_copy(
        update={"token_id": token_id_of(signed), "signature": signer.sign(signed)}
    )


class FakeSigner:
    """A signer without mathematics: its signature is a digest, so it proves nothing to anybody."""

    def __init__(self, name: str = "fake") -> None:
        self._name = name

    @property
    def public_key(self) -> str:
        """64 hex digits that no Ed25519 key has to do with."""
        return sha256_hex(self._name.encode())

    def sign(self, data: bytes) -> bytes:
        """64 bytes that depend on the name and the data."""
        half = bytes.fromhex(sha256_hex(self._name.encode() + b"\n" + data))
        return half + half

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """As `sign`."""
        del shown
        return self.sign(data)

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether `sign` made this."""
        return signature == self.sign(data)


class NeverStopped:
    """The emergency stop of a Silas that was never stopped; `said` and `count` can be set."""

    def __init__(self) -> None:
        self.said = ""
        self.count = 0

    def words(self) -> str:
        """What a test says; nothing at first."""
        return self.said

    def stops(self) -> int:
        """What a test says; none at first."""
        return self.count


class _Kept(NamedTuple):
    recorded_at: datetime
    expires_at: datetime


class MemoryNonceStore:
    """A nonce store in a dictionary, run through the contract tests of the real one."""

    def __init__(self, clock: Clock, config: NonceConfig) -> None:
        self._clock = clock
        self._ttl = retention(config)
        self._forgotten = datetime.min.replace(tzinfo=UTC)
        self._kept: dict[str, _Kept] = {}
        self._spent: dict[str, list[str]] = {}  # the keys of each token's uses

    async def is_used(self, domain: str, nonce: str) -> bool:
        """Whether this binding was consumed within the domain."""
        return nonce_key(domain, nonce) in self._kept

    async def record(self, domain: str, nonce: str) -> None:
        """Consume a binding; an error where it was consumed before."""
        now = self._clock.now()
        self._keep(nonce_key(domain, nonce), _Kept(now, now + self._ttl))

    async def spend(self, use: TokenUse, witness: Callable[[int], object]) -> int:
        """Count one use of a token, unless `witness` raises."""
        key = nonce_key("exec", use.binding)
        spent = self._spent.setdefault(use.token_id, [])
        number = len(spent) + 1
        if number > use.max_executions or await self.is_used("revoked", use.token_id):
            return 0
        self._keep(key, _Kept(self._clock.now(), use.expires_at + SAFETY_BUFFER))
        try:
            witness(number)
        except BaseException:
            del self._kept[key]
            raise
        spent.append(key)
        return number

    async def revoke(
        self, token_id: str, expires_at: datetime, witness: Callable[[], object]
    ) -> bool:
        """Take every use of a token that is left, unless `witness` raises."""
        key, now = nonce_key("revoked", token_id), self._clock.now()
        if key in self._kept:
            return False
        witness()
        self._keep(key, _Kept(now, max(now, expires_at) + SAFETY_BUFFER))
        return True

    async def uses(self, token_id: str, digest: str = "") -> int:
        """How many uses were spent, of the token or of it for one digest."""
        prefix = use_prefix(token_id, digest)
        return sum(key.startswith(prefix) for key in self._spent.get(token_id, []))

    async def execution_nonces(self, token_id: str) -> tuple[str, ...]:
        """The nonces of the token's uses, oldest first."""
        return tuple(key.rpartition(":")[2] for key in self._spent.get(token_id, []))

    async def prune_expired(self, older_than: datetime) -> int:
        """Forget what was recorded before `older_than` and has expired; returns how many."""
        now = self._clock.now()
        self._forgotten = max(self._forgotten, forgotten_until(older_than, now - self._ttl))
        gone = [
            k for k, v in self._kept.items() if v.recorded_at < older_than and v.expires_at <= now
        ]
        for key in gone:
            del self._kept[key]
        for token_id, keys in self._spent.items():
            self._spent[token_id] = [key for key in keys if key in self._kept]
        return len(gone)

    async def remembers(self, moment: datetime) -> bool:
        """Whether what was signed at that moment is still known to have been used."""
        return moment > self._forgotten

    def _keep(self, key: str, kept: _Kept) -> None:
        if key in self._kept:
            raise replay_error()
        self._kept[key] = kept
