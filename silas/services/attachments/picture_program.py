"""The program that makes a picture anew with Pillow; it runs inside the sandbox, and there alone.

`python -c PROGRAM DIRECTORY SIDE [PATH]`: Pillow lies in the directory, the picture is the file at
the path, else standard input. It prints a new picture of the same pixels, at most so many a side,
as base64: a JPEG of a photograph, else a PNG, and nothing else that the file held. Exit code
`REFUSED` is a sentence that says why there is none. It imports nothing of Silas.
"""

import base64
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

REFUSED = 3
MOST_SIDE = 20_000  # pixels
MOST_PIXELS = 50_000_000
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
PHOTOGRAPHS = ("JPEG", "WEBP")


class PictureRefused(Exception):
    """It is no picture that can be shown; its text is the sentence that says why."""


def anew(data: bytes, side: int) -> bytes:
    """The picture's pixels as a new one. Raises `PictureRefused`."""
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - found by `main`

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    try:
        opened = Image.open(io.BytesIO(data), formats=FORMATS)
    except UnidentifiedImageError:
        raise PictureRefused("is no PNG, JPEG, GIF or WebP") from None
    except Image.DecompressionBombError:
        raise PictureRefused("has more pixels than are shown") from None
    wide, high = opened.size
    if not (0 < wide <= MOST_SIDE and 0 < high <= MOST_SIDE and wide * high <= MOST_PIXELS):
        raise PictureRefused("has more pixels than are shown")
    opened.draft("RGB", (side, side))  # a JPEG is read no larger than it is needed
    clear = opened.has_transparency_data
    photograph = opened.format in PHOTOGRAPHS and not clear
    shown = opened.convert("RGBA" if clear else "RGB")
    shown.thumbnail((side, side))
    return encode_picture(upright(shown), photograph=photograph)


def upright(shown: "Image") -> "Image":
    """The picture as its camera was held, where the file says so and can be read."""
    from PIL import ImageOps  # noqa: PLC0415 - found by `main`

    try:
        return ImageOps.exif_transpose(shown)
    except Exception:  # a note of any kind that is damaged, beside a picture that is not
        return shown


def encode_picture(shown: "Image", *, photograph: bool) -> bytes:
    """A file of these pixels: of a new picture, which knows nothing of the old one."""
    from PIL import Image  # noqa: PLC0415 - found by `main`

    made = Image.frombytes(shown.mode, shown.size, shown.tobytes())
    out = io.BytesIO()
    if photograph:
        made.save(out, "JPEG", quality=85)
    else:
        made.save(out, "PNG")
    return out.getvalue()


def read_picture(path: str) -> bytes:
    """The bytes of the picture."""
    if not path:
        return sys.stdin.buffer.read()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def main() -> int:
    """One picture."""
    library, side, path = sys.argv[1], int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
    sys.path.insert(0, library)
    try:
        made = anew(read_picture(path), side)
    except PictureRefused as refused:
        sys.stdout.write(str(refused))
        return REFUSED
    except ImportError:
        raise  # the sandbox has no Pillow: a fault of ours, not of the picture
    except Exception:  # what a decoder says of a damaged file, or where memory ends, is of any kind
        sys.stdout.write("cannot be read as a picture")
        return REFUSED
    sys.stdout.write(base64.b64encode(made).decode("ascii"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
