"""Files that the owner attached to a conversation: kept in a folder of it, for its looks to read.

A file is announced first, with its name, size and digest, and then its bytes are written as they
come. Only whole files with that digest are kept; a name is given once in a conversation.
"""

import hashlib
import os
import re
import unicodedata
from collections.abc import AsyncIterable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from silas.clock import Clock
from silas.context.conversation_store import FIRST
from silas.context.errors import ContextError
from silas.db import Database, Tx
from silas.errors import SandboxError
from silas.types import new_id
from silas.workspace.tree import open_descriptor, open_dir, open_file, open_root

PLACE: Final = "@attached"
"""Where looks find the attached files, as a path that no workspace is expected to have."""

ATTACHED: Final = f"Attached: {PLACE}/"
"""What a line begins with that names a file in the message that it was attached to."""

LARGEST: Final = 25_000_000
"""Bytes of one file."""

MOST_BYTES: Final = 250_000_000
"""Bytes of all files of a conversation."""

MOST_FILES: Final = 100
"""Files of a conversation."""

_LONGEST: Final = 80  # characters of a name
_STALE: Final = timedelta(hours=1)  # after which what was announced and did not come is given up
_PIECE: Final = 1 << 16
_UNSAFE: Final = re.compile(r"[^\w.+()-]+")

_COLUMNS: Final = "id, conversation, name, size, digest, attached_at, state"
_OF: Final = f"SELECT {_COLUMNS} FROM attachments WHERE conversation = :conversation ORDER BY seq"
_ONE: Final = f"SELECT {_COLUMNS} FROM attachments WHERE id = :id"
_ADD: Final = f"""
INSERT INTO attachments ({_COLUMNS})
VALUES (:id, :conversation, :name, :size, :digest, :attached_at, :state)
"""
_STATE: Final = "UPDATE attachments SET state = :state WHERE id = :id"
_GIVE_UP: Final = "DELETE FROM attachments WHERE id = :id"


class AttachmentRow(NamedTuple):
    """One attached file.

    Attributes:
        id: Names it.
        conversation: Which conversation it belongs to; empty for the first one.
        name: What it is called there, given once.
        size: Bytes.
        digest: Hex SHA-256 of its bytes.
        attached_at: When, as ISO 8601.
        state: `expected` until all bytes came, `kept`, or `removed`.
    """

    id: str
    conversation: str
    name: str
    size: int
    digest: str
    attached_at: str
    state: str


Witness = Callable[[AttachmentRow], object]
"""Records what is done with a file, in the transaction that does it."""


class AttachmentStore:
    """The attached files; statements are tiny and run inline (decision A23).

    Files are opened below the folder of their conversation, without a link on the way. Names begin
    with no dot, so what does is the store's own.

    Args:
        db: Where they are listed.
        clock: When.
        root: Holds a folder for each conversation; made when the first file comes.
    """

    def __init__(self, db: Database, clock: Clock, root: Path) -> None:
        self._db = db
        self._clock = clock
        self._root = root

    def announce(self, conversation: str, name: str, size: int, digest: str) -> AttachmentRow:
        """Say which file comes; its name is cleaned, and numbered where it was given before.

        Raises:
            ContextError: It is empty or too large, or the conversation has no room for it.
        """
        if not 0 < size <= LARGEST:
            raise ContextError(too_large(name, size), code="E_CTX_ATTACHMENT_SIZE")
        now = self._clock.now()
        with self._db.write() as tx:
            rows = _rows(tx, conversation)
            for row in rows:
                if row.state == "expected" and now - _moment(row) > _STALE:
                    self._give_up(tx, row)
            held = [row for row in _rows(tx, conversation) if row.state != "removed"]
            if len(held) >= MOST_FILES or sum(row.size for row in held) + size > MOST_BYTES:
                raise ContextError(
                    f"A conversation holds at most {MOST_FILES} files and "
                    f"{in_megabytes(MOST_BYTES)}; remove some, or attach it to another one.",
                    code="E_CTX_ATTACHMENT_ROOM",
                )
            taken = {row.name.casefold() for row in rows}
            told = number_name(clean_name(name), taken)
            row = AttachmentRow(
                new_id("file"), conversation, told, size, digest, now.isoformat(), "expected"
            )
            tx.run(_ADD, **row._asdict())
        return row

    async def receive(
        self, attachment_id: str, pieces: AsyncIterable[bytes], witness: Witness
    ) -> AttachmentRow:
        """Write the bytes of an announced file as they come; all of them, or nothing is kept.

        Args:
            attachment_id, pieces: Which, and its bytes.
            witness: Called in the transaction that keeps it; where it raises, nothing is kept.

        Raises:
            ContextError: Nothing of this id is expected, or it is not the file that was announced.
        """
        row = self.one(attachment_id)
        if row.state != "expected":
            raise _unknown_error(attachment_id)
        with self._folder(row, make=True) as folder:
            part, kept = f".{row.id}", False
            made = part
            try:
                await _write_new(folder, part, row, pieces)
                with self._db.write() as tx:
                    tx.run(_STATE, id=row.id, state="kept")
                    witness(row)
                    os.rename(part, row.name, src_dir_fd=folder, dst_dir_fd=folder)
                    made = row.name
                kept = True
            finally:
                if not kept:
                    with suppress(OSError):
                        os.unlink(made, dir_fd=folder)
        return row._replace(state="kept")

    def one(self, attachment_id: str) -> AttachmentRow:
        """The attachment of this id, whatever its state. Raises `ContextError` for none."""
        with self._db.read() as tx:
            found = tx.run(_ONE, id=attachment_id).fetchone()
        if found is None:
            raise _unknown_error(attachment_id)
        return AttachmentRow(*found)

    def get_kept(self, attachment_id: str) -> AttachmentRow:
        """The attachment of this id whose file is there. Raises `ContextError` for none."""
        row = self.one(attachment_id)
        if row.state != "kept":
            raise _unknown_error(attachment_id)
        return row

    def of(self, conversation: str) -> list[AttachmentRow]:
        """The files of a conversation, those that were removed, too; the first attached first."""
        with self._db.read() as tx:
            return [row for row in _rows(tx, conversation) if row.state != "expected"]

    def remove(self, attachment_id: str, witness: Witness) -> AttachmentRow:
        """Delete its file, unless `witness` raises. Raises `ContextError` where there is none."""
        row = self.get_kept(attachment_id)
        with self._db.write() as tx:
            tx.run(_STATE, id=row.id, state="removed")
            witness(row)
            with suppress(ContextError), self._folder(row) as folder, suppress(FileNotFoundError):
                os.unlink(row.name, dir_fd=folder)
        return row._replace(state="removed")

    def content(self, attachment_id: str) -> Generator[bytes]:
        """The bytes of a file, piece by piece. Raises `ContextError` where it is not there."""
        row = self.get_kept(attachment_id)
        with self._folder(row) as folder:
            try:
                descriptor = open_file(row.name, folder)
            except OSError as error:
                raise _unknown_error(attachment_id) from error
        return _pieces(os.fdopen(descriptor, "rb"))

    def folder_of(self, conversation: str) -> str:
        """Where the files of a conversation lie; empty where it has none."""
        there = any(row.state == "kept" for row in self.of(conversation))
        return str(self._place(conversation)) if there else ""

    def _place(self, conversation: str) -> Path:
        return self._root.resolve() / (conversation or FIRST)

    @contextmanager
    def _folder(self, row: AttachmentRow, *, make: bool = False) -> Generator[int]:
        """The folder of a conversation, opened; `make` where it is not there yet."""
        place = self._place(row.conversation)
        try:
            if make:
                place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_descriptor(open_root(place.parent)) as root:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(place.name, 0o700, dir_fd=root)
                opened = open_dir(place.name, root)
        except (OSError, SandboxError) as error:
            raise ContextError(
                f"The folder of the attached files cannot be used ({error}).",
                code="E_CTX_ATTACHMENT_FOLDER",
            ) from error
        with open_descriptor(opened) as folder:
            yield folder

    def _give_up(self, tx: Tx, row: AttachmentRow) -> None:
        with suppress(ContextError), self._folder(row) as folder, suppress(FileNotFoundError):
            os.unlink(f".{row.id}", dir_fd=folder)
        tx.run(_GIVE_UP, id=row.id)


async def _write_new(
    folder: int, part: str, row: AttachmentRow, pieces: AsyncIterable[bytes]
) -> None:
    """Write what comes into a new file, and see that it is what was announced."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(part, flags, 0o600, dir_fd=folder)
    except FileExistsError as error:
        raise ContextError(
            f"{row.name} is being sent already; wait for it, or attach it once more.",
            code="E_CTX_ATTACHMENT_BUSY",
        ) from error
    digest, size = hashlib.sha256(), 0
    with os.fdopen(descriptor, "wb") as file:
        async for piece in pieces:
            size += len(piece)
            if size > row.size:
                break
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if size != row.size or digest.hexdigest() != row.digest:
        raise ContextError(
            f"What came is not the file {row.name} that was announced; attach it once more.",
            code="E_CTX_ATTACHMENT_DIGEST",
        )


def _pieces(file: BinaryIO) -> Generator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


def clean_name(name: str) -> str:
    """A file's name as it is kept: its last part, in plain characters, without a leading dot."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    plain = _UNSAFE.sub("-", last).strip("-")
    plain = re.sub(r"\A[.-]+|[.-]+\Z", "", plain) or "file"
    stem, dot, ending = plain.rpartition(".")
    if not dot:
        return plain[:_LONGEST]
    ending = ending[:10]
    return f"{stem[: _LONGEST - len(ending) - 1]}.{ending}"


def number_name(name: str, taken: set[str]) -> str:
    """A name that none of the taken ones is, compared without case: `a.txt`, `a-2.txt`."""
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    number, told = 1, name
    while told.casefold() in taken:
        number += 1
        told = f"{stem}-{number}{dot}{ending}"
    return told


def too_large(name: str, size: int) -> str:
    """Why a file of this size cannot be attached, in one sentence."""
    if size <= 0:
        return f"{clean_name(name)} is empty, so there is nothing to attach."
    return (
        f"{clean_name(name)} has {in_megabytes(size)}, and a file of at most "
        f"{in_megabytes(LARGEST)} can be attached; put it into the workspace and name it in your "
        "message."
    )


def in_megabytes(size: int) -> str:
    """`25 MB`, `0.3 MB`; units are of 1,000."""
    return f"{size / 1e6:,.0f} MB" if size >= 10_000_000 else f"{size / 1e6:.1f} MB"


def _rows(tx: Tx, conversation: str) -> Sequence[AttachmentRow]:
    return [AttachmentRow(*row) for row in tx.run(_OF, conversation=conversation)]


def _moment(row: AttachmentRow) -> datetime:
    return datetime.fromisoformat(row.attached_at)


def _unknown_error(attachment_id: Any) -> ContextError:
    return ContextError(
        f"There is no attached file {attachment_id!r}.", code="E_CTX_ATTACHMENT_UNKNOWN"
    )
