"""What a batch of file moves is made of (spec 3.11)."""

import json
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pydantic import AwareDatetime, Field

from silas.canonical import canonical_json
from silas.errors import SilasError
from silas.types import FrozenModel

MOVE = "move"
"""The action of the files domain."""


class BatchRefused(SilasError):
    """A batch cannot be made, found or undone as asked; nothing was moved."""

    family = "E_BATCH"


class Band(StrEnum):
    """How sure a rule is of an item, which decides what the owner is shown (spec 5.9)."""

    high = "high"
    """In a batch, chosen."""
    medium = "medium"
    """In a batch of its own, unchosen."""
    low = "low"
    """Told on an attention card first."""
    novel = "novel"
    """No rule fits: asked on a teaching card."""


class FileIdentity(NamedTuple):
    """Which file it is, and in which state.

    Attributes:
        device, inode: Which file.
        size: Bytes.
        modified, changed: When its content and when anything of it changed last, in nanoseconds.
            No program can set the second one, so a file with the same one is as it was.
        digest: Hex SHA-256 of its content; empty where it was not read whole.
    """

    device: int
    inode: int
    size: int
    modified: int
    changed: int
    digest: str = ""


class FileMove(NamedTuple):
    """One file, and where a rule puts it.

    Attributes:
        name: Its name in the folder.
        target: The folder below that it goes to, relative, with `/`.
        identity: Which file, in which state.
        group: What kind of files it belongs to, in words.
        reason: Why it goes there.
        confidence: How sure the rule is, 0 to 1; below 0 where no rule fits.
        about: Size, age and first line, in one line; a file's own words are in it.
        lines: The first lines of a text, which are its own words; not kept.
    """

    name: str
    target: str
    identity: FileIdentity
    group: str
    reason: str
    confidence: float
    about: str = ""
    lines: tuple[str, ...] = ()

    @property
    def goal(self) -> str:
        """Its new path, relative to the folder."""
        return f"{self.target}/{self.name}"


class Folder(NamedTuple):
    """The one folder in which files may be moved.

    Attributes:
        path: Its real path.
        device, inode: Which directory stood there when it was looked at.
    """

    path: Path
    device: int
    inode: int


class SkippedFile(NamedTuple):
    """What stays where it is, and why."""

    name: str
    why: str


class BatchActionItem(FrozenModel):
    """One item as an approval binds it (spec 3.11).

    Attributes:
        item_id: Names the file, its state and both paths: whatever differs is another item.
        title: What a person reads.
        actor: Where it comes from: the folder.
        occurred_at: When the file changed last.
        reason: Why it is in the batch.
        confidence: How sure the rule is.
    """

    item_id: str
    title: str
    actor: str
    occurred_at: AwareDatetime
    reason: str
    confidence: float


class BatchProposal(FrozenModel):
    """Some items to approve together (spec 3.11); `batch_id` is never what authorises."""

    batch_id: str
    goal_id: str
    action: str
    items: tuple[BatchActionItem, ...] = Field(min_length=1)
    reason_summary: str
    confidence_min: float
    created_at: AwareDatetime

    @property
    def item_ids(self) -> tuple[str, ...]:
        """In the order that an approval binds."""
        return tuple(item.item_id for item in self.items)


class FileBatch(NamedTuple):
    """A proposal, and the moves that its items stand for, in the same order."""

    proposal: BatchProposal
    folder: Folder
    moves: tuple[FileMove, ...]
    band: Band


def item_id_of(folder: Folder, move: FileMove) -> str:
    """The item's id: canonical JSON of the file, its state and where it goes, for signer and card.

    Anything about the move that changes makes another id, so an approval of ids is an approval of
    exactly these moves.
    """
    return canonical_json(
        {
            "folder": [str(folder.path), folder.device, folder.inode],
            "from": move.name,
            "to": move.goal,
            "file": list(move.identity),
        }
    )


def read_item_id(item_id: str) -> tuple[str, str]:
    """The two paths that an item's id names. Raises `ValueError` where it is none."""
    try:
        said = json.loads(item_id)
        folder, source, goal = said["folder"][0], said["from"], said["to"]
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError("this is no id of an item") from error
    if canonical_json(said) != item_id or not all(
        isinstance(one, str) for one in (folder, source, goal)
    ):
        raise ValueError("this is no id of an item")
    return f"{folder}/{source}", f"{folder}/{goal}"
