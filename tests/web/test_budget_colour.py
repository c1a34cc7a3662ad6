"""What is used of a budget is red where hardly any is left, never an attempt before it is used."""

from collections.abc import AsyncGenerator
from typing import Literal

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.channels.web.events import BudgetLine, Progress
from silas.plans.budget import shares
from silas.plans.models import Budget, BudgetUsed
from tests.web.support.chromium import in_a_browser
from tests.web.support.stage import Stage, stage

pytestmark = in_a_browser

BUDGET = Budget(max_attempts=1, max_tokens=100)
_REDDISH = """() => [...document.querySelectorAll(".run .bar")].filter((bar) =>
  [bar, ...bar.querySelectorAll("*")].some((one) => {
    const { color, backgroundColor, borderTopColor } = getComputedStyle(one);
    return [color, backgroundColor, borderTopColor].some((told) => {
      const [red, green, blue, alpha = 1] = told.match(/[0-9.]+/g).map(Number);
      return alpha > 0 && red > green + 40 && red > blue + 40;
    });
  })).map((bar) => bar.textContent)"""
"""The budgets under way that have anything red, by their words."""


@pytest_asyncio.fixture(loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    async with stage(browser) as made:
        yield made


def _under_way(used: BudgetUsed) -> Progress:
    lines = tuple(BudgetLine(**one._asdict()) for one in shares(used, BUDGET))
    return Progress(
        work_item_id="w", title="Slow", status="running", message="at it", budget=lines
    )  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_no_attempt_is_red_before_it_is_used_and_what_is_nearly_used_up_is(
    there: Stage, scheme: Literal["light", "dark"]
) -> None:
    page = there.page
    await page.emulate_media(color_scheme=scheme)
    for used, red in (
        (BudgetUsed(), []),
        (BudgetUsed(attempts=1, tokens=20), []),
        (BudgetUsed(attempts=1, tokens=99), ["99 of 100 tokens"]),
    ):
        there.send(_under_way(used))
        bars = page.locator(".run .bar")
        await expect(bars.first).to_have_text(f"{used.tokens} of 100 tokens")
        await expect(bars.nth(3)).to_have_text(f"{used.attempts} of 1 attempts")
        assert await page.evaluate(_REDDISH) == red
