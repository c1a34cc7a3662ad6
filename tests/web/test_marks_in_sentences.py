"""Backticks in Silas's sentences are code, nobody hears marks, and a choice is no yes or no."""

from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.channels.web.events import MessageEvent, PostExecution
from silas.stream.choices import choice_card
from tests.web.support.chromium import in_a_browser
from tests.web.support.examples import PLAN
from tests.web.support.stage import Stage, shown, stage

pytestmark = in_a_browser

NOW = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


async def test_a_command_in_the_reason_of_a_card_is_code(there: Stage) -> None:
    why = "You asked; `make test` runs before."
    there.send(shown(PLAN.model_copy(update={"rationale": why})))
    reason = there.page.get_by_test_id("active-card").locator(".rationale")
    await expect(reason).to_have_text("You asked; make test runs before.")
    await expect(reason.locator("code")).to_have_text("make test")


async def test_a_command_in_the_line_of_a_result_is_code_and_is_said_without_marks(
    there: Stage,
) -> None:
    line = "It runs first on Monday, while `silas start` or `silas chat` runs."
    there.send(
        PostExecution(
            seq=1, work_item_id="w", title="Water", status="healthy", summary=line, timestamp=NOW
        )
    )
    said = there.page.locator(".result-summary")
    await expect(said.locator("code")).to_have_text(["silas start", "silas chat"])
    # how it stands later is in Work; here stands what happened then
    status = there.page.get_by_test_id("result").locator(".status")
    await expect(status).to_have_text("Approved")
    await expect(there.page.locator("#live")).to_contain_text("Water: approved.")
    await expect(there.page.locator("#live")).to_contain_text(
        "It runs first on Monday, while silas start or silas chat runs."
    )


async def test_an_answer_is_heard_without_the_marks_of_its_form(there: Stage) -> None:
    there.send(
        MessageEvent(
            seq=1, id="s1", text="**Three** files, see `a.md`.", sender="silas", timestamp=NOW
        )
    )
    await expect(there.page.locator("#live")).to_have_text("Silas: Three files, see a.md.")


async def test_silence_at_a_choice_is_told_as_nothing_chosen(there: Stage) -> None:
    there.send(shown(choice_card("the work 'Paint'", "Which colour?", ("red", "blue"), 300, "w")))
    until = there.page.get_by_test_id("active-card").locator(".until")
    await expect(until).to_contain_text(
        "more; then nothing is chosen, and the work goes on or ends without an answer."
    )
