"""The configuration: composed of the domains' own sections, read from file and environment.

What must not go in: a default that belongs to a domain; each domain's own model has it.
"""

from silas.config.load import Locations, config_file, load_config, locations
from silas.config.models import SilasConfig
from silas.config.show import dump_config

__all__ = [
    "Locations",
    "SilasConfig",
    "config_file",
    "dump_config",
    "load_config",
    "locations",
]
