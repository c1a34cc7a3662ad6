"""The ports of approvals: who mints and checks them, and who counts their uses (spec 4.4, 4.5)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from silas.approval.models import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    Subject,
    TokenUse,
    Verdict,
)


class ApprovalVerifier(Protocol):
    """Mints, spends and re-checks approvals."""

    async def issue_token(
        self,
        subject: Subject,
        decision: ApprovalDecision,
        scope: ApprovalScope = ApprovalScope.full_plan,
        max_executions: int = 1,
        conditions: dict[str, Any] | None = None,
        *,
        ttl_minutes: int = 0,
        until: datetime | None = None,
    ) -> ApprovalToken:
        """Sign the owner's decision about exactly this subject."""
        ...

    async def verify(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> Verdict:
        """Authorise one execution and spend one use."""
        ...

    async def check(self, token: ApprovalToken, subject: Subject) -> Verdict:
        """Whether a spent use still authorises; spends nothing."""
        ...

    async def stands(self, token: ApprovalToken, goal: Subject) -> Verdict:
        """Whether a standing approval has a use left for what this goal spawns; spends nothing."""
        ...

    async def require(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> None:
        """`verify`, raising `ApprovalError` where it is invalid."""
        ...


class Stops(Protocol):
    """The emergency stop, as far as approvals are concerned (decision B10)."""

    def words(self) -> str:
        """The sentence to say where Silas is stopped; empty where it is not."""
        ...

    def stops(self) -> int:
        """How often Silas was stopped so far; tokens from before the last one are void."""
        ...


class NonceStore(Protocol):
    """What was used once and must not be used again, keyed `"{domain}:{binding}"` (spec 4.5).

    Domains: `msg`, whose binding is the message's nonce, `exec`, whose binding is
    `"{token_id}:{digest}:{nonce}"`, `proof`, whose binding is `"{device_id}:{nonce}"` or
    `"choice:{nonce}"`, and `revoked`, whose binding is the id of an approval that was taken back.
    """

    async def is_used(self, domain: str, nonce: str) -> bool:
        """Whether this binding was consumed within the domain."""
        ...

    async def record(self, domain: str, nonce: str) -> None:
        """Consume a binding. Raises `ApprovalError` where it was consumed before."""
        ...

    async def spend(self, use: TokenUse, witness: Callable[[int], object]) -> int:
        """Count one use of a token, in one durable transaction.

        Args:
            use: What is spent, and how many uses there are.
            witness: Called inside the transaction with the number of this use; if it raises,
                nothing was spent.

        Returns:
            The number of this use from 1, or 0 where none is left or the token was revoked; then
            nothing was written.

        Raises:
            ApprovalError: This very nonce was used before.
        """
        ...

    async def revoke(
        self, token_id: str, expires_at: datetime, witness: Callable[[], object]
    ) -> bool:
        """Take every use of a token that is left, in one durable transaction.

        Args:
            token_id: Whose uses.
            expires_at: When the token ends by itself; until then it is remembered.
            witness: Called inside the transaction; if it raises, nothing was revoked.

        Returns:
            False where it was revoked before; then nothing was written.
        """
        ...

    async def uses(self, token_id: str, digest: str = "") -> int:
        """How many uses were spent, of the token or of it for one digest."""
        ...

    async def execution_nonces(self, token_id: str) -> tuple[str, ...]:
        """The nonces of the token's uses, for people to see."""
        ...

    async def prune_expired(self, older_than: datetime) -> int:
        """Forget what was recorded before `older_than` and has expired; returns how many.

        A use is kept until its token has expired, however old it is.
        """
        ...

    async def remembers(self, moment: datetime) -> bool:
        """Whether what was signed at that moment, and used, is still known to have been.

        Where the machine's clock went back, a message of that time would look fresh again.
        """
        ...
