"""Signed heads in places that whoever can rewrite the log cannot rewrite (decision B5).

A witness remembers what the log said. Given its memory, a log that was cut off, rewritten or
forked behind a witnessed head is found, even where the owner's own key signed it anew.
"""

import asyncio
import json
import os
import re
import stat
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from silas.audit.models import AuditHead, Checkpoint

_LONGEST = 1000  # bytes; a head's line has about 330

_LINE = re.compile(
    r'\{"checkpoint":(\{.*\}),"public_key":"([0-9a-f]{64})","signature":"([0-9a-f]{128})"\}\Z'
)

_KEPT = re.compile(r"head-[0-9]{12,}-[0-9a-f]{16}\.json\Z")

_ALTERED = "is no head that the owner signed; the witness was altered."


class Witness(Protocol):
    """Somebody who keeps heads."""

    @property
    def name(self) -> str:
        """What the owner calls it: its kind and where it is."""
        ...

    async def tell(self, line: str) -> None:
        """Keep a head's line; the same one twice is kept once.

        Raises:
            OSError, SilasError: It was not kept.
        """
        ...

    def lines(self) -> Iterable[tuple[str, str]] | None:
        """What was kept: each line's place and text; None from one that can only be told.

        Raises:
            OSError: It should be readable and is not.
        """
        ...


class WitnessedHead(NamedTuple):
    """A head as a witness kept it; believe it only after its signature was checked."""

    head: AuditHead
    body: str
    signature: str
    place: str


def head_line(checkpoint: Checkpoint, public_key: str) -> str:
    """The document a witness gets: the checkpoint as signed, and by which key."""
    return (
        f'{{"checkpoint":{checkpoint.body},"public_key":"{public_key}",'
        f'"signature":"{checkpoint.signature}"}}'
    )


def read_head(line: str, place: str) -> WitnessedHead | None:
    """A line that was kept; None if it is no head's line."""
    found = _LINE.match(line)
    if found is None:
        return None
    try:
        said = json.loads(found[1])
    except (ValueError, RecursionError):
        return None
    seq, entry_hash = said.get("seq"), said.get("entry_hash")
    if type(seq) is not int or seq < 0 or not isinstance(entry_hash, str):
        return None
    return WitnessedHead(AuditHead(seq, entry_hash), found[1], found[3], place)


def contradiction(
    kept: Iterable[tuple[str, str]],
    noted: Iterable[AuditHead],
    hash_of: Callable[[int], str | None],
    signed: Callable[[str, str], bool],
) -> str:
    """Words about the earliest entry on which a log and its witnesses disagree, or nothing.

    Args:
        kept: Lines with their places.
        noted: Heads for which the caller vouches.
        hash_of: The hash of an entry of a log that holds, None where there is none.
        signed: Whether the owner signed a checkpoint's body: body, signature in hex.
    """
    heads = [WitnessedHead(head, "", "", "the head that was noted") for head in noted]
    for place, line in kept:
        head = read_head(line, place)
        if head is None or not signed(head.body, head.signature):
            return f"{place} {_ALTERED}"
        heads.append(head)
    agreed = 0
    for (seq, entry_hash), _, _, place in sorted(heads):
        stored = hash_of(seq)
        if stored is None:
            return (
                f"Entry {seq} is missing, and {place} has it: the log was cut off somewhere behind "
                f"entry {agreed}."
            )
        if stored != entry_hash:
            return (
                f"Entry {seq} is not the one in {place}: the log was rewritten or forked "
                f"there or before, behind entry {agreed}."
            )
        agreed = seq
    return ""


class FileWitness:
    """A file with one line per head; its directory must be there (a medium that was taken out is
    not replaced by an empty directory of the same name).
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """Its kind and path."""
        return f"file {self._path}"

    async def tell(self, line: str) -> None:
        """Append, on disk when this returns."""
        await asyncio.to_thread(self._append, f"{line}\n".encode())

    def _append(self, line: bytes) -> None:
        # Not blocking: a FIFO of that name must not make Silas wait.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, 0o600)
        try:
            size = _size_of_file(descriptor, self._path)
            tail = os.pread(descriptor, _LONGEST, max(size - _LONGEST, 0))
            if tail.endswith(line):
                return
            # What stands behind the last newline is a head that power loss cut in two.
            size -= len(tail) - (tail.rfind(b"\n") + 1)
            os.ftruncate(descriptor, size)
            try:
                _write_whole(descriptor, line)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)

    def lines(self) -> list[tuple[str, str]]:
        """Each line with its number."""
        if not self._path.exists() and self._path.parent.is_dir():
            return []  # nothing was kept yet
        with self._path.open(encoding="utf-8", errors="replace", newline="\n") as stream:
            text = stream.read()
        numbered = enumerate(text.removesuffix("\n").split("\n") if text else (), 1)
        return [(f"{self._path} line {number}", line) for number, line in numbered]


class DirectoryWitness:
    """A directory with one small file per head, named by number and hash, never written twice."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @property
    def name(self) -> str:
        """Its kind and path."""
        return f"directory {self._path}"

    async def tell(self, line: str) -> None:
        """Put the file there, whole or not at all."""
        await asyncio.to_thread(self._put, line)

    def _put(self, line: str) -> None:
        head = read_head(line, "")
        if head is None:
            raise AssertionError("only heads are told to a witness")
        target = self._path / f"head-{head.head.seq:012}-{head.head.entry_hash[:16]}.json"
        if target.exists():
            return
        partial = target.with_suffix(f".{os.getpid()}.part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            try:
                _write_whole(descriptor, f"{line}\n".encode())
            finally:
                os.close(descriptor)
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)

    def lines(self) -> list[tuple[str, str]]:
        """Each head's file."""
        names = [name for name in sorted(os.listdir(self._path)) if _KEPT.match(name)]
        return [(str(self._path / name), _beginning(self._path / name)) for name in names]


RunCommand = Callable[[Sequence[str], bytes, float], Awaitable[None]]
"""Runs a program of the owner's with this input for at most so many seconds."""


class CommandWitness:
    """A program of the owner's, which puts heads where it likes."""

    def __init__(self, argv: Sequence[str], seconds: float, run: RunCommand) -> None:
        self._argv = tuple(argv)
        self._seconds = seconds
        self._run = run

    @property
    def name(self) -> str:
        """The program alone: arguments may hold what is nobody's business."""
        return f"command {self._argv[0]}"

    async def tell(self, line: str) -> None:
        """Run it; the head is kept once it ended with 0."""
        await self._run(self._argv, f"{line}\n".encode(), self._seconds)

    def lines(self) -> Iterable[tuple[str, str]] | None:
        """None: `silas audit verify --witness FILE` takes what it kept."""
        return None


def _beginning(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(_LONGEST).removesuffix("\n")


def _size_of_file(descriptor: int, path: Path) -> int:
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(0, "it is not a regular file", str(path))
    return found.st_size


def _write_whole(descriptor: int, data: bytes) -> None:
    if os.write(descriptor, data) != len(data):
        raise OSError(0, "there is no room left")
    os.fsync(descriptor)
