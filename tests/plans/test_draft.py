"""What of a model's plan is understood, and that all its mistakes are told at once."""

from pathlib import Path

import pytest

from silas.plans import PlanError, PlanParser, plan_bytes
from silas.plans.draft import read_draft
from silas.testing import plan_text
from tests.plans.malformed import MALFORMED, Malformed
from tests.plans.test_parser import EXAMPLES

HEAD = "---\nid: task-a\ntype: task\ntitle: Fix it\n"
BODY = "---\n\n# What to do\n\nFix it.\n"


UNDERSTOOD = {"no id", "no type", "skills as text", "skills as nothing"}
"""Malformed plans that can mean one thing only."""


def _plan(lines: str, head: str = HEAD) -> str:
    return f"{head}{lines}{BODY}"


SLIPS = {
    "a list of one": ("skills: coding\n", "skills: [coding]\n"),
    "a tilde": ("skills: ~\nnetwork: ~\nworkspace: ~\n", ""),
    "the word none": ("skills: none\nread: none\n", "skills: []\nread: []\n"),
    "one pattern": ("workspace: /w\nwrites: src/**\n", "workspace: /w\nwrites: [src/**]\n"),
    "writes none": ("workspace: /w\nwrites: none\n", "workspace: /w\nwrites: none\n"),
    "one check": (
        "verify: { name: a, run: 'true', expect: { exit_code: 0 } }\n",
        "verify: [{ name: a, run: 'true', expect: { exit_code: 0 } }]\n",
    ),
    "a colon in a command": (
        "verify:\n  - name: a\n    run: grep 'x: y' z\n    expect: { exit_code: 0 }\n",
        "verify:\n  - name: a\n    run: \"grep 'x: y' z\"\n    expect: { exit_code: 0 }\n",
    ),
}
"""What a model wrote, and what it meant."""


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_with_one_meaning_is_understood_in_a_models_plan_alone(slip: str) -> None:
    wrote, meant = SLIPS[slip]
    found = read_draft(_plan(wrote))
    assert found.mistakes == ()
    assert found.item is not None
    assert plan_bytes(found.item) == plan_bytes(PlanParser().parse(_plan(meant)))
    if wrote != meant and slip != "a tilde":
        with pytest.raises(PlanError):
            PlanParser().parse(_plan(wrote))


def test_a_colon_in_a_title_and_what_is_left_out_are_understood() -> None:
    text = _plan("skills: coding\n", '---\ntitle: Fix: the "date" in reports\n')
    found, again = read_draft(text), read_draft(text)
    assert found == again
    assert found.item is not None
    assert found.item.title == 'Fix: the "date" in reports'
    assert found.item.id.startswith("task-fix-the-date-in-reports-")
    assert PlanParser().parse(_plan("", "---\nid: a\ntype: task\ntitle: b\n")).type == "task"
    other = read_draft(text.replace("Fix it.", "Fix it well."))
    assert other.item is not None
    assert other.item.id != found.item.id


def test_every_mistake_is_told_at_once_in_its_place() -> None:
    text = _plan(
        "colour: blue\nbudget: { max_tokens: many }\nwrites:\nverify:\n  - { name: a, run: ls }\n",
        "---\nid: task a\ntype: chore\n",
    )
    words = [mistake.message for mistake in read_draft(text).mistakes]
    assert [word.split(":")[0] for word in words] == [
        "line 4, column 1", "line 6, column 8", "line 2, column 1",
        "line 3, column 7", "line 5, column 23", "line 8, column 5",
    ]  # fmt: skip
    assert "unknown key `colour`" in words[0]
    assert "`writes` is empty" in words[1]
    assert "`title` is missing" in words[2]
    assert "`type` must be" in words[3]
    assert "max_tokens` must be a whole number" in words[4]
    assert "`expect` is missing in `verify[0]`" in words[5]


def test_every_broken_rule_is_told_at_once() -> None:
    text = _plan("tasks: [b]\nread: [relative]\nwrites: [../x]\n")
    words = " ".join(mistake.message for mistake in read_draft(text).mistakes)
    assert all(name in words for name in ("`tasks`", "`read[0]`", "`writes[0]`"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_plan_that_its_owner_could_write_is_read_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    try:
        meant = PlanParser().parse(text)
    except PlanError:  # a runbook of the library has a block of its own
        meant = PlanParser().parse(plan_text(title="It's: fine", skills=["a"]))
        text = plan_text(title="It's: fine", skills=["a"])
    assert read_draft(text) == (meant, ())


@pytest.mark.parametrize("case", MALFORMED, ids=lambda case: case.name)
def test_what_is_wrong_with_a_plan_is_among_all_that_is_told(case: Malformed) -> None:
    found = read_draft(case.text)
    if case.name in UNDERSTOOD:
        assert found.mistakes == ()
        assert found.item is not None
    else:
        assert found.item is None
        assert any(case.reason in one.reason for one in found.mistakes)
