"""Signed approvals, bound to digests: data and the port. The engine is imported by its full name.

What must not go in: anything that knows plans, tools, agents or channels.
"""

from silas.approval.models import (
    ApprovalConfig,
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    Subject,
    Verdict,
    token_bytes,
)
from silas.approval.port import ApprovalVerifier

__all__ = [
    "ApprovalConfig",
    "ApprovalDecision",
    "ApprovalScope",
    "ApprovalToken",
    "ApprovalVerdict",
    "ApprovalVerifier",
    "Subject",
    "Verdict",
    "token_bytes",
]
