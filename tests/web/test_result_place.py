"""A result stands under the message that asked for the work, whatever was said meanwhile."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Route, expect

from silas.channels.web.events import MessageEvent, PostExecution, Withheld
from silas.channels.web.results import MessageAsked
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit
from tests.web.support.device import SIZES, Device, NewDevice, Size, violations
from tests.web.support.library import SLOWLY
from tests.web.support.stage import Stage, a_state, stage

pytestmark = in_a_browser
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_MEANWHILE = "What can you do?"


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


async def _stands_under_its_message(device: Device) -> None:
    rows = device.page.locator(".log-list > li:not(.day)")
    await expect(rows).to_have_count(6)
    await expect(rows.nth(0)).to_contain_text(SLOWLY)
    await expect(rows.nth(2)).to_contain_text("Working on it.")
    await expect(rows.nth(3).get_by_test_id("result")).to_contain_text("Done")
    await expect(rows.nth(3).locator(".asked")).to_be_hidden()
    await expect(rows.nth(3).get_by_test_id("undo")).to_be_enabled()
    await expect(rows.nth(4)).to_contain_text(_MEANWHILE)
    assert await device.overflow() == 0


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_result_stands_under_the_message_that_asked_wherever_it_is_seen(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says(SLOWLY)
    await device.sees_a_card()
    await device.answers("Approve and run once")
    await device.comes_back()
    await expect(device.at("heard").last).to_contain_text("Working on it.")
    await device.says(_MEANWHILE)
    await expect(device.at("heard")).to_have_count(3)
    cockpit.home.signals.go()
    await expect(device.at("result")).to_have_count(1)
    await expect(device.page.locator("#toasts")).to_contain_text("Answered above: ")
    await _stands_under_its_message(device)
    await device.page.reload()
    await device.is_connected()
    await _stands_under_its_message(device)
    other = await cockpit.paired(new_device, size)
    await _stands_under_its_message(other)
    await other.at("undo").click()
    for one in (device, other):
        await expect(one.at("result")).to_contain_text("Taken back")
        await expect(one.page.locator(".log-list > li:not(.day)").nth(3)).to_contain_text("Taken")
    assert await device.violations() == []
    await device.page.evaluate("location.hash = '#/more/work'")
    rows = device.page.locator("#more-body .rows > li")
    await expect(rows.locator(".status")).to_have_text(["Taken back"])
    await rows.get_by_role("link").click()
    await expect(device.page.locator("#more-body .status")).to_have_text(["Taken back"])


def _said(number: int) -> MessageEvent:
    text = f"message {number}."
    return MessageEvent(seq=number, id=f"m{number}", text=text, sender="owner", timestamp=NOW)


def _ended(seq: int, asked: int) -> PostExecution:
    return PostExecution(
        seq=seq, work_item_id="w", title="Copy", status="done", summary="It is copied.",
        timestamp=NOW, reply_to=f"m{asked}",
        asked=MessageAsked(seq=asked, words=f"message {asked}."),
    )  # fmt: skip


async def _older(route: Route) -> None:
    before = int(route.request.url.partition("before=")[2].partition("&")[0])
    part = [_said(number).model_dump(mode="json") for number in range(max(1, before - 200), before)]
    await route.fulfill(json={"transcript": part, "complete": before <= 201})


def _above(result: Locator) -> Locator:
    return result.locator("xpath=ancestor::li/preceding-sibling::li[1]")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_a_result_names_a_message_that_is_not_loaded_and_goes_under_it_when_it_is(
    there: Stage, size: Size
) -> None:
    page = there.page
    await page.set_viewport_size({"width": size.width, "height": size.height})
    await page.route("**/transcript?*", _older)
    newest = tuple(map(_said, range(451, 501)))
    there.greeting = a_state(seq=500, transcript=newest, complete=False)
    await page.reload()
    await there.is_connected()
    there.send(_ended(501, 120))
    result = page.get_by_test_id("result")
    await expect(result).to_be_in_viewport()
    await expect(_above(result)).to_contain_text("message 500.")
    await expect(result.locator(".asked")).to_contain_text("To your message “message 120.”")
    assert await violations(page) == []
    await result.get_by_test_id("to-asked").click()
    asked = page.locator("[data-key=mm120]")
    await expect(asked).to_be_focused()
    await expect(asked).to_be_in_viewport()
    await expect(_above(result)).to_have_attribute("data-key", "mm120")
    await expect(result.locator(".asked")).to_be_hidden()
    assert await violations(page) == []


async def test_a_message_that_a_result_names_is_named_no_more_once_it_is_forgotten(
    there: Stage,
) -> None:
    there.send(_said(2))
    there.send(_ended(3, 1))
    asked = there.page.locator(".asked")
    await expect(asked).to_contain_text("message 1.")
    there.send(Withheld(seqs=(1,), words="Forgotten."))
    await expect(asked).to_contain_text("Forgotten.")
    await expect(asked).not_to_contain_text("message 1.")
    await there.cut()
    there.greeting = a_state(seq=3, transcript=(_said(2), _ended(3, 1)))
    await there.is_connected()
    await expect(asked).to_contain_text("Forgotten.")


async def test_a_result_goes_under_its_message_in_a_history_that_is_scrolled_in(
    there: Stage,
) -> None:
    page = there.page
    await page.route("**/transcript?*", _older)
    newest = (*map(_said, range(251, 300)), _ended(300, 249))
    there.greeting = a_state(seq=300, transcript=newest, complete=False)
    await page.reload()
    await there.is_connected()
    result = page.get_by_test_id("result")
    await expect(_above(result)).to_contain_text("message 299.")
    scroll = page.locator(".stream-scroll")
    await scroll.evaluate("one => { one.scrollTop = 0; }")
    await expect(page.locator("[data-key=mm249] + li").get_by_test_id("result")).to_be_attached()
    await expect(page.locator("[data-key=mm251]")).to_be_in_viewport()
    await expect(page.get_by_test_id("result")).to_have_count(1)
