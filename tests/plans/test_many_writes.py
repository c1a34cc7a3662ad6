"""The first screen of a plan that may change many files: 24 lines, and every file is named."""

import re
from collections.abc import Sequence

import pytest

from silas.cards import PlanCard
from silas.channels.text import FIRST_SCREEN, render_card, render_short
from silas.plans import plan_bytes, plan_card
from silas.testing import a_plan

CHECK = {"name": "links", "run": "make check", "expect": {"exit_code": 0}}


def _card(writes: Sequence[str]) -> PlanCard:
    item = a_plan(
        title="Update the pages of the handbook for the new release",
        workspace="/home/me/handbook",
        writes=list(writes),
        verify=[CHECK],
    )
    return plan_card(plan_bytes(item), rationale="You asked to bring the handbook up to date.")


def _joined(shown: str) -> str:
    return shown.replace("\n   \\ ", "")


def _in(folders: int, many: int) -> list[str]:
    return [f"docs/part-{number % folders}/page-{number:02}.md" for number in range(many)]


@pytest.mark.parametrize("width", [80, 88])
@pytest.mark.parametrize("many", [1, 5, 12, 40])
@pytest.mark.parametrize("folders", [1, 5])
def test_a_terminal_names_each_file_that_may_change_on_24_lines(
    folders: int, many: int, width: int
) -> None:
    writes = _in(folders, many)
    card = _card(writes)
    shown = render_short(card, width)
    lines = shown.split("\n")
    assert len(lines) <= FIRST_SCREEN - 2  # its question, and the line for the answer
    assert max(map(len, lines)) <= width
    text = _joined(shown)
    assert [path for path in writes if path.rpartition("/")[2] not in text] == []
    assert f"sha256:{card.plan_hash}" in text
    assert text.count("  1  Approve and run once") == 1
    if many == 40 and folders == 1:
        assert "may change 40 files in `docs/part-0/`: page-00.md, page-01.md, " in text


@pytest.mark.parametrize("folders", [1, 7, 40])
@pytest.mark.parametrize("width", [40, 60, 80])
def test_where_24_lines_are_too_few_no_file_is_left_out_and_no_word_is_broken(
    folders: int, width: int
) -> None:
    writes = _in(folders, 40)
    shown = render_short(_card(writes), width)
    assert [path for path in writes if path.rpartition("/")[2] not in shown] == []
    assert len(shown.split("\n")) < len(render_card(_card(writes), width).split("\n"))


@pytest.mark.parametrize("parent", ["packages/", ""])
def test_forty_files_of_one_name_in_forty_folders_stand_on_24_lines(parent: str) -> None:
    folders = [f"{parent}module-{number:02}" for number in range(40)]
    shown = render_short(_card([f"{folder}/README.md" for folder in folders]), 80)
    assert len(shown.split("\n")) <= FIRST_SCREEN
    text = " ".join(_joined(shown).split())
    below = ", ".join(f"module-{number:02}/" for number in range(40))
    of = f" of `{parent}`" if parent else ""
    assert f"may change `README.md` in 40 folders{of}: {below}" in text


def test_the_folder_that_holds_all_others_is_named_once_and_these_by_their_own_names() -> None:
    parts = [f"part-{number}" for number in range(10)]
    names = ("index.tsx", "style.css", "test.tsx", "story.mdx")
    shown = render_short(_card([f"web/src/views/{part}/{x}" for part in parts for x in names]), 80)
    assert len(shown.split("\n")) <= FIRST_SCREEN
    below = "; ".join(f"in `{part}/`: {', '.join(names)}" for part in parts)
    assert f"may change 40 files in `web/src/views/`: {below}" in " ".join(_joined(shown).split())


def test_a_folder_that_holds_the_others_is_named_with_its_whole_path() -> None:
    lines = _card([f"{folder}/x.md" for folder in ("a/b", "a", "a/b c", "a/d", "a/e")]).details[0]
    said = "may change `x.md` in 5 folders: a/, a/b/, `a/b c/`, a/d/, a/e/"
    assert said in lines.lines


def test_files_stand_by_folder_and_patterns_before_them() -> None:
    writes = ["b/two.md", "a/one.md", "docs/**", "b/one.md", "a/b c.md", "top.md", "a/nothing"]
    lines = _card(writes).details[0].lines
    assert lines[1:5] == (
        "may change: `docs/**`",
        "may change: `top.md`",
        "may change 3 files in `a/`: one.md, `b c.md`, nothing",
        "may change 2 files in `b/`: two.md, one.md",
    )


def test_many_patterns_and_many_folders_stand_in_one_line_each() -> None:
    patterns = [f"area-{n}/*.md" for n in range(5)]
    files = [f"area-{n}/{name}.md" for n in range(5) for name in ("first-page", "last-page")]
    lines = _card([*patterns, *files]).details[0].lines
    assert lines[1].startswith("may change what fits 5 patterns: `area-0/*.md`, `area-1/*.md`")
    assert lines[2].startswith("may change 10 files: in `area-0/`: first-page.md, last-page.md; in")
    assert lines[3] == "may reach over the network: nothing"


def test_what_stands_together_has_its_signed_order_in_the_whole_text() -> None:
    writes = ["b/x", "a/x", "b/y", "a/y"]
    one, other = (render_card(_card(order)) for order in (writes, sorted(writes)))
    assert _cut(one) != _cut(other)
    assert 'writes: ["b/x","a/x","b/y","a/y"]' in one


def _cut(shown: str) -> str:
    return re.sub(r"sha256:[0-9a-f]+", "", _joined(shown))
