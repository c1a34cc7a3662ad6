"""Copying a file's content as cheaply as the file system allows.

Where it can share blocks (reflink: Btrfs, XFS, bcachefs, ZFS) nothing is copied until somebody
writes. Elsewhere the bytes pass through here once, because their digest is needed anyway; holes
stay holes.
"""

import fcntl
import hashlib
import os

CHUNK = 1 << 20
_FICLONE = 0x40049409
_BLOCK = bytes(4096)  # what file systems allocate; a run of zeros this long becomes a hole


def content_digest(descriptor: int) -> str:
    """Hex SHA-256 of a file from its beginning."""
    digest = hashlib.sha256()
    os.lseek(descriptor, 0, os.SEEK_SET)
    while chunk := os.read(descriptor, CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def copy_content(reading: int, writing: int) -> str:
    """Fill an empty file, open for reading and writing, and return the digest of what is in it.

    Raises:
        OSError: The disk refused.
    """
    try:
        fcntl.ioctl(writing, _FICLONE, reading)
    except OSError:  # another file system, or one that shares nothing
        return _copy(reading, writing)
    return content_digest(writing)


def _copy(reading: int, writing: int) -> str:
    digest = hashlib.sha256()
    size = 0
    while chunk := os.read(reading, CHUNK):
        digest.update(chunk)
        _write_at(writing, chunk, size)
        size += len(chunk)
    os.ftruncate(writing, size)  # a hole at the end is nothing that was written
    return digest.hexdigest()


def _write_at(writing: int, chunk: bytes, offset: int) -> None:
    """Write what is not zeros: a chunk without a block of them in one go."""
    if _BLOCK not in chunk:
        _write(writing, chunk, offset)
        return
    for start in range(0, len(chunk), len(_BLOCK)):
        block = chunk[start : start + len(_BLOCK)]
        if block != _BLOCK:
            _write(writing, block, offset + start)


def _write(writing: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(writing, view, offset)
        view, offset = view[written:], offset + written
