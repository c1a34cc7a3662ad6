"""What the page does by itself: what it says again, what it shows of hidden text, how it draws."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.cards import ChannelMessage, message_bytes
from silas.channels.web.events import (
    CardClosed,
    MessageDelta,
    MessageEvent,
    PlansWaiting,
    PostExecution,
    RefusedEvent,
    StatusEvent,
    StopEvent,
    WaitingPlanView,
)
from silas.channels.web.wire import Message, Proof, command_bytes, decision_bytes, inbound
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import keep_notices
from tests.web.support.examples import DRAFT, GATE, TOOL_CALL
from tests.web.support.stage import Stage, a_state, shown, stage

pytestmark = in_a_browser
NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def only_asked(browser: Browser) -> AsyncGenerator[Stage]:
    """One for the tests that ask functions of the page, and leave the page as it is."""
    async with stage(browser) as made:
        yield made


def _silas(seq: int, text: str, turn: str = "") -> MessageEvent:
    return MessageEvent(
        seq=seq, id=f"s{seq}", text=text, sender="silas", timestamp=NOW, turn_id=turn
    )


async def _say(there: Stage, text: str) -> None:
    await there.page.get_by_test_id("composer").fill(text)
    await there.page.keyboard.press("Enter")


def _signed_message(there: Stage, frame: dict[str, Any]) -> Message:
    message = inbound.validate_python(frame)
    assert isinstance(message, Message)
    assert message.proof is not None
    said = ChannelMessage(
        channel="web", sender_id="x", text=message.text, timestamp=message.proof.timestamp
    )
    assert there.signed(message_bytes(said, message.proof.nonce), message.proof)
    return message


async def test_what_was_not_acknowledged_is_said_again_under_the_same_name_with_a_fresh_signature(
    there: Stage,
) -> None:
    there.acknowledges = False
    await _say(there, "größer \u2028 “😀”")
    first = _signed_message(there, await there.next())
    await there.cut()
    again = _signed_message(there, await there.next())
    assert (again.id, again.text) == (first.id, first.text)
    assert again.proof is not None
    assert first.proof is not None
    assert again.proof.nonce != first.proof.nonce
    own = MessageEvent(seq=1, id=first.id, text=first.text, sender="owner", timestamp=NOW)
    there.send(own)
    there.send(own)
    await expect(there.page.get_by_test_id("said")).to_have_count(1)


async def test_what_was_acknowledged_is_not_said_again(there: Stage) -> None:
    await _say(there, "once")
    frame = await there.next()
    said = MessageEvent(seq=1, id=frame["id"], text="once", sender="owner", timestamp=NOW)
    there.send(said)
    there.greeting = a_state(seq=1)
    await expect(there.page.locator(".from-owner time")).to_have_count(1)
    await there.cut()
    await there.is_connected()
    assert there.afters[-1] == 1
    await _say(there, "twice")
    assert (await there.next())["text"] == "twice"


async def test_a_message_can_be_written_while_silas_is_away_and_survives_a_reload(
    there: Stage,
) -> None:
    page = there.page
    there.acknowledges = False
    await _say(there, "before")
    await there.next()
    await page.reload()
    await there.is_connected()
    assert (await there.next())["text"] == "before"
    await expect(page.get_by_test_id("said")).to_contain_text("before")


async def test_a_session_that_ended_says_so_and_does_not_knock_again(there: Stage) -> None:
    await there.cut(4001)
    banner = there.page.locator("#offline")
    await expect(banner).to_contain_text("no longer paired")
    before = there.connections
    await there.page.evaluate("dispatchEvent(new Event('online'))")
    assert there.connections == before


async def test_the_answer_as_it_comes_gives_way_to_the_answer_as_it_is(there: Stage) -> None:
    for piece in ("I looked", " at it."):
        there.send(MessageDelta(turn_id="t1", text=piece))
    await expect(there.page.locator(".coming")).to_have_text("I looked at it.")
    there.send(_silas(1, "I looked at it. It is fine.", "t1"))
    await expect(there.page.locator(".coming")).to_have_count(0)
    await expect(there.page.get_by_test_id("heard")).to_contain_text("It is fine.")


async def test_what_is_waited_for_is_shown_until_there_is_something_to_say(there: Stage) -> None:
    there.send(StatusEvent(words="Checking the plan: \u202etests (1 of 2)"))
    await expect(there.page.locator(".passing")).to_contain_text("plan: <U+202E>tests (1 of 2)")
    there.send(StatusEvent(words="Checking the plan: style (2 of 2)"))
    await expect(there.page.locator(".passing")).to_contain_text("style (2 of 2)")
    there.send(shown(GATE))
    await expect(there.page.locator(".passing")).to_have_count(0)
    there.send(StatusEvent(words="waiting for the model (planner)"))
    there.send(_silas(1, "Done."))
    await expect(there.page.locator(".passing")).to_have_count(0)


async def test_no_text_of_anybodys_becomes_markup_or_hides_or_leads_away(there: Stage) -> None:
    nasty = "<img src=x onerror=alert(1)> \u202eevil\u202c \u200b http://evil.example/?a=1"
    there.send(_silas(1, nasty))
    card = GATE.model_copy(update={"intent": nasty, "rationale": nasty})
    there.send(shown(card))
    heard = there.page.get_by_test_id("heard")
    await expect(heard).to_contain_text("<img src=x onerror=alert(1)>")
    await expect(heard).to_contain_text("<U+202E>evil<U+202C> <U+200B>")
    assert await there.page.locator("img").count() == 0
    assert await there.page.locator("a[href*='evil']").count() == 0
    await expect(there.page.get_by_test_id("active-card")).to_contain_text("<U+202E>evil")


async def test_an_answer_is_signed_over_the_card_and_given_once(there: Stage) -> None:
    event = shown(TOOL_CALL)
    there.send(event)
    await there.page.get_by_test_id("action-recommended").click()
    slide = there.page.get_by_test_id("slide")
    await expect(slide).to_be_focused()
    await there.page.keyboard.press("End")
    await there.page.keyboard.press("Enter")
    response: Any = inbound.validate_python(await there.next())
    assert response.verdict == "approve"
    assert there.signed(decision_bytes(response, event.digest), response.proof)
    assert not there.signed(decision_bytes(response, "0" * 64), response.proof)
    await there.page.keyboard.press("Enter")
    await expect(there.page.get_by_test_id("actions")).to_have_attribute("inert", "")
    there.send(CardClosed(request_id="ask-1", outcome="answered", words="Send this mail"))
    await expect(there.page.get_by_test_id("active-card")).to_have_count(0)
    assert there.heard == []


async def test_a_card_that_is_not_what_was_sealed_gets_no_signature(there: Stage) -> None:
    sealed = shown(TOOL_CALL)
    changed = sealed.card.model_copy(update={"affected": "nobody at all"})
    there.send(sealed.model_copy(update={"card": changed}))
    card = there.page.get_by_test_id("active-card")
    await expect(card).to_contain_text("not what was sealed")
    await card.get_by_test_id("action-recommended").click(force=True)
    await expect(there.page.get_by_test_id("slide")).to_have_count(0)
    await card.get_by_test_id("action-decline").click()
    answer = await there.next()
    assert (answer["verdict"], answer["proof"]) == ("decline", None)


async def test_over_plain_http_from_elsewhere_a_browser_has_no_key_and_can_still_say_no(
    browser: Browser,
) -> None:
    async with stage(browser, "192.0.2.7:9") as there:
        assert there.key == ""
        there.send(shown(TOOL_CALL))
        card = there.page.get_by_test_id("active-card")
        await expect(card).to_contain_text("no key of its own")
        yes = card.get_by_test_id("action-recommended")
        await expect(yes).to_have_attribute("aria-disabled", "true")
        await yes.click(force=True)
        await card.get_by_test_id("action-decline").click()
        answer = await there.next()
        assert (answer["verdict"], answer["proof"]) == ("decline", None)
        await _say(there, "said without a key")
        assert (await there.next())["proof"] is None


@pytest.mark.proves("S8.2-CHAT-APART")
async def test_what_is_said_stands_in_the_stream_and_never_in_review(there: Stage) -> None:
    there.send(shown(GATE))
    await _say(there, "Only talking")
    there.send(_silas(1, "So am I"))
    stream, review = there.page.locator("#stream"), there.page.locator("#review")
    for words in ("Only talking", "So am I"):
        await expect(stream).to_contain_text(words)
        await expect(review).not_to_contain_text(words)
    await expect(review).to_contain_text(GATE.intent)


async def test_a_double_tap_and_a_held_key_are_one_tap(there: Stage) -> None:
    there.send(shown(GATE))
    yes, confirm = (there.page.get_by_test_id(name) for name in ("action-recommended", "confirm"))
    await yes.dblclick()
    await expect(confirm).to_be_visible()
    second = "new MouseEvent('click', { detail: 2, bubbles: true })"
    await confirm.evaluate(f"(node) => node.dispatchEvent({second})")  # wherever it lands
    await there.page.get_by_test_id("not-yet").click()
    await expect(yes).to_be_focused()
    for _ in range(3):
        await there.page.keyboard.down("Enter")  # the same key again and again: it is held
    await there.page.keyboard.up("Enter")
    await expect(confirm).to_be_focused()
    assert there.heard == []
    await confirm.click()
    assert (await there.next())["verdict"] == "approve"


async def test_an_answer_that_did_not_count_can_be_given_again(there: Stage) -> None:
    there.acknowledges = False
    there.send(shown(GATE))
    await there.page.get_by_test_id("action-decline").click()
    assert (await there.next())["verdict"] == "block"
    there.send(RefusedEvent(id="ask-1", code="E_CHANNEL_PROOF", message="The clock is wrong."))
    card = there.page.get_by_test_id("active-card")
    await expect(card).to_contain_text("The clock is wrong.")
    await card.get_by_test_id("action-decline").click()
    assert (await there.next())["verdict"] == "block"


async def test_an_answer_without_a_connection_is_given_when_it_is_back(there: Stage) -> None:
    there.send(shown(GATE))
    card = there.page.get_by_test_id("active-card")
    await expect(card).to_be_visible()
    there.greeting = a_state(cards=(shown(GATE),))
    await there.cut()
    await card.get_by_test_id("action-decline").click()
    assert (await there.next())["verdict"] == "block"


async def test_a_field_that_is_being_filled_outlives_every_frame(there: Stage) -> None:
    there.send(shown(DRAFT))
    field = there.page.get_by_label("The draft; you can change it")
    await field.fill("My own words")
    for seq in (1, 2):
        there.send(_silas(seq, "meanwhile"))
    there.send(shown(GATE, "ask-2"))
    await expect(there.page.get_by_test_id("up-next")).to_have_count(1)
    await expect(field).to_have_value("My own words")
    await expect(field).to_be_focused()


async def test_the_stop_is_in_reach_wherever_one_is(there: Stage) -> None:
    for place in ("#/stream", "#/review", "#/activity", "#/more", "#/more/devices"):
        await there.page.evaluate("(place) => { location.hash = place; }", place)
        stop = there.page.get_by_test_id("stop")
        await stop.click()
        await expect(there.page.get_by_test_id("stop-now")).to_be_focused()
        await there.page.keyboard.press("Escape")
        await expect(there.page.get_by_test_id("stop-now")).to_be_hidden()
    there.send(StopEvent(words="What ran was killed."))
    await expect(there.page.locator("#stopped")).to_contain_text("What ran was killed.")
    await expect(there.page.get_by_test_id("resume")).to_be_visible()
    there.send(StopEvent(words=""))
    await expect(there.page.locator("#stopped")).to_be_hidden()


_PATCH = """\
diff --git a/a.sql b/a.sql
--- a/a.sql
+++ b/a.sql
@@ -1,3 +1,3 @@
 select 1;
--- a/harmless.txt
+++ b/harmless.txt
 select 2;
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
"""


async def test_a_changed_line_cannot_pass_for_the_head_of_a_file(only_asked: Stage) -> None:
    """The removed comment `-- a/harmless.txt` reads like a header; the hunk counts its lines."""
    files = await only_asked.page.evaluate(
        """async (patch) => (await import('/static/diff.js')).readPatch(patch)
          .map(({ name, added, removed }) => [name, added, removed])""",
        _PATCH,
    )
    assert files == [["a.sql", 1, 1], ["gone.txt", 0, 1]]


_TOLD = """\
# a.txt: nothing -> file of 2 bytes, mode 0644
diff --git a/a.txt b/a.txt
new file mode 100644
--- /dev/null
+++ b/a.txt
@@ -0,0 +1 @@
+# b.txt: a line, not a file
# run.sh: file, mode 0644 -> file, mode 0755
# big.bin: nothing -> file of 9 bytes, mode 0644
# too large for a patch; SHA-256 nothing -> 0f
"""


async def test_each_file_that_changed_is_counted_once_under_silas_own_words(
    only_asked: Stage,
) -> None:
    files = await only_asked.page.evaluate(
        """async (patch) => (await import('/static/diff.js')).readPatch(patch)
          .map(({ name, added, lines }) => [name, added, lines[0].text])""",
        _TOLD,
    )
    assert files == [
        ["a.txt", 1, "a.txt: nothing -> file of 2 bytes, mode 0644"],
        ["run.sh", 0, "run.sh: file, mode 0644 -> file, mode 0755"],
        ["big.bin", 0, "big.bin: nothing -> file of 9 bytes, mode 0644"],
    ]


_OF_WORDS = """\
# Übersicht.txt: nothing -> file of 10 bytes, mode 0644
diff --git "a/\\303\\234bersicht.txt" "b/\\303\\234bersicht.txt"
new file mode 100644
--- /dev/null
+++ "b/\\303\\234bersicht.txt"
@@ -0,0 +1 @@
+a
"""


async def test_a_file_is_called_as_its_owner_wrote_it_and_told_in_his_language(
    only_asked: Stage,
) -> None:
    page = only_asked.page
    read = """async (patch) => (await import('/static/diff.js')).readPatch(patch)
      .map(({ name, added, lines }) => [name, added, ...lines.map((one) => one.text)])"""
    ((name, added, told, *lines),) = await page.evaluate(read, _OF_WORDS)
    assert (name, added) == ("Übersicht.txt", 1)
    assert told == "Übersicht.txt: nothing -> file of 10 bytes, mode 0644"
    assert lines == ["new file mode 100644", "@@ -0,0 +1 @@", "+a"]
    await page.evaluate("localStorage['silas.language'] = 'de'")
    await page.reload()
    await only_asked.is_connected()
    ((_, _, told, *_),) = await page.evaluate(read, _OF_WORDS)
    assert told == "Übersicht.txt: nichts -> Datei mit 10 Byte, Rechte 0644"
    await page.evaluate("delete localStorage['silas.language']")
    await page.reload()
    await only_asked.is_connected()


_OF_TASKS = """\
# Task task-a in /home/anna/one
# out.txt: nothing -> file of 2 bytes, mode 0644
diff --git a/out.txt b/out.txt
new file mode 100644
--- /dev/null
+++ b/out.txt
@@ -0,0 +1 @@
+a
# Task task-b
# Task task-c in /etc: nothing -> file of 0 bytes, mode 0644
"""


async def test_changes_of_a_project_say_of_which_task_and_where_they_are(only_asked: Stage) -> None:
    files, shown = await only_asked.page.evaluate(
        """async (patch) => { const diff = await import('/static/diff.js');
          return [diff.readPatch(patch).map(({ name, of }) => [name, of]),
            diff.diffView(patch).node.textContent]; }""",
        _OF_TASKS,
    )
    assert files == [
        ["out.txt", "Task task-a in /home/anna/one"],
        ["Task task-c in /etc", "Task task-b"],  # a file that is called so
    ]
    assert shown.startswith("Task task-a in /home/anna/oneout.txt")


async def test_undo_is_one_tap_signed_for_this_very_work_and_two_when_its_time_is_over(
    there: Stage,
) -> None:
    await there.page.route(
        "**/work/task-1/undo", lambda route: route.fulfill(json={"words": "Taken back."})
    )
    soon = datetime.now(UTC) + timedelta(minutes=4)
    result = PostExecution(
        seq=1, work_item_id="task-1", title="Tidy", status="done", summary="", diff=_PATCH,
        undo_until=soon, timestamp=NOW,
    )  # fmt: skip
    there.send(result)
    async with there.page.expect_request("**/undo") as asked:
        await there.page.get_by_test_id("undo").click()
    await expect(there.page.get_by_test_id("undo")).to_be_disabled()
    sent: Any = (await asked.value).post_data_json
    proof = Proof.model_validate(sent["proof"])
    assert there.signed(command_bytes("undo", "task-1", proof), proof)
    assert not there.signed(command_bytes("undo", "task-2", proof), proof)
    late = result.model_copy(
        update={"seq": 2, "work_item_id": "task-2", "undo_until": datetime.now(UTC)}
    )
    there.send(late)
    last = there.page.get_by_test_id("result").last
    await expect(last).not_to_contain_text("has passed")  # `silas undo` takes it back, too
    await last.get_by_test_id("undo").click()
    await expect(last).to_contain_text("Tap again to undo")
    await there.page.route(
        "**/work/task-2/undo", lambda route: route.fulfill(json={"words": "Taken back."})
    )
    async with there.page.expect_request("**/work/task-2/undo"):
        await last.get_by_test_id("undo").click()


async def test_a_plan_that_begins_to_wait_is_seen_and_counted_at_once(there: Stage) -> None:
    page, title = there.page, "<b>Tidy</b> the notes"
    waiting, empty = page.locator("#review .waiting"), page.locator("#review .empty-title")
    await expect(empty).to_have_text("Nothing waits for you.")
    there.send(PlansWaiting(waiting=(WaitingPlanView(work_item_id="task-1", title=title),)))
    await expect(waiting.locator("li")).to_have_text([f"{title}Show"])
    await expect(empty).to_have_text("No question is open.")
    await expect(page).to_have_title("(1) Stream · Silas")
    there.send(PlansWaiting(waiting=()))
    await expect(waiting).to_be_hidden()
    await expect(empty).to_have_text("Nothing waits for you.")
    await expect(page).to_have_title("Stream · Silas")


async def test_a_word_about_what_just_happened_covers_nothing_that_one_writes_with(
    there: Stage,
) -> None:
    await keep_notices(there.page)
    there.send(shown(GATE))
    there.send(CardClosed(request_id="ask-1", outcome="expired", words="Nobody answered. " * 4))
    toast = await there.page.locator(".toast").bounding_box()
    field = await there.page.get_by_test_id("composer").bounding_box()
    assert toast is not None
    assert field is not None
    assert toast["y"] + toast["height"] <= field["y"]


def _moved(old: str, new: str, blob: str) -> str:
    nothing = "0" * 40
    return f"""\
# {old}: file of 2 bytes, mode 0644 -> nothing
diff --git a/{old} b/{old}
deleted file mode 100644
index {blob}..{nothing}
--- a/{old}
+++ /dev/null
@@ -1 +0,0 @@
-a
# {new}: nothing -> file of 2 bytes, mode 0644
diff --git a/{new} b/{new}
new file mode 100644
index {nothing}..{blob}
--- /dev/null
+++ b/{new}
@@ -0,0 +1 @@
+a
"""


async def test_files_that_were_only_moved_are_one_each(only_asked: Stage) -> None:
    a, b = "a" * 40, "b" * 40
    patch = _moved("one.txt", "notes/one.txt", a) + _moved("two.txt", "notes/two.txt", a)
    patch += _moved("three.txt", "notes/drei.txt", b)
    words, shown = await only_asked.page.evaluate(
        """async (patch) => { const diff = await import('/static/diff.js');
          const { node, words } = diff.diffView(patch);
          const names = [...node.querySelectorAll('.diff-name')];
          return [words, names.map((one) => one.textContent)]; }""",
        patch,
    )
    assert words == "3 files, +0 −0"
    assert shown == [
        "one.txt → notes/one.txt",
        "two.txt → notes/two.txt",
        "three.txt → notes/drei.txt",
    ]
