"""When rules alone do not make enough room: advice, and what happens without it (spec 5.7)."""

from collections.abc import Sequence

import pytest

from silas.context import ContextItem, ContextZone, ScorerGroups
from silas.context.breaker import COOL_DOWN, FAILURES
from tests.context.kit import A, B, Context, item, words


class Scorer:
    """Gives the advice it was made with, and notes what it was asked."""

    def __init__(self, *advice: ScorerGroups) -> None:
        self.advice = list(advice)
        self.asked = list[tuple[str, str, list[str]]]()

    async def __call__(self, goal: str, recent: str, items: Sequence[ContextItem]) -> ScorerGroups:
        self.asked.append((goal, recent, [one.ctx_id for one in items]))
        return self.advice.pop(0) if len(self.advice) > 1 else self.advice[0]


def _crowd(context: Context, scope: str = A, turn: int = 5, *, memories: int = 3) -> None:
    """Zones that keep to their budgets, while the system zone leaves too little in all."""
    manager = context.manager
    manager.reserve(600)
    manager.add(scope, item(f"m{turn}", words(50), turn_number=turn))
    manager.add(scope, item("old", words(60), turn_number=1))
    for i in range(memories):
        manager.add(
            scope,
            item(f"r{i}", words(40), zone=ContextZone.memory, kind="memory",
                 source=f"memory:{scope}{i}", relevance=i / 10),
        )  # fmt: skip
    manager.add(scope, item("plan", words(100), zone=ContextZone.workspace, kind="plan"))


@pytest.mark.proves("S5.7-HEURISTICS-FIRST")
async def test_the_scorer_is_asked_only_where_rules_were_not_enough() -> None:
    scorer = Scorer(ScorerGroups())
    context = Context(scorer)
    for turn in range(40):
        context.manager.add(A, item(f"{turn}", words(30), turn_number=turn))
        await context.manager.enforce_budget(A, turn)
    assert scorer.asked == []
    _crowd(context, turn=41)
    await context.manager.enforce_budget(A, 41, "mend the tests")
    ((goal, recent, ids),) = scorer.asked
    assert goal == "mend the tests"
    assert recent.count("word word") > 0
    assert "plan" not in ids
    assert "m41" not in ids


async def test_groups_leave_whole_in_the_order_of_the_advice() -> None:
    advice = ScorerGroups(
        keep=(("old",),),
        evict=(("r1", "nobody", "plan", "old"), ("r0",)),
    )
    context = Context(Scorer(advice))
    _crowd(context, memories=2)
    gone = [one.ctx_id for one in await context.manager.enforce_budget(A, 5)]
    assert gone[:2] == ["r1", "r0"], "the more relevant one first, because the scorer says so"
    assert "plan" in context.ids()
    assert not context.manager.pressure(A, 5).over


async def test_without_advice_the_rules_decide_alone_and_always_the_same() -> None:
    outcomes = set[tuple[str, ...]]()
    for advice in (ScorerGroups(), ScorerGroups(missing="too slow")) * 2:
        context = Context(Scorer(advice))
        _crowd(context)
        outcomes.add(tuple(o.ctx_id for o in await context.manager.enforce_budget(A, 5)))
        assert not context.manager.pressure(A, 5).over
    ((first, *_),) = outcomes
    assert first == "r0", "the least relevant memory"


@pytest.mark.proves("S5.7-SCORER-BOUNDED")
async def test_a_scorer_that_fails_is_left_alone_for_five_minutes_in_its_scope_alone() -> None:
    scorer = Scorer(ScorerGroups(missing="the scorer took too long"))
    context = Context(scorer)
    for turn in range(FAILURES + 3):
        _crowd(context, turn=5 + turn)
        await context.manager.enforce_budget(A, 5 + turn)
    assert len(scorer.asked) == FAILURES
    assert context.audit.events().count("context_scorer_missing") == FAILURES
    _crowd(context, B)
    await context.manager.enforce_budget(B, 5)
    assert len(scorer.asked) == FAILURES + 1, "another scope has a breaker of its own"
    context.clock.advance(COOL_DOWN - 1)
    _crowd(context, turn=20)
    await context.manager.enforce_budget(A, 20)
    assert len(scorer.asked) == FAILURES + 1
    context.clock.advance(1)
    for turn in (21, 22):  # one try; it fails, and the breaker is open again
        _crowd(context, turn=turn)
        await context.manager.enforce_budget(A, turn)
    assert len(scorer.asked) == FAILURES + 2
    context.clock.advance(COOL_DOWN)
    scorer.advice = [ScorerGroups()]
    for turn in (23, 24):  # one try; it works, and the breaker is closed
        _crowd(context, turn=turn)
        await context.manager.enforce_budget(A, turn)
    assert len(scorer.asked) == FAILURES + 4
