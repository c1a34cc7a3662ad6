"""A short run of the fuzz target of plans: random text, and good plans with changes."""

from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.one_change import one_change
from silas.testing.builders import plan_text
from tests.fuzz.plan_parser import GRANTS, run
from tests.support.chance import examples

GOOD = plan_text(
    workspace="/home/me/src",
    read=["/usr/lib"],
    network=["pypi.org"],
    skills=["excel"],
    gates=[{"name": "g", "on": "after_step", "after_step": 1}],
    tools=GRANTS,
)


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=300))
@example(b"---\nid: a\n---\n\xff")
@example(b"```\n---\n" + b"[" * 3000)
@example(b"---\na: &a [*a]\n---\nx")
def test_any_bytes_are_a_plan_or_one_error(data: bytes) -> None:
    run(data)


@settings(max_examples=examples(200), deadline=None)
@given(at=st.integers(0, len(GOOD)), cut=st.integers(0, 40), put=st.text(max_size=20))
def test_a_good_plan_with_a_splice_is_a_plan_or_one_error(at: int, cut: int, put: str) -> None:
    run(GOOD.encode())
    run((GOOD[:at] + put + GOOD[at + cut :]).encode("utf-8", "surrogatepass"))


@settings(max_examples=examples(200), deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_plan_with_a_changed_value_is_a_plan_or_one_error(draw: Random) -> None:
    fields: dict[str, object] = {
        "id": "task-x",
        "title": "T",
        "verify": [],
        "budget": {"max_attempts": 1},
    }
    _, changed = one_change({**fields, "workspace": "/w", "read": ["/r"], "tools": GRANTS}, draw)
    run(plan_text(**changed).encode("utf-8", "surrogatepass"))
