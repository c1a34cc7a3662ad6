"""What is known of all items in view is kept as they come and go, and never counted again."""

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from silas.context import ContextZone
from silas.context.framing import sections
from silas.context.scope_items import LAST
from silas.types import TaintLevel
from tests.context.kit import ABOVE, A, Context, answered, blocks_of, item, text_of, words
from tests.support.chance import examples

SOURCES = st.lists(st.sampled_from(["channel:web", "tool:a x", "tool:b"]), max_size=2).map(tuple)
NAMES = st.integers(0, 4).map(str)
TAINTS = st.sampled_from(TaintLevel)
ALL = [f"{kind}{n}" for kind in ("said-", "look-", "plan-", "memory:") for n in range(5)]
STEPS = st.one_of(
    st.tuples(
        st.just("say"),
        NAMES,
        TAINTS,
        st.sampled_from(["Yes.", words(30), words(60)]),
        st.sampled_from(["channel:web", "agent:proxy"]),
    ),
    st.tuples(st.just("tone"), st.sampled_from(["Be brief.", "Be warm."])),
    st.tuples(st.just("remember"), NAMES, SOURCES, st.sampled_from(["as before", "anew"])),
    st.tuples(st.just("look up"), NAMES, SOURCES),
    st.tuples(st.just("plan"), NAMES, SOURCES),
    st.tuples(st.just("renew"), NAMES),
    st.tuples(st.just("drop"), NAMES),
    st.tuples(st.just("complete"), NAMES),
    st.tuples(st.just("forget"), st.sampled_from(["tool:a", "tool:b", "memory:1"])),
    st.tuples(st.just("make room"), st.integers(1, 9)),
)


async def carry_out(context: Context, step: tuple[Any, ...]) -> None:
    manager = context.manager
    match step:
        case ("say", name, taint, text, source):
            manager.add(A, item(f"said-{name}", text, source=source, taint=taint))
        case ("tone", text):
            fields = {"zone": ContextZone.system, "kind": "system", "pinned": True}
            manager.add(A, item(LAST, text, source=LAST, **fields))
        case ("remember", name, sources, text):
            fields = {"zone": ContextZone.memory, "kind": "memory", "sources": sources}
            manager.add(A, item(f"memory:{name}", text, source=f"memory:{name}", **fields))
        case ("look up", name, sources):
            fields = {"kind": "tool_result", "sources": sources}
            manager.add(A, item(f"look-{name}", words(90), source="tool:b", **fields))
        case ("plan", name, sources):
            fields = {"zone": ContextZone.workspace, "kind": "plan", "sources": sources}
            manager.add(A, item(f"plan-{name}", words(90), source="agent:planner", **fields))
        case ("renew", name):
            manager.renew(A, f"memory:{name}", 0.5, 3)
        case ("drop", name):
            manager.drop(A, f"memory:{name}")
        case ("complete", name):
            manager.complete(A, f"plan-{name}")
        case ("forget", source):
            manager.forget(A, source)
        case _:
            await manager.enforce_budget(A, step[1])


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(STEPS, max_size=40))
async def test_ways_and_trust_are_those_of_what_is_in_view(steps: list[tuple[Any, ...]]) -> None:
    context = Context()
    for step in steps:
        await carry_out(context, step)
        shown, ways = context.manager.in_view(A), context.manager.ways(A)
        assert len(ways) == len(set(ways))
        assert set(ways) == {one.sources for one in shown}
        assert context.manager.taints(A) == {one.taint for one in shown}


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.tuples(STEPS, st.sets(st.sampled_from(ALL)).map(frozenset)), max_size=40))
async def test_the_text_is_that_of_what_is_in_view(
    steps: list[tuple[tuple[Any, ...], frozenset[str]]],
) -> None:
    context = Context()
    for step, leave_out in steps:
        await carry_out(context, step)
        text = text_of(context.manager.render(A, 3, leave_out))
        left = [one for one in context.manager.in_view(A) if one.ctx_id not in leave_out]
        shown = [one.text for one in sections(text) if one.text != ABOVE]  # trust and moment
        assert shown == [said for _, said in blocks_of(left) if said != ABOVE]
        said = context.manager.render(A, 3, leave_out).said
        assert all(one.side != other.side for one, other in pairwise(said))
        own = [one.text for one in said if one.side == "assistant"]
        assert "\n\n".join(own) == "\n\n".join(one.content for one in left if answered(one))
