"""Where Silas keeps its files; imports nothing heavy, for the commands that must not wait."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from silas.errors import ConfigError


class Locations(NamedTuple):
    """Where Silas keeps its files: configuration, data, and logs."""

    config_file: Path
    data_dir: Path
    state_dir: Path


class ConfigPlace(NamedTuple):
    """Where a configuration was read from, so that it can be written and read again.

    Attributes:
        file: The file; it need not be there.
        environ: The variables that win over it.
    """

    file: Path
    environ: Mapping[str, str]


def locations(environ: Mapping[str, str] = os.environ) -> Locations:
    """`SILAS_HOME` if set, else the XDG base directories; relative XDG paths do not count."""
    if environ.get("SILAS_HOME"):
        home = Path(environ["SILAS_HOME"]).expanduser().absolute()
        return Locations(home / "config.yaml", home / "data", home / "state")
    user = Path(environ.get("HOME") or Path.home())

    def base(variable: str, default: str) -> Path:
        given = Path(environ.get(variable, ""))
        return (given if given.is_absolute() else user / default) / "silas"

    return Locations(
        base("XDG_CONFIG_HOME", ".config") / "config.yaml",
        base("XDG_DATA_HOME", ".local/share"),
        base("XDG_STATE_HOME", ".local/state"),
    )


def config_file(path: Path | str | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """Which file counts: the given one, else that of `SILAS_HOME` or XDG."""
    return locations(environ).config_file if path is None else Path(path).expanduser().absolute()


def data_dir(path: Path | str | None = None, environ: Mapping[str, str] = os.environ) -> Path:
    """The data directory as `load_config` finds it, though everything else there be wrong.

    An emergency stop depends on nothing but the one setting it needs. A file that cannot be read
    counts as one that does not name it.
    """
    file = config_file(path, environ)
    given: object = environ.get("SILAS_DATA_DIR", "").strip()
    if not given and file.exists():
        from silas.config.source import read_source  # noqa: PLC0415 - YAML, where it is needed

        try:
            given = read_source(file.read_text("utf-8"), file.name, environ).data.get("data_dir")
        except (ConfigError, OSError, UnicodeDecodeError):
            given = None
    if not isinstance(given, str) or not given or given == "null":
        return locations(environ).data_dir
    return file.parent / Path(given).expanduser()
