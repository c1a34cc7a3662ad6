"""The port through which the rest of Silas asks whether something is approved (spec 4.4)."""

from typing import Any, Protocol

from silas.approval.models import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    Subject,
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

    async def require(
        self, token: ApprovalToken, subject: Subject, spawned: Subject | None = None
    ) -> None:
        """`verify`, raising `ApprovalError` where it is invalid."""
        ...
