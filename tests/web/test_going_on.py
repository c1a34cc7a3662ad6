"""Cards never hold up the conversation: what is said meanwhile, what lapses, what is changed."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Route, expect

from silas.channels.web.events import (
    CardClosed,
    MessageDelta,
    MessageEvent,
    PlansWaiting,
    Progress,
    ProgressStep,
    WaitingPlanView,
)
from silas.clock import SystemClock
from silas.testing import ScriptedModel, plan_text
from tests.stream.kit import direct, proposing, to_planner
from tests.stream.test_going_on import ASKS, LOOK
from tests.support.waits import SECONDS
from tests.web.support.chromium import in_a_browser
from tests.web.support.cockpit import Cockpit, Home, a_cockpit
from tests.web.support.device import SIZES, NewDevice, Size, devices, violations
from tests.web.support.examples import PLAN
from tests.web.support.library import COPY
from tests.web.support.stage import Stage, a_state, shown, stage
from tests.web.test_conversations import begins

pytestmark = in_a_browser
LONG = 300.0
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


def _said(seq: int, name: str, text: str) -> MessageEvent:
    return MessageEvent(seq=seq, id=name, text=text, sender="owner", timestamp=NOW)


def _told(seq: int, text: str, reply_to: str = "") -> MessageEvent:
    return MessageEvent(
        seq=seq, id=f"s{seq}", text=text, sender="silas", timestamp=NOW, reply_to=reply_to
    )


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_the_owner_talks_on_while_a_plan_waits_and_its_end_stands_under_its_message(
    cockpit: Cockpit, new_device: NewDevice, size: Size
) -> None:
    device = await cockpit.paired(new_device, size)
    await device.says(COPY)
    await device.sees_a_card("Copy the notes")
    await device.comes_back()
    await device.says("What can you do?")
    await expect(device.at("stop-answer")).to_be_hidden()
    words = device.page.locator(".log-list > li .text")
    await expect(device.at("heard")).to_have_count(2)
    await device.sees_a_card("Copy the notes")
    await device.declines()
    await device.comes_back()
    await expect(device.at("heard")).to_have_count(3)
    await expect(words.nth(0)).to_have_text(COPY)
    await expect(words.nth(2)).to_contain_text("nothing was run")
    await expect(words.nth(3)).to_have_text("What can you do?")
    assert await device.violations() == []
    assert not cockpit.home.result.exists()


class _Patient(SystemClock):
    """A clock whose long waits end when a test says so."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        await (self.over.wait() if seconds >= LONG else super().sleep(seconds))


async def test_of_a_plan_that_lapsed_and_is_shown_again_the_end_stands_under_its_message(
    home: Home, browser: Browser
) -> None:
    clock = _Patient()
    async with a_cockpit(home, clock=clock) as cockpit, devices(browser) as new:
        device = await cockpit.paired(new)
        await device.says("hello there")
        await expect(device.at("heard")).to_have_count(1)
        await begins(device)
        await device.says(COPY)
        await device.sees_a_card("Copy the notes")
        await device.comes_back()
        await device.says("What can you do?")
        await expect(device.at("heard")).to_have_count(2)
        clock.over.set()
        await expect(device.at("active-card")).to_have_attribute("data-stays", "lapsed")
        clock.over.clear()
        await expect(device.at("heard")).to_have_count(3)
        await device.at("show-again").click()
        await expect(device.at("action-recommended")).to_be_visible()
        await device.declines()
        await device.comes_back()
        words = device.page.locator(".log-list > li .text")
        await expect(device.at("heard")).to_have_count(4)
        await expect(words.nth(0)).to_have_text(COPY)
        await expect(words.nth(3)).to_have_text("The plan was not approved; nothing was run.")
        await expect(words.nth(4)).to_have_text("What can you do?")


async def test_three_cards_of_one_turn_wait_in_review_while_the_owner_talks_on(
    tmp_path: Path, new_device: NewDevice
) -> None:
    (place := tmp_path / "elsewhere").mkdir()
    plan = plan_text(title="Water the plants")
    nine = direct("It is nine.")
    models = {
        "proxy": ScriptedModel([nine, LOOK, nine, to_planner(), nine]),
        "planner": ScriptedModel([proposing(plan)]),
    }
    gates = json.dumps([ASKS])
    async with a_cockpit(Home(place), models=models, SILAS_GATES__SYSTEM=gates) as cockpit:
        device = await cockpit.paired(new_device)
        await device.says("tidy up")
        cards = (
            ("The rule 'careful' asks you", "Let it pass this once"),
            ("Let the model look at files", "Let it look here"),
            ("Water the plants", "Decline"),
        )
        for number, (intent, answer) in enumerate(cards):
            await device.sees_a_card(intent)
            await device.says("what time is it?")
            nines = device.at("heard").filter(has_text="It is nine.")
            await expect(nines).to_have_count(number + 1)
            await device.sees_a_card(intent)
            await (device.answers(answer) if number < 2 else device.declines())
        words = device.page.locator(".log-list > li .text")
        await expect(words).to_have_text(
            ["tidy up", "I propose this.", "The plan was not approved; nothing was run."]
            + ["what time is it?", "It is nine."] * 3
        )
        assert await device.violations() == []


async def test_what_is_said_to_an_older_message_stands_under_it_and_is_told(there: Stage) -> None:
    there.send(_said(1, "m1", "first"))
    there.send(_told(2, "It waits in Review.", "m1"))
    there.send(_said(3, "m2", "second"))
    there.send(_told(4, "Nine.", "m2"))
    there.send(_told(5, "Approved.", "m1"))
    words = there.page.locator(".log-list > li .text")
    await expect(words).to_have_text(
        ["first", "It waits in Review.", "Approved.", "second", "Nine."]
    )
    await expect(there.page.locator("#toasts")).to_contain_text("Answered above: Approved.")
    await there.page.get_by_test_id("toast-go").click()
    await expect(words.nth(2).locator("xpath=ancestor::li")).to_be_focused()


_NODES = "document.querySelectorAll('*').length"


async def test_of_ten_thousand_messages_the_page_holds_two_thousand_nodes(there: Stage) -> None:
    said = tuple(_said(n, f"m{n}", f"message {n} with **no** form") for n in range(1, 10_001))
    page = there.page
    there.greeting = a_state(seq=10_000, transcript=said)
    await page.reload()
    await there.is_connected()
    rows, scroll = page.locator(".log-list > li.from-owner"), page.locator(".stream-scroll")
    await expect(rows.last).to_contain_text("message 10000 ")
    await expect(rows.last).to_be_in_viewport()
    assert await page.evaluate(_NODES) <= 2_000
    for _ in range(5):
        first = await rows.first.inner_text()
        await scroll.evaluate("one => { one.scrollTop = 0; }")
        await expect(rows.first).not_to_have_text(first, use_inner_text=True)
        assert await page.evaluate(_NODES) <= 2_000
    await expect(rows.filter(has_text="message 10000 ")).to_have_count(0)
    await device_says(there, "the newest")
    await expect(rows.last).to_contain_text("the newest")
    await expect(rows.last).to_be_in_viewport()
    assert await page.evaluate(_NODES) <= 2_000


_UNTIL_FEW = f"""() => new Promise((done) => {{
  const look = () => ({_NODES} <= 2_000 ? done() : requestAnimationFrame(look));
  look();
}})"""


async def test_of_long_answers_with_a_form_the_page_holds_two_thousand_nodes(there: Stage) -> None:
    table = "| a | b |\n|---|---|\n" + "| **x** | `y` |\n" * 30
    page, told = there.page, tuple(_told(n, f"{table}\nAnswer {n}.") for n in range(1, 201))
    there.greeting = a_state(seq=200, transcript=told)
    await page.reload()
    await there.is_connected()
    without = page.locator(".log-list .text:not(:has(table))")
    await expect(page.get_by_test_id("heard").last.locator("table")).to_be_attached()
    await expect(without).to_have_count(0)
    await asyncio.wait_for(page.evaluate(_UNTIL_FEW), SECONDS)
    await expect(without).to_have_count(0)
    await expect(page.get_by_text("Answer 200.")).to_be_in_viewport()


async def device_says(there: Stage, text: str) -> None:
    await there.page.get_by_test_id("composer").fill(text)
    await there.page.keyboard.press("Enter")


async def test_a_plan_that_lapsed_says_so_and_is_shown_again_as_a_new_request(
    there: Stage,
) -> None:
    page, plan = there.page, shown(PLAN)
    asked: list[str] = []
    await page.route("**/work/*/ask", lambda route: _answered(asked, route))
    there.send(plan)
    until = page.get_by_test_id("active-card").locator(".until")
    await expect(until).to_contain_text("more; then it lapses, and nothing is run.")
    there.send(CardClosed(request_id="ask-1", outcome="expired", words="Lapsed."))
    there.send(
        PlansWaiting(waiting=(WaitingPlanView(work_item_id=plan.work_item_id, title=plan.title),))
    )
    card = page.get_by_test_id("active-card")
    await expect(card).to_have_attribute("data-stays", "lapsed")
    await expect(card).to_contain_text("Lapsed: nobody answered in time, and nothing was run.")
    await expect(card.get_by_test_id("action-recommended")).to_have_count(0)
    await expect(page.locator(".waiting")).to_be_hidden()
    assert await violations(page) == []
    async with page.expect_response("**/work/*/ask"):
        await card.get_by_test_id("show-again").click()
    await expect(page.locator("#toasts")).to_be_attached()
    there.send(shown(PLAN, "ask-2"))
    await expect(card).to_have_attribute("data-request", "ask-2")
    await expect(card.get_by_test_id("action-recommended")).to_be_visible()
    assert asked == [f"/work/{plan.work_item_id}/ask"]


async def _answered(asked: list[str], route: Route) -> None:
    asked.append(route.request.url.partition("127.0.0.1:9")[2])
    await route.fulfill(json={"words": "Its card is shown again."})


async def test_changes_are_asked_for_in_the_card_which_stays_until_the_new_plan_is_there(
    there: Stage,
) -> None:
    page, plan = there.page, shown(PLAN)
    there.send(plan)
    card = page.get_by_test_id("active-card")
    await card.get_by_role("button", name="Ask for another plan").click()
    field = card.get_by_test_id("changes")
    await expect(field).to_be_focused()
    assert await violations(page) == []
    await card.get_by_test_id("send-changes").click()
    await expect(page.locator("#toasts")).to_contain_text("Say what should be different.")
    assert there.heard == []
    await field.fill("Use the other port.")
    await card.get_by_test_id("send-changes").click()
    answer = await there.next()
    assert (answer["type"], answer["verdict"]) == ("approval_response", "edit_requested")
    assert there.heard == []  # the words go when the answer was taken
    there.send(CardClosed(request_id="ask-1", outcome="answered", words="Ask for another plan"))
    wish = await there.next()
    assert (wish["type"], wish["text"]) == ("message", "Use the other port.")
    assert wish["proof"] is not None
    await expect(card).to_have_attribute("data-stays", "changing")
    await expect(card).to_contain_text("this one cannot be approved")
    await expect(card.get_by_role("button")).to_have_count(0)
    await expect(page.locator(".toast")).to_have_count(0)  # one that fades has too little contrast
    assert await violations(page) == []
    there.send(_said(1, wish["id"], wish["text"]))
    there.send(shown(PLAN, "ask-2"))
    await expect(card).to_have_attribute("data-request", "ask-2")
    await expect(card.get_by_test_id("action-recommended")).to_be_visible()


async def test_another_page_says_of_a_plan_that_changes_were_asked_for(there: Stage) -> None:
    waits = WaitingPlanView(work_item_id="w-1", title="Ports", changes_wanted=True)
    there.greeting = a_state(waiting=(waits,))
    await there.page.reload()
    await there.is_connected()
    row = there.page.locator(".waiting .row")
    await expect(row).to_contain_text("You asked for changes")
    await expect(row.get_by_role("button")).to_have_text("Show again")
    assert await violations(there.page) == []


async def test_where_no_new_plan_comes_the_old_one_can_be_shown_again(there: Stage) -> None:
    plan = shown(PLAN)
    there.send(plan)
    card = there.page.get_by_test_id("active-card")
    await card.get_by_role("button", name="Ask for another plan").click()
    await card.get_by_test_id("changes").fill("Why that one?")
    await card.get_by_test_id("send-changes").click()
    await there.next()
    there.send(CardClosed(request_id="ask-1", outcome="answered", words="Ask for another plan"))
    wish = await there.next()
    there.send(_said(1, wish["id"], wish["text"]))
    there.send(_told(2, "Because it is free.", wish["id"]))
    await expect(card).to_have_attribute("data-stays", "answered")
    await expect(card.get_by_test_id("show-again")).to_be_visible()


async def test_one_answer_is_stopped_by_its_own_button(there: Stage) -> None:
    page = there.page
    asked: list[str] = []
    await page.route("**/answers/*/stop", lambda route: _answered(asked, route))
    there.greeting = a_state(seq=1, transcript=(_said(1, "m1", "one"),), answering=("m1",))
    await page.reload()
    await there.is_connected()
    there.send(MessageDelta(turn_id="t1", text="I look"))
    stop = page.get_by_test_id("stop-answer")
    await expect(stop).to_be_visible()
    assert await violations(page) == []
    await stop.focus()
    async with page.expect_response("**/answers/*/stop"):
        await page.keyboard.press("Enter")
    assert asked == ["/answers/m1/stop"]
    there.send(MessageDelta(turn_id="t1", text="", begins=True))
    there.send(_told(2, "You stopped this answer; nothing came of it.", "m1"))
    await expect(stop).to_be_hidden()
    await expect(page.get_by_test_id("heard")).to_contain_text("You stopped this answer")


def _going(steps: int, first: int) -> Progress:
    begun = [ProgressStep(words=f"Run step {n}", state="done", seconds=2) for n in range(steps)]
    lines = tuple(f"line {n} of what it prints" for n in range(first, first + 40))
    begun[-1] = begun[-1].model_copy(update={"state": "running"})
    return Progress(
        work_item_id="w", title="Slow", status="running", message="at it", steps=tuple(begun),
        log_tail=lines,
    )  # fmt: skip


_LINE = """(one, words) => {
  const range = document.createRange(), text = one.firstChild, at = text.data.indexOf(words);
  range.setStart(text, at);
  range.setEnd(text, at + words.length);
  return range.getBoundingClientRect().top;
}"""


async def test_a_step_that_begins_and_a_line_that_goes_do_not_move_the_line_that_is_read(
    there: Stage,
) -> None:
    page = there.page
    there.send(_going(1, 0))
    log = page.locator(".running .log")
    await expect(log).to_contain_text("line 39 ")
    await log.evaluate("one => { one.scrollTop = 200; }")
    where = await log.evaluate(_LINE, "line 14 ")
    for number in range(2, 12):
        there.send(_going(number, number - 1))
        await expect(page.locator(".steps li")).to_have_count(number)
        await expect(log).to_contain_text(f"line {number + 38} ")
        assert abs(await log.evaluate(_LINE, "line 14 ") - where) <= 1
    await expect(page.locator(".steps li").last).to_be_in_viewport()
    assert await violations(page) == []
    await page.locator(".log-box > summary").click()
    await expect(page.locator(".so-far")).not_to_have_attribute("tabindex", "0")


async def test_what_was_begun_on_another_tab_is_followed_from_its_newest_line(there: Stage) -> None:
    page = there.page
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.evaluate("location.hash = '#/review'")
    await expect(page.locator("#stream")).to_be_hidden()
    there.send(_going(2, 0))
    log = page.locator(".running .log")
    await expect(log).to_contain_text("line 39 ")
    await page.evaluate("location.hash = '#/stream'")
    await expect(page.locator("#stream")).to_be_visible()
    there.send(_going(3, 1))
    await expect(log).to_contain_text("line 40 ")
    assert await log.evaluate("o => o.scrollHeight - o.scrollTop - o.clientHeight") <= 1
