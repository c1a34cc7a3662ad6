"""The program that makes a picture anew; it runs inside the sandbox and needs Python alone.

It reads the path of a PNG from standard input and prints a new one of the same picture as base64:
header, palette, transparency and pixels, each checked, and nothing else that the file held. With a
number of pixels as argument it reads the PNG itself and prints a small one. Exit code `REFUSED` is
a sentence that says why there is none. It imports nothing of Silas.
"""

import base64
import os
import struct
import sys
import zlib
from collections.abc import Callable
from itertools import accumulate

REFUSED = 3
MOST_SIDE = 10_000  # pixels
MOST_PIXELS = 16_000_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_PASSES = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
           (0, 1, 1, 2))  # fmt: skip
MOST_DECODED = 12_000_000  # bytes of pixels of which a small picture is made
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


def pixels_of(found: dict[bytes, bytes]) -> bytes:
    """Rows of pixels, each behind the number of its filter. Raises `PictureRefused`."""
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
    return pixels


def anew(data: bytes) -> bytes:
    """The picture as a new PNG. Raises `PictureRefused`."""
    found = parts(data)
    pixels = pixels_of(found)
    kept = [(b"IHDR", found[b"IHDR"])]
    for name, most in ((b"PLTE", 3 * _PALETTE), (b"tRNS", _PALETTE)):
        if name in found:
            if not 0 < len(found[name]) <= most or (name == b"PLTE" and len(found[name]) % 3):
                raise PictureRefused("has colours that no PNG has")
            kept.append((name, found[name]))
    return written([*kept, (b"IDAT", zlib.compress(pixels, 6)), (b"IEND", b"")])


def written(kept: list[tuple[bytes, bytes]]) -> bytes:
    """A PNG of these parts."""
    return _SIGNATURE + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in kept
    )


def _sum(a: int, b: int) -> int:
    return (a + b) & 255


def unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """One row of pixels; `step` is the bytes of one pixel."""
    if kind == 0:
        return line
    if kind == 1:
        made = bytearray(len(line))
        for at in range(step):
            made[at::step] = bytes(accumulate(line[at::step], _sum))
        return bytes(made)
    if kind == 2:
        return bytes((a + b) & 255 for a, b in zip(line, above, strict=True))
    made = bytearray(step) + line
    up = bytes(step) + above
    for at in range(step, len(made)):
        left, over, corner = made[at - step], up[at], up[at - step]
        if kind == 3:
            near = (left + over) >> 1
        else:
            by_left, by_over = abs(over - corner), abs(left - corner)
            by_corner = abs(left + over - 2 * corner)
            near = (
                left
                if by_left <= by_over and by_left <= by_corner
                else over
                if by_over <= by_corner
                else corner
            )
        made[at] = (made[at] + near) & 255
    return bytes(made[step:])


def small(data: bytes, side: int) -> bytes:
    """A PNG of at most so many pixels a side, of pixels of this one. Raises `PictureRefused`."""
    found = parts(data)
    wide, high, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", found[b"IHDR"])
    if interlace or depth < 8:
        raise PictureRefused("has pixels of a kind of which no small picture is made")
    if sum(count * length for count, length in rows_of(found[b"IHDR"])) > MOST_DECODED:
        raise PictureRefused("has more pixels than a small picture is made of")
    pixels, step = pixels_of(found), depth // 8 * _CHANNELS[colour]
    length, every = wide * step, -(-max(wide, high) // side)
    palette, above, rows = found.get(b"PLTE", b""), bytes(length), list[bytes]()
    for y in range(high):
        at = y * (1 + length)
        above = unfiltered(pixels[at], pixels[at + 1 : at + 1 + length], above, step)
        if y % every == 0:
            chosen = (above[x : x + step : depth // 8] for x in range(0, length, every * step))
            row = b"".join(chosen)
            rows.append(b"\0" + (b"".join(map(_colours(palette), row)) if colour == 3 else row))
    kept = 2 if colour == 3 else colour
    size = ((wide - 1) // every + 1, (high - 1) // every + 1)
    header = struct.pack(">IIBBBBB", *size, 8, kept, 0, 0, 0)
    body = zlib.compress(b"".join(rows), 9)
    return written([(b"IHDR", header), (b"IDAT", body), (b"IEND", b"")])


def _colours(palette: bytes) -> Callable[[int], bytes]:
    return lambda index: palette[3 * index : 3 * index + 3].ljust(3, b"\0")


def given() -> bytes:
    """What is to be shown: the file whose path is on standard input, or the picture itself."""
    if len(sys.argv) > 1:
        return small(sys.stdin.buffer.read(), int(sys.argv[1]))
    path = sys.stdin.read()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return anew(file.read())


def main() -> int:
    """One picture."""
    try:
        made = given()
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
