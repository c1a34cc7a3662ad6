"""Pictures of every screen and card of the cockpit, from a real server driven through its channel.

`make screenshots` writes them to docs/screenshots: phone and desktop, light and dark. Both clocks
stand still, so that the same page gives the same picture.
"""

import asyncio
import base64
import shutil
import struct
import sys
import tempfile
import zlib
from datetime import UTC, datetime
from pathlib import Path

from playwright.async_api import Browser, Page

from silas.clock import SystemClock
from tests.web.support.chromium import FOUND, HOW, chromium
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import SCHEMES, SIZES, Device, NewDevice, Scheme, Size, devices
from tests.web.support.screens import each_screen, live_in

PLACE = Path(__file__).resolve().parent.parent / "docs" / "screenshots"
NOW = datetime(2026, 3, 2, 9, 41, tzinfo=UTC)
HOUSE = Path(tempfile.gettempdir()) / "silas-pictures"
"""The same each time, since its name is in some pictures."""
MOST_OCTETS = 4_200_000


_NO_DATE = """
const get = Headers.prototype.get;
Headers.prototype.get = function (name) { return name === 'Date' ? null : get.call(this, name); };
"""
"""The web server's own clock goes on, and the page would follow it."""


class StillClock(SystemClock):
    """Waits as long as it is told, and always says the same time."""

    def now(self) -> datetime:
        return NOW


async def a_device(new: NewDevice, cockpit: Cockpit, size: Size, scheme: Scheme) -> Device:
    device = await new(cockpit.origin, size, scheme)
    await device.context.clock.set_fixed_time(NOW)
    await device.context.add_init_script(_NO_DATE)
    return device


async def take(device: Device, name: str, scheme: Scheme) -> None:
    await device.page.mouse.move(0, 0)
    # what was said of the screen before this one
    await device.page.evaluate("document.getElementById('toasts')?.replaceChildren()")
    picture = await device.page.screenshot(animations="disabled", caret="hide", scale="css")
    folder = PLACE / f"{device.size.name}-{scheme}"
    folder.mkdir(parents=True, exist_ok=True)
    aside = await device.context.new_page()  # a page of its own: the cockpit's allows no blobs
    (folder / f"{name}.png").write_bytes(await smaller(aside, picture))
    await aside.close()


async def before_pairing(new: NewDevice, cockpit: Cockpit, size: Size, scheme: Scheme) -> Device:
    device = await a_device(new, cockpit, size, scheme)
    device.expects_anything()
    await device.page.goto(f"{cockpit.origin}/")
    await take(device, "not-paired", scheme)
    await device.page.goto(await cockpit.link())
    await device.at("pair").wait_for()
    await take(device, "pairing", scheme)
    first_run = cockpit.config.data_dir / "first-run.json"
    kept = first_run.read_bytes()
    first_run.unlink()
    await device.at("pair").click()
    steps = ("Get started", "Continue", "Continue", "Go to the Stream")
    for number, words in enumerate(steps, 1):
        button = device.page.locator("#setup").get_by_role("button", name=words)
        await button.wait_for()
        await take(device, f"first-run-{number}", scheme)
        await button.click()
    await device.at("composer").wait_for()
    first_run.write_bytes(kept)
    await take(device, "stream-empty", scheme)
    return device


async def all_of(browser: Browser, size: Size, scheme: Scheme) -> None:
    shutil.rmtree(HOUSE, ignore_errors=True)
    HOUSE.mkdir()
    try:
        async with a_cockpit(Home(HOUSE), clock=StillClock()) as cockpit, devices(browser) as new:
            device = await before_pairing(new, cockpit, size, scheme)
            await live_in(cockpit, device)
            async for name in each_screen(cockpit, device):
                await take(device, name, scheme)
            await device.at("stop").click()
            await device.at("stop-now").click()
            await device.page.locator("#stopped").wait_for()
            await take(device, "stopped", scheme)
    finally:
        shutil.rmtree(HOUSE)


_PALETTE = """
async (png) => {
  const octets = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
  const picture = await createImageBitmap(new Blob([octets], { type: 'image/png' }));
  const { width, height } = picture;
  const canvas = new OffscreenCanvas(width, height).getContext('2d');
  canvas.drawImage(picture, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const seen = new Map();
  const colour = (at) => (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
  for (let at = 0; at < data.length; at += 4) {
    seen.set(colour(at), (seen.get(colour(at)) ?? 0) + 1);
  }
  const all = [...seen].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([one]) => one);
  const palette = all.slice(0, 64);
  const apart = (a, b) => ((a >> 16) - (b >> 16)) ** 2
    + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  const closest = (one) => palette.reduce(
    (best, other, n) => (apart(other, one) < apart(palette[best], one) ? n : best), 0);
  const nearest = new Map(all.map((one, n) => [one, n < 64 ? n : closest(one)]));
  const drawn = new Uint8Array(width * height);
  for (let at = 0; at < drawn.length; at += 1) drawn[at] = nearest.get(colour(at * 4));
  let text = '';
  for (let at = 0; at < drawn.length; at += 8192) {
    text += String.fromCharCode(...drawn.subarray(at, at + 8192));
  }
  return { width, height, palette, drawn: btoa(text) };
}
"""
"""A screen has few colours: with a palette of those that occur most it is much smaller."""


async def smaller(page: Page, png: bytes) -> bytes:
    """The same picture with a palette; the browser reads it, since it can."""
    read = await page.evaluate(_PALETTE, base64.b64encode(png).decode())
    width, height, drawn = read["width"], read["height"], base64.b64decode(read["drawn"])
    rows = b"".join(b"\0" + drawn[at : at + width] for at in range(0, len(drawn), width))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(colour.to_bytes(3, "big") for colour in read["palette"])),
        (b"IDAT", zlib.compress(rows, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(chunk, parts))


def chunk(part: tuple[bytes, bytes]) -> bytes:
    kind, data = part
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


INTRODUCTION = """\
# The cockpit in pictures

Every screen and every kind of card, on a phone and on a desktop, in light and in dark. `make
screenshots` makes them anew, from a real server; both clocks stand still at the same moment.
"""


def index() -> str:
    """The page that shows them all."""
    names = sorted(path.stem for path in (PLACE / "phone-light").glob("*.png"))
    lines = [INTRODUCTION]
    for name in names:
        lines.append(f"\n## {name.replace('-', ' ').capitalize()}\n")
        for size in SIZES:
            pictures = [
                f"![{name}, {size.name}, {scheme}]({size.name}-{scheme}/{name}.png)"
                for scheme in SCHEMES
            ]
            lines.append(" ".join(pictures))
    return "\n".join(lines) + "\n"


async def main() -> int:
    if FOUND is None:
        print(f"No pictures: {HOW}", file=sys.stderr)
        return 2
    async with chromium() as browser:
        for size in SIZES:
            for scheme in SCHEMES:
                await all_of(browser, size, scheme)
                print(f"{size.name}, {scheme}: done", flush=True)
    (PLACE / "README.md").write_text(index(), encoding="utf-8")
    octets = sum(path.stat().st_size for path in PLACE.rglob("*.png"))
    print(f"{octets / 1e6:.1f} MB in {PLACE}")
    return 0 if octets <= MOST_OCTETS else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
