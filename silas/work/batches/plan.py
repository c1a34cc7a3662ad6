"""What could be moved in a folder: a look and the rules, nothing asked and nothing changed."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from silas.work.batches.folder_scan import look_into, open_folder, require_allowed
from silas.work.batches.models import BatchRefused, FileMove, Folder, SkippedFile
from silas.work.batches.mover import TAKEN, stands
from silas.work.batches.rules import sort_files
from silas.workspace.tree import open_descriptor


class FolderPlan(NamedTuple):
    """What the rules propose for a folder, and what stays where it is."""

    folder: Folder
    moves: tuple[FileMove, ...]
    left: tuple[SkippedFile, ...]


def plan_folder(path: Path, own: Sequence[Path], now: datetime, only: str = "") -> FolderPlan:
    """Look at a folder and apply the rules.

    Args:
        path: As the owner named it.
        own: Where Silas's own data is, and what opens the owner's key.
        now: What ages are counted from.
        only: A pattern that files must fit; empty for all.

    Raises:
        BatchRefused: It cannot be tidied; the sentence says why and what to do.
    """
    folder, descriptor = open_folder(path)
    with open_descriptor(descriptor):
        require_allowed(folder.path, Path(os.path.expanduser("~")), own)
        found = sort_files(look_into(folder, descriptor, now, only), now)
        taken = {move.name for move in found.moves if move.target and stands(descriptor, move)}
    moves = tuple(move for move in found.moves if move.name not in taken)
    blocked = tuple(
        SkippedFile(move.name, f"{move.goal}: {TAKEN}")
        for move in found.moves
        if move.name in taken
    )
    return FolderPlan(folder, moves, (*found.left, *blocked))


def plan_named_folder(path: Path, own: Sequence[Path], now: datetime) -> FolderPlan:
    """The same of a folder that the clock goes by, which is the one that is named.

    Raises:
        BatchRefused: As `plan_folder`, and where a link leads to the folder.
    """
    real = Path(os.path.realpath(path))
    if real != path and path.exists():
        raise BatchRefused(
            f"{path} leads by a link to {real}; name that folder.", code="E_BATCH_FOLDER"
        )
    return plan_folder(path, own, now)
