"""Random programs of calls: what must stay stays, the budget holds, and nothing is lost (5.7)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.context import ContextItem, ContextZone, ScorerGroups
from silas.context.render import render_entering
from silas.types import TaintLevel
from tests.context.kit import A, B, Context, item, text_of, words
from tests.support.chance import examples

ZONES = st.sampled_from(["chronicle", "memory", "workspace", "workspace", "system"]).map(
    ContextZone
)
KINDS = st.sampled_from(["plan", "message", "tool_result", "memory", "execution_result", "system"])


class Add(NamedTuple):
    zone: ContextZone
    kind: Any
    size: int
    pinned: bool
    relevance: float
    taint: TaintLevel


class Enforce(NamedTuple):
    turns_later: int


class Complete(NamedTuple):
    which: int


class Profile(NamedTuple):
    name: str


class Render(NamedTuple):
    pass


STEPS = st.one_of(
    st.builds(
        Add,
        ZONES,
        KINDS,
        st.sampled_from([3, 60, 120, 190]),
        st.booleans(),
        st.floats(0, 1),
        st.sampled_from(list(TaintLevel)),
    ),
    st.builds(Enforce, st.sampled_from([1, 0, 7])),
    st.builds(Complete, st.integers(0, 30)),
    st.builds(Profile, st.sampled_from(["conversation", "coding"])),
    st.builds(Render),
)


async def evict_it_all(goal: str, recent: str, items: Sequence[ContextItem]) -> ScorerGroups:
    """A scorer that wants everything gone, what it was not shown included."""
    ids = [one.ctx_id for one in items]
    guessed = [f"{i}" for i in range(60)]
    return ScorerGroups(evict=(tuple(guessed), tuple(ids), ("nobody", *ids)))


async def keep_it_all(goal: str, recent: str, items: Sequence[ContextItem]) -> ScorerGroups:
    ids = tuple(one.ctx_id for one in items)
    return ScorerGroups(keep=(ids,), evict=(ids,))


class Program:
    """Carries out steps on one scope and knows what must hold."""

    def __init__(self, context: Context) -> None:
        self.context, self.manager = context, context.manager
        self.turn = 1
        self.added = dict[str, ContextItem]()
        self.left = dict[str, ContextItem]()
        self.done = set[str]()

    async def do(self, step: Any) -> None:
        match step:
            case Add():
                self._add(step)
            case Enforce(turns_later):
                self.turn += turns_later
                await self.enforce()
            case Complete(which):
                self.manager.complete(A, f"{which}")
                self.done.add(f"{which}")
            case Profile(name):
                self.manager.set_profile(A, name)
            case _:
                self.manager.render(A, self.turn)

    def _add(self, step: Add) -> None:
        ctx_id = f"{len(self.added)}"
        self.done.discard(ctx_id)
        new = item(
            ctx_id,
            words(step.size, f"w{ctx_id}"),
            zone=step.zone,
            kind=step.kind,
            pinned=step.pinned,
            relevance=step.relevance,
            taint=step.taint,
            turn_number=self.turn,
            source=f"tool:t{ctx_id}",
        )
        assert self.manager.add(A, new) == ctx_id
        self.added[ctx_id] = new

    async def enforce(self) -> None:
        for one in await self.manager.enforce_budget(A, self.turn):
            assert one.ctx_id not in self.left, "handed out twice"
            self.left[one.ctx_id] = one
        self.check()

    def must_stay(self, one: ContextItem) -> bool:
        return (
            (one.pinned and not (one.kind == "plan" and one.ctx_id in self.done))
            or one.zone is ContextZone.system
            or (one.kind == "plan" and one.ctx_id not in self.done)
            or (one.kind == "message" and one.turn_number == self.turn)
        )

    def check(self) -> None:
        view = {one.ctx_id: one for one in self.manager.in_view(A)}
        for ctx_id, one in self.added.items():
            text = render_entering(one)
            if self.must_stay(one) and not self.left.get(ctx_id):
                assert view[ctx_id].content == text or view[ctx_id].masked
            assert not (self.must_stay(one) and ctx_id not in view)
            known = view.get(ctx_id)
            found = self.left[ctx_id] if known is None or known.masked else known
            assert found.content == text, "every text is in view, or was handed out as it stood"
        self._budget(view)

    def _budget(self, view: dict[str, ContextItem]) -> None:
        usage, division = self.manager.token_usage(A), self.manager.division(A)
        for zone in ContextZone:
            if zone is ContextZone.system or usage[zone.value] <= division.of(zone):
                continue
            here = [self.added[i] for i, one in view.items() if one.zone is zone]
            assert all(self.must_stay(one) for one in here), f"{zone} is over its budget"
        pressure = self.manager.pressure(A, self.turn)
        if pressure.over:
            assert all(self.must_stay(self.added[i]) for i in view)
            assert "context_over_budget" in self.context.audit.events()


@pytest.mark.proves("S3.5-HARNESS-CONTROLS", "A12-EVICTED-RETURNED")
@settings(max_examples=examples(120), deadline=None)
@given(
    steps=st.lists(STEPS, min_size=12, max_size=40),
    window=st.sampled_from([1000, 1500, 4000]),
    scorer=st.sampled_from([evict_it_all, keep_it_all]),
    threshold=st.sampled_from([0.2, 0.9]),
    reserved=st.sampled_from([0, 300]),
)
async def test_rules_and_plans_under_way_are_never_evicted_and_nothing_is_lost(
    steps: list[Any], window: int, scorer: Any, threshold: float, reserved: int
) -> None:
    context = Context(scorer, total_tokens=window, scorer_threshold_pct=threshold)
    context.manager.reserve(reserved)
    rules = item(
        "rules",
        "Never touch /etc. " + words(60),
        zone=ContextZone.system,
        kind="system",
        source="memory:rules",
    )
    context.manager.add(A, rules)
    program = Program(context)
    program.added["rules"] = rules
    for step in steps:
        await program.do(step)
    await program.enforce()
    assert rules.content in text_of(context.manager.render(A, program.turn))


@settings(max_examples=60, deadline=None)
@given(mine=st.lists(STEPS, max_size=15), theirs=st.lists(STEPS, max_size=15), data=st.data())
async def test_no_program_in_one_scope_changes_what_another_sees(
    mine: list[Any], theirs: list[Any], data: st.DataObject
) -> None:
    alone, together = Program(Context(evict_it_all)), Program(Context(evict_it_all))
    for step in mine:
        await alone.do(step)
    order = data.draw(st.permutations(["mine"] * len(mine) + ["theirs"] * len(theirs)))
    own, other = iter(mine), iter(theirs)
    for number, who in enumerate(order):
        if who == "mine":
            await together.do(next(own))
        elif isinstance(step := next(other), Add):
            new = item(f"{number}", words(step.size, "theirs"), zone=step.zone, kind=step.kind)
            together.manager.add(B, new)
        else:
            together.manager.set_profile(B, "coding")
            await together.manager.enforce_budget(B, number)
            together.manager.render(B, number)
    for program in (alone, together):
        await program.enforce()
    assert together.manager.in_view(A) == alone.manager.in_view(A)
    assert together.manager.division(A) == alone.manager.division(A)
    assert together.left == alone.left
    assert "theirs" not in text_of(together.manager.render(A, 99))
