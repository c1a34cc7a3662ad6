"""Replacing the configuration file by one that was planned; a plan changes nothing else in it."""

import fcntl
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final

from silas.config.load import load_config
from silas.config.models import SilasConfig
from silas.errors import ConfigError, reason
from silas.types import new_nonce

CODE: Final = "E_CFG_FILE"


@dataclass(frozen=True)
class FileEdit:
    """What becomes of a file; nothing is written yet.

    Attributes:
        file: The configuration file.
        before: Its bytes; None where there is none.
        after: Its bytes afterwards.
    """

    file: Path
    before: bytes | None
    after: bytes


def read_text(file: Path) -> tuple[bytes | None, str]:
    """The file's bytes, None where there is none, and its text.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        before = file.read_bytes() if file.exists() else None
        return before, (before or b"").decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The configuration file {file} cannot be read: {reason(error)}.", code=CODE
        ) from error


def meaning_of(edit: FileEdit, environ: Mapping[str, str]) -> SilasConfig:
    """The new text as Silas will read it, from a file beside the other.

    Raises:
        ConfigError: It breaks a rule; the sentence names the file that it is for.
    """
    edit.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    trial = _new_file(edit, edit.file)  # beside the link: paths in it are relative to that place
    try:
        return load_config(trial, environ)
    except ConfigError as error:
        said = error.message.replace(trial.name, edit.file.name)
        raise ConfigError(said, code=error.code) from error
    finally:
        trial.unlink()


def replace_file(edit: FileEdit, require_meaning: Callable[[], object]) -> Path | None:
    """Write what was planned, once it is certain that it says that and nothing else changes.

    Returns:
        Where the former file is kept; None where there was none.

    Raises:
        ConfigError: What `require_meaning` raises, the file changed meanwhile, or it cannot be
            written; it is as it was.
    """
    file = edit.file
    try:
        with _alone(file):
            require_meaning()
            if edit.before != (file.read_bytes() if file.exists() else None):
                raise ConfigError(
                    f"{file} was changed meanwhile; nothing was written, look at it again.",
                    code=CODE,
                )
            backup = None if edit.before is None else _keep_former(file, edit.before)
            true_file = file.resolve()  # a link to a file elsewhere stays a link
            _new_file(edit, true_file).replace(true_file)
    except OSError as error:
        raise ConfigError(
            f"{file} cannot be written ({error.strerror}); make it and its directory yours.",
            code=CODE,
        ) from error
    return backup


@contextmanager
def _alone(file: Path) -> Generator[None]:
    """While nobody else writes there: no other process takes what is looked at for what it was."""
    place = file.resolve().parent
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # let go when it is closed
        yield
    finally:
        os.close(descriptor)


def line_end(text: str, at: int) -> int:
    """Where the line after this place begins; the place itself where a line begins there."""
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _keep_former(file: Path, content: bytes) -> Path:
    """A copy beside the file under the first name that is free, as open to others as the file."""
    mode = file.stat().st_mode & 0o777
    for number in count(1):
        backup = file.with_name(f"{file.name}.bak" + (f".{number}" if number > 1 else ""))
        with suppress(FileExistsError):
            return _create(backup, content, mode)
    raise AssertionError("there are more numbers than files")


def _new_file(edit: FileEdit, file: Path) -> Path:
    """What is to take a file's place, beside it, as open to others as the file is."""
    mode = 0o600 if edit.before is None else edit.file.stat().st_mode & 0o777
    return _create(file.with_name(f".{file.name}.{new_nonce()[:16]}"), edit.after, mode)


def _create(path: Path, content: bytes, mode: int) -> Path:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, mode)
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink()
        raise
    return path
