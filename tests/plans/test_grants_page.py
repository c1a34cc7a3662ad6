"""What is said about grants to plan authors and planners is what Silas reads and shows."""

import re
from pathlib import Path

import pytest

from silas.approval.grants import grants_of
from silas.approval.slots import LIST_OF, MAX_ITEMS, MOST_ITEMS, SLOT_TYPES
from silas.plans import PlanParser, WorkItem, plan_bytes, plan_card

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "grants.md").read_text(encoding="utf-8")
PROMPT = (ROOT / "silas" / "agents" / "prompts" / "planner.md").read_text(encoding="utf-8")
EXAMPLES = [
    found[1]
    for found in re.finditer(r"^```yaml\n(tools:\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]
IN_THE_PROMPT = re.findall(r'^```\n"tools": (\[.*?)^```$', PROMPT, re.MULTILINE | re.DOTALL)


def _plan(tools: str) -> WorkItem:
    return PlanParser().parse(f"---\nid: task-x\ntype: task\ntitle: T\n{tools}---\nDo it.\n")


@pytest.mark.parametrize("tools", EXAMPLES, ids=range(len(EXAMPLES)))
def test_every_example_of_grants_is_read(tools: str) -> None:
    assert grants_of(_plan(tools).tools)


def test_there_are_four_examples_on_the_page_and_one_in_the_prompt() -> None:
    assert len(EXAMPLES) == 4
    (told,) = IN_THE_PROMPT
    assert grants_of(_plan(f"tools: {told}").tools)


def test_each_card_on_the_page_is_that_of_the_example_above_it() -> None:
    pairs = re.findall(r"```yaml\n(tools:\n[^`]*?)```[^`]*```text\n(.*?)```", PAGE, re.DOTALL)
    assert len(pairs) == 2
    for tools, shown in pairs:
        card = plan_card(plan_bytes(_plan(tools)), rationale="x")
        touched = next(d for d in card.details if d.heading == "What it may touch")
        assert shown in "\n".join((*touched.lines, ""))


@pytest.mark.parametrize("kind", sorted(SLOT_TYPES))
def test_every_type_is_on_the_page_with_its_limits_and_in_the_prompt(kind: str) -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("|") and f"`{kind}`" in line)
    if SLOT_TYPES[kind].most:
        assert row.endswith(f"| {SLOT_TYPES[kind].chars:,}; {SLOT_TYPES[kind].most:,} |")
    assert re.search(rf"[Tt]ypes:[^.]*\b{kind}\b", PROMPT)


def test_lists_are_on_the_page_with_their_limits() -> None:
    assert f"`{LIST_OF}TYPE` | up to `max_items` ({MAX_ITEMS}; at most {MOST_ITEMS:,})" in PAGE
