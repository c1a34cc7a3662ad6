"""The program that makes a picture anew; it runs inside the sandbox and needs Python alone.

It reads the path of a PNG from standard input and prints a new one of the same picture as base64:
header, palette, transparency and pixels, each checked, and nothing else that the file held. Exit
code `REFUSED` is a sentence that says why there is none. It imports nothing of Silas.
"""

import base64
import os
import struct
import sys
import zlib

REFUSED = 3
MOST_SIDE = 10_000  # pixels
MOST_PIXELS = 16_000_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
           (0, 1, 1, 2))  # fmt: skip
_PALETTE = 256
_FILTERS = 5


class PictureRefused(Exception):
    """It is no picture that can be shown; its text is the sentence that says why."""


def parts(data: bytes) -> dict[bytes, bytes]:
    """The chunks that make the picture, those of one name together. Raises `PictureRefused`."""
    if not data.startswith(_SIGNATURE):
        raise PictureRefused("is no PNG")
    found, at = dict[bytes, bytes](), len(_SIGNATURE)
    while b"IEND" not in found:
        length, name = struct.unpack_from(">I4s", data, at)
        body, (check,) = (
            data[at + 8 : at + 8 + length],
            struct.unpack_from(">I", data, at + 8 + length),
        )
        if zlib.crc32(name + body) != check or (not found and name != b"IHDR"):
            raise PictureRefused("is a damaged PNG")
        if name in found and name != b"IDAT":
            raise PictureRefused("has a part twice")
        found[name] = found.get(name, b"") + body
        at += 12 + length
    return found


def rows_of(header: bytes) -> list[tuple[int, int]]:
    """For each pass its rows and the bytes of one. Raises `PictureRefused`."""
    width, height, depth, colour, packing, filtering, interlace = struct.unpack(">IIBBBBB", header)
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE and width * height <= MOST_PIXELS):
        raise PictureRefused(f"has {width} by {height} pixels, which is more than is shown")
    if depth not in _DEPTHS.get(colour, ()) or packing or filtering or interlace > 1:
        raise PictureRefused("has colours that no PNG has")
    bits = depth * _CHANNELS[colour]
    if not interlace:
        return [(height, 1 + (width * bits + 7) // 8)]
    sizes = [
        ((width - x + across - 1) // across, (height - y + down - 1) // down)
        for x, y, across, down in _PASSES
    ]
    return [(high, 1 + (wide * bits + 7) // 8) for wide, high in sizes if wide > 0 and high > 0]


def anew(data: bytes) -> bytes:
    """The picture as a new PNG. Raises `PictureRefused`."""
    found = parts(data)
    rows = rows_of(found[b"IHDR"])
    expected = sum(count * length for count, length in rows)
    unpacked = zlib.decompressobj()
    pixels = unpacked.decompress(found[b"IDAT"], expected + 1)
    if len(pixels) != expected or not unpacked.eof:
        raise PictureRefused("has another number of pixels than it says")
    at = 0
    for count, length in rows:
        if any(kind >= _FILTERS for kind in pixels[at : at + count * length : length]):
            raise PictureRefused("is a damaged PNG")
        at += count * length
    kept = [(b"IHDR", found[b"IHDR"])]
    for name, most in ((b"PLTE", 3 * _PALETTE), (b"tRNS", _PALETTE)):
        if name in found:
            if not 0 < len(found[name]) <= most or (name == b"PLTE" and len(found[name]) % 3):
                raise PictureRefused("has colours that no PNG has")
            kept.append((name, found[name]))
    kept += [(b"IDAT", zlib.compress(pixels, 6)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in kept
    )


def main() -> int:
    """One picture."""
    path = sys.stdin.read()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            made = anew(file.read())
    except PictureRefused as refused:
        sys.stdout.write(str(refused))
        return REFUSED
    except (OSError, struct.error, zlib.error, KeyError):
        sys.stdout.write("is a damaged PNG")
        return REFUSED
    sys.stdout.write(base64.b64encode(made).decode("ascii"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
