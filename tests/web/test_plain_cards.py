"""No card is drawn as Markdown: what a model wrote into it stands there as it was written."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from silas.cards import Card
from silas.cards.models import BatchReviewCard, BatchRow, Detail, DraftReviewCard, PlanCard
from silas.channels.web.events import CardClosed
from silas.plans import PlanParser, WorkItem, plan_bytes, plan_card
from silas.plans.projects.card import BoundPlan, project_card
from silas.testing import a_plan
from tests.projects.kit import chain, project_text
from tests.web.support.chromium import in_a_browser
from tests.web.support.examples import EXAMPLES
from tests.web.support.stage import Stage, shown, stage

pytestmark = in_a_browser

LINE = (
    "# x **bold** *so* [a link](https://l.example/) `code` <b>h</b> ![p](https://p.example/p.png)"
)
BLOCK = (
    *(
        "# x",
        "Title",
        "=====",
        "- a",
        "1. b",
        "> quoted",
        "| a | b |",
        "|---|---|",
        "| **c** | d |",
    ),
    *("```sh", "rm **x**", "```", "https://bare.example/", "---", LINE),
)
_PLAIN = "plain words of somebody"
_DRAWN = (
    "h1, h3, h4, h5, h6, strong, b, em, a[href*=example], img, table, ol, ul.md, blockquote, hr"
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def there(browser: Browser) -> AsyncGenerator[Stage]:
    """One page for all cards: each is shown under names of its own and closed again."""
    async with stage(browser) as made:
        yield made


def _saying(card: Card[Any], line: str, block: tuple[str, ...]) -> Card[Any]:
    """The card with these words wherever somebody else's may stand."""
    said: dict[str, Any] = {
        "intent": line, "rationale": line, "affected": line, "effect": line,
        "details": (Detail(heading="Words", lines=tuple(f"| {one}" for one in block), open=True),),
    }  # fmt: skip
    if isinstance(card, BatchReviewCard):
        rows = [BatchRow(item_id=one, title=line, group=line, reason=line) for one in card.item_ids]
        said["rows"] = tuple(rows)
    if isinstance(card, DraftReviewCard):
        said["draft"] = "\n".join(block)
    return card.model_copy(update=said)


def _bound(item: WorkItem) -> BoundPlan:
    return BoundPlan(plan_bytes(item), {}, {}, {})


def _plans(line: str, block: tuple[str, ...]) -> dict[str, PlanCard]:
    """Real cards of a task, a goal and a project that say it in every field that is prose."""
    body = "\n".join(block)
    check = {"name": line, "run": body, "expect": {"contains": line}}
    task = a_plan(title=line, body=body, workspace="/srv/app", verify=[check])
    goal = a_plan(
        type="goal", title=line, body=body, verify=[check], schedule="0 8 * * *",
        on_failure="spawn_task",
    )  # fmt: skip
    tasks = {name: {**one, "title": line, "body": body} for name, one in chain("one").items()}
    project = PlanParser().parse(project_text(tasks)).model_copy(update={"title": line})
    children = [
        child.model_copy(update={"title": line, "body": body}) for child in project.children
    ]
    return {
        "task": plan_card(plan_bytes(task), rationale=line),
        "goal": plan_card(plan_bytes(goal), rationale=line),
        "project": project_card(_bound(project), [_bound(one) for one in children], line),
    }


def _cards(line: str, block: tuple[str, ...]) -> dict[str, Card[Any]]:
    kinds = {name: _saying(card, line, block) for name, card in EXAMPLES.items()}
    return {**kinds, **_plans(line, block)}


MARKED, PLAIN = _cards(LINE, BLOCK), _cards(_PLAIN, (_PLAIN,) * len(BLOCK))


async def _drawn(there: Stage, name: str, card: Card[Any]) -> tuple[int, str]:
    """How many elements that Markdown makes the card has, and its whole text."""
    there.send(shown(card, name))
    place = there.page.get_by_test_id("active-card")
    try:
        await expect(place).to_have_attribute("data-request", name)
        await place.evaluate(
            "(one) => one.querySelectorAll('details').forEach((d) => d.open = true)"
        )
        return await place.locator(_DRAWN).count(), await place.inner_text()
    finally:
        there.send(CardClosed(request_id=name, outcome="answered", words="Answered."))
        await expect(place).to_have_count(0)


@pytest.mark.parametrize("name", MARKED)
async def test_a_card_shows_markdown_as_it_was_written(there: Stage, name: str) -> None:
    marks, text = await _drawn(there, f"{name}-marked", MARKED[name])
    plain, _ = await _drawn(there, f"{name}-plain", PLAIN[name])
    assert marks == plain
    assert text.count("**bold**") >= 3
    missing = [line for line in BLOCK if line not in text]
    assert missing == []
