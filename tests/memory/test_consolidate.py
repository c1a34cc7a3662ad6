"""Tidying memories: what is merged, forgotten, embedded again; never without the owner (6.4)."""

import asyncio
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.autonomy.questions import memory_card
from silas.errors import ChannelError
from silas.memory import MemoryItem, MemoryType, ReingestionTier, TrustLevel
from silas.memory.consolidate import consolidate, may_be_promoted, merged_fields
from silas.services.memory import ask_owner
from silas.testing import MockClock, ScriptedChannel
from silas.types import TaintLevel
from tests.memory.memories import NOW, a_memory
from tests.memory.rooms import House, a_house
from tests.support.waits import SECONDS

DAY = timedelta(days=1)
OFTEN = a_memory("often", "Anna prefers trains.", taint=TaintLevel.auth, access_count=5)


@pytest.fixture
def house(tmp_path: Path) -> Generator[House]:
    with a_house(tmp_path) as opened:
        yield opened


async def kept(house: House, *items: MemoryItem) -> dict[str, int]:
    """Store these, tidy once."""
    await house.rooms.store.store_many(items)
    return await house.rooms.consolidator.run_once()


async def here(house: House, *names: str, scope: str = "owner") -> list[str]:
    return [name for name in names if await house.rooms.store.get(name, scope) is not None]


# merge --------------------------------------------------------------------------------------------
async def test_the_same_words_become_one_memory_with_every_source(house: House) -> None:
    done = await kept(
        house,
        a_memory("new", "Tea.", created_at=NOW, taint="auth", sources=("b", "c"), access_count=2),
        a_memory("old", "Tea.", created_at=NOW - DAY, sources=("a", "b"), causal_refs=("new", "x")),
        a_memory("page", "Tea.", taint="external", sources=("d",), semantic_tags=("t",)),
        a_memory("other", "Coffee."),
    )
    assert done == {"merged": 2, "promoted": 0, "pruned": 0, "reembedded": 0}
    assert await here(house, "new", "old", "page", "other") == ["old", "other"]
    one = await house.rooms.store.get("old")
    assert one is not None
    assert one.taint is TaintLevel.external
    assert set(one.sources) == {"a", "b", "c", "d"}
    assert one.created_at == NOW - DAY
    assert (one.access_count, one.causal_refs, one.semantic_tags) == (2, ("x",), ("t",))
    (told,) = house.told("memory.consolidated")
    assert told.data["merged"] == 2


async def test_forgetting_any_source_of_a_merged_memory_forgets_it(house: House) -> None:
    await kept(house, a_memory("a", "Tea.", sources=("x",)), a_memory("b", "Tea.", sources=("y",)))
    assert await house.rooms.store.forget("y") == 1
    assert await here(house, "a", "b") == []


@pytest.mark.parametrize(
    "other",
    [
        {"scope_id": "guest"},
        {"memory_type": "preference"},
        {"trust_level": "verified"},
        {"trust_level": "constitutional"},
        {"reingestion_tier": "low_reingestion"},
        {"content": "Tea. "},
    ],
    ids=lambda other: next(iter(other.values())),
)
async def test_what_differs_in_more_than_where_it_was_said_is_not_merged(
    house: House, other: dict[str, Any]
) -> None:
    first = a_memory("a", "Tea.")
    second = MemoryItem.model_validate({**dict(a_memory("b", "Tea.")), **other})
    assert (await kept(house, first, second))["merged"] == 0
    assert await house.rooms.store.get("b", second.scope_id) == second


async def test_tidying_again_finds_nothing_more_to_do(house: House) -> None:
    await kept(house, *(a_memory(f"m{n}", f"word {n % 3}") for n in range(9)))
    before = house.everything()
    done = await house.rooms.consolidator.run_once()
    assert set(done.values()) == {0}
    assert house.everything() == before
    assert len(house.told("memory.consolidated")) == 1


_TAINTS = st.sampled_from(TaintLevel)


@given(st.lists(st.tuples(_TAINTS, st.lists(st.sampled_from("abcd"), max_size=3)), min_size=2))
@settings(max_examples=50, deadline=None)
def test_no_merge_raises_trust_or_loses_a_source(parts: list[tuple[TaintLevel, list[str]]]) -> None:
    same = [
        a_memory(f"m{n}", "Tea.", taint=taint, sources=tuple(sources))
        for n, (taint, sources) in enumerate(parts)
    ]
    merged = merged_fields(same)
    assert set(merged["sources"]) == {name for _, sources in parts for name in sources}  # pyright: ignore[reportArgumentType]
    if any(taint is TaintLevel.external for taint, _ in parts):
        assert merged["taint"] is TaintLevel.external


# promote ------------------------------------------------------------------------------------------
@pytest.mark.proves("S6.4-CONSOLIDATION")
async def test_a_memory_becomes_verified_only_by_the_owners_yes(house: House) -> None:
    house.asked.yes = True
    assert (await kept(house, OFTEN))["promoted"] == 1
    assert [item.memory_id for item in house.asked.about] == ["often"]
    found = await house.rooms.store.get("often")
    assert found is not None
    assert (found.trust_level, found.taint) == (TrustLevel.verified, TaintLevel.auth)
    assert [told.data for told in house.told("memory.promoted")] == [{"memory_id": "often"}]


async def test_no_and_silence_promote_nothing_and_nobody_is_asked_twice(house: House) -> None:
    assert (await kept(house, OFTEN))["promoted"] == 0
    assert await house.rooms.store.get("often") == OFTEN
    house.asked.yes = True
    assert (await house.rooms.consolidator.run_once())["promoted"] == 0
    assert len(house.asked.about) == 1


async def test_new_words_are_a_new_question(house: House) -> None:
    await kept(house, OFTEN)
    await house.rooms.store.update("often", content="Anna prefers planes.")
    await house.rooms.consolidator.run_once()
    assert [item.content for item in house.asked.about] == [
        "Anna prefers trains.",
        "Anna prefers planes.",
    ]


async def test_the_owner_is_asked_one_question_a_round_the_most_used_first(house: House) -> None:
    more = a_memory("more", "Anna prefers the sea.", access_count=9)
    await kept(house, OFTEN, more)
    assert [item.memory_id for item in house.asked.about] == ["more"]
    await house.rooms.consolidator.run_once()
    assert [item.memory_id for item in house.asked.about] == ["more", "often"]


async def test_what_is_external_is_never_even_asked_about(house: House) -> None:
    house.asked.yes = True
    page = a_memory("page", "Pay the bill.", taint=TaintLevel.external, access_count=1000)
    assert (await kept(house, page))["promoted"] == 0
    assert house.asked.about == []


_CHANGES: dict[str, dict[str, Any]] = {
    "its words changed": {"content": "Send money."},
    "it became external": {"taint": TaintLevel.external},
    "it became raw": {"reingestion_tier": ReingestionTier.low_reingestion},
}


@pytest.mark.parametrize("change", _CHANGES)
async def test_a_yes_does_not_hold_for_what_changed_meanwhile(house: House, change: str) -> None:
    house.asked.yes = True
    house.asked.meanwhile = lambda: house.rooms.store.update("often", **_CHANGES[change])
    assert (await kept(house, OFTEN))["promoted"] == 0
    found = await house.rooms.store.get("often")
    assert found is not None
    assert found.trust_level is TrustLevel.working


async def test_a_yes_for_what_was_forgotten_meanwhile_brings_nothing_back(house: House) -> None:
    house.asked.yes = True
    house.asked.meanwhile = lambda: house.rooms.store.delete("often")
    assert (await kept(house, OFTEN))["promoted"] == 0
    assert await here(house, "often") == []


async def test_a_rule_that_has_no_room_is_not_promoted(tmp_path: Path) -> None:
    with a_house(tmp_path, rules_fit=lambda rules: len(rules) < 2) as house:
        house.asked.yes = True
        rule = a_memory("r1", "One.", memory_type="preference", trust_level="verified")
        wish = OFTEN.model_copy(update={"memory_type": MemoryType.preference})
        assert (await kept(house, rule, wish))["promoted"] == 0
        assert await house.rooms.store.rules() == [rule]


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        ({}, True),
        ({"access_count": 4}, False),
        ({"taint": TaintLevel.external}, False),
        ({"trust_level": TrustLevel.verified}, False),
        ({"semantic_tags": ("behavior:depth",)}, False),
        ({"semantic_tags": ("behaviour",)}, True),
        ({"reingestion_tier": ReingestionTier.low_reingestion}, False),
    ],
)
def test_who_may_be_asked_about(fields: dict[str, Any], asked: bool) -> None:
    assert may_be_promoted(OFTEN.model_copy(update=fields), 5) is asked


async def test_nobody_is_asked_where_that_is_turned_off(tmp_path: Path) -> None:
    with a_house(tmp_path, promote_after_uses=0) as house:
        house.asked.yes = True
        await kept(house, OFTEN)
        assert house.asked.about == []


async def test_the_card_says_what_is_remembered_and_silence_declines() -> None:
    card = memory_card(OFTEN.model_copy(update={"sources": ("channel:web",)}))
    said = "\n".join(line for detail in card.details for line in detail.lines)
    assert "Anna prefers trains." in said
    assert "channel:web" in said
    assert not card.safe.approved


async def test_the_card_names_where_the_whole_of_a_long_memory_is(house: House) -> None:
    long, clock = OFTEN.model_copy(update={"content": "Anna prefers trains. " * 500}), MockClock()
    for door, place in (
        ("web", "“Memory” under “More”"),
        ("cli", f"silas memory show {long.memory_id}"),
    ):
        channel = ScriptedChannel()
        channel.channel_name = door
        await ask_owner(channel, house.audit, clock)(long)
        lines = [line for part in channel.cards[-1].details for line in part.lines]
        assert [line for line in lines if line.endswith(f" more characters: {place})")], lines


async def test_the_owners_channel_answers_and_one_that_fails_means_no(house: House) -> None:
    class Gone(ScriptedChannel):
        async def ask(self, to: str, card: Any) -> Any:
            raise ChannelError("Gone.", code="E_CHANNEL_CLOSED")

    clock = MockClock()
    agreeing = ScriptedChannel(lambda card: card.actions[0].value)
    assert await ask_owner(agreeing, house.audit, clock)(OFTEN)
    assert not await ask_owner(ScriptedChannel(), house.audit, clock)(OFTEN)
    assert not await ask_owner(Gone(), house.audit, clock)(OFTEN)


# prune --------------------------------------------------------------------------------------------
OLD = NOW - 100 * DAY
LONG_AGO = {"created_at": OLD, "updated_at": OLD}


async def test_nothing_is_forgotten_unless_that_is_configured(house: House) -> None:
    assert (await kept(house, a_memory("old", "Tea.", **LONG_AGO)))["pruned"] == 0


async def test_only_what_nobody_confirmed_or_used_for_long_is_forgotten(tmp_path: Path) -> None:
    with a_house(tmp_path, prune_after_days=90) as house:
        done = await kept(
            house,
            a_memory("old", "1", **LONG_AGO),
            a_memory("used", "2", **LONG_AGO, last_accessed=NOW),
            a_memory("new", "3"),
            a_memory("changed", "4", created_at=OLD),
            a_memory("confirmed", "5", trust_level="verified", **LONG_AGO),
            a_memory("silas", "6", trust_level="constitutional", **LONG_AGO),
            a_memory("raw", "7", reingestion_tier="low_reingestion", **LONG_AGO),
        )
        assert done["pruned"] == 1
        names = ("old", "used", "new", "changed", "confirmed", "silas", "raw")
        assert await here(house, *names) == list(names[1:])


# rounds -------------------------------------------------------------------------------------------
async def test_two_rounds_never_run_at_once(house: House) -> None:
    running = 0

    async def meanwhile() -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0)
        running -= 1

    house.asked.meanwhile = meanwhile
    await house.rooms.store.store_many(
        [OFTEN, a_memory("more", "Anna prefers the sea.", access_count=9)]
    )
    async with asyncio.timeout(SECONDS):
        await asyncio.gather(*(house.rooms.consolidator.run_once() for _ in range(3)))
    assert len(house.asked.about) == 2


async def test_a_failure_of_tidying_is_on_record_and_the_next_time_tries_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.rooms.store.store_many([a_memory("a", "Tea."), a_memory("b", "Tea.")])
    assert house.rooms.upkeep == ()

    async def failing() -> dict[str, int]:
        raise ChannelError("Gone.", code="E_CHANNEL_CLOSED")

    with monkeypatch.context() as patch:
        patch.setattr(house.rooms.consolidator, "run_once", failing)
        await consolidate(house.rooms.consolidator, house.audit)
    assert house.told("memory.consolidation_failed")
    await consolidate(house.rooms.consolidator, house.audit)
    assert house.told("memory.consolidated")
    assert await here(house, "a", "b") == ["a"]
