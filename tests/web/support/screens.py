"""Every screen of the cockpit, and how one gets there: for pictures and for checks of all."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import NamedTuple

from playwright.async_api import expect

from tests.web.support.cockpit import Cockpit
from tests.web.support.device import Device
from tests.web.support.examples import DECISION, EXAMPLES, GATE, TOOL_CALL
from tests.web.support.library import COPY, SLOWLY


class Screen(NamedTuple):
    """One screen; `name` is its picture's, too."""

    name: str
    arrive: Callable[[Cockpit, Device], Awaitable[None]]


def _place(name: str, address: str) -> Screen:
    """A surface or a page behind one, by its address; there when nothing is being fetched."""

    async def arrive(cockpit: Cockpit, device: Device) -> None:
        del cockpit
        await device.opens(address)

    return Screen(name, arrive)


def _card(name: str) -> Screen:
    async def arrive(cockpit: Cockpit, device: Device) -> None:
        cockpit.asking(EXAMPLES[name])
        await device.sees_a_card(EXAMPLES[name].intent)

    return Screen(f"card-{name}", arrive)


async def _several(cockpit: Cockpit, device: Device) -> None:
    for card in (GATE, TOOL_CALL, DECISION):
        cockpit.asking(card)
    await device.sees_a_card(GATE.intent)
    await expect(device.at("up-next")).to_have_count(2)


async def _armed(cockpit: Cockpit, device: Device) -> None:
    cockpit.asking(EXAMPLES["for-good"])
    card = await device.sees_a_card()
    await card.get_by_test_id("action-recommended").click()
    await expect(device.at("slide")).to_be_visible()


async def _second_tap(cockpit: Cockpit, device: Device) -> None:
    cockpit.asking(GATE)
    card = await device.sees_a_card()
    await card.get_by_test_id("action-recommended").click()
    await expect(device.at("confirm")).to_be_visible()


async def _entry(cockpit: Cockpit, device: Device) -> None:
    del cockpit
    await device.page.evaluate("() => { location.hash = '#/activity'; }")
    await device.at("entry").filter(has_text="Copy the notes").first.click()
    await device.is_quiet()


async def _one_work(cockpit: Cockpit, device: Device) -> None:
    del cockpit
    await device.page.evaluate("() => { location.hash = '#/more/work'; }")
    await device.page.locator("#more-body a[href^='#/more/work/']").first.click()
    await device.is_quiet()


async def _stop(cockpit: Cockpit, device: Device) -> None:
    del cockpit
    await device.at("stop").click()
    await expect(device.at("stop-now")).to_be_visible()


SCREENS: tuple[Screen, ...] = (
    _place("stream", "#/stream"),
    _place("review-empty", "#/review"),
    *(_card(name) for name in EXAMPLES),
    Screen("review-several", _several),
    Screen("review-second-tap", _second_tap),
    Screen("review-slide", _armed),
    _place("activity", "#/activity"),
    Screen("activity-entry", _entry),
    _place("activity-deciding", "#/activity/reviews"),
    _place("more", "#/more"),
    _place("conversations", "#/conversations"),
    _place("more-ahead", "#/more/ahead"),
    _place("more-batches", "#/more/batches"),
    _place("more-work", "#/more/work"),
    Screen("more-work-item", _one_work),
    _place("more-memory", "#/more/memory"),
    _place("more-reminders", "#/more/reminders"),
    _place("more-secrets", "#/more/secrets"),
    _place("more-speech", "#/more/speech"),
    _place("more-tools", "#/more/tools"),
    _place("more-connections", "#/more/connections"),
    _place("more-devices", "#/more/devices"),
    _place("more-settings", "#/more/settings"),
    _place("more-protection", "#/more/protection"),
    _place("more-answering", "#/more/answering"),
    _place("more-setup", "#/more/setup"),
    Screen("stop", _stop),
)
"""All that a paired device of an owner shows, in a house that is lived in."""


async def live_in(cockpit: Cockpit, device: Device) -> None:
    """A conversation with work that is done, and work under way."""
    await device.says(COPY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await device.comes_back()
    await expect(device.at("result")).to_contain_text("Done")
    await device.says(SLOWLY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await device.comes_back()
    await expect(device.at("running")).to_contain_text("Run Python")


async def each_screen(cockpit: Cockpit, device: Device) -> AsyncGenerator[str]:
    """Go to every screen, one after the other; gives its name while it is there."""
    for screen in SCREENS:
        await screen.arrive(cockpit, device)
        yield screen.name
        await cockpit.withdraw()
        await device.page.keyboard.press("Escape")
        await expect(device.no_card()).to_be_attached()
        await device.comes_back()
