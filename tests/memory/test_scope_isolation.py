"""Nothing about one scope changes what another one finds, the order and the scores included."""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from silas.memory import NoVectors, TrustLevel
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.testing import MockClock
from tests.memory.memories import NOW, a_memory, a_store, ids

WORDS = ("harbour", "ship", "storm", "tea", "went", "going", "sunrise", "the", "東京", "well-known")
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


class Step(NamedTuple):
    """One thing that happens in a scope: to the memory of this number."""

    act: str
    number: int
    text: str


steps = st.lists(
    st.builds(
        Step,
        st.sampled_from(["store", "store", "store", "raw", "update", "delete", "forget", "ask"]),
        st.integers(0, 8),
        texts,
    ),
    max_size=25,
)


async def happen(store: SqlMemoryStore, scope: str, step: Step) -> None:
    name = f"m{step.number}"
    fields: dict[str, Any] = {
        "scope_id": scope,
        "session_id": f"s{step.number % 2}",
        "sources": (f"channel:{step.number % 3}",),
    }
    there = await store.get(name, scope) is not None
    match step.act:
        case "store" | "raw" if not there:
            keep = store.store if step.act == "store" else store.store_raw
            await keep(a_memory(name, step.text, **fields))
        case "update" if there:
            await store.update(name, scope_id=scope, content=step.text)
        case "delete" if there:
            await store.delete(name, scope)
        case "forget":
            await store.forget(f"channel:{step.number % 3}", scope)
        case "ask":
            await HybridRetriever(store, NoVectors(), len, MockClock()).recall(step.text, scope, 3)
        case _:
            return


async def seen(store: SqlMemoryStore, scope: str, questions: Sequence[str]) -> list[Any]:
    """Everything a scope can find out."""
    retriever = HybridRetriever(store, NoVectors(), len, MockClock())
    found: list[Any] = []
    for question in questions:
        found += [
            await retriever.recall(question, scope, 5),
            await store.search_keyword(question, 5, scope),
            await store.search_raw(question, 5, scope),
        ]
    found += [await store.search_session(f"s{number}", scope) for number in range(2)]
    found += [await store.get(f"m{number}", scope) for number in range(9)]
    found += [await store.search_temporal(NOW, NOW, 9, scope), await store.rules(scope)]
    return found


@settings(max_examples=25, deadline=None)
@given(steps, steps, st.lists(texts, min_size=1, max_size=3))
def test_a_scope_finds_the_same_whatever_another_one_does(
    ours: list[Step], theirs: list[Step], questions: list[str]
):
    async def lived(store: SqlMemoryStore, beside: Sequence[Step]) -> list[Any]:
        for number in range(max(len(ours), len(beside))):
            for scope, told in (("other", beside), ("mine", ours)):
                if number < len(told):
                    await happen(store, scope, told[number])
        return await seen(store, "mine", questions)

    alone: list[Step] = []
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        with a_store(Path(one)) as store:
            expected = asyncio.run(lived(store, alone))
        with a_store(Path(other)) as store:
            assert asyncio.run(lived(store, theirs)) == expected


async def test_no_call_finds_another_scopes_memory(tmp_path: Path):
    secret = a_memory(
        "m",
        "the harbour secret",
        scope_id="theirs",
        session_id="s",
        memory_type="preference",
        trust_level=TrustLevel.verified,
        sources=("channel:web",),
        valid_from=NOW,
    )
    with a_store(tmp_path) as store:
        await store.store(a_memory("mine", "nothing of it"))
        await store.store(secret)
        await store.store_raw(secret.model_copy(update={"memory_id": "r"}))
        for scope in ("owner", "nobody", "", "theirs%"):
            assert await store.get("m", scope) is None
            assert await store.get_many(["m", "r"], scope) == []
            assert await store.search_keyword("harbour secret", 5, scope) == []
            assert await store.search_raw("harbour secret", 5, scope) == []
            assert await store.search_session("s", scope) == []
            assert "m" not in ids(await store.search_temporal(NOW, NOW, 5, scope))
            assert await store.rules(scope) == []
            assert store.fitting("harbour secret", 5, scope).found == []
            assert await store.forget("channel", scope) == 0
        assert await store.get("m", "theirs") == secret
