"""What a person's hands do in the page, counted: taps, keys, and texts that are typed."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple

from playwright.async_api import Locator

from tests.web.support.cockpit import Cockpit
from tests.web.support.device import Device, NewDevice

_COUNTS = """
window.__hands = { pointerdown: 0, keydown: 0 };
for (const kind of ['pointerdown', 'keydown']) {
  addEventListener(kind, (event) => { if (event.isTrusted) __hands[kind] += 1; }, true);
}
"""
"""The page itself counts: a tap is a pointer that comes down, a key one that goes down."""


@dataclass
class Effort:
    """What one step took.

    Attributes:
        taps: Taps or clicks; a slide is one, a choice in a dialog of the system is one.
        keys: Single keys, such as Enter.
        typings: Texts that were typed or pasted, each counted once however long it is.
        seconds: From the first movement to the end, typed texts being there at once.
    """

    taps: int = 0
    keys: int = 0
    typings: int = 0
    seconds: float = 0.0


class Walker:
    """A person at one device, whose hands are counted.

    Attributes:
        device: The device.
        effort: What the step under way has taken so far.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.effort = Effort()

    async def is_counted(self) -> None:
        """Have the page count; before the first one is opened."""
        await self.device.context.add_init_script(_COUNTS)

    async def taps(self, target: Locator) -> None:
        """Tap it, once it is there."""
        await target.click()

    async def presses(self, key: str) -> None:
        """Press one key."""
        await self.device.page.keyboard.press(key)

    async def types(self, target: Locator, text: str) -> None:
        """Type into a field, which takes a tap where it has not the focus yet."""
        if not await target.evaluate("(node) => node === document.activeElement"):
            await self.taps(target)
        await target.fill(text)
        self.effort.typings += 1

    async def says(self, text: str) -> None:
        """Type a message and send it: by its button on a phone, by Enter on a desktop."""
        await self.types(self.device.at("composer"), text)
        if self.device.size.touch:
            await self.taps(self.device.page.get_by_role("button", name="Send", exact=True))
        else:
            await self.presses("Enter")

    async def opens(self, surface: str, page: str = "") -> Locator:
        """A surface, by its link, and one of the pages under More."""
        await self.taps(self.device.page.locator(f"[data-to={surface}]:visible").first)
        body = self.device.page.locator(f"#{surface}-body")
        if page:
            await self.taps(body.locator(f"a[href='#/more/{page}']"))
            await self.device.is_quiet()
        return body

    async def at_the_card(self) -> Locator:
        """The card that waits: beside the Stream on a desktop, one tap away on a phone."""
        if self.device.size.touch:
            await self.taps(self.device.at("review-bar"))
        card = self.device.at("active-card")
        await card.wait_for()
        return card

    async def in_the_stream(self) -> None:
        """Back in the Stream, which a desktop never left."""
        if self.device.size.touch:
            await self.taps(self.device.page.locator("[data-to=stream]:visible").last)

    async def begins(self) -> None:
        """Count from nothing."""
        await self.device.page.evaluate("__hands.pointerdown = __hands.keydown = 0")
        self.effort = Effort()

    async def ends(self, seconds: float) -> Effort:
        """What it took since `begins`, with what the page counted."""
        counted = await self.device.page.evaluate("__hands")
        self.effort.taps += counted["pointerdown"]
        self.effort.keys += counted["keydown"]
        self.effort.seconds = seconds
        return self.effort


class Walk(NamedTuple):
    """Where a walk takes place.

    Attributes:
        cockpit: A real one.
        walker: Whose hands are counted.
        new_device: Makes a further device, in the same browser.
    """

    cockpit: Cockpit
    walker: Walker
    new_device: NewDevice

    @property
    def device(self) -> Device:
        """The device that is walked with."""
        return self.walker.device


Does = Callable[[Walk], Awaitable[None]]


async def _nothing(_: Walk) -> None:
    """Nothing has to be there first."""


class Step(NamedTuple):
    """One thing that an owner does, from the start page to where its end is seen.

    Attributes:
        name: What it is called in the table.
        does: The movements; ends where the owner sees that it is done.
        before: What has to be there first, and is not counted.
    """

    name: str
    does: Does
    before: Does = _nothing


class Task(NamedTuple):
    """One of the tasks, in one step or in several, each of which starts at the start page."""

    name: str
    steps: tuple[Step, ...]


async def walked(step: Step, walk: Walk) -> Effort:
    """Do one step from the start page, and say what it took."""
    await step.before(walk)
    await walk.device.comes_back()
    await walk.device.is_quiet()
    await walk.device.page.evaluate("() => document.activeElement?.blur()")
    await walk.walker.begins()
    began = time.monotonic()
    await step.does(walk)
    return await walk.walker.ends(time.monotonic() - began)
