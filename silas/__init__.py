"""Silas: a local-first personal agent that does things, securely."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silas.config import SilasConfig, load_config
    from silas.wiring.build import Silas

__all__ = ["Silas", "SilasConfig", "load_config"]

__version__ = "0.1.0"

# Before pydantic is imported: an installed plugin of it, such as Logfire's, would see every message
# and setting. Set PYDANTIC_DISABLE_PLUGINS to nothing to have plugins.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

# Loaded when first asked for: `silas --help` and the audit verifier must cost nothing.
_HOMES = {
    "Silas": "silas.wiring.build",
    "SilasConfig": "silas.config",
    "load_config": "silas.config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'silas' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
