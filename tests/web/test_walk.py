"""The walk of `make walk` still finds its way, and its table on the page has every task."""

import re

import pytest
from playwright.async_api import Browser

from scripts.walk import BEGINS, ENDS, PAGE, middle, one_walk, put_into, table
from tests.web.support.chromium import in_a_browser
from tests.web.support.device import SIZES, Size
from tests.web.support.walk_tasks import TASKS
from tests.web.support.walker import Effort

pytestmark = in_a_browser

SHORT = ("Ask a question", "Approve a plan", "A reminder", "Everything")
MOST_TAPS = 6
_ROW = re.compile(r"^\| \d* \|")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: size.name)
async def test_the_shortest_tasks_are_walked_and_counted(browser: Browser, size: Size) -> None:
    found = await one_walk(browser, size, [task for task in TASKS if task.name in SHORT])
    assert len(found) == 6
    for name, effort in found.items():
        assert 0 < effort.taps + effort.keys <= MOST_TAPS, name
        assert effort.seconds > 0
    asked = found["Ask a question", ""]
    assert (asked.taps, asked.keys, asked.typings) == ((2, 0, 1) if size.touch else (1, 1, 1))


async def test_the_page_has_twenty_tasks_with_each_of_their_steps() -> None:
    text = PAGE.read_text(encoding="utf-8").partition(BEGINS)[2].partition(ENDS)[0]
    rows = [line for line in text.splitlines() if _ROW.match(line)]
    names = [
        ": ".join(filter(None, (task.name, step.name))) for task in TASKS for step in task.steps
    ]
    assert len(TASKS) == 20
    assert [row.split(" | ")[1] for row in rows] == ["task", *names]


async def test_a_table_takes_the_place_of_the_former_one() -> None:
    rounds = [Effort(2, 0, 1, seconds) for seconds in (0.4, 9.0, 0.5)]
    every = {(task.name, step.name): middle(rounds) for task in TASKS for step in task.steps}
    rows = table({"phone": every, "desktop": every})
    assert "| 1 | Ask a question | 2 | 0 | 1 | 0.5 | 2 | 0 | 1 | 0.5 |" in rows
    once = put_into(f"before\n{BEGINS}old\n{ENDS}after\n", rows)
    assert once == put_into(once, rows)
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    assert "old" not in once
