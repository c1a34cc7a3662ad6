"""Which servers of tools the configuration file names by now, for a Silas that is open."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from silas.config.load import load_config
from silas.config.place import ConfigPlace
from silas.errors import ConfigError
from silas.tools.mcp.settings import MCPEntry

ReadServers = Callable[[], tuple[MCPEntry, ...] | None]
"""Every server that is named now; None where that is as it was when it was asked last."""


class _FileState(NamedTuple):
    """Another one wherever the file was written anew."""

    modified: int
    size: int
    inode: int


class ServersFile:
    """Reads the servers of a configuration file again once it has changed.

    The file may have changed between the reading of `named` and the first time that it is asked;
    so it is read then, too.

    Args:
        place: Where the configuration was read from.
        named: The servers of that configuration.
    """

    def __init__(self, place: ConfigPlace, named: Sequence[MCPEntry]) -> None:
        self._place = place
        self._named = tuple(named)
        self._states: list[_FileState | None] = []  # that of the last look, once there was one

    def __call__(self) -> tuple[MCPEntry, ...] | None:
        """See `ReadServers`. A file that cannot be used changes nothing."""
        state = _state_of(self._place.file)
        if self._states == [state]:
            return None
        self._states = [state]
        try:
            config = load_config(None if state is None else self._place.file, self._place.environ)
        except ConfigError:
            return None
        if config.mcp_entries == self._named:
            return None
        self._named = config.mcp_entries
        return self._named


def never_again() -> tuple[MCPEntry, ...] | None:
    """A configuration that was made by a program is in no file."""
    return None


def _state_of(file: Path) -> _FileState | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return _FileState(found.st_mtime_ns, found.st_size, found.st_ino)
