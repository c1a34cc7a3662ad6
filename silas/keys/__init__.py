"""The owner's key: where it is kept and what signs with it. Nothing else does cryptography."""

from silas.keys.port import Signer

__all__ = ["Signer"]
