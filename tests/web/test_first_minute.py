"""From `silas start` on a fresh machine to the first approved, verified action, with no key.

A person's time is counted by what he does: words read, keys pressed, things tapped. It is the same
on every machine; how long the machine took is only printed.
"""

import asyncio
import re
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Browser, Locator, expect

from silas.main.demo_files import BUGGY
from tests.support.command import ROOT, environment, silas
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import PHONE, Device, devices

pytestmark = in_a_browser

WORDS_A_SECOND = 4.0
"""Reading with understanding: 240 words a minute."""
KEY, TAP, OPEN_LINK = 0.28, 1.1, 5.0
"""Seconds to press a key, to find and tap something, to open a link that was printed."""
A_MINUTE = 60.0
_LINK = re.compile(r"http://127\.0\.0\.1:\d+/pair#\S+")


@dataclass
class Person:
    """Reads what is new, and taps."""

    spent: dict[str, float] = field(default_factory=dict[str, float])

    def takes(self, what: str, seconds: float) -> None:
        self.spent[what] = self.spent.get(what, 0.0) + seconds

    async def reads(self, place: Locator) -> None:
        await expect(place).to_be_visible()
        self.takes("reading", len((await place.inner_text()).split()) / WORDS_A_SECOND)

    async def taps(self, target: Locator) -> None:
        self.takes("tapping", TAP)
        await target.click()


@asynccontextmanager
async def started(folder: Path, workspace: Path) -> AsyncGenerator[str]:
    """`silas start` in a home that has nothing; gives the printed link."""
    process = await asyncio.create_subprocess_exec(
        *silas("start", "--port", "0", "--workspace", workspace),
        env=environment(folder / "home"),
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert process.stdout is not None
        said = ""
        async with asyncio.timeout(SECONDS):
            while (found := _LINK.search(said)) is None:
                line = (await process.stdout.readline()).decode()
                assert line, f"no link was printed: {said}"
                said += line
        yield found[0]
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), SECONDS)


async def _first_run(person: Person, device: Device) -> None:
    setup = device.page.locator("#setup")
    for words in ("Get started", "Continue", "Continue", "Go to the Stream"):
        button = setup.get_by_role("button", name=words)
        await expect(button).to_be_visible()
        await person.reads(setup.locator("h1"))
        await person.taps(button)


async def test_a_person_without_a_key_has_something_done_and_checked_within_a_minute(
    browser: Browser, tmp_path: Path
) -> None:
    workspace, person = tmp_path / "orders", Person()
    workspace.mkdir()
    for name, text in BUGGY.items():
        (workspace / name).write_text(text, encoding="utf-8")
    began = time.monotonic()
    async with started(tmp_path, workspace) as link, devices(browser) as new:
        device = await new(link.partition("/pair")[0], PHONE)
        person.takes("opening the link", OPEN_LINK)
        await device.page.goto(link)
        await person.reads(device.page.locator("#pair"))
        await person.taps(device.at("pair"))
        await _first_run(person, device)
        await device.is_connected()
        request = "fix the failing test"
        await person.taps(device.at("composer"))
        person.takes("typing", KEY * (len(request) + 1))
        await device.says(request)
        await person.taps(device.at("review-bar"))
        await person.reads(device.at("card-body"))
        await person.reads(device.page.locator("details").first)
        await person.taps(device.at("action-recommended"))
        await person.taps(device.at("confirm"))
        result = device.at("result")
        await device.comes_back()
        await expect(result).to_contain_text("Done", timeout=SECONDS * 1000)
        await person.reads(result)
        await expect(result.get_by_label("Checks")).to_contain_text("tests_pass passed")
    assert ' == "open"' in (workspace / "orders.py").read_text(encoding="utf-8")
    seconds = sum(person.spent.values())
    told = ", ".join(f"{what} {spent:.0f} s" for what, spent in person.spent.items())
    print(
        f"\na person's time: {seconds:.0f} s ({told}); everything, the machine's start included,"
        f" at a machine's pace: {time.monotonic() - began:.0f} s",
        file=sys.stderr,
    )
    assert seconds < A_MINUTE
