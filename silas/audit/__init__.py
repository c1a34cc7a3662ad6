"""The append-only, hash-chained record of what happened. Holds digests, never payloads.

What must not go in: secrets, message texts, arguments. Importing this package costs next to
nothing, so that `python -I -m silas.audit.verify` runs on the standard library alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from silas.audit.models import (
    Audit,
    AuditEntry,
    AuditHead,
    ChainVerdict,
    Checkpoint,
    CheckpointSigner,
)

if TYPE_CHECKING:
    from silas.audit.log import AuditLog

__all__ = [
    "Audit",
    "AuditEntry",
    "AuditHead",
    "AuditLog",
    "ChainVerdict",
    "Checkpoint",
    "CheckpointSigner",
]


def __getattr__(name: str) -> Any:
    if name == "AuditLog":
        return import_module("silas.audit.log").AuditLog
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
