"""The owner's key: where it is kept and what signs with it. Nothing else does cryptography.

What must not go in: what is signed, and why. libsodium is loaded when a key is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from silas.keys.models import KeysConfig
from silas.keys.port import FormerKey, FormerKeys, Signer

if TYPE_CHECKING:
    from silas.keys.key_ring import KeyRing
    from silas.keys.signer import Ed25519Signer, import_public_key, verify_with
    from silas.keys.vault import Vault

__all__ = [
    "Ed25519Signer",
    "FormerKey",
    "FormerKeys",
    "KeyRing",
    "KeysConfig",
    "Signer",
    "Vault",
    "import_public_key",
    "verify_with",
]

_LAZY = {
    "Ed25519Signer": "silas.keys.signer",
    "KeyRing": "silas.keys.key_ring",
    "import_public_key": "silas.keys.signer",
    "verify_with": "silas.keys.signer",
    "Vault": "silas.keys.vault",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
