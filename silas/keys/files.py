"""Files that hold secrets: ours alone, written whole or not at all."""

import os
import stat
from pathlib import Path

from nacl.utils import random

from silas.errors import ConfigError

_SMALLEST_KEY_FILE = 16  # bytes; 128 bits, if they are random
_LARGEST = 1 << 20  # bytes; a thousand replaced keys, and no archive


def read_private(path: Path) -> bytes:
    """Read a small file that is ours and that nobody else may read.

    Raises:
        ConfigError: It is missing, not an ordinary file of ours, or open to others.
    """
    try:
        # Non-blocking, so that a planted pipe is refused below and not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise ConfigError(
            f"The key file {path} cannot be read ({error.strerror}); run `silas init`, or restore "
            "it.",
            code="E_CFG_KEY_MISSING",
        ) from error
    with os.fdopen(descriptor, "rb") as stream:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise ConfigError(
                f"{path} is not an ordinary file of yours; use another.", code="E_CFG_KEY_EXPOSED"
            )
        if facts.st_mode & 0o077:
            raise ConfigError(
                f"Others may read {path}; run `chmod 600` on it, and make a new key if they did.",
                code="E_CFG_KEY_EXPOSED",
            )
        return stream.read(_LARGEST)


def read_key_file(path: Path) -> bytes:
    """What a key file unlocks by.

    Raises:
        ConfigError: As `read_private`, or it is too short to be worth anything.
    """
    secret = read_private(path)
    if len(secret) < _SMALLEST_KEY_FILE:
        raise ConfigError(
            f"The key file {path} is too short to protect anything; it needs at least "
            f"{_SMALLEST_KEY_FILE} random bytes.",
            code="E_CFG_KEY_LOCKED",
        )
    return secret


def make_key_file(path: Path) -> None:
    """A new key file, mode 0600, where there is none."""
    write_new(path, random(32))


def write_new(path: Path, content: bytes) -> bool:
    """Write a file whole and durably, mode 0600; False where there is one already."""
    partial = _write_beside(path, content)
    try:
        os.link(partial, path)  # unlike a rename, refuses to replace
    except FileExistsError:
        return False
    finally:
        partial.unlink()
    _settle(path.parent)
    return True


def replace(path: Path, content: bytes) -> None:
    """Exchange a file whole and durably, mode 0600: after a crash it is the old or the new one.

    Raises:
        ConfigError: It would be too large to be read again; nothing was changed.
    """
    if len(content) >= _LARGEST:
        raise ConfigError(
            f"The file {path} would become too large; end the work under way, then try again.",
            code="E_CFG_KEY_BUSY",
        )
    partial = _write_beside(path, content)
    try:
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    _settle(path.parent)


def clear_partials(path: Path) -> None:
    """Remove what a crash left of a file that was being written; call it where nobody writes."""
    for partial in path.parent.glob(f".{path.name}.*"):
        partial.unlink(missing_ok=True)


def _write_beside(path: Path, content: bytes) -> Path:
    """A complete file beside `path`, already on the disk."""
    partial = path.with_name(f".{path.name}.{random(8).hex()}")
    descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
    except BaseException:
        partial.unlink()
        raise
    return partial


def _settle(directory: Path) -> None:
    """Names in a directory reach the disk, too."""
    folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
