"""Silas's words have a form that one can read, and nothing in them runs, loads or leads away."""

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest_asyncio
from playwright.async_api import Browser, Locator, expect

from silas.channels.web.events import MessageDelta, MessageEvent, PostExecution
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import violations
from tests.web.support.stage import Stage, a_state, stage

pytestmark = in_a_browser
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)

REPORT = """# What was found

Two things, **one** of them *urgent*; see `notes.txt` &amp; <b>not bold</b>.

## In order

1. First
2. Second
   - inner

- [x] done
- [ ] open

> Somebody said this.

| name | size |
|:-----|-----:|
| a.py | 12 |
| b.py | 3400 |

```python
def add(a, b):
    return a + b  # the sum
```

![a picture](https://pictures.example/p.png) and [a page](https://pages.example/path?q=1)
and [no page](javascript:alert(1)).
"""


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


def _silas(text: str, seq: int = 1, turn: str = "") -> MessageEvent:
    return MessageEvent(
        seq=seq, id=f"s{seq}", text=text, sender="silas", timestamp=NOW, turn_id=turn
    )


def _heard(there: Stage) -> Locator:
    return there.page.get_by_test_id("heard").locator(".text")


async def test_an_answer_has_headings_lists_tables_quotes_and_code(there: Stage) -> None:
    there.send(_silas(REPORT))
    heard = _heard(there)
    await expect(heard.locator("h2")).to_have_text("What was found")
    await expect(heard.locator("h3")).to_have_text("In order")
    await expect(heard.locator("strong")).to_have_text("one")
    await expect(heard.locator("em")).to_have_text("urgent")
    await expect(heard.locator("ol > li > ul > li")).to_have_text("inner")
    await expect(heard.locator("blockquote")).to_have_text("Somebody said this.")
    await expect(heard.locator("td.to-right")).to_have_text(["12", "3400"])
    await expect(heard.locator(".code-comment")).to_have_text("# the sum")
    await expect(heard).to_contain_text("notes.txt & <b>not bold</b>")
    await expect(heard.locator("b, img, script, iframe")).to_have_count(0)
    await expect(heard.locator(".task .unseen")).to_have_text(["Done: ", "To do: "])
    assert await violations(there.page) == []


async def test_a_link_leads_nowhere_before_it_was_touched_twice(there: Stage) -> None:
    there.send(_silas("See [my bank](https://bank.example@evil.example/x) or [that](file:///etc)."))
    heard = _heard(there)
    link = heard.get_by_test_id("link")
    await expect(link).to_have_text("my bank evil.example")
    await expect(heard.locator("a")).to_have_count(0)
    await link.focus()
    await there.page.keyboard.press("Enter")
    opens = heard.get_by_test_id("link-open")
    await expect(opens).to_be_focused()
    await expect(opens).to_have_text("Open evil.example")
    await expect(opens).to_have_attribute("href", "https://bank.example@evil.example/x")
    await expect(opens).to_have_attribute("rel", "noopener noreferrer")
    await expect(heard).to_contain_text("file:///etc")
    assert await violations(there.page) == []


async def test_what_is_copied_is_what_is_shown(there: Stage) -> None:
    await there.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    there.send(_silas("```sh\necho 1 \u202e\n```\n\n*so*"))
    await expect(_heard(there).locator("em")).to_have_text("so")
    await _heard(there).get_by_test_id("copy").click()
    await expect(there.page.locator("#toasts")).to_have_text("Copied.")
    copied = await there.page.evaluate("navigator.clipboard.readText()")
    assert copied == "echo 1 <U+202E>"


async def test_an_answer_that_grows_keeps_what_is_there(there: Stage) -> None:
    page = there.page
    there.send(MessageDelta(turn_id="t1", text="# Plan\n\nThe **first** paragraph.\n\n"))
    await expect(page.locator(".coming strong")).to_have_text("first")
    await page.evaluate("window.kept = document.querySelector('.coming h2')")
    there.send(MessageDelta(turn_id="t1", text="- a\n- *b*"))
    await expect(page.locator(".coming li em")).to_have_text("b")
    assert await page.evaluate("kept.isConnected")
    there.send(_silas("# Plan\n\nThe **first** paragraph.\n\n- a\n- *b*\n\nDone.", 1, "t1"))
    await expect(_heard(there).locator("li em")).to_have_text("b")
    await expect(_heard(there)).to_contain_text("Done.")
    await expect(page.locator(".coming")).to_have_count(0)


_QUOTES = ">" * 200 + " deep *quote*"
_BAD = {
    "quotes": (_QUOTES, "nests too deeply"),
    "steps": ("\n".join(">" * n + " x" for n in range(1, 201)), "nests too deeply"),
    "lists": ("\n".join("  " * n + "- *x*" for n in range(200)), "nests too deeply"),
    "in a line": ("- " * 200 + "*x*", "nests too deeply"),
    "no blank": ("a" * 99_999 + "*", "very long"),
    "many parts": ("a *b*\n\n" * 3000, "very many parts"),
    "slow": ("*a_" * 19_000, "too long to read"),  # half a minute on a fast machine
}


_SHOWN = """([node, start]) => node.textContent.includes(start)
  && document.documentElement.scrollWidth <= innerWidth"""


async def test_what_no_parser_should_read_is_shown_as_it_was_written(there: Stage) -> None:
    """One after the other in one page, which goes on reading what comes after each of them."""
    failures: list[str] = []
    for number, (name, (text, why)) in enumerate(_BAD.items()):
        there.send(_silas(text, 2 * number + 1))
        heard = _heard(there).nth(2 * number)
        told = heard.locator("p.small")
        words = re.compile(f"^Shown as it was written: it .*{why}[.]$")
        await expect(told, name).to_have_text(words)
        start = text.lstrip(">- ")[:9]
        if not await there.page.evaluate(_SHOWN, [await heard.element_handle(), start]):
            failures.append(f"{name}: it is not there, or wider than the page")
        there.send(_silas("And *then*.", 2 * number + 2))
        after = _heard(there).nth(2 * number + 1).locator("em")
        await expect(after, f"after {name}").to_have_text("then")
    assert not failures


async def test_the_rest_of_what_is_very_long_comes_when_it_is_asked_for(there: Stage) -> None:
    there.send(_silas("b" * 100_000 + "*"))
    more = _heard(there).get_by_role("button", name="Show the other 80,001 characters")
    await more.click()
    await expect(more).to_have_count(0)
    assert await _heard(there).evaluate("(node) => node.textContent.includes('b'.repeat(100000))")


async def test_what_was_said_before_has_its_form_when_the_page_is_first_seen(there: Stage) -> None:
    there.greeting = a_state(seq=2, transcript=(_silas(REPORT), _silas("And *that*.", 2)))
    await there.page.reload()
    await there.is_connected()
    await expect(there.page.locator("body")).to_have_attribute("data-ready", "yes")
    await expect(_heard(there).last.locator("em")).to_have_text("that")


async def test_a_paste_that_no_message_has_room_for_is_refused_in_one_sentence(
    there: Stage,
) -> None:
    page = there.page
    await page.get_by_test_id("composer").fill("look at ")
    await page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.setData("text/plain", "x".repeat(2_000_000));
          const paste = new ClipboardEvent("paste",
            { clipboardData: data, bubbles: true, cancelable: true });
          document.getElementById("say").dispatchEvent(paste);
        }"""
    )
    problem = page.get_by_test_id("composer-problem")
    await expect(problem).to_contain_text("2,000,000 characters")
    await expect(page.get_by_test_id("composer")).to_have_value("look at ")
    await page.get_by_test_id("composer").fill("y" * 20_001)
    await page.keyboard.press("Enter")
    await expect(problem).to_contain_text("20,001 characters")
    await expect(page.get_by_test_id("composer")).to_have_value("y" * 20_001)
    assert there.heard == []
    await page.get_by_test_id("composer").fill("short")
    await expect(problem).to_be_empty()
    await page.keyboard.press("Enter")
    assert (await there.next())["text"] == "short"


_PATCH = """diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,4 +1,4 @@
 first
-port = connect("localhost", 8080, timeout=5)
+port = connect("localhost", 8081, timeout=5)
-nothing here is alike
+1 + 2
 last
"""


async def test_what_changed_within_a_line_is_marked_and_a_narrow_page_wraps_it(
    there: Stage,
) -> None:
    page = there.page
    await page.set_viewport_size({"width": 375, "height": 812})
    patch = _PATCH.replace("last", "a long line " * 40)
    there.send(
        PostExecution(
            seq=1,
            work_item_id="w1",
            title="Ports",
            status="done",
            summary="Done.",
            diff=patch,
            timestamp=NOW,
        )
    )
    result = page.get_by_test_id("result")
    await result.get_by_text("What changed").click()
    await expect(result.locator("mark")).to_have_text(["8080", "8081"])
    await expect(result.locator(".diff-out").last).to_have_text("-nothing here is alike")
    fits = "(node) => node.scrollWidth <= node.clientWidth"
    assert await result.locator("pre.diff").evaluate(fits)
    assert await violations(page) == []


async def test_an_answer_is_copied_and_a_question_is_edited_and_asked_again(there: Stage) -> None:
    page = there.page
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    asked = MessageEvent(seq=1, id="m1", text="which port?", sender="owner", timestamp=NOW)
    there.send(asked)
    there.send(_silas("Port *8080*.", 2))
    await page.get_by_test_id("copy-answer").click()
    await expect(page.locator("#toasts")).to_have_text("Copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == "Port *8080*."
    assert await violations(page) == []
    await page.get_by_test_id("ask-again").focus()
    await page.keyboard.press("Enter")
    field = page.get_by_test_id("composer")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("which port?")
    await field.fill("which port now?")
    await page.keyboard.press("Enter")
    assert (await there.next())["text"] == "which port now?"
