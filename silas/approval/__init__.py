"""Signed approvals, bound to digests: data and the port. The engine is imported by its full name.

What must not go in: anything that knows plans, tools, agents or channels.
"""

from importlib import import_module
from typing import Any

from silas.approval.models import (
    ApprovalConfig,
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    NonceConfig,
    Subject,
    TokenUse,
    Verdict,
    token_bytes,
)
from silas.approval.port import ApprovalVerifier, NonceStore, Stops

__all__ = [
    "ApprovalConfig",
    "ApprovalDecision",
    "ApprovalScope",
    "ApprovalToken",
    "ApprovalVerdict",
    "ApprovalVerifier",
    "NonceConfig",
    "NonceStore",
    "Stops",
    "Subject",
    "TokenUse",
    "Verdict",
    "token_bytes",
]


def __getattr__(name: str) -> Any:
    # `silas.approval.ApprovalEngine` for users of the package, without an import of the engine that
    # would reach everybody who needs an approval's data: the agents may not reach the signing key.
    if name == "ApprovalEngine":
        return import_module("silas.approval.engine").ApprovalEngine
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
