"""The configuration: composed of the domains' own sections, read from file and environment.

What must not go in: a default that belongs to a domain; each domain's own model has it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from silas.config.load import load_config
    from silas.config.models import SilasConfig
    from silas.config.place import Locations, config_file, data_dir, locations
    from silas.config.show import dump_config, shown_config

__all__ = [
    "Locations",
    "SilasConfig",
    "config_file",
    "data_dir",
    "dump_config",
    "load_config",
    "locations",
    "shown_config",
]

# Loaded when first asked for: the emergency stop must find its directory without all the rest.
_HOMES = {
    "Locations": "place",
    "SilasConfig": "models",
    "config_file": "place",
    "data_dir": "place",
    "dump_config": "show",
    "load_config": "load",
    "locations": "place",
    "shown_config": "show",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'silas.config' has no attribute {name!r}")
    return getattr(import_module(f"silas.config.{_HOMES[name]}"), name)
