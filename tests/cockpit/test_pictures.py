"""Attached pictures in the real sandbox: made anew of their pixels, or shown as a file."""

import hashlib
import struct
import zlib

import pytest

from tests.cockpit.house import House, a_house
from tests.cockpit.test_attachments import announced, sent

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def chunk(name: bytes, body: bytes) -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def a_png(
    size: tuple[int, int] = (3, 2), pixels: bytes | None = None, more: bytes = b"", kind: int = 2
) -> bytes:
    """A small picture in red; `pixels` in place of its own, `more` before them."""
    wide, high = size
    rows = (b"\0" + b"\xc0\x20\x20" * wide) * high if pixels is None else pixels
    header = struct.pack(">IIBBBBB", wide, high, 8, kind, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(rows))
    return SIGNATURE + chunk(b"IHDR", header) + more + body + chunk(b"IEND", b"")


async def _picture(house: House, name: str, content: bytes) -> tuple[int, bytes]:
    digest = hashlib.sha256(content).hexdigest()
    row = (await announced(house, name, size=len(content), digest=digest)).json()
    await sent(house, row["id"], content)
    answer = await house.client.get(f"/attachments/{row['id']}/picture")
    return answer.status_code, answer.content


async def test_a_picture_is_made_anew_of_its_pixels_and_of_nothing_else() -> None:
    hidden = chunk(b"tEXt", b"Comment\0" + SVG) + chunk(b"eXIf", b"48.2 N, 16.3 E")
    content = a_png(more=hidden) + SVG
    async with a_house() as house:
        status, made = await _picture(house, "a.png", content)
    assert status == 200
    assert b"svg" not in made + zlib.decompress(made[41:-16])
    assert b"eXIf" not in made
    assert made[: 8 + 25] == content[: 8 + 25]  # the same size and colours
    assert zlib.decompress(made[41:-16]) == (b"\0" + b"\xc0\x20\x20" * 3) * 2


REFUSED = {
    "an SVG with a script": (SVG, "is no PNG"),
    "a JPEG": (b"\xff\xd8\xff\xe0" + b"\0" * 99, "is no PNG"),
    "cut off": (a_png()[:-30], "is a damaged PNG"),
    "a sum that does not fit": (a_png()[:-1] + b"x", "is a damaged PNG"),
    "more pixels than it says": (a_png(pixels=b"\0" * 9_000_000), "another number of pixels"),
    "fewer": (a_png(pixels=b"\0"), "another number of pixels"),
    "a filter that is none": (a_png(pixels=(b"\7" + b"x" * 9) * 2), "is a damaged PNG"),
    "too many pixels": (a_png((9000, 9000), pixels=b"\0"), "more than is shown"),
    "a colour type that is none": (a_png(kind=5), "colours that no PNG has"),
    "two headers": (a_png(more=a_png()[8:33]), "has a part twice"),
}


@pytest.mark.parametrize("case", list(REFUSED))
async def test_what_is_no_picture_that_is_shown_stays_a_file(case: str) -> None:
    content, why = REFUSED[case]
    async with a_house() as house:
        status, said = await _picture(house, "a.png", content)
    assert status == 409
    assert why in said.decode()
    assert said.decode().count("so it is shown as a file.") == 1
