"""The distribution's Chromium: where it is, how it is started, and what to say where it is not."""

import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.async_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOUND: str | None = next(filter(None, map(shutil.which, NAMES)), None)
LIGHT: str | None = FOUND and (shutil.which("chromium-headless-shell") or FOUND)
"""The same engine without the browser around it (no windows, no extensions, no installed pages),
which takes a third less of the processor; where there is none, the whole browser."""
HOW = "there is no chromium; install it with: sudo apt-get install chromium"

in_a_browser = [
    pytest.mark.asyncio(loop_scope="session"),
    pytest.mark.skipif(FOUND is None, reason=HOW),
]
"""What every module of browser tests has as its `pytestmark`: one event loop, and so one browser,
for all of them in a worker."""

_ARGUMENTS = (
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost",
)
"""No graphics card, little shared memory, the same pixels everywhere, and no other machine."""


@asynccontextmanager
async def chromium(program: str | None = FOUND) -> AsyncGenerator["Browser"]:
    """A browser, without a window; it never downloads one of its own.

    Args:
        program: The whole browser, or `LIGHT`.

    As root Chromium starts only without its own sandbox; the pages it opens here are ours.
    """
    from playwright.async_api import async_playwright

    assert program is not None, HOW
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program, args=[*_ARGUMENTS, *root], chromium_sandbox=not root
        )
        try:
            yield browser
        finally:
            await browser.close()
