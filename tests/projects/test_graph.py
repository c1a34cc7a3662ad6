"""The graph of a project's tasks, by table (spec 5.2.2)."""

from itertools import pairwise
from typing import Any

import pytest

from silas.plans import WorkItem
from silas.plans.projects.graph import collide, cycle_in, may_begin
from silas.testing import a_plan

RINGS: dict[str, tuple[dict[str, list[str]], int]] = {
    "nothing": ({}, 0),
    "one": ({"a": []}, 0),
    "a chain": ({"a": [], "b": ["a"], "c": ["b"]}, 0),
    "a diamond": ({"a": [], "b": ["a"], "c": ["a"], "d": ["b", "c"]}, 0),
    "itself": ({"a": ["a"]}, 1),
    "two": ({"a": ["b"], "b": ["a"]}, 2),
    "three beside one": ({"x": [], "a": ["b"], "b": ["c"], "c": ["a", "x"]}, 3),
}


@pytest.mark.parametrize("name", RINGS)
def test_a_ring_is_found_and_each_of_it_waits_for_the_next(name: str) -> None:
    waits_for, length = RINGS[name]
    ring = cycle_in(waits_for)
    assert len(ring) == (length + 1 if length else 0)
    assert all(behind in waits_for[one] for one, behind in pairwise(ring))
    assert ring[:1] == ring[-1:]


def _tasks(**waits: list[str]) -> list[WorkItem]:
    return [a_plan(id=name, depends_on=on) for name, on in waits.items()]


BEGINS: dict[str, tuple[dict[str, list[str]], str, str, str]] = {
    "nothing waits": ({"a": [], "b": []}, "", "", "ab"),
    "a chain": ({"a": [], "b": ["a"], "c": ["b"]}, "", "", "a"),
    "behind one that is done": ({"a": [], "b": ["a"], "c": ["b"]}, "a", "a", "b"),
    "behind one that runs": ({"a": [], "b": ["a"]}, "", "a", ""),
    "both must be done": ({"a": [], "b": [], "c": ["a", "b"]}, "a", "ab", ""),
    "all done": ({"a": [], "b": ["a"]}, "ab", "ab", ""),
}


@pytest.mark.parametrize("name", BEGINS)
def test_what_may_begin(name: str) -> None:
    waits, done, begun, wanted = BEGINS[name]
    found = may_begin(_tasks(**waits), set(done), set(begun))
    assert "".join(task.id for task in found) == wanted


PLACES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "no places": ({}, {}, False),
    "one place": ({"workspace": "/w"}, {}, False),
    "two places": ({"workspace": "/w"}, {"workspace": "/v"}, False),
    "the same": ({"workspace": "/w"}, {"workspace": "/w"}, True),
    "one in the other": ({"workspace": "/w"}, {"workspace": "/w/in"}, True),
    "the other in one": ({"workspace": "/w/in"}, {"workspace": "/w"}, True),
    "a name that begins alike": ({"workspace": "/w"}, {"workspace": "/wide"}, False),
    "one reads where the other works": ({"read": ["/w/f"]}, {"workspace": "/w"}, True),
    "both read": ({"read": ["/w"]}, {"read": ["/w"]}, False),
}


@pytest.mark.parametrize("name", PLACES)
def test_tasks_collide_where_one_works_and_the_other_works_or_reads(name: str) -> None:
    one, other, wanted = PLACES[name]
    assert collide(a_plan(**one), a_plan(**other)) is wanted
    assert collide(a_plan(**other), a_plan(**one)) is wanted
    both = [a_plan(id="a", **one), a_plan(id="b", **other)]
    assert len(may_begin(both, set(), set())) == (1 if wanted else 2)
    assert len(may_begin(both, set(), {"a"})) == (0 if wanted else 1)
