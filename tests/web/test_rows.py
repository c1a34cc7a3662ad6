"""Small words and rows of lists, in both languages: a day in a sentence, where buttons stand."""

import re
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.channels.web.events import Progress
from tests.web.support.chromium import in_a_browser
from tests.web.support.stage import Stage, stage

pytestmark = in_a_browser

LANGUAGES = ("en", "de")
NOW = datetime.now(UTC)
LONG_AGO = datetime(2025, 11, 28, 12, 0, tzinfo=UTC)

_DAYS = """async (days) => { const { onDay } = await import('/static/time.js');
  const { t } = await import('/static/words.js');
  return days.map((day) => t('paired {on}', { on: onDay(day) })); }"""
_EDGES = """async () => { const { button, h } = await import('/static/dom.js');
  const made = (kind) => button('Longer words', () => {}, { class: kind });
  const rows = [['secondary', 'secondary'], ['primary']];
  const place = h('div', {},
    rows.map((kinds) => h('div', { class: 'row-actions' }, kinds.map(made))),
    h('div', { class: 'row-foot' }, made('secondary'), made('quiet')));
  place.style.cssText = 'position: fixed; inset: 0 auto auto 40px; width: 160px';
  document.body.append(place);
  const left = place.getBoundingClientRect().left;
  const found = [...place.querySelectorAll('.secondary, .primary')]
    .map((one) => one.getBoundingClientRect().left - left);
  place.remove();
  return found; }"""
"""How far from the edge each button with a border stands, in rows so narrow that they wrap."""


@pytest_asyncio.fixture(params=LANGUAGES, loop_scope="session")
async def spoken(
    request: pytest.FixtureRequest, browser: Browser
) -> AsyncGenerator[tuple[str, Stage]]:
    """A page in one of the languages."""
    async with stage(browser) as made:
        if request.param != "en":
            await made.page.evaluate("(one) => localStorage['silas.language'] = one", request.param)
            await made.page.reload()
            await made.is_connected()
        yield request.param, made


async def test_a_day_reads_well_in_a_sentence_and_work_says_nothing_that_is_not_known(
    spoken: tuple[str, Stage],
) -> None:
    language, there = spoken
    today, other = {
        "en": (r"paired today", r"paired on Friday, .+"),
        "de": (r"heute gekoppelt", r"am Freitag, .+ gekoppelt"),
    }[language]
    said = await there.page.evaluate(_DAYS, [NOW.isoformat(), LONG_AGO.isoformat()])
    assert re.fullmatch(today, said[0])
    assert re.fullmatch(other, said[1])
    assert set(await there.page.evaluate(_EDGES)) == {0}
    there.send(
        Progress(
            work_item_id="task-one",
            title="Count",
            status="begun",  # as no page knows it yet
            message="It begins on Sunday, while `silas start` runs.",
            attempt=1,
            stoppable=True,
        )
    )
    run = there.page.get_by_test_id("running")
    await expect(run.locator(".run-status")).to_have_text("")  # nothing until it is known
    await expect(run.locator(".run-message code")).to_have_text("silas start")
    assert "`" not in await run.inner_text()
