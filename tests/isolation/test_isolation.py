"""Change everything about one conversation, and every byte of another stays the same."""

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from silas.agents.models import (
    AgentResponse,
    MemoryOp,
    MemoryOpType,
    MemoryQuery,
    MemoryQueryStrategy,
    PlanAction,
    PlanActionType,
)
from silas.cards import Card, PlanAnswer, PlanCard
from silas.memory import MemoryType
from silas.testing import plan_text
from silas.types import OWNER, InteractionRegister
from tests.isolation.house import House, Says, Seen, house
from tests.support.chance import examples

CUSTOMER = "customer-7"
SMALL = {"context": {"total_tokens": 8000, "system_max": 3000}}
"""A window in which a conversation soon has to let go of something."""

_RESTARTED = 4
"""Before this step Silas is closed and opened again: what comes back comes from the disk."""

WORDS = ("tea", "green", "door", "Lisbon", "invoice", "garden", "Anna", "always", "never", "thanks")


def remember(text: str, kind: MemoryType = MemoryType.fact) -> MemoryOp:
    return MemoryOp(op=MemoryOpType.store, content=text, memory_type=kind)


def look_for(text: str, strategy: MemoryQueryStrategy) -> MemoryQuery:
    return MemoryQuery(strategy=strategy, query=text)


def a_plan_for(name: str) -> PlanAction:
    return PlanAction(
        action=PlanActionType.propose, plan_markdown=plan_text(id=f"task-{name}", verify=None)
    )


THEIRS: dict[str, tuple[Says, ...]] = {
    OWNER: (
        Says(
            "Remember that I drink green tea.",
            AgentResponse(message="I will.", memory_ops=[remember("I drink green tea.")]),
        ),
        Says(
            "Always answer in one sentence.",
            AgentResponse(
                message="Yes.",
                memory_ops=[remember("Always answer in one sentence.", MemoryType.preference)],
            ),
        ),
        Says(
            "The door in Lisbon " + "is green and the garden is long. " * 150,
            AgentResponse(message="I see."),
        ),
        Says(
            "What tea do I drink, and where is the door?",
            AgentResponse(
                message="Green, in Lisbon.",
                memory_queries=[
                    look_for("green tea", MemoryQueryStrategy.keyword),
                    look_for("door garden", MemoryQueryStrategy.semantic),
                    look_for("", MemoryQueryStrategy.session),
                ],
            ),
            profile="research",
        ),
        Says("Do it.", AgentResponse(message="A plan.", plan_action=a_plan_for("mine"))),
        Says("Thanks, that was good.", AgentResponse(message="Gladly.")),
        Says("And the invoice of Anna?", AgentResponse(message="I know of none.")),
    ),
    CUSTOMER: (
        Says(
            "My garden door is green.",
            AgentResponse(message="Noted.", memory_ops=[remember("The garden door is green.")]),
        ),
        Says("Anna never paid the invoice. " * 150, AgentResponse(message="I see.")),
        Says(
            "What colour is my door?",
            AgentResponse(
                message="Green.",
                memory_queries=[
                    look_for("green door", MemoryQueryStrategy.keyword),
                    look_for("door", MemoryQueryStrategy.temporal),
                ],
            ),
        ),
        Says("Do something for me.", AgentResponse(message="Here.", plan_action=a_plan_for("his"))),
        Says("Thanks!", AgentResponse(message="Gladly.")),
        Says("And tea in Lisbon?", AgentResponse(message="I do not know.")),
    ),
}
"""What the watched conversation says, the same in every run."""


class Tunes(NamedTuple):
    """He changes how Silas speaks to him: a preset, and an axis on top."""

    preset: str
    warmth: float


class Forgets(NamedTuple):
    """He has everything forgotten that came from somewhere."""

    source: str


class Event(NamedTuple):
    """Something of the other conversation, and before which step of the watched one.

    `together` is at the same time as that step, if it is something said.
    """

    before: int
    act: Says | Tunes | Forgets
    together: bool = False


def _said() -> st.SearchStrategy[Says]:
    words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
    texts = st.one_of(words, words.map(lambda text: f"{text}. " * 200))
    ops = st.lists(st.builds(remember, words, st.sampled_from(MemoryType)), max_size=3)
    queries = st.lists(st.builds(look_for, words, st.sampled_from(MemoryQueryStrategy)), max_size=3)
    plans = st.none() | st.sampled_from(("one", "two")).map(a_plan_for)
    answers = st.builds(
        AgentResponse, message=texts, memory_ops=ops, memory_queries=queries, plan_action=plans
    )
    return st.builds(
        Says,
        text=texts,
        answer=answers,
        signed=st.booleans(),
        profile=st.sampled_from(("conversation", "coding", "research")),
        register=st.sampled_from(InteractionRegister),
    )


def events(steps: int) -> st.SearchStrategy[list[Event]]:
    """Anything a conversation may do, in words that the watched one uses, too."""
    tunes = st.builds(
        Tunes, st.sampled_from(("default", "work", "chill", "review")), st.floats(-0.2, 0.2)
    )
    forgets = st.sampled_from(("channel:cli", "channel:web", "agent:proxy")).map(Forgets)
    acts = st.one_of(_said(), _said(), _said(), tunes, forgets)
    return st.lists(st.builds(Event, st.integers(0, steps), acts, st.booleans()), max_size=8)


def approve_mine(card: Card[Any]) -> Any:
    """The owner approves every plan, also those of the other conversation."""
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe


async def watched(who: str, others: Sequence[Event]) -> dict[str, list[str]]:
    """Everything that `who` sees, with the other conversation between and beside its steps."""
    other = CUSTOMER if who == OWNER else OWNER
    async with house(approve_mine, SMALL) as silas:
        for step, says in enumerate(THEIRS[who]):
            if step == _RESTARTED:
                await silas.end()
                await silas.begin()
            now = [event for event in others if event.before == step]
            silas.clock.advance(60)
            for event in now:
                if not event.together:
                    await _happens(silas, other, event.act)
            beside = (_happens(silas, other, event.act) for event in now if event.together)
            await asyncio.gather(silas.say(who, says), *beside)
        return _seen_by(silas, who)


async def _happens(silas: House, who: str, act: Says | Tunes | Forgets) -> None:
    match act:
        case Says():
            await silas.say(who, act)
        case Forgets(source):
            await silas.forget(who, source)
        case Tunes(preset, warmth):
            await silas.tune(who, preset, warmth)


def _seen_by(silas: House, who: str) -> dict[str, list[str]]:
    seen: Seen = silas.seen[who]
    assert all("asked for this" in card for card in seen.on_behalf)
    home = str(silas.harness.home)  # a directory of its own in each run
    parts = {
        "requests": seen.requests,
        "sent": seen.sent,
        "cards": seen.cards,
        "log": seen.log,
        "kept": silas.kept(who),
    }
    return {part: [t.replace(home, "HOME") for t in texts] for part, texts in parts.items()}


ALONE: dict[str, dict[str, list[str]]] = {}


def alone(who: str) -> dict[str, list[str]]:
    """What it sees with nobody else there, found out once."""
    if who not in ALONE:
        ALONE[who] = asyncio.run(watched(who, ()))
    return ALONE[who]


@pytest.mark.parametrize("who", [OWNER, CUSTOMER])
def test_a_conversation_is_watched_at_all_and_comes_out_the_same_twice(who: str) -> None:
    seen = alone(who)
    assert len(seen["requests"]) >= len(THEIRS[who])
    assert len(seen["sent"]) >= len(THEIRS[who])
    assert bool(seen["cards"]) is (who == OWNER)
    assert len(seen["log"]) > 10
    assert len(seen["kept"]) > len(THEIRS[who])
    assert asyncio.run(watched(who, ())) == seen


@pytest.mark.parametrize("who", [OWNER, CUSTOMER])
@settings(
    max_examples=examples(15),
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
)
@given(data=st.data())
def test_whatever_one_conversation_does_another_sees_the_same_bytes(
    who: str, data: st.DataObject
) -> None:
    others = data.draw(events(len(THEIRS[who])))
    found, wanted = asyncio.run(watched(who, others)), alone(who)
    for part, texts in wanted.items():
        assert found[part] == texts, part
