"""The append-only, hash-chained record of what happened. Holds digests, never payloads."""

from silas.audit.models import Audit, AuditEntry, ChainVerdict

__all__ = ["Audit", "AuditEntry", "ChainVerdict"]
