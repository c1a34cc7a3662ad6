"""Moving one file within one folder: never over anything, never through a link (decision B3).

Everything goes by descriptors that begin at the folder itself, so that whatever its path names
meanwhile makes no difference. A file is looked at before it is moved and after: what came in its
place between the two is put back.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from silas.work.batches.folder_scan import identity_of
from silas.work.batches.models import BatchRefused, FileIdentity, FileMove, Folder
from silas.workspace.tree import open_descriptor, open_dir, open_file, read_all

_NOREPLACE: Final = 1  # RENAME_NOREPLACE of <linux/fs.h>
_NOT_HERE: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP})
_REHASHED: Final = 1 << 20  # bytes; of a larger one its change time alone vouches for its content

CHANGED: Final = "it changed since you were asked"
TAKEN: Final = "something of that name is there already"
GONE: Final = "it is gone"


@contextmanager
def open_folder(folder: Folder) -> Generator[int]:
    """The folder's descriptor.

    Raises:
        BatchRefused: Another directory stands there now, or none.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(folder.path, flags)
    except OSError as error:
        raise BatchRefused(
            f"{folder.path} cannot be opened any more ({error.strerror}); nothing was moved.",
            code="E_BATCH_FOLDER",
        ) from error
    with open_descriptor(descriptor):
        state = os.fstat(descriptor)
        if (state.st_dev, state.st_ino) != (folder.device, folder.inode):
            raise BatchRefused(
                f"{folder.path} is another folder than the one you were asked about; nothing was "
                "moved.",
                code="E_BATCH_FOLDER",
            )
        yield descriptor


def move_file(root: int, move: FileMove) -> str:
    """Move one file to its place; empty where that was done, else why it stays where it is."""
    try:
        if not _is_as_seen(root, move.name, move.identity):
            return CHANGED
        with _target(root, move.target, make=True) as target:
            rename_new(root, move.name, target, move.name)
            moved = os.stat(move.name, dir_fd=target, follow_symlinks=False)
            if not is_same(moved, move.identity):
                rename_new(target, move.name, root, move.name)
                return CHANGED
            os.fsync(target)
            os.fsync(root)
    except OSError as error:
        return _why(error)
    return ""


def move_back(root: int, move: FileMove) -> str:
    """Move one file back to where it was; empty where that was done, else why it stays."""
    try:
        with _target(root, move.target, make=False) as target:
            state = os.stat(move.name, dir_fd=target, follow_symlinks=False)
            if not is_same(state, move.identity):
                return "it changed since it was moved"
            rename_new(target, move.name, root, move.name)
            os.fsync(target)
            os.fsync(root)
    except OSError as error:
        return _why(error)
    return ""


def is_same(state: os.stat_result, identity: FileIdentity) -> bool:
    """Whether a state is of this file, and not written to since.

    Its change time is left out, because moving sets it; its number alone would not do, because a
    file that is made after another was deleted may get the number of that one.
    """
    found = (state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns)
    return stat.S_ISREG(state.st_mode) and found == identity[:4]


def rename_new(source: int, name: str, target: int, new: str) -> None:
    """Rename where nothing stands at the new name.

    By `renameat2` with RENAME_NOREPLACE; where the file system or the system has none, by a second
    link, which fails where the name is taken, and removing the first.

    Raises:
        OSError: EEXIST where something stands there, or why else it could not be done.
    """
    if not _rename_without_replacing(source, name, target, new):
        os.link(name, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        os.unlink(name, dir_fd=source)


def _rename_without_replacing(source: int, name: str, target: int, new: str) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "renameat2", None)
    if call is None:
        return False
    if call(source, os.fsencode(name), target, os.fsencode(new), _NOREPLACE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), name)


def stands(root: int, move: FileMove) -> bool:
    """Whether something stands already where a file would go."""
    with suppress(OSError), _target(root, move.target, make=False) as target:
        os.stat(move.name, dir_fd=target, follow_symlinks=False)
        return True
    return False


def missing_folders(root: int, targets: Sequence[str]) -> list[str]:
    """Which folders moving would make, the outer ones first."""
    paths = {
        "/".join(parts[: at + 1])
        for parts in (target.split("/") for target in targets)
        for at in range(len(parts))
    }
    return sorted(path for path in paths if not _is_there(root, path))


def remove_empty(root: int, folders: Sequence[str]) -> None:
    """Take away folders that moving made, where they are empty again and no link leads to them."""
    for path in sorted(folders, reverse=True):
        above, _, name = path.rpartition("/")
        with suppress(OSError):
            if not above:
                os.rmdir(name, dir_fd=root)
                continue
            with _target(root, above, make=False) as parent:
                os.rmdir(name, dir_fd=parent)


def _is_there(root: int, path: str) -> bool:
    with suppress(OSError), _target(root, path, make=False):
        return True
    return False


def is_linked_twice(root: int, move: FileMove) -> bool:
    """Whether the file stands at both places, as a crash between link and removal leaves it."""
    with suppress(OSError), _target(root, move.target, make=False) as target:
        before = os.stat(move.name, dir_fd=root, follow_symlinks=False)
        after = os.stat(move.name, dir_fd=target, follow_symlinks=False)
        return is_same(before, move.identity) and is_same(after, move.identity)
    return False


def settle(root: int, move: FileMove) -> bool:
    """Whether a file is at its new place after a crash. One that is at both is there alone.

    One that was edited there since, or whose new place lets nobody look any more, is where it was
    only if something of its name stands there still.

    Raises:
        OSError: It cannot be told.
    """
    if is_linked_twice(root, move):
        os.unlink(move.name, dir_fd=root)
        return True
    try:
        with _target(root, move.target, make=False) as target:
            state = os.stat(move.name, dir_fd=target, follow_symlinks=False)
            if is_same(state, move.identity):
                return True
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.EACCES):
            raise
    try:
        os.stat(move.name, dir_fd=root, follow_symlinks=False)
    except FileNotFoundError:
        return True
    return False


def _is_as_seen(root: int, name: str, seen: FileIdentity) -> bool:
    with open_descriptor(open_file(name, root)) as reading:
        same = identity_of(os.fstat(reading), seen.digest) == seen
        if not same or not seen.digest or seen.size > _REHASHED:
            return same
        return read_all(reading, lambda _: None) == seen.digest


@contextmanager
def _target(root: int, path: str, *, make: bool) -> Generator[int]:
    """A folder below the root, without links on the way."""
    held = os.dup(root)
    try:
        for part in path.split("/"):
            if part in ("", ".", ".."):
                raise OSError(errno.EINVAL, "it is no folder below this one", path)
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=held)
            deeper = open_dir(part, held)
            os.close(held)
            held = deeper
        yield held
    finally:
        os.close(held)


def _why(error: OSError) -> str:
    match error.errno:
        case errno.EEXIST | errno.ENOTEMPTY:
            return TAKEN
        case errno.ENOENT:
            return GONE
        case errno.ELOOP | errno.ENOTDIR:
            return "what stands there is no folder or no ordinary file"
        case errno.EXDEV:
            return "its place is on another disk"
        case _:
            return f"the system refuses it ({error.strerror})"
