"""A page that is written from the right: everything stands, points and slides the other way."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from silas.cards import Card
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import DESKTOP, PHONE, SIZES, Device, Size, box_of, devices
from tests.web.support.examples import EXAMPLES, FOR_GOOD
from tests.web.support.mirror import mirrored, written

pytestmark = in_a_browser

_YES = "Delete them for good"


_CUT = """() => [...document.querySelectorAll(".card-top *")].filter(
  (one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).display !== "inline",
).map((one) => one.textContent)"""
"""What a card says above its first sentence and cuts off."""


class Table(NamedTuple):
    """A cockpit, and a phone and a desktop in front of it."""

    cockpit: Cockpit
    phone: Device
    desktop: Device

    def of(self, size: Size) -> Device:
        return self.phone if size is PHONE else self.desktop


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def one_table(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[Table]:
    home = Home(tmp_path_factory.mktemp("right-to-left"))
    async with a_cockpit(home) as cockpit, devices(browser) as new:
        yield Table(cockpit, await cockpit.paired(new, PHONE), await cockpit.paired(new, DESKTOP))


@pytest_asyncio.fixture(loop_scope="session")
async def table(one_table: Table) -> AsyncGenerator[Table]:
    """The one table, written from the right; nothing is open on it before or after a test."""
    for device in (one_table.phone, one_table.desktop):
        await written(device, "rtl")
    yield one_table
    await one_table.cockpit.withdraw()
    for device in (one_table.phone, one_table.desktop):
        await expect(device.no_card()).to_be_attached()
        await device.comes_back()


async def _draws(device: Device, begin: float, end: float) -> None:
    """Draw from a place of the slider to another; 0 is its left end and 1 its right one."""
    box = await box_of(device.at("slide"))
    left, wide, y = box["x"] + 20, box["width"] - 40, box["y"] + box["height"] / 2
    mouse = device.page.mouse
    await mouse.move(left + begin * wide, y)
    await mouse.down()
    await mouse.move(left + end * wide, y, steps=20)
    await mouse.up()


async def _armed(table: Table, device: Device) -> "tuple[asyncio.Task[Any], Locator]":
    asked = table.cockpit.asking(FOR_GOOD)
    card = await device.sees_a_card(FOR_GOOD.intent)
    await card.get_by_role("button", name=_YES).click()
    await expect(device.at("slide")).to_be_focused()
    return asked, device.at("slide")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_slide_goes_from_right_to_left_and_the_other_way_approves_nothing(
    table: Table, size: Size
) -> None:
    device = table.of(size)
    asked, slide = await _armed(table, device)
    await _draws(device, 0.0, 1.0)
    await expect(slide).to_have_value("0")
    await _draws(device, 1.0, 1.05)
    await expect(slide).to_have_value("0")
    await _draws(device, 1.0, 0.5)  # let go on the way
    await expect(slide).to_have_value("0")
    assert not asked.done()
    await _draws(device, 1.0, -0.05)
    assert await asyncio.wait_for(asked, SECONDS) == "approve"


async def test_the_left_arrow_goes_to_the_end_and_the_right_one_back(table: Table) -> None:
    asked, slide = await _armed(table, table.desktop)
    keys = table.desktop.page.keyboard
    for _ in range(10):
        await keys.press("ArrowRight")
    await keys.press("Enter")
    await expect(slide).to_have_value("0")
    assert not asked.done()
    for key, value in (("ArrowLeft", "10"), ("ArrowLeft", "20"), ("ArrowRight", "10")):
        await keys.press(key)
        await expect(slide).to_have_value(value)
    for key, value in (("ArrowUp", "20"), ("ArrowDown", "10"), ("Home", "0")):
        await keys.press(key)
        await expect(slide).to_have_value(value)
    for _ in range(10):
        await keys.press("ArrowLeft")
    await expect(slide).to_have_value("100")
    await keys.press("Enter")
    assert await asyncio.wait_for(asked, SECONDS) == "approve"


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
@pytest.mark.parametrize("card", list(EXAMPLES.values()), ids=list(EXAMPLES))
async def test_each_card_stands_as_in_a_mirror(table: Table, card: Card[Any], size: Size) -> None:
    device = table.of(size)
    asked = table.cockpit.asking(card)
    await device.sees_a_card(card.intent)
    assert await mirrored(device) == []
    assert await device.overflow() == 0
    assert await device.page.evaluate(_CUT) == []
    await device.declines()
    assert await asyncio.wait_for(asked, SECONDS) == card.safe


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_what_was_said_the_menu_and_its_pages_stand_as_in_a_mirror(
    table: Table, size: Size
) -> None:
    device = table.of(size)
    await device.comes_back()
    await device.says("what can you do?")
    await expect(device.at("heard").last).to_be_visible()
    await expect(device.page.locator(".tail .text")).to_have_count(0)
    assert await mirrored(device) == []
    for place in ("more", "activity", "conversations"):
        await device.goes_to(place)
        assert await mirrored(device) == []
        await device.comes_back()
    for place in ("work", "tools", "settings", "protection"):
        await device.opens(f"#/more/{place}")
        await expect(device.page.locator("#more-body .back")).to_be_visible()
        assert await mirrored(device) == []
    points = await device.page.locator("#more-body .back .icon").evaluate(
        "(one) => getComputedStyle(one).scale"
    )
    assert points == "-1 1"
