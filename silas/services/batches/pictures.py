"""Small pictures of files on a batch's open card, made in the sandbox (spec 5.2.4)."""

import asyncio
import os
from collections.abc import Mapping

from silas.errors import SandboxError
from silas.language import tr_later
from silas.sandbox import Sandbox
from silas.services.attachments.pictures import small_picture
from silas.work.batches.folder_scan import LARGEST_PICTURE, identity_of, may_be_shown
from silas.work.batches.models import BatchRefused, FileBatch, FileMove
from silas.workspace.tree import open_descriptor, open_file


async def card_picture(
    shown: Mapping[str, FileBatch], batch_id: str, number: int, sandbox: Sandbox
) -> bytes:
    """A small PNG or JPEG of one file of a batch whose card is open.

    Args:
        shown: Batches whose cards are open, by their ids.
        batch_id: Which of them.
        number: Of the file on the card, from 1.
        sandbox: Where the picture is read; nothing of it is read elsewhere.

    Raises:
        BatchRefused: No such card is open, or there is no picture of this file.
    """
    batch = shown.get(batch_id)
    if batch is None or not 0 < number <= len(batch.moves):
        raise BatchRefused(
            tr_later("No card with this file is open any more."), code="E_BATCH_UNKNOWN"
        )
    move = batch.moves[number - 1]
    if not may_be_shown(move):
        raise _no_picture(move, "is no picture of which a small one is shown")
    try:
        return await small_picture(await asyncio.to_thread(_content, batch, move), sandbox)
    except OSError as error:
        raise _no_picture(move, f"cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise _no_picture(move, str(error)) from error
    except SandboxError as error:
        raise _no_picture(move, f"could not be made small ({error.message})") from error


def _content(batch: FileBatch, move: FileMove) -> bytes:
    """The bytes of the very file that the card is about. Raises `ValueError` for another one."""
    folder = batch.folder
    parent = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open_descriptor(parent):
        state = os.fstat(parent)
        if (state.st_dev, state.st_ino) != (folder.device, folder.inode):
            raise ValueError("is not there any more")
        with open_descriptor(open_file(move.name, parent)) as reading:
            if identity_of(os.fstat(reading)) != move.identity._replace(digest=""):
                raise ValueError("changed since its card was shown")
            with open(reading, "rb", closefd=False) as file:
                return file.read(LARGEST_PICTURE)


def _no_picture(move: FileMove, why: str) -> BatchRefused:
    return BatchRefused(f"{move.name} {why}.", code="E_BATCH_NO_PICTURE")
