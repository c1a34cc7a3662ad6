"""Who relies on a key, and who may replace it: never both at once.

One rename puts the new key in force, and whoever opens the key next finishes what was cut short.
A rotation needs the key directory's lock alone. The old private key is kept nowhere.
"""

import fcntl
import gc
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from silas.errors import ConfigError


class KeyLock:
    """Keeps the keys in a directory as they are, until it is released or forgotten.

    The lock is the operating system's and on the directory itself: it ends with the process,
    however it ends, and stays where files are replaced.
    """

    __slots__ = ("_descriptor",)

    def __init__(self, directory: Path) -> None:
        """Wait for nobody.

        Raises:
            ConfigError: The key is being replaced at this moment (`E_CFG_KEY_BUSY`).
        """
        self._descriptor = -1
        self._descriptor = _lock_directory(
            directory,
            fcntl.LOCK_SH,
            "The owner's key is being replaced at this moment; try again when that is done.",
        )

    @property
    def holds(self) -> bool:
        """Whether it was not released yet."""
        return self._descriptor >= 0

    def release(self) -> None:
        """Rely on the keys no more; safe to repeat."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with suppress(OSError):
                os.close(descriptor)

    def __del__(self) -> None:
        self.release()


class NoKeyLock:
    """For keys that nobody replaces: a test's, or those of the replacement itself."""

    holds = True

    def release(self) -> None:
        """Nothing is held."""


@contextmanager
def lock_directory(directory: Path) -> Generator[None]:
    """Nobody relies on the keys in a directory while this is open, in this process or another.

    Raises:
        ConfigError: Somebody does (`E_CFG_KEY_BUSY`).
    """
    words = "Silas is running with the owner's key; end every Silas, then replace the key."
    try:
        descriptor = _lock_directory(directory, fcntl.LOCK_EX, words)
    except ConfigError:
        gc.collect()  # what nobody can reach any more relies on nothing
        descriptor = _lock_directory(directory, fcntl.LOCK_EX, words)
    try:
        yield
    finally:
        os.close(descriptor)


def _lock_directory(directory: Path, how: int, words: str) -> int:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise ConfigError(words, code="E_CFG_KEY_BUSY") from error
    return descriptor
