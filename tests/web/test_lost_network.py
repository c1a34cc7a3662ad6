"""A network that goes away without a word, as a phone's does: the page comes back by itself."""

from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from silas.channels.web.events import MessageEvent
from tests.web.support.chromium import in_a_browser
from tests.web.support.stage import Stage, stage
from tests.web.test_page_code import NOW

pytestmark = in_a_browser

QUIET, ANSWER, OPENING = 15_000, 10_000, 15_000
"""Milliseconds, as in `web/socket.js`."""


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    """A page whose time passes when the test says so."""
    async with stage(browser) as made:
        await made.page.clock.install(time=NOW - timedelta(days=1))
        await made.page.clock.pause_at(NOW)
        await _comes_anew(made)
        await made.is_connected()
        await made.hears()  # so it is known when, by the page's time, it last heard of Silas
        yield made


async def _comes_anew(there: Stage) -> None:
    await there.page.reload()
    await there.page.clock.run_for(1000)


async def _link_is(there: Stage, state: str) -> None:
    await expect(there.page.locator("#link")).to_have_attribute("data-link", state)


async def _comes_back(there: Stage) -> None:
    there.silent = False
    await there.page.clock.run_for(1000)
    await there.is_connected()
    there.send(MessageEvent(seq=9, id="s9", text="Still here.", sender="silas", timestamp=NOW))
    await expect(there.page.get_by_test_id("heard")).to_contain_text("Still here.")


async def test_a_connection_that_fell_silent_is_asked_for_a_word_and_made_anew(
    there: Stage,
) -> None:
    before = there.connections
    await there.page.clock.run_for(QUIET)
    await there.pinged(1)
    await there.page.clock.run_for(QUIET)  # it answered, and is asked again
    await there.pinged(2)
    assert there.connections == before
    there.silent = True
    await there.page.clock.run_for(QUIET)
    await there.pinged(3)
    await _link_is(there, "open")
    await there.page.clock.run_for(ANSWER)
    await _link_is(there, "lost")
    await _comes_back(there)
    assert there.connections == before + 1


async def test_what_was_sent_into_a_silence_is_sent_again(there: Stage) -> None:
    there.silent, there.acknowledges = True, False
    await there.page.get_by_test_id("composer").fill("anybody there?")
    await there.page.keyboard.press("Enter")
    first = await there.next()
    await there.page.clock.run_for(2_000)
    await there.pinged(1)
    await there.page.clock.run_for(ANSWER)
    await _link_is(there, "lost")
    await _comes_back(there)
    assert (await there.next())["id"] == first["id"]


async def test_a_connection_that_gets_nowhere_is_given_up(there: Stage) -> None:
    there.silent = True
    before = there.connections
    await _comes_anew(there)
    await there.connected(before + 1)
    await _link_is(there, "connecting")
    await there.page.clock.run_for(OPENING - 2000)  # a second went by as it was loaded
    await _link_is(there, "connecting")
    there.silent = False
    await there.page.clock.run_for(3000)
    await there.is_connected()
    assert there.connections == before + 2


async def test_in_another_network_a_connection_that_gets_nowhere_is_not_waited_for(
    there: Stage,
) -> None:
    there.silent = True
    before = there.connections
    await _comes_anew(there)
    await there.connected(before + 1)
    there.silent = False
    await there.page.evaluate("dispatchEvent(new Event('online'))")
    await there.is_connected()
    assert there.connections == before + 2


async def test_in_another_network_and_where_somebody_looks_again_a_connection_has_to_answer(
    there: Stage,
) -> None:
    for number, event in enumerate(("online", "visibilitychange"), 1):
        target = "window" if event == "online" else "document"
        there.silent = True
        await there.page.evaluate(f"{target}.dispatchEvent(new Event('{event}'))")
        await there.pinged(number)
        await there.page.clock.run_for(ANSWER)
        await _link_is(there, "lost")
        there.silent = False
        await there.page.clock.run_for(1000)
        await there.is_connected()


async def test_an_answer_to_being_asked_for_a_word_draws_nothing(there: Stage) -> None:
    await there.page.evaluate(
        "window.__drawn = 0; new MutationObserver(() => { __drawn += 1; })"
        ".observe(document.body, { subtree: true, childList: true })"
    )
    await there.page.clock.run_for(QUIET)
    await there.pinged(1)
    await there.page.clock.run_for(ANSWER)
    await _link_is(there, "open")
    assert await there.page.evaluate("__drawn") == 0


@pytest.mark.parametrize("part", ["socket.js", "app.js", "style.css"])
async def test_a_page_of_which_a_part_was_lost_on_its_way_is_asked_for_anew(
    there: Stage, part: str
) -> None:
    asked: list[str] = []

    async def lose_the_first(route: Route) -> None:
        asked.append(route.request.url)
        await (route.abort("connectionreset") if len(asked) == 1 else route.fallback())

    before = there.connections
    await there.page.route(f"**/static/{part}", lose_the_first)
    await _comes_anew(there)
    async with there.page.expect_event("load"):
        await there.page.evaluate("dispatchEvent(new Event('online'))")
        await there.page.clock.run_for(10)
    await there.is_connected()
    assert len(asked) == 2
    assert there.connections > before
