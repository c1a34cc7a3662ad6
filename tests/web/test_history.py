"""Old messages come in by scrolling, and what is read stays where it is meanwhile."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from silas.channels.web.events import MessageEvent
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import SIZES, Size, violations
from tests.web.support.stage import Stage, a_state, stage

pytestmark = in_a_browser
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)
_ALL, _LAST, _AT_ONCE, _MOST_NODES = 500, 50, 200, 2_000

_NODES = "document.querySelectorAll('*').length"
_FIRST = ".log-list > li.from-owner"
_PLACE = """
() => {
  const scroll = document.querySelector(".stream-scroll");
  const edge = scroll.getBoundingClientRect().top;
  const read = [...document.querySelectorAll(".log-list > li.from-owner")]
    .find((one) => one.getBoundingClientRect().bottom > edge);
  scroll.scrollTop = 0;
  return read.dataset.key;
}
"""
"""Go up as far as there is something, as a hand does; gives the row that is read then."""


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


def _said(number: int) -> MessageEvent:
    text = f"message {number}."
    return MessageEvent(seq=number, id=f"m{number}", text=text, sender="owner", timestamp=NOW)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_history_comes_in_by_scrolling_up_to_its_first_message(
    there: Stage, size: Size
) -> None:
    page, asked = there.page, list[int]()

    async def older(route: Route) -> None:
        before = int(route.request.url.partition("before=")[2].partition("&")[0])
        asked.append(before)
        begin = max(1, before - _AT_ONCE)
        part = [_said(number).model_dump(mode="json") for number in range(begin, before)]
        await route.fulfill(json={"transcript": part, "complete": begin == 1})

    await page.set_viewport_size({"width": size.width, "height": size.height})
    await page.route("**/transcript?*", older)
    newest = tuple(map(_said, range(_ALL - _LAST + 1, _ALL + 1)))
    there.greeting = a_state(seq=_ALL, transcript=newest, complete=False)
    await page.reload()
    await there.is_connected()
    await expect(page.locator(f"[data-key=mm{_ALL}]")).to_be_in_viewport()
    assert asked == []  # nothing is fetched before a hand asks for it
    first, top = page.locator("[data-key=mm1]"), page.locator(_FIRST).first
    while not await first.count():
        was = str(await top.get_attribute("data-key"))
        read = await page.evaluate(_PLACE)
        await expect(top).not_to_have_attribute("data-key", was)
        assert await page.evaluate(_NODES) <= _MOST_NODES
        if read == was:  # it was the first one there is, and more came above it
            await expect(page.locator(f"[data-key={was}]")).to_be_in_viewport()
    assert asked == [451, 251, 51]
    await page.evaluate(_PLACE)
    await expect(first).to_be_in_viewport()
    await expect(page.get_by_role("button", name="Earlier messages")).to_be_hidden()
    assert await violations(page) == []
