"""What is for everybody, where everybody is many: bundled, in order, and never in the way."""

import asyncio
import json
from typing import Any

from silas.channels.web.pages import AT_ONCE, CROWD, GOING_AWAY, ConnectedPage, Pages
from silas.channels.web.session import WebSession
from tests.support.waits import SECONDS

MANY = CROWD * 4


def a_page(pages: Pages) -> ConnectedPage:
    page = ConnectedPage(WebSession(id="s-1", device_id="d-1", device="phone", level="owner"))
    pages.enter(page)
    return page


def event(number: int) -> str:
    return json.dumps({"number": number})


async def numbers(page: ConnectedPage) -> list[int]:
    """What a page was given up to its end."""
    found: list[int] = []
    while (frame := await asyncio.wait_for(page.next(), SECONDS)) is not None:
        read: Any = json.loads(frame)
        events: list[dict[str, int]] = read if frame.startswith("[") else [read]
        found += [one["number"] for one in events]
    return found


async def test_a_bundle_for_a_crowd_goes_out_a_few_pages_at_a_time() -> None:
    pages = Pages()
    crowd = [a_page(pages) for _ in range(MANY)]
    pages.all(event(1))
    pages.enter(ConnectedPage(crowd[0].session))  # what is bundled goes out to those who were there
    seen: list[int] = []
    left = set(crowd)
    for _ in range(MANY):
        left -= {page for page in left if page.has_something}
        seen.append(MANY - len(left))
        await asyncio.sleep(0)
    assert seen[:3] == [AT_ONCE, 2 * AT_ONCE, 3 * AT_ONCE]
    assert seen[-1] == MANY


async def test_what_is_for_one_page_does_not_wait_for_a_bundle_that_goes_out() -> None:
    pages = Pages()
    crowd = [a_page(pages) for _ in range(MANY)]
    pages.all(event(1))
    pages.enter(ConnectedPage(crowd[0].session))
    last = next(page for page in crowd if not page.has_something)
    last.give(event(2))
    pages.close(GOING_AWAY)
    assert await numbers(last) == [2, 1]


async def test_every_page_gets_every_event_in_order_whenever_others_come_and_go() -> None:
    pages = Pages()
    crowd = [a_page(pages) for _ in range(MANY)]
    came: list[tuple[int, ConnectedPage]] = []
    for number in range(50):
        pages.all(event(number))
        if number % 7 == 0:
            came.append((number + 1, a_page(pages)))
        if number % 5 == 0:
            await asyncio.sleep(0)
    for page in crowd[CROWD:]:
        pages.leave(page)
    pages.all(event(50))
    pages.close(GOING_AWAY)
    for page in crowd[:CROWD]:
        assert await numbers(page) == list(range(51))
    for first, page in came:
        assert await numbers(page) == list(range(first, 51))


async def test_what_was_said_before_the_end_comes_before_it() -> None:
    pages = Pages()
    crowd = [a_page(pages) for _ in range(MANY)]
    pages.all(event(1))
    pages.close(GOING_AWAY)
    for page in crowd:
        assert await numbers(page) == [1]
        assert page.closing == GOING_AWAY


async def test_whoever_answers_a_page_sends_at_once_and_its_writer_goes_on_waiting() -> None:
    page, sent = a_page(Pages()), list[str]()

    async def send(frame: str) -> None:
        sent.append(frame)

    waiting = asyncio.create_task(page.stirs())
    await asyncio.sleep(0)
    page.give("ack")
    await page.answer(send)
    assert sent == ["ack"]
    for _ in range(3):
        await asyncio.sleep(0)
    assert not waiting.done()
    page.close(GOING_AWAY)
    assert not await asyncio.wait_for(waiting, SECONDS)


async def test_what_several_send_to_a_page_keeps_its_order_and_nobody_answers_past_a_slow_one() -> (
    None
):
    page, sent, reads = a_page(Pages()), list[str](), asyncio.Event()

    async def send(frame: str) -> None:
        await reads.wait()
        sent.append(frame)

    page.give("1")
    writing = asyncio.create_task(page.write(send))
    await asyncio.sleep(0)
    page.give("2")
    await asyncio.wait_for(page.answer(send), SECONDS)
    page.give("3")
    again = asyncio.create_task(page.write(send))
    reads.set()
    await asyncio.wait_for(asyncio.gather(writing, again), SECONDS)
    assert sent == ["1", "2", "3"]
