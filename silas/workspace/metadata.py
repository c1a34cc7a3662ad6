"""What a file has besides its bytes and permissions: times, owner, extended attributes.

Kept as far as this user may: another owner, and attributes that only root can set, are restored
only by root. The time of the last change of the inode belongs to the kernel and is never restored.
"""

import base64
import os
from contextlib import suppress
from typing import Any, NamedTuple

_PRIVILEGED = ("security.", "trusted.")


class Metadata(NamedTuple):
    """Of one path.

    Attributes:
        times: Last access and last modification in nanoseconds; None leaves them as they are.
        owner: User and group.
        attributes: Extended attributes, access lists among them, values in base64.
    """

    times: tuple[int, int] | None
    owner: tuple[int, int]
    attributes: dict[str, str]

    def for_new_content(self) -> "Metadata":
        """What a file keeps that gets new content: no times, and nothing that gives it power."""
        plain = {k: v for k, v in self.attributes.items() if not k.startswith(_PRIVILEGED)}
        return Metadata(None, self.owner, plain)


def read_metadata(descriptor: int) -> Metadata:
    """Of an open file or directory."""
    facts = os.fstat(descriptor)
    attributes: dict[str, str] = {}
    with suppress(OSError):  # a file system without them
        for name in os.listxattr(descriptor):
            value = os.getxattr(descriptor, name)
            attributes[name] = base64.b64encode(value).decode("ascii")
    return Metadata(
        (facts.st_atime_ns, facts.st_mtime_ns), (facts.st_uid, facts.st_gid), attributes
    )


def read_link_metadata(parent: int, name: str) -> Metadata:
    """Of a symbolic link; links carry no attributes of a user's."""
    facts = os.stat(name, dir_fd=parent, follow_symlinks=False)
    return Metadata((facts.st_atime_ns, facts.st_mtime_ns), (facts.st_uid, facts.st_gid), {})


def restore_metadata(descriptor: int, kept: Metadata, mode: int) -> None:
    """Give an open file or directory its owner, attributes, permissions and times, in an order in
    which none takes another away: a new owner ends set-id bits.
    """
    facts = os.fstat(descriptor)
    if kept.owner != (facts.st_uid, facts.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, *kept.owner)
    for name, value in kept.attributes.items():
        with suppress(OSError):
            os.setxattr(descriptor, name, base64.b64decode(value))
    os.fchmod(descriptor, mode)
    restore_times(descriptor, kept)


def restore_times(descriptor: int, kept: Metadata) -> None:
    """Give an open file or directory its times; only its owner and root may."""
    if kept.times is not None:
        with suppress(PermissionError):
            os.utime(descriptor, ns=kept.times)


def restore_link_metadata(parent: int, name: str, kept: Metadata) -> None:
    """Give a symbolic link its owner and times."""
    with suppress(PermissionError):
        os.chown(name, *kept.owner, dir_fd=parent, follow_symlinks=False)
    if kept.times is not None:
        os.utime(name, ns=kept.times, dir_fd=parent, follow_symlinks=False)


def stored_metadata(raw: Any) -> Metadata:
    """Read back what JSON made of it.

    Raises:
        ValueError, TypeError, IndexError: It is none.
    """
    times, owner, attributes = raw
    return Metadata(
        None if times is None else (int(times[0]), int(times[1])),
        (int(owner[0]), int(owner[1])),
        {str(name): str(value) for name, value in attributes.items()},
    )
