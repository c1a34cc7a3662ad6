"""Which output mode works with which server, kept from one run of Silas to the next."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol, cast, get_args

from silas.agents.choice import OutputMode

_MODES: Final = frozenset(get_args(OutputMode))
_MOST: Final = 200  # servers and models together; the ones that were learned first are left out


class ModeMemory(Protocol):
    """Modes that `auto` learned, by a key of address, model and kind of work."""

    def mode(self, key: str) -> OutputMode | None:
        """What worked last; None where nothing is known."""
        ...

    def keep(self, key: str, mode: OutputMode) -> None:
        """Note that a mode works which would not be tried first."""
        ...

    def forget(self, key: str) -> None:
        """What was known does not hold any more."""
        ...


class NoModeMemory:
    """For a model that no configuration names: what is learned lasts as long as its role."""

    def mode(self, key: str) -> OutputMode | None:
        """Nothing."""
        del key

    def keep(self, key: str, mode: OutputMode) -> None:
        """Not kept."""

    def forget(self, key: str) -> None:
        """Nothing to forget."""


NOTHING_KEPT: Final = NoModeMemory()


class ModeFile:
    """Modes in one small JSON file, read and written whole.

    It saves a request and decides nothing else: a file that is damaged, or names no mode there is,
    counts as empty, and one that cannot be written is left as it is.

    Args:
        path: Where; its directory is made when something is first kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def mode(self, key: str) -> OutputMode | None:
        """What worked last; None where nothing is known."""
        return self._read().get(key)

    def keep(self, key: str, mode: OutputMode) -> None:
        """Note that a mode works; written only where it is news."""
        known = self._read()
        if known.get(key) != mode:
            known.pop(key, None)
            self._write({**known, key: mode})

    def forget(self, key: str) -> None:
        """What was known does not hold any more."""
        known = self._read()
        if known.pop(key, None) is not None:
            self._write(known)

    def _read(self) -> dict[str, OutputMode]:
        try:
            found: Any = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        rows = cast(dict[str, Any], found).items()
        return {
            key: cast(OutputMode, mode)
            for key, mode in rows
            if isinstance(mode, str) and mode in _MODES
        }

    def _write(self, known: dict[str, OutputMode]) -> None:
        last = dict(list(known.items())[-_MOST:])
        fresh = self._path.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.write_text(json.dumps(last, indent=1), encoding="utf-8")
            fresh.replace(self._path)
