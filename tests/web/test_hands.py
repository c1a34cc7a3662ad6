"""Hands on the keyboard: keys lead everywhere, and none says yes to what has not the focus."""

import pytest
from playwright.async_api import expect

from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import PHONE, SIZES, NewDevice, Size
from tests.web.support.examples import DECISION, GATE

pytestmark = in_a_browser

_EACH_SIZE = pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)


@_EACH_SIZE
async def test_the_palette_goes_anywhere_by_part_of_a_name(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    keyboard = device.page.keyboard
    await device.at("composer").focus()
    await keyboard.press("Control+k")
    field = device.page.get_by_role("combobox", name="Go to")
    await expect(field).to_be_focused()
    assert await device.violations() == []
    assert await device.overflow() == 0
    await field.fill("no such place")
    await expect(device.page.get_by_text("Nothing has that name.")).to_be_visible()
    await field.fill("remi")
    await expect(device.page.get_by_role("option")).to_have_count(1)
    await keyboard.press("Enter")
    await expect(device.page.locator("#more-title")).to_have_text("Reminders")
    await device.is_quiet()
    await keyboard.press("Control+k")
    await expect(field).to_be_focused()
    await keyboard.press("ArrowDown")
    await keyboard.press("ArrowUp")
    await keyboard.press("Enter")  # the first one writes, and lies under what slid over it
    await expect(device.at("composer")).to_be_focused()
    await keyboard.press("Control+k")
    await expect(field).to_be_focused()
    await keyboard.press("Escape")
    await expect(device.at("hands")).to_have_count(0)
    await expect(device.at("composer")).to_be_focused()


async def test_a_slash_writes_a_question_mark_lists_and_keys_can_be_turned_off(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    keyboard, composer = device.page.keyboard, device.at("composer")
    await device.page.locator(".brand").focus()
    await keyboard.press("/")
    await expect(composer).to_be_focused()
    await keyboard.type("a/d?r")
    await expect(composer).to_have_value("a/d?r")  # in a field they are letters
    await device.page.locator(".brand").focus()
    await keyboard.press("?")
    await expect(device.at("hands")).to_contain_text("Go to the card that waits")
    assert await device.violations() == []
    await device.page.get_by_label("Keys without Ctrl").uncheck()
    await keyboard.press("Escape")
    await expect(device.at("hands")).to_have_count(0)
    for key in "r/":
        await keyboard.press(key)
    await keyboard.press("?")  # what is off does nothing; the list is there to turn it on again
    await expect(device.at("hands")).to_be_visible()
    await expect(device.page.locator(".toast")).to_have_count(0)
    await expect(composer).not_to_be_focused()


@_EACH_SIZE
async def test_a_and_d_do_nothing_unless_the_card_has_the_focus(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    keyboard = device.page.keyboard
    asked = cockpit.asking(GATE)
    bar = device.at("review-bar" if size is PHONE else "active-card")
    await expect(bar).to_be_visible()
    await device.page.locator(".brand").focus()
    await keyboard.press("?")  # the keys are there from here on, so that none of them comes late
    await expect(device.at("hands")).to_be_visible()
    await keyboard.press("Escape")
    await expect(device.at("hands")).to_have_count(0)
    await device.page.locator(".brand").focus()
    for key in "ada":
        await keyboard.press(key)
        await device.page.evaluate("() => new Promise(requestAnimationFrame)")
        assert await device.at("confirm").count() == 0  # at once: what was begun may end again
    await keyboard.press("r")
    await expect(device.at("active-card").locator(".intent")).to_be_focused()
    await expect(device.at("confirm")).to_have_count(0)
    assert not asked.done()
    await keyboard.press("a")
    await expect(device.at("confirm")).to_be_focused()  # the first of two taps, and no more
    await keyboard.press("a")
    await expect(device.at("confirm")).to_be_focused()
    assert not asked.done()
    await keyboard.press("Enter")
    assert await asked == "approve"
    other = cockpit.asking(DECISION)
    await device.sees_a_card(DECISION.intent)
    await keyboard.press("r")
    await expect(device.at("active-card").locator(".intent")).to_be_focused()
    await keyboard.press("d")
    await expect(device.no_card()).to_be_attached()
    assert await other == DECISION.safe


async def test_what_is_being_written_survives_a_reload_and_what_was_sent_is_not_kept(
    cockpit: Cockpit, new_device: NewDevice
) -> None:
    device = await cockpit.paired(new_device)
    words = "what should\nstay " * 4
    await device.at("composer").fill(words)
    await device.page.reload()
    await device.is_connected()
    await expect(device.at("composer")).to_have_value(words)
    await expect(device.page.get_by_role("button", name="Send")).to_be_enabled()
    measured = await device.measures()
    assert measured.shift == 0, measured.shifts
    other = await device.context.new_page()
    await other.goto(device.origin)
    await expect(other.get_by_test_id("composer")).to_have_value("")
    await other.close()
    await device.says("help")
    await expect(device.at("heard").first).to_be_visible()
    kept = await device.page.evaluate("JSON.stringify({ ...sessionStorage })")
    assert "help" not in kept
    assert "stay" not in kept
