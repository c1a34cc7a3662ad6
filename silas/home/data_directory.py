"""The data directory of a home: what is said where it was not set up or cannot be used."""

from silas.config import SilasConfig
from silas.errors import ConfigError


def not_initialised(config: SilasConfig) -> ConfigError:
    """The sentence about a data directory without a key."""
    return ConfigError(
        f"Silas is not set up in {config.data_dir} yet; run `silas init`.",
        code="E_CFG_NOT_INITIALISED",
    )


def unusable_home(config: SilasConfig, error: OSError) -> ConfigError:
    """The sentence about a data directory that the operating system refuses."""
    return ConfigError(
        f"Silas cannot use its directory {config.data_dir} ({error.strerror}); make it yours and "
        "writable, or set SILAS_HOME to another one.",
        code="E_CFG_HOME",
    )
