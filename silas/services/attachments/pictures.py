"""Pictures, made anew in the sandbox before a page shows them."""

import base64
import binascii
import sys
from functools import cache
from importlib.resources import files as resources
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from silas.context.attachments import PLACE, AttachmentRow
from silas.context.errors import ContextError
from silas.errors import SandboxError
from silas.sandbox import Mount, Sandbox, SandboxFiles, SandboxLimits
from silas.services.attachments.picture_program import REFUSED
from silas.tools.builtin.files import INTERPRETER_OPTIONS

LARGEST_PICTURE: Final = 12_000_000
"""Bytes of a picture that is shown; a larger one is a file."""

SMALL: Final = 160
"""Pixels of the longer side of a small picture."""

WHOLE: Final = 1600
"""Pixels of the longer side of a picture in a conversation, at most."""

_LIMITS: Final = SandboxLimits(
    memory_mb=1280, wall_seconds=20.0, cpu_seconds=15, processes=16, output_bytes=16_000_000
)
_INSIDE: Final = Path("/attached")
_LIBRARY: Final = Path("/pillow")
_SYSTEM: Final = Path("/usr")


class _Decoder(NamedTuple):
    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]


@cache
def _decoder() -> _Decoder:
    """Silas's own interpreter and Pillow, which is built for it, as the sandbox sees them."""
    program = resources("silas.services.attachments").joinpath("picture_program.py")
    found = find_spec("PIL")
    assert found is not None
    assert found.submodule_search_locations
    package = Path(found.submodule_search_locations[0]).resolve()
    shown = [(package, _LIBRARY / "PIL")]
    shared = package.parent / "pillow.libs"  # the wheel's shared libraries, beside the package
    if shared.is_dir():
        shown.append((shared, _LIBRARY / "pillow.libs"))
    base, interpreter = Path(sys.base_prefix).resolve(), Path(sys.executable).resolve()
    if base != _SYSTEM:  # the system's is there
        shown += [(path, path) for path in (base / "bin", base / "lib")]
    argv = (str(interpreter), *INTERPRETER_OPTIONS, program.read_text(encoding="utf-8"))
    return _Decoder(
        (*argv, str(_LIBRARY)), tuple(Mount(source=one, target=there) for one, there in shown)
    )


async def small_picture(content: bytes, sandbox: Sandbox) -> bytes:
    """A PNG or JPEG of at most `SMALL` pixels a side, made of another picture in the sandbox.

    Raises:
        ValueError: There is none; its text says why.
        SandboxError: There is no sandbox.
    """
    return await _run_decoder(sandbox, str(SMALL), stdin=content)


async def made_anew(row: AttachmentRow, folder: str, sandbox: Sandbox) -> bytes:
    """A new PNG or JPEG of an attached picture: its pixels, and nothing else that the file held.

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
    mount = Mount(source=Path(folder), target=place)
    try:
        return await _run_decoder(sandbox, str(WHOLE), str(place / row.name), mounts=(mount,))
    except SandboxError as error:
        raise _no_picture(row, f"could not be made anew ({error.message})") from error
    except ValueError as error:
        raise _no_picture(row, str(error)) from error


async def _run_decoder(
    sandbox: Sandbox, *arguments: str, mounts: tuple[Mount, ...] = (), stdin: bytes = b""
) -> bytes:
    decoder = _decoder()
    files = SandboxFiles(cwd=_INSIDE, mounts=(*decoder.mounts, *mounts), stdin=stdin)
    ran = await sandbox.run([*decoder.argv, *arguments], _LIMITS, files)
    if ran.exit_code == REFUSED:
        raise ValueError(ran.stdout.strip()[:200])
    try:
        if ran.exit_code == 0 and ran.ended_by == "exit":
            return base64.b64decode(ran.stdout, validate=True)
    except binascii.Error:
        pass
    raise ValueError("could not be made anew")


def _no_picture(row: AttachmentRow, why: str) -> ContextError:
    return ContextError(f"{row.name} {why}, so it is shown as a file.", code="E_CTX_NO_PICTURE")
