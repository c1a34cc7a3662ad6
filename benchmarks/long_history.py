"""Scrolling through 10,000 messages in the cockpit's own page, in Chromium: frames a second.

A wheel that the browser itself turns goes from the newest message to the first; the page
fetches what is older on the way. A page of as many plain paragraphs is scrolled beside it.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import NamedTuple

from playwright.async_api import Browser, CDPSession, Page

from benchmarks.cockpit import Served, initialised, serving
from silas.channels.web.events import MessageEvent
from silas.channels.web.transcript import Transcript
from silas.clock import SystemClock
from silas.config import load_config
from silas.config.firstrun import FirstRun, keep_first_run
from silas.db import Database
from tests.web.support.chromium import LIGHT, chromium
from tests.web.support.device import SIZES, Size, devices

MOST_NODES = 2_000
_SPEED = 8_000  # pixels a second, a hard flick
_STROKE = 32_000  # pixels of one gesture
_STROKES = 100  # at most, from the last of 10,000 messages to the first
_BACK = 8  # strokes on the way back, which is 10 to 20 % of it
_AT_ONCE = 200  # messages that come with the page, and with each part of what was before
_LATE = 25.0  # ms; a frame that comes later than this was missed at 60 a second
_BEGAN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)

_WATCH = """
() => {
  const seen = window.__frames = { frames: [], nodes: 0, on: true };
  let last = performance.now();
  requestAnimationFrame(function next(now) {
    seen.frames.push(now - last);
    last = now;
    const nodes = document.getElementsByTagName("*").length;
    if (nodes > seen.nodes) seen.nodes = nodes;
    if (seen.on) requestAnimationFrame(next);
  });
}
"""
"""Each frame's time since the one before, in ms, and the most nodes that a frame saw."""

_SEEN = "() => { __frames.on = false; return [__frames.frames.slice(1), __frames.nodes]; }"

_NEVER = "() => false"

_NEWEST = "() => document.querySelector('.log-list > li:last-child').dataset.key"

_PLAIN = """
(rows) => {
  const place = document.createElement("div");
  place.className = "stream-scroll";
  place.style.height = "90vh";
  place.style.overflowY = "auto";
  document.body.replaceChildren(place);
  for (let n = 0; n < rows; n += 1) {
    const row = document.createElement("p");
    row.textContent = `message ${n} of a page that does nothing else`;
    place.append(row);
  }
}
"""


class _Origins:
    """Nothing was forgotten, and nothing is made of anything."""

    def last(self) -> int:
        return 0

    def sources_of_said(self, text: str) -> Sequence[str]:
        del text
        return ()


class Scrolled(NamedTuple):
    """What one way through the page took: ms of each frame, and the most nodes there were."""

    frames: list[float]
    nodes: int

    def figures(self, name: str) -> dict[str, float]:
        """By what it was that was scrolled."""
        late = sum(frame > _LATE for frame in self.frames)
        return {
            f"{name}: frames a second": 1e3 * len(self.frames) / sum(self.frames),
            f"{name}: a frame, half of them, ms": median(self.frames),
            f"{name}: frames over 25 ms, %": max(100 * late / len(self.frames), 0.0001),
            f"{name}: worst frame, ms": max(self.frames),
        }


def said(number: int) -> MessageEvent:
    """One of the conversation: what the owner says is plain, what Silas answers has a form."""
    mine = number % 2 == 1
    form = "## {0}\n\nIt is **done**: `file-{0}.txt` has {0} lines.\n\n- one\n- two"
    plain = "message {0}: what does the note of that day say?"
    return MessageEvent(
        seq=number,
        id=f"h{number}",
        text=(plain if mine or number % 10 else form).format(number),
        sender="owner" if mine else "silas",
        timestamp=_BEGAN + timedelta(minutes=20 * number),
    )


def _fill(home: Path, messages: int) -> None:
    home.mkdir(parents=True, exist_ok=True)
    keep_first_run(home, FirstRun(provider="runbook", name="Ada"))
    database = Database(home / "silas.db", SystemClock())
    database.migrate("silas.channels.web")
    transcript = Transcript(database, _Origins())
    with database.write():
        for number in range(1, messages + 1):
            transcript.add(said(number))
    database.close()


async def _stroke(hand: CDPSession, size: Size, pixels: int, speed: int) -> None:
    """One turn of the wheel, by the browser itself; upwards where positive."""
    await hand.send(  # pyright: ignore[reportUnknownMemberType]
        "Input.synthesizeScrollGesture",
        {
            "x": size.width // 2,
            "y": size.height // 2,
            "yDistance": pixels,
            "speed": speed,
            "gestureSourceType": "mouse",
            "preventFling": True,
        },
    )


async def _scrolled(
    page: Page, size: Size, pixels: int, speed: int, most: int, ends: str = _NEVER
) -> Scrolled:
    """Scroll so many strokes, or until something holds."""
    hand = await page.context.new_cdp_session(page)
    await page.evaluate(_WATCH)
    for _ in range(most):
        await _stroke(hand, size, pixels, speed)
        if await page.evaluate(ends):
            break
    frames, nodes = await page.evaluate(_SEEN)
    return Scrolled(frames, nodes)


def _at(key: str) -> str:
    """Whether a message is in view."""
    return f"""() => {{
      const place = document.querySelector(".stream-scroll").getBoundingClientRect();
      const row = document.querySelector('[data-key="{key}"]')?.getBoundingClientRect();
      return Boolean(row && row.bottom > place.top && row.top < place.bottom);
    }}"""


async def _one(
    browser: Browser, served: Served, size: Size, messages: int, back: int, speed: int
) -> dict[str, float]:
    async with devices(browser) as new:
        device = await new(f"http://127.0.0.1:{served.port}", size, motion="no-preference")
        await device.pair(f"{device.origin}/pair#{served.token}")
        page, fetched = device.page, list[str]()
        page.on("request", lambda one: fetched.append(one.url))
        await page.locator(f'[data-key="mh{messages}"]').wait_for()
        up = await _scrolled(page, size, _STROKE, speed, _STROKES, _at("mh1"))
        assert await page.evaluate(_at("mh1")), "the first message was not reached"
        before = str(await page.evaluate(_NEWEST))
        down = await _scrolled(page, size, -_STROKE, speed, back)
        assert await page.evaluate(_NEWEST) != before, "newer messages did not come in again"
        nodes = max(up.nodes, down.nodes)
        assert nodes <= MOST_NODES, f"{nodes} nodes"
        fetched = [url for url in fetched if "/transcript?" in url]
        assert len(fetched) >= messages / _AT_ONCE - 1, f"{len(fetched)} parts"
        await page.evaluate(_PLAIN, nodes)
        plain = await _scrolled(page, size, -_STROKE, speed, min(back, 2))
    figures = {
        **up.figures(f"{size.name}, up"),
        **down.figures(f"{size.name}, down"),
        **plain.figures(f"{size.name}, plain"),
        f"{size.name}: most nodes": float(nodes),
        f"{size.name}: parts fetched": float(len(fetched)),
    }
    ours, bare = (figures[f"{size.name}, {way}: frames a second"] for way in ("up", "plain"))
    return {**figures, f"{size.name}: ratio of the frames a second": ours / bare}


async def _measure(env: dict[str, str], messages: int, back: int, speed: int) -> dict[str, float]:
    figures = {"messages": float(messages)}
    async with chromium(LIGHT) as browser:
        for size in SIZES:
            start = [sys.executable, "-I", "-m", "silas", "start", "--port", "0"]
            with serving(start, env) as served:
                figures |= await _one(browser, served, size, messages, back, speed)
    return figures


def measure(messages: int = 10_000, back: int = _BACK, speed: int = _SPEED) -> dict[str, float]:
    """Frames a second from the last message to the first and back, on a phone and a desktop."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = initialised(folder)
        _fill(load_config(environ=env).data_dir, messages)
        return asyncio.run(_measure(env, messages, back, speed))
