"""A skill's folder, read without following a link: its files, bounded, and their digests.

Reading never runs, imports or writes anything. Every step down goes through the directory that is
open already, so a folder that is exchanged for a link meanwhile leads nowhere.
"""

import os
import re
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from silas.canonical import sha256_hex
from silas.errors import ConfigError

SKILL_MD: Final = "SKILL.md"

MAX_INSTRUCTIONS: Final = 64 * 1024
"""Bytes of `SKILL.md`: instructions are read whole by a model; what is longer is a reference."""

_MAX_FILES = 256
_MAX_DEPTH = 6
_MAX_BYTES = 8 << 20  # of all files: every one is hashed before each effect of a plan
_PLAIN = re.compile(r"[A-Za-z0-9_.+@()-][A-Za-z0-9_.+@() -]{0,127}")
_OPEN = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
Stamp = tuple[int, ...]
"""Inode, size and times: what differs where a file may have changed."""


class SkillError(ConfigError):
    """A skill that cannot be used: what is wrong with it, and what to do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, code="E_CFG_SKILL")


def not_a_name(text: str) -> SkillError:
    """The error for what no skill can be called."""
    return SkillError(f"{text[:80]!a} is not the name of a skill; see `silas skills list`.")


class SkillFile(NamedTuple):
    """One file of a skill: its path from the skill's folder, with `/`, and its bytes."""

    path: str
    raw: bytes

    @property
    def digest(self) -> str:
        """Hex SHA-256 of the bytes."""
        return sha256_hex(self.raw)


class _File(NamedTuple):
    path: str
    directory: int
    name: str
    facts: os.stat_result


def stamps(folder: Path) -> tuple[tuple[str, Stamp], ...]:
    """What a folder holds, without reading it; another answer where anything may have changed.

    Raises:
        SkillError: As `contents`.
    """
    with _open_folder(folder) as directory:
        return tuple((file.path, _stamp(file.facts)) for file in _files(directory))


def contents(folder: Path, without: frozenset[str] = frozenset()) -> tuple[SkillFile, ...]:
    """Every file of a skill, by path.

    Args:
        folder: The skill.
        without: Names of files and folders that are passed over, wherever they lie.

    Raises:
        SkillError: There is a link, a thing that is no plain file, a file that everybody may
            change, an odd name, or more than a skill needs.
    """
    with _open_folder(folder) as directory:
        return tuple(SkillFile(file.path, _read(file)) for file in _files(directory, without))


@contextmanager
def _open_folder(folder: Path) -> Generator[int]:
    try:
        descriptor = os.open(folder, _OPEN | os.O_DIRECTORY)
    except OSError as error:
        if folder.is_symlink():
            raise SkillError("it is a link; put the folder itself there.") from error
        name = ascii(folder.name)[:80]
        raise SkillError(
            f"{name} cannot be read as a folder: {error.strerror}; check the path."
        ) from error
    try:
        yield descriptor
    except OSError as error:
        raise SkillError(f"it cannot be read: {error.strerror}.") from error
    finally:
        os.close(descriptor)


def _files(directory: int, without: frozenset[str] = frozenset()) -> Iterator[_File]:
    # said before anything else that may be wrong with what is no skill at all
    if SKILL_MD not in os.listdir(directory):
        raise SkillError(f"there is no {SKILL_MD} in it.")
    count, size = 0, 0
    for file in _walk(directory, "", 1, without):
        count, size = count + 1, size + file.facts.st_size
        if count > _MAX_FILES:
            raise SkillError(f"it has more than {_MAX_FILES} files; take out what is not needed.")
        if size > _MAX_BYTES:
            raise SkillError(f"it is larger than {_MAX_BYTES >> 20} MB; take out the large files.")
        if file.path == SKILL_MD and file.facts.st_size > MAX_INSTRUCTIONS:
            raise SkillError(
                f"its {SKILL_MD} is longer than {MAX_INSTRUCTIONS // 1024} KB; move details to "
                "references."
            )
        yield file


def _walk(directory: int, before: str, depth: int, without: frozenset[str]) -> Iterator[_File]:
    if depth > _MAX_DEPTH:
        raise SkillError(f"its folders are nested deeper than {_MAX_DEPTH} levels; flatten them.")
    with os.scandir(directory) as found:
        names = [entry.name for entry in islice(found, _MAX_FILES + 1)]
    if len(names) > _MAX_FILES:
        raise SkillError(f"it has more than {_MAX_FILES} files; take out what is not needed.")
    for name in sorted(set(names) - without):
        path = before + name
        if not _PLAIN.fullmatch(name) or set(name) == {"."}:
            raise SkillError(f"the file name {ascii(path)[:200]} is not a plain one; rename it.")
        facts = os.stat(name, dir_fd=directory, follow_symlinks=False)
        if facts.st_mode & stat.S_IWOTH and not stat.S_ISLNK(facts.st_mode):
            raise SkillError(f"{path} can be changed by everybody; run chmod o-w on it.")
        if stat.S_ISREG(facts.st_mode):
            yield _File(path, directory, name, facts)
        elif stat.S_ISDIR(facts.st_mode):
            below = os.open(name, _OPEN | os.O_DIRECTORY, dir_fd=directory)
            try:
                yield from _walk(below, f"{path}/", depth + 1, without)
            finally:
                os.close(below)
        else:
            kind = "a link" if stat.S_ISLNK(facts.st_mode) else "no plain file"
            raise SkillError(f"{path} is {kind}; a skill has plain files and folders only.")


def _read(file: _File) -> bytes:
    descriptor = os.open(file.name, _OPEN | os.O_NONBLOCK, dir_fd=file.directory)
    with os.fdopen(descriptor, "rb") as opened:
        facts = os.fstat(descriptor)
        raw = opened.read(file.facts.st_size + 1)
    # another file than the one that was measured, or the same one while it grows
    if not stat.S_ISREG(facts.st_mode) or len(raw) != file.facts.st_size:
        raise SkillError(f"{file.path} changes while it is read; try again when it is still.")
    return raw


def _stamp(facts: os.stat_result) -> Stamp:
    return (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode)
