"""`writes:`: what a plan may change, as it is written, read, hashed, shown and spawned (B22)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.plans import PlanError, PlanParser, WorkItem, plan_bytes, plan_card, plan_hash
from silas.plans.writes import matches, matches_any
from silas.testing.builders import a_plan

HEAD = "id: task-w\ntype: task\ntitle: T\nworkspace: /home/me/src\n"
CHECKED = [{"name": "ok", "run": "true", "expect": {"exit_code": 0}}]


def read(writes: str, head: str = HEAD) -> WorkItem:
    return PlanParser().parse(f"---\n{head}{writes}\n---\nDo it.\n")


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("", None),
        ("writes: none", []),
        ("writes: []", []),
        ("writes: [a.txt]", ["a.txt"]),
        ("writes: [./a//b.txt, docs/]", ["a/b.txt", "docs/**"]),
        ("writes: [/home/me/src/a.txt]", ["a.txt"]),
        ("writes: [/home/me/src]", ["**"]),
        ("writes: [docs/**]", ["docs/**"]),
        ("writes: [docs/**/]", ["docs/**"]),
        ('writes: ["*.md", "**/*.py"]', ["*.md", "**/*.py"]),
    ],
)
def test_what_a_plan_may_change_is_read_in_one_spelling(written: str, means: object) -> None:
    assert read(written).writes == means


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("writes:", "`writes` is empty; give `none` or a list of paths"),
        ("writes: all", "`writes`: must be `none` or a list of paths and patterns"),
        ("writes: true", "`writes`: must be `none` or a list of paths and patterns"),
        ("writes: [1]", "`writes`: must be `none` or a list of paths and patterns"),
        ("writes: [/etc/passwd]", "`writes[0]` lies outside the workspace; give a path under it"),
        ("writes: [/home/me/source]", "`writes[0]` lies outside the workspace"),
        ("writes: [a, ../b]", "`writes[1]` must not contain `..`"),
        ('writes: ["a\\0b"]', "U+0000 is invisible or a control character"),
        ('writes: ["a\\nb"]', "`writes[0]` must not contain control characters"),
        ("writes: [' ']", "`writes[0]` must be a path of at most 1000 characters"),
        ("writes: [.]", "`writes[0]` must name something under the workspace"),
        ("writes: [src/a**]", "`writes[0]` has `**` inside a name"),
    ],
)
def test_what_names_nothing_under_the_workspace_is_an_error_of_the_plan(
    written: str, said: str
) -> None:
    with pytest.raises(PlanError) as refused:
        read(written)
    assert said in str(refused.value)
    assert refused.value.line == 6


def test_paths_without_a_workspace_are_an_error_of_the_plan_and_none_is_not() -> None:
    head = "id: task-w\ntype: task\ntitle: T\n"
    assert read("writes: none", head).writes == []
    with pytest.raises(PlanError, match="names files, and the plan has no `workspace`"):
        read("writes: [a.txt]", head)


def test_a_plan_that_says_nothing_of_it_has_the_hash_that_it_always_had() -> None:
    assert b"writes" not in plan_bytes(a_plan(workspace="/w"))
    hashes = [plan_hash(a_plan(workspace="/w", writes=w)) for w in (None, [], ["a"], ["b"])]
    assert len(set(hashes)) == 4


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ({"verify": CHECKED}, "anywhere in the workspace, once its checks have passed"),
        ({}, "nothing; what it changes is shown to you first, because it has no checks"),
        ({"writes": []}, "nothing"),
        ({"writes": ["src/**"], "verify": CHECKED}, "`src/**`"),
    ],
)
def test_the_card_always_says_what_may_be_changed(plan: dict[str, Any], said: str) -> None:
    item = a_plan(**{"workspace": "/home/me/src", "verify": [], **plan})
    card = plan_card(plan_bytes(item), rationale="You asked.")
    [touches] = [d.lines for d in card.details if d.heading == "What it may touch"]
    assert f"may change: {said}" in touches


@pytest.mark.parametrize(
    ("pattern", "path", "named"),
    [
        ("a.txt", "a.txt", True),
        ("a.txt", "b/a.txt", False),
        ("a", "a/b", False),
        ("*.md", "x.md", True),
        ("*.md", "docs/x.md", False),
        ("docs/*", "docs/x/y", False),
        ("docs/**", "docs/x/y", True),
        ("docs/**", "docs", True),
        ("**", "any/thing", True),
        ("**/*.py", "x.py", True),
        ("**/*.py", "a/b/x.py", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c/z", True),
        ("a/**/z", "b/a/z", False),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[ab]", "a", False),
        ("A.txt", "a.txt", False),
        (".*", ".env", True),
    ],
)
def test_a_pattern_names_what_it_says(pattern: str, path: str, named: bool) -> None:
    assert matches(pattern, path) is named


@given(st.lists(st.sampled_from(["a", "b", "**", "*", "a*"]), min_size=1, max_size=6))
def test_a_path_names_itself_and_everything_is_below_the_top(parts: list[str]) -> None:
    path = "/".join(part.replace("*", "x") for part in parts)
    assert matches(path, path)
    assert matches_any(["no", "**"], path)


def test_a_pattern_of_many_wildcards_takes_no_exponential_time() -> None:
    assert not matches("/".join(["**", "*a*a*a*a*a*a*a*a*b"] * 10), "/".join(["a" * 200] * 40))
