"""Skills put into their place on the disk, and taken away; whole, or not at all (spec 10.4)."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from silas.skills.folder import SkillError, SkillFile


def install_tree(place: Path, name: str, files: Sequence[SkillFile]) -> None:
    """Make these the files of a skill, instead of whatever lies there under its name.

    Nothing is copied: what is written are the bytes that were looked at. They are the owner's
    alone, none can be run as a program, and the folder appears when it is complete.

    Raises:
        SkillError: The disk refuses; what was there before is there still, or whole again.
    """
    coming, going = place / f".new-{name}", place / f".old-{name}"
    try:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in (coming, going):  # of a run that was killed
            _remove_path(left)
        for file in files:
            path = coming / file.path
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write_new(path, file.raw)
        _exchange(place / name, coming, going)
    except OSError as error:
        raise SkillError(
            f"the skill {name} cannot be put into {place}: {error.strerror}."
        ) from error


def take_away(place: Path, name: str) -> bool:
    """Remove a skill's folder; False where there was none. A link is removed, not what it names.

    Raises:
        SkillError: The disk refuses.
    """
    if not os.path.lexists(place / name):
        return False
    going = place / f".old-{name}"
    try:
        _remove_path(going)
        os.replace(place / name, going)  # at once, and out of sight; then file by file
        _remove_path(going)
    except OSError as error:
        raise SkillError(f"the skill {name} cannot be removed: {error.strerror}.") from error
    return True


def write_whole(path: Path, raw: bytes) -> None:
    """Write or exchange one file durably, mode 0600; after a crash it is the old or the new one.

    Raises:
        SkillError: The disk refuses.
    """
    partial = path.with_name(f".{path.name}.new")
    try:
        partial.unlink(missing_ok=True)
        _write_new(partial, raw)
        os.replace(partial, path)
        _sync_directory(path.parent)
    except OSError as error:
        raise SkillError(f"{path} cannot be written: {error.strerror}.") from error


def _exchange(place: Path, coming: Path, going: Path) -> None:
    before = os.path.lexists(place)
    if before:
        os.replace(place, going)
    try:
        os.replace(coming, place)
    except OSError:
        if before:
            os.replace(going, place)
        raise
    _sync_directory(place.parent)
    _remove_path(going)


def _remove_path(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _write_new(path: Path, raw: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(raw)
        file.flush()
        os.fsync(descriptor)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
