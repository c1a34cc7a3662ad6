"""What `workspace_files` said, read back: how many files there are, and those that were shown."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.language import tr, tr_later, tr_many

_HEADING: Final = re.compile(r"(?P<count>\d+) files?, (?P<bytes>\d+) bytes in all; [a-z ]+:")
_FILE: Final = re.compile(r"(?P<size>\d+) bytes, (?P<at>[\d-]+ [\d:]+) UTC: (?P<path>.+)")


class FileSeen(NamedTuple):
    """A file that was shown: its size in bytes, when it was changed last, its path."""

    size: int
    at: datetime
    path: str

    def line_in(self, zone: ZoneInfo) -> str:
        """A line of an answer, with the time in the owner's zone."""
        return f"- {self.path}  {in_bytes(self.size)}, {self.at.astimezone(zone):%Y-%m-%d %H:%M}"


class FilesSeen(NamedTuple):
    """What `workspace_files` said: how many there are, which were shown, what was left out."""

    total: int
    size: int
    shown: Sequence[FileSeen]
    notes: Sequence[str]


def read_files(text: str) -> FilesSeen | None:
    """What an answer of `workspace_files` says; None where it is no such answer."""
    heading, *lines = text.split("\n")
    head = _HEADING.fullmatch(heading)
    if head is None:
        return None
    found = [(line, _FILE.fullmatch(line)) for line in lines]
    shown = [
        FileSeen(
            int(one["size"]),
            datetime.strptime(one["at"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC),
            one["path"],
        )
        for _, one in found
        if one
    ]
    notes = [note_words(line) for line, one in found if one is None and line.startswith("(")]
    return FilesSeen(int(head["count"]), int(head["bytes"]), shown, notes)


_MORE: Final = re.compile(r"\((\d+) more are not shown\)")
_UNREAD: Final = re.compile(r"\((\d+) files could not be read: too large, or no regular files\)")
_LEFT_OUT: Final = tr_later("(hidden files and files that may hold secrets are left out)")


def note_words(note: str) -> str:
    """What a look did not see, in the owner's language; as it stands where it is another one."""
    if (more := _MORE.fullmatch(note)) is not None:
        return tr("({files} more are not shown)", files=more[1])
    if (unread := _UNREAD.fullmatch(note)) is not None:
        return tr_many(
            int(unread[1]),
            "({count} file could not be read: too large, or no regular file)",
            "({count} files could not be read: too large, or no regular files)",
        )
    return tr(_LEFT_OUT) if note == _LEFT_OUT else note


def number_of(count: int) -> str:
    """`1 file`, `2 files`."""
    return tr_many(count, "{count} file", "{count} files")


_UNITS: Final = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (1000, "kB"))


def in_bytes(size: int) -> str:
    """A size in the largest unit that it has one of; units are of 1,000."""
    for unit, shown in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {shown}"
    return tr_many(size, "{count} byte", "{count} bytes")
