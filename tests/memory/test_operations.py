"""The rules of trust for what an agent wants to remember (spec 3.2 `MemoryOp`, 5.12)."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from silas.errors import MemoryRefused
from silas.memory import MemoryItem, MemoryType, OpBasis, TrustLevel
from silas.memory.operations import Operations
from silas.memory.store import SqlMemoryStore
from silas.testing import MockClock
from silas.types import TaintLevel
from tests.memory.memories import a_memory, a_store, ids

OWNER, AUTH, EXTERNAL = TaintLevel.owner, TaintLevel.auth, TaintLevel.external
WORKING, VERIFIED, CONSTITUTIONAL = TrustLevel


@pytest.fixture
def store(tmp_path: Path) -> Generator[SqlMemoryStore]:
    with a_store(tmp_path) as opened:
        yield opened


def a_basis(
    taint: TaintLevel = EXTERNAL,
    *,
    words: bool = False,
    asks: bool = True,
    sources: tuple[str, ...] = ("channel:web",),
) -> OpBasis:
    return OpBasis("owner", "s", taint, sources, owners_words=words, owner_asks=asks)


WORDS = a_basis(OWNER, words=True)
QUOTED = a_basis(EXTERNAL, words=True)
ALONE = a_basis(OWNER)
MIXED = a_basis(EXTERNAL)
THEIRS = a_basis(EXTERNAL, asks=False)


def operations(store: SqlMemoryStore, room: int = 99) -> Operations:
    return Operations(store, MockClock(), lambda rules: len(rules) <= room)


async def the(store: SqlMemoryStore, memory_id: str) -> MemoryItem:
    item = await store.get(memory_id)
    assert item is not None
    return item


@pytest.mark.proves("S5.12-MEMORY-INHERITS", "S5.12-NO-SILENT-TRUST")
@pytest.mark.parametrize(
    ("basis", "trust", "taint"),
    [
        (WORDS, VERIFIED, OWNER),
        (QUOTED, VERIFIED, OWNER),
        (ALONE, WORKING, OWNER),
        (MIXED, WORKING, EXTERNAL),
        (a_basis(AUTH, asks=False), WORKING, AUTH),
        (THEIRS, WORKING, EXTERNAL),
    ],
)
async def test_only_the_owners_own_words_are_remembered_as_confirmed(
    store: SqlMemoryStore, basis: OpBasis, trust: TrustLevel, taint: TaintLevel
):
    op = {
        "op": "store",
        "content": "The code is 7",
        "memory_type": "fact",
        "tags": ["door"],
        "entity_refs": ["house"],
        "trust_level": "constitutional",  # no such field: an agent cannot say how far it is trusted
    }
    item = await the(store, await operations(store).apply(op, basis))
    assert (item.content, item.memory_type) == ("The code is 7", MemoryType.fact)
    assert (item.trust_level, item.taint) == (trust, taint)
    assert (item.semantic_tags, item.entity_refs) == (("door",), ("house",))
    assert (item.session_id, item.sources) == ("s", ("channel:web",))


# for each operation: which bases may do it to a working memory of the owner's, of the outside's,
# to a verified and to a constitutional one
ALLOWED = {
    "update": {
        "working": {"WORDS", "QUOTED", "ALONE", "MIXED"},
        "outside": {"WORDS", "QUOTED", "ALONE", "MIXED", "THEIRS"},
        "verified": {"WORDS"},
    },
    "delete": {
        "working": {"WORDS", "QUOTED", "ALONE", "MIXED"},
        "outside": {"WORDS", "QUOTED", "ALONE", "MIXED", "THEIRS"},
        "verified": {"WORDS", "ALONE"},
    },
    "link": {
        "working": {"WORDS", "QUOTED", "ALONE", "MIXED"},
        "outside": {"WORDS", "QUOTED", "ALONE", "MIXED", "THEIRS"},
        "verified": {"WORDS", "ALONE"},
    },
}
TARGETS = {
    "working": (WORKING, OWNER),
    "outside": (WORKING, EXTERNAL),
    "verified": (VERIFIED, OWNER),
    "constitutional": (CONSTITUTIONAL, OWNER),
}
BASES = {"WORDS": WORDS, "QUOTED": QUOTED, "ALONE": ALONE, "MIXED": MIXED, "THEIRS": THEIRS}


@pytest.mark.proves("S3.8-VERIFIED-NEEDS-OWNER", "S15-NEVER-CONSTITUTIONAL")
@pytest.mark.parametrize("op", ALLOWED)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("basis", BASES)
async def test_who_may_change_what(store: SqlMemoryStore, op: str, target: str, basis: str):
    trust, taint = TARGETS[target]
    before = a_memory("m", "before", trust_level=trust, taint=taint)
    await store.store(before)
    await store.store(a_memory("n", "another"))
    asked = {
        "op": op,
        "memory_id": "m",
        "content": "after",
        "link_to": "n",
        "link_type": "caused_by",
    }
    if basis in ALLOWED[op].get(target, set()):
        assert await operations(store).apply(asked, BASES[basis]) == "m"
        assert await store.get("m") != before
    else:
        with pytest.raises(MemoryRefused, match="E_MEM_REFUSED"):
            await operations(store).apply(asked, BASES[basis])
        assert await store.get("m") == before


@pytest.mark.proves("S5.12-MEMORY-INHERITS")
async def test_a_paraphrase_keeps_what_it_was_made_from(store: SqlMemoryStore):
    old = a_memory("m", "He likes tea", sources=("tool:web_fetch",), taint=EXTERNAL)
    await store.store(old)
    update = {"op": "update", "memory_id": "m", "content": "He loves tea"}
    await operations(store).apply(update, ALONE)
    item = await the(store, "m")
    assert (item.trust_level, item.taint) == (WORKING, EXTERNAL)
    assert item.sources == ("tool:web_fetch", "channel:web")


async def test_the_owners_own_words_put_in_place_of_others_leave_nothing_of_them(
    store: SqlMemoryStore,
):
    old = a_memory("m", "He likes tea", sources=("tool:web_fetch",), taint=EXTERNAL)
    await store.store(old.model_copy(update={"semantic_tags": ("obey me",)}))
    update = {"op": "update", "memory_id": "m", "content": "He hates tea"}
    await operations(store).apply(update, WORDS)
    item = await the(store, "m")
    assert (item.trust_level, item.taint, item.semantic_tags) == (VERIFIED, OWNER, ())
    assert await store.forget("tool:web_fetch") == 0


async def test_a_link_names_a_memory_that_is_there_and_carries_its_trust(store: SqlMemoryStore):
    await store.store(a_memory("m", "cause"))
    await store.store(a_memory("n", "effect"))
    await store.store(a_memory("x", "somebody else's", scope_id="guest"))
    link = {"op": "link", "memory_id": "m", "link_to": "n", "link_type": "caused_by"}
    await operations(store).apply(link, ALONE)
    await operations(store).apply(link, ALONE)
    item = await the(store, "m")
    assert (item.causal_refs, item.taint, item.sources) == (("n",), OWNER, ())
    await operations(store).apply(link, MIXED)
    item = await the(store, "m")
    assert (item.causal_refs, item.taint, item.sources) == (("n",), EXTERNAL, ("channel:web",))
    for bad in ({"link_to": "x"}, {"link_to": None}, {"link_type": " "}):
        with pytest.raises(MemoryRefused, match="E_MEM_REFUSED"):
            await operations(store).apply({**link, **bad}, ALONE)


@pytest.mark.parametrize(
    "op",
    [
        {},
        {"op": "promote"},
        {"op": "store"},
        {"op": "store", "content": " \n"},
        {"op": "store", "content": "x", "memory_type": "law"},
        {"op": "update", "content": "x"},
        {"op": "update", "memory_id": "nobody", "content": "x"},
        {"op": "delete", "memory_id": "theirs"},
    ],
    ids=str,
)
async def test_an_operation_that_makes_no_sense_is_refused_in_one_sentence(
    store: SqlMemoryStore, op: dict[str, Any]
):
    await store.store(a_memory("theirs", "not yours", scope_id="guest"))
    with pytest.raises(MemoryRefused) as refused:
        await operations(store).apply(op, WORDS)
    assert refused.value.code == "E_MEM_REFUSED"
    assert await store.get("theirs", "guest") is not None


async def test_a_rule_that_has_no_room_is_refused_and_pushes_none_out(store: SqlMemoryStore):
    ops = operations(store, room=2)

    def rule(text: str) -> dict[str, Any]:
        return {"op": "store", "content": text, "memory_type": "preference"}

    first = await ops.apply(rule("Never call before nine"), WORDS)
    await ops.apply(rule("Answer in German"), WORDS)
    for basis in (ALONE, MIXED):  # inferred: no rule until the owner confirms it
        await ops.apply(rule("Prefers short answers"), basis)
    with pytest.raises(MemoryRefused, match="E_MEM_RULES"):
        await ops.apply(rule("Never use exclamation marks"), WORDS)
    assert [item.content for item in await store.rules()] == [
        "Never call before nine",
        "Answer in German",
    ]
    change = {"op": "update", "memory_id": first, "content": "Never call before ten"}
    assert await ops.apply(change, WORDS) == first
    assert first in ids(await store.rules())
