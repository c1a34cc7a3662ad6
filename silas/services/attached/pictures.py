"""Attached pictures, made anew in the sandbox before a page shows them."""

import base64
import binascii
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Final

from silas.context.attachments import PLACE, AttachmentRow
from silas.context.errors import ContextError
from silas.errors import SandboxError
from silas.sandbox import Mount, Sandbox, SandboxFiles, SandboxLimits
from silas.services.attached.picture_program import REFUSED
from silas.tools.builtin.files import INTERPRETER_OPTIONS

LARGEST_PICTURE: Final = 4_000_000
"""Bytes of a picture that is shown; a larger one is a file."""

SMALL: Final = 160
"""Pixels of the longer side of a small picture."""

_LIMITS: Final = SandboxLimits(
    wall_seconds=20.0, cpu_seconds=15, processes=16, output_bytes=4 * LARGEST_PICTURE
)
_INSIDE: Final = Path("/attached")


@cache
def _program() -> str:
    return (
        resources("silas.services.attached")
        .joinpath("picture_program.py")
        .read_text(encoding="utf-8")
    )


async def small_picture(content: bytes, sandbox: Sandbox) -> bytes:
    """A PNG of at most `SMALL` pixels a side, made of another one in the sandbox.

    Raises:
        ValueError: There is none; its text says why.
        SandboxError: There is no sandbox.
    """
    files = SandboxFiles(cwd=_INSIDE, mounts=(), stdin=content)
    argv = ["python3", *INTERPRETER_OPTIONS, _program(), str(SMALL)]
    ran = await sandbox.run(argv, _LIMITS, files)
    if ran.exit_code == REFUSED:
        raise ValueError(ran.stdout.strip()[:200])
    try:
        if ran.exit_code == 0 and ran.ended_by == "exit":
            return base64.b64decode(ran.stdout, validate=True)
    except binascii.Error:
        pass
    raise ValueError("could not be made small")


async def made_anew(row: AttachmentRow, folder: str, sandbox: Sandbox) -> bytes:
    """A new PNG of an attached one: its pixels, and nothing else that the file held.

    Args:
        row: The file.
        folder: Where it lies.
        sandbox: Where it is read; nothing of it is read elsewhere.

    Raises:
        ContextError: It is no picture that is shown, and stays a file.
    """
    if row.size > LARGEST_PICTURE:
        raise _no_picture(row, f"is larger than {LARGEST_PICTURE // 10**6} MB")
    place = _INSIDE / PLACE
    files = SandboxFiles(
        cwd=_INSIDE,
        mounts=(Mount(source=Path(folder), target=place),),
        stdin=str(place / row.name).encode(),
    )
    try:
        ran = await sandbox.run(["python3", *INTERPRETER_OPTIONS, _program()], _LIMITS, files)
    except SandboxError as error:
        raise _no_picture(row, f"could not be made anew ({error.message})") from error
    if ran.exit_code == REFUSED:
        raise _no_picture(row, ran.stdout.strip()[:200])
    try:
        if ran.exit_code == 0 and ran.ended_by == "exit":
            return base64.b64decode(ran.stdout, validate=True)
    except binascii.Error:
        pass
    raise _no_picture(row, "could not be made anew")


def _no_picture(row: AttachmentRow, why: str) -> ContextError:
    return ContextError(f"{row.name} {why}, so it is shown as a file.", code="E_CTX_NO_PICTURE")
