"""Attached pictures in the real sandbox: made anew of their pixels, or shown as a file."""

import hashlib
import io
import struct
import zlib

import pytest
from PIL import Image

from tests.cockpit.house import House, a_house
from tests.cockpit.test_attachments import announced, sent

SIGNATURE = b"\x89PNG\r\n\x1a\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"


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


async def _picture(house: House, name: str, content: bytes) -> tuple[int, bytes, str]:
    digest = hashlib.sha256(content).hexdigest()
    row = (await announced(house, name, size=len(content), digest=digest)).json()
    await sent(house, row["id"], content)
    answer = await house.client.get(f"/attachments/{row['id']}/picture")
    return answer.status_code, answer.content, answer.headers["content-type"]


def a_photograph(
    form: str, size: tuple[int, int] = (40, 20), *, turned: bool = False, note: str = ""
) -> bytes:
    """A picture of another format: its left half red, its right one blue."""
    shown = Image.new("RGB", size, (200, 30, 30))
    shown.paste((30, 30, 200), (size[0] // 2, 0, *size))
    exif = Image.Exif()
    exif[0x010E] = note or "nothing"
    if turned:
        exif[0x0112] = 6  # to be turned a quarter to the right
    out = io.BytesIO()
    shown.save(out, form, exif=exif, comment=note, icc_profile=note.encode())
    return out.getvalue()


def pixels(made: bytes) -> Image.Image:
    """What the page gets, as pixels."""
    return Image.open(io.BytesIO(made)).convert("RGB")


async def test_a_picture_is_made_anew_of_its_pixels_and_of_nothing_else() -> None:
    hidden = chunk(b"tEXt", b"Comment\0" + SVG) + chunk(b"eXIf", b"48.2 N, 16.3 E")
    content = a_png(more=hidden) + SVG
    async with a_house() as house:
        status, made, kind = await _picture(house, "a.png", content)
    assert (status, kind) == (200, "image/png")
    assert b"svg" not in made + zlib.decompress(made[41:-16])
    assert b"eXIf" not in made
    assert pixels(made).tobytes() == b"\xc0\x20\x20" * 6


@pytest.mark.parametrize("form", ["JPEG", "WEBP", "GIF"])
async def test_a_photograph_keeps_its_pixels_and_loses_what_its_camera_wrote(form: str) -> None:
    secret = "48.2082 N, 16.3738 E"
    content = a_photograph(form, note=secret)
    assert secret.encode() in content
    async with a_house() as house:
        status, made, kind = await _picture(house, f"a.{form.lower()}", content)
    assert (status, kind) == (200, "image/png" if form == "GIF" else "image/jpeg")
    assert secret.encode() not in made
    shown = pixels(made)
    assert shown.size == (40, 20)
    left, right = shown.getpixel((5, 10)), shown.getpixel((35, 10))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert left[0] > 150 > right[0]
    assert right[2] > 150 > left[2]


async def test_a_photograph_stands_upright_and_is_no_larger_than_a_page_needs() -> None:
    async with a_house() as house:
        _, turned, _ = await _picture(house, "a.jpg", a_photograph("JPEG", turned=True))
        _, large, _ = await _picture(house, "b.jpg", a_photograph("JPEG", (4000, 1000)))
        _, most, _ = await _picture(house, "c.webp", a_photograph("WEBP", (7000, 7000)))
    assert pixels(turned).size == (20, 40)
    assert pixels(large).size == (1600, 400)
    assert pixels(most).size == (1600, 1600)  # the decoder that needs the most memory


REFUSED = {
    "an SVG with a script": (SVG, "is no PNG, JPEG, GIF or WebP"),
    "a JPEG of nothing": (b"\xff\xd8\xff\xe0" + b"\0" * 99, "is no PNG, JPEG, GIF or WebP"),
    "a PDF": (b"%PDF-1.7\n", "is no PNG, JPEG, GIF or WebP"),
    "an EPS, which another program would draw": (EPS, "is no PNG, JPEG, GIF or WebP"),
    "cut off": (a_png((200, 200))[:-90], "cannot be read as a picture"),
    "a JPEG that is cut off": (
        a_photograph("JPEG", (800, 800))[:-900],
        "cannot be read as a picture",
    ),
    "a sum that does not fit": (a_png()[:29] + b"x" + a_png()[30:], "is no PNG"),
    "fewer pixels than it says": (a_png((200, 200), pixels=b"\0"), "cannot be read as a picture"),
    "too many pixels": (a_png((9000, 9000), pixels=b"\0"), "has more pixels than are shown"),
    "far too many": (a_png((90_000, 90_000), pixels=b"\0"), "has more pixels than are shown"),
    "a GIF of 50,000 by 50,000": (
        b"GIF89a" + struct.pack("<HHBBB", 50_000, 50_000, 0, 0, 0) + b";",
        "so it is shown as a file.",
    ),
    "a TIFF": (b"II*\0\x08\0\0\0\0\0\0\0\0\0", "is no PNG, JPEG, GIF or WebP"),
    "a page that a picture follows": (b"<!doctype html><script>" + a_png(), "is no PNG"),
    "a long line": (a_png((40_000, 1), pixels=b"\0"), "has more pixels than are shown"),
}


@pytest.mark.parametrize("case", list(REFUSED))
async def test_what_is_no_picture_that_is_shown_stays_a_file(case: str) -> None:
    content, why = REFUSED[case]
    async with a_house() as house:
        status, said, _ = await _picture(house, "a.png", content)
    assert status == 409
    assert why in said.decode()
    assert said.decode().count("so it is shown as a file.") == 1


async def test_a_page_behind_a_picture_is_in_no_byte_of_what_is_shown() -> None:
    async with a_house() as house:
        hidden = b"<!doctype html><script>alert(1)</script>"
        more = chunk(b"tEXt", b"Comment\0" + hidden)
        status, made, kind = await _picture(house, "a.png", a_png(more=more) + hidden)
    assert (status, kind) == (200, "image/png")
    assert b"script" not in made
    assert pixels(made).size == (3, 2)
