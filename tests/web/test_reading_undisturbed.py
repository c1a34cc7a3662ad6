"""What the owner reads stays where it is while an answer grows, and no long line widens a phone."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.channels.web.events import MessageDelta, MessageEvent
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import SIZES, Size, violations
from tests.web.support.stage import Stage, a_state, stage

pytestmark = in_a_browser
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)

_FORM = """# What was found

The first paragraph, which the owner reads while the rest of it comes.

| name | size |
|------|-----:|
| a.py | 12 |

"""

_WATCH = """() => {
  const found = [];
  const note = (entries) => {
    for (const entry of entries)
      found.push(...entry.sources.map((one) => `${one.node?.nodeName} ${one.node?.className}`));
  };
  const watcher = new PerformanceObserver((list) => note(list.getEntries()));
  watcher.observe({ type: "layout-shift" });
  const frame = () => new Promise((done) => { requestAnimationFrame(done); });
  window.moved = async () => {
    await frame();  // what was changed is laid out and shown
    await frame();
    note(watcher.takeRecords());
    return found;
  };
}"""

_TOPS = """(words) => words.map((one) => {
  const all = document.createTreeWalker(document.querySelector(".stream-scroll"), 4);
  while (all.nextNode()) if (all.currentNode.data.includes(one)) break;
  const range = document.createRange();
  range.selectNodeContents(all.currentNode);
  return range.getBoundingClientRect().top;
})"""


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


def _said(seq: int, text: str, sender: str = "owner") -> MessageEvent:
    known = {"seq": seq, "id": f"m{seq}", "text": text, "timestamp": NOW}
    return MessageEvent.model_validate({**known, "sender": sender})


async def _sized(there: Stage, size: Size) -> None:
    await there.page.set_viewport_size({"width": size.width, "height": size.height})


async def _shown(there: Stage, words: str) -> None:
    await expect(there.page.locator(".stream-scroll")).to_contain_text(words)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_the_lines_of_an_answer_that_grows_stay_where_they_are(
    there: Stage, size: Size
) -> None:
    """As long as it fits on the page; from then on its end is followed."""
    page = there.page
    await _sized(there, size)
    there.send(_said(1, "what did you find?"))
    there.send(MessageDelta(turn_id="t1", text=_FORM))
    await _shown(there, "The first paragraph")
    await expect(page.locator(".coming td").first).to_be_visible()
    await page.evaluate(_WATCH)
    words = ["what did you find?", "What was found", "The first paragraph", "a.py"]
    before = await page.evaluate(_TOPS, words)
    for number in range(6):
        there.send(MessageDelta(turn_id="t1", text=f"- the point {number} "))
        there.send(MessageDelta(turn_id="t1", text="of *them*\n"))
        await expect(page.locator(".coming li em")).to_have_count(number + 1)
        assert await page.evaluate(_TOPS, words) == before
    points = "".join(f"- the point {number} of *them*\n" for number in range(6))
    whole = _said(2, f"{_FORM}{points}\n", "silas")
    there.send(whole.model_copy(update={"turn_id": "t1"}))
    await expect(page.locator(".coming")).to_have_count(0)
    await expect(page.get_by_test_id("heard").locator("li em")).to_have_count(6)
    assert await page.evaluate(_TOPS, words) == before
    assert await page.evaluate("moved()") == []


async def test_lines_that_do_move_are_seen(there: Stage) -> None:
    """What the tests beside this one would see if an answer moved what is read."""
    page = there.page
    there.send(_said(1, "what did you find?"))
    there.send(MessageDelta(turn_id="t1", text=_FORM))
    await expect(page.locator(".coming td").first).to_be_visible()
    await page.evaluate(_WATCH)
    assert await page.evaluate("moved()") == []
    await page.locator(".coming h3, .coming h2, .coming h1").first.evaluate(
        "(one) => { one.style.marginTop = '40px'; }"
    )
    moved = await page.evaluate("moved()")
    assert [one for one in moved if one.startswith(("P ", "TABLE ", "DIV "))], moved


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_whoever_reads_further_up_is_not_moved_by_an_answer_that_grows(
    there: Stage, size: Size
) -> None:
    page = there.page
    await _sized(there, size)
    said = tuple(_said(n, f"message {n:03} is here", "silas") for n in range(1, 101))
    there.greeting = a_state(seq=100, transcript=said)
    await page.reload()
    await there.is_connected()
    await expect(page.get_by_text("message 100 is here")).to_be_in_viewport()
    scroll = page.locator(".stream-scroll")
    await scroll.hover()
    await scroll.evaluate("one => { one.scrollTop -= 900; }")
    await expect(page.get_by_text("message 100 is here")).not_to_be_in_viewport()
    there.send(MessageDelta(turn_id="t1", text="It begins."))
    await _shown(there, "It begins.")
    await page.evaluate(_WATCH)
    words = await scroll.evaluate(
        """(one) => {
          const { top, bottom } = one.getBoundingClientRect();
          return [...one.querySelectorAll(".log-list > li .text")].filter((row) => {
            const box = row.getBoundingClientRect();
            return box.top > top && box.bottom < bottom;
          }).map((row) => row.textContent.trim());
        }"""
    )
    assert len(words) > 3
    before = await page.evaluate(_TOPS, words)
    for number in range(30):
        there.send(MessageDelta(turn_id="t1", text=f"\n\nThe paragraph {number}."))
        await _shown(there, f"The paragraph {number}.")
        assert await page.evaluate(_TOPS, words) == before
    paragraphs = "".join(f"\n\nThe paragraph {number}." for number in range(30))
    whole = _said(101, f"It begins.{paragraphs}", "silas")
    there.send(whole.model_copy(update={"turn_id": "t1"}))
    await expect(page.locator(".coming")).to_have_count(0)
    assert await page.evaluate(_TOPS, words) == before
    assert await page.evaluate("moved()") == []


_LONG = "x" * 400
_LINES = {
    "a code line": f"```sh\ncurl {_LONG} --a-flag\n```",
    "code within a line": f"See `{_LONG}` there.",
    "a word": _LONG,
    "a table": f"| name | value |\n|---|---|\n| `{_LONG}` | {_LONG} |",
    "a list": f"- one\n  - two `{_LONG}`",
    "a quote": f"> {_LONG}\n>\n> ```\n> {_LONG}\n> ```",
    "a heading": f"# {_LONG}",
    "a link": f"[{_LONG}](https://a.example/{_LONG})",
}

_REACHED = """(heard) => [...heard.querySelectorAll("*")].filter((one) => {
  const box = one.getBoundingClientRect();
  if (box.right <= innerWidth) return false;
  for (let at = one.parentElement; at && at !== heard.parentElement; at = at.parentElement)
    if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return false;
  return true;
}).map((one) => `${one.nodeName} ${one.className}`)"""
"""What reaches beyond the screen and lies in nothing that scrolls."""


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_no_long_line_of_an_answer_is_wider_than_the_page(there: Stage, size: Size) -> None:
    page = there.page
    await _sized(there, size)
    wrong: dict[str, object] = {}
    for number, (name, text) in enumerate(_LINES.items(), 1):
        there.send(_said(number, f"{text}\n\nAnd *then*.", "silas"))
        heard = page.get_by_test_id("heard").nth(number - 1)
        await expect(heard.locator("em")).to_have_text("then")
        wide = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        within = await page.evaluate(
            "(one => one.scrollWidth - one.clientWidth)(document.querySelector('.stream-scroll'))"
        )
        beyond = await heard.evaluate(_REACHED)
        if wide > 0 or within > 0 or beyond:
            wrong[name] = (wide, within, beyond)
    assert wrong == {}
    assert await violations(page) == []
