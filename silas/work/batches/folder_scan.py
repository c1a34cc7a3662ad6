"""A folder as it is found: which files may be sorted, and what is left alone and why."""

import os
import stat
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import Final, NamedTuple

from silas.language import decimal, tr, tr_later, tr_many
from silas.language.calendar import date_words
from silas.plans.characters import first_hidden
from silas.sandbox.toolchains.table import CREDENTIALS
from silas.secret_patterns import holds_secret
from silas.work.batches.file_kinds import KIND_OF, UNFINISHED, ending_of
from silas.work.batches.models import BatchRefused, FileIdentity, FileMove, Folder, SkippedFile
from silas.workspace.protected import is_repository, protection
from silas.workspace.tree import open_descriptor, open_file, read_all

MOST_FILES: Final = 1000
"""Files that are looked at together: more would be a hundred cards, and nobody reads those."""

SETTLED_SECONDS: Final = 120
"""A file that changed later than so long ago may still be written to."""

_FRESH: Final = "it changed a moment ago"

_ALWAYS_HASHED: Final = 1 << 20  # bytes; a larger file only where another has its size
_MOST_HASHED: Final = 64 << 20
LARGEST_PICTURE: Final = 12_000_000
"""Bytes of a picture of which a small one is made."""

_HEAD: Final = 2048
_LINE: Final = 80  # characters of a line that is shown
_LINES: Final = 5

_SHOWN: Final = frozenset({"png", "jpg", "jpeg", "gif", "webp"})
_TEXT: Final = frozenset({"Documents", "Tables", "Code", "Calendars and contacts"})


class FoundFile(NamedTuple):
    """One regular file, and what a rule may go by.

    Attributes:
        name, identity: Which file.
        ending: In lower case, without the dot.
        head: Its first bytes.
        modified: When it changed last.
    """

    name: str
    identity: FileIdentity
    ending: str
    head: bytes
    modified: datetime


class FolderContents(NamedTuple):
    """What a folder holds.

    Attributes:
        folder: Which.
        files: What may be sorted, by name.
        names: Everything that stands there, with whether it is a directory.
        left: What stays where it is.
    """

    folder: Folder
    files: tuple[FoundFile, ...]
    names: Mapping[str, bool]
    left: tuple[SkippedFile, ...]


def open_folder(path: Path) -> tuple[Folder, int]:
    """The folder as the owner named it, opened where it really is.

    Raises:
        BatchRefused: It is missing, is none, or may not be read; the sentence says which.
    """
    real = Path(os.path.realpath(path))
    try:
        descriptor = os.open(real, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        if not os.access(real, os.R_OK | os.W_OK | os.X_OK):
            os.close(descriptor)
            raise PermissionError(13, tr_later("you may not write in it"), str(real))
    except FileNotFoundError:
        raise BatchRefused(
            f"There is no folder {path}; name one that is there.", code="E_BATCH_FOLDER"
        ) from None
    except NotADirectoryError:
        raise BatchRefused(
            f"{path} is a file and no folder; name the folder that it lies in.",
            code="E_BATCH_FOLDER",
        ) from None
    except OSError as error:
        raise BatchRefused(
            f"{path} cannot be tidied: {error.strerror}; give yourself the right to it, or name "
            "another folder.",
            code="E_BATCH_FOLDER",
        ) from error
    state = os.fstat(descriptor)
    return Folder(real, state.st_dev, state.st_ino), descriptor


def require_allowed(folder: Path, home: Path, own: Sequence[Path]) -> None:
    """Refuse folders in which nothing should be sorted.

    Raises:
        BatchRefused: `E_BATCH_PLACE`.
    """
    real_home, places = Path(os.path.realpath(home)), [Path(os.path.realpath(one)) for one in own]
    if folder in (real_home, Path("/")) or folder in real_home.parents:
        raise BatchRefused(
            f"{folder} holds folders that programs look for; name one below it, such as Downloads.",
            code="E_BATCH_PLACE",
        )
    if any(one == folder or one in folder.parents or folder in one.parents for one in places):
        raise BatchRefused(
            f"{folder} holds Silas's own data, or is part of it; name another folder.",
            code="E_BATCH_PLACE",
        )
    hidden = [part for part in folder.parts if part.startswith(".")]
    if hidden:
        raise BatchRefused(
            f"{folder} is hidden ({hidden[0]}), where programs keep things; name another folder.",
            code="E_BATCH_PLACE",
        )


def look_into(folder: Folder, descriptor: int, now: datetime, only: str = "") -> FolderContents:
    """Every file that lies directly in a folder. Folders below it are never looked into.

    Args:
        folder, descriptor: Which.
        now: What a file's age is counted from.
        only: A pattern such as `*.pdf`; other files are left alone.

    Raises:
        BatchRefused: It holds more files than anybody reads cards about, or is a project.
    """
    names = os.listdir(descriptor)
    if is_repository(names) or any(protection(name) for name in names):
        raise BatchRefused(
            f"{folder.path} is a project or holds what programs start from; name another folder.",
            code="E_BATCH_PLACE",
        )
    states = _states(names, descriptor)
    left: list[SkippedFile] = []
    files: list[str] = []
    for name in sorted(states):
        why = _why_left(name, states[name], now, only)
        if why is None:
            files.append(name)
        elif why:
            left.append(SkippedFile(name, why))
    if len(files) > MOST_FILES:
        raise BatchRefused(
            f"{folder.path} holds {len(files):,} files, and Silas looks at {MOST_FILES:,} at most: "
            "say which, for example --only '*.pdf'.",
            code="E_BATCH_MANY",
        )
    fresh = sum(one.why == _FRESH for one in left)
    if not files and fresh > MOST_FILES:
        raise BatchRefused(
            f"{folder.path} holds {fresh:,} files that changed within the last two minutes and may "
            f"still be written to, and Silas looks at {MOST_FILES:,} at most: ask again later, and "
            "say which, for example --only '*.pdf'.",
            code="E_BATCH_MANY",
        )
    sizes = Counter(states[name].st_size for name in files)
    found: list[FoundFile] = []
    for name in files:
        try:
            found.append(_describe_file(name, descriptor, states[name], sizes))
        except OSError as error:
            left.append(SkippedFile(name, f"it cannot be read ({error.strerror})"))
    kinds = {name: stat.S_ISDIR(state.st_mode) for name, state in states.items()}
    return FolderContents(folder, tuple(found), kinds, tuple(left))


def _states(names: list[str], descriptor: int) -> dict[str, os.stat_result]:
    states: dict[str, os.stat_result] = {}
    for name in names:
        with suppress(FileNotFoundError):  # it went meanwhile
            states[name] = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    return states


def _why_left(name: str, state: os.stat_result, now: datetime, only: str) -> str | None:
    """Why this is not sorted: None where it is, empty where nobody needs to hear of it."""
    if name.startswith(".") or stat.S_ISDIR(state.st_mode):
        return ""
    if only and not fnmatch(name.lower(), only.lower()):
        return ""
    if stat.S_ISLNK(state.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISREG(state.st_mode):
        return "it is no ordinary file"
    if first_hidden(name) != -1 or not _is_text(name):
        return "its name has hidden characters"
    if ending_of(name) in UNFINISHED:
        return "its download has not ended"
    if now.timestamp() - state.st_mtime < SETTLED_SECONDS:
        return _FRESH
    return None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _describe_file(
    name: str, parent: int, state: os.stat_result, sizes: Mapping[int, int]
) -> FoundFile:
    with open_descriptor(open_file(name, parent)) as reading:
        head = os.pread(reading, _HEAD, 0)
        same = _same_size(state, sizes)
        digest = read_all(reading, lambda _: None) if same else ""
        identity = identity_of(os.fstat(reading), digest)
    modified = datetime.fromtimestamp(state.st_mtime).astimezone()
    return FoundFile(name, identity, ending_of(name), head, modified)


def _same_size(state: os.stat_result, sizes: Mapping[int, int]) -> bool:
    size = state.st_size
    return size <= _ALWAYS_HASHED or (size <= _MOST_HASHED and sizes[size] > 1)


def identity_of(state: os.stat_result, digest: str = "") -> FileIdentity:
    """Which file a state is of."""
    return FileIdentity(
        state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns, digest
    )


def about_of(file: FoundFile) -> str:
    """Its size, its date and, of a text that may be shown, its first line: in one line."""
    facts = [_size(file.identity.size), date_words(file.modified)]
    first = first_lines(file)
    if first:
        facts.append(tr("begins: {line}", line=first[0]))
    return ", ".join(facts)


def first_lines(file: FoundFile) -> tuple[str, ...]:
    """What a person would recognise a text by, a few lines of it that are not empty, each cut where
    it is long; nothing of what may hold a secret.
    """
    kind = KIND_OF.get(file.ending, "")
    if kind not in _TEXT or is_secret(file.name) or b"\0" in file.head:
        return ()
    text = file.head.decode("utf-8", errors="ignore")
    lines = [one.strip() for one in text.splitlines() if one.strip()]
    if lines[:1] and (lines[0].startswith("%PDF") or holds_secret(text)):
        return ()
    return tuple(
        line if len(line) <= _LINE else f"{line[: _LINE - 3]}..." for line in lines[:_LINES]
    )


def may_be_shown(move: FileMove) -> bool:
    """Whether a page may ask for a small picture of it."""
    shown = ending_of(move.name) in _SHOWN and 0 < move.identity.size <= LARGEST_PICTURE
    return shown and not is_secret(move.name)


def is_secret(name: str) -> bool:
    """Whether files of this name hold what nobody else may see."""
    return any(fnmatch(name.lower(), pattern.lower()) for pattern in CREDENTIALS)


def _size(size: int) -> str:
    for unit, of in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= of:
            return f"{decimal(size / of)} {unit}"
    return tr_many(size, "{count} byte", "{count} bytes")
