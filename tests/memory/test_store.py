"""What the memory store keeps, finds, changes and forgets (spec 4.2, 6.1)."""

from collections.abc import Generator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from silas.db import Database
from silas.errors import MemoryRefused
from silas.memory import MemoryItem, MemoryType, ReingestionTier, TrustLevel, records
from silas.memory.partitions import partition_of, scope_in
from silas.memory.rows import FIELDS
from silas.memory.store import SqlMemoryStore
from silas.testing import MockClock
from silas.types import TaintLevel
from tests.memory.memories import NOW, a_memory, a_store, ids

HOUR = timedelta(hours=1)


@pytest.fixture
def clock() -> MockClock:
    return MockClock()


@pytest.fixture
def store(tmp_path: Path, clock: MockClock) -> Generator[SqlMemoryStore]:
    with a_store(tmp_path, clock) as opened:
        yield opened


FULL = a_memory(
    "m1",
    'Zoë said "it\'s\x00 odd" — 東京 🦊\n',
    memory_type=MemoryType.decision,
    reingestion_tier=ReingestionTier.low_reingestion,
    trust_level=TrustLevel.verified,
    created_at=datetime(2023, 5, 8, 13, 56, tzinfo=timezone(timedelta(hours=5))),
    updated_at=NOW,
    valid_from=NOW - HOUR,
    valid_until=NOW + HOUR,
    access_count=3,
    last_accessed=NOW,
    semantic_tags=("travel", 'say "hi"'),
    entity_refs=("person:zoë",),
    causal_refs=("m0",),
    temporal_next="m2",
    temporal_prev="m0",
    session_id="s1",
    embedding=(0.1, -2.5, 1e-12),
    source_kind="conversation_raw",
    scope_id="guest",
    sources=("channel:web", "tool:web_fetch https://example.org/page"),
)


@pytest.mark.parametrize("item", [FULL, a_memory("plain", "")], ids=["every field", "hardly any"])
async def test_a_memory_comes_back_as_it_was_stored(store: SqlMemoryStore, item: MemoryItem):
    assert await store.store(item) == item.memory_id
    assert await store.get(item.memory_id, item.scope_id) == item


async def test_an_id_names_one_memory_of_a_scope_and_nothing_in_another(store: SqlMemoryStore):
    await store.store(a_memory("m", "the first"))
    with pytest.raises(MemoryRefused, match="E_MEM_EXISTS"):
        await store.store(a_memory("m", "the second"))
    await store.store(a_memory("m", "somebody else's", scope_id="guest"))
    mine, theirs = await store.get("m"), await store.get("m", "guest")
    assert mine is not None
    assert theirs is not None
    assert (mine.content, theirs.content) == ("the first", "somebody else's")


async def test_of_several_memories_all_are_stored_or_none(store: SqlMemoryStore):
    await store.store_many([])
    with pytest.raises(MemoryRefused):
        await store.store_many([a_memory("a", "new"), a_memory("a", "again")])
    assert await store.get("a") is None
    assert await store.search_keyword("new", 5) == []


@pytest.mark.proves("S6.1-FTS")
async def test_words_find_a_memory_in_any_form_and_its_tags_too(store: SqlMemoryStore):
    await store.store(a_memory("paint", "Melanie painted a sunrise last year"))
    await store.store(a_memory("tag", "Nothing to see", semantic_tags=("painting",)))
    await store.store(a_memory("other", "We talked about the weather"))
    assert set(ids(await store.search_keyword("Which paintings?", 5))) == {"paint", "tag"}
    assert await store.search_keyword("Which paintings?", 1) != []
    assert await store.search_keyword("Which paintings?", 0) == []
    assert await store.search_keyword("elephants", 5) == []


@pytest.mark.proves("S6.1-FTS")
def test_both_lanes_have_an_index_with_the_specified_tokenizer(tmp_path: Path):
    database = Database(tmp_path / "silas.db", MockClock())
    database.migrate("silas.memory")
    with database.read() as tx:
        rows = tx.driver.execute(
            "SELECT sql FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
        ).fetchall()
    database.close()
    assert len(rows) == 2
    for (made,) in rows:
        assert "USING fts5" in made
        assert """tokenize="porter unicode61 tokenchars '_-'\"""" in made


async def test_a_rare_word_weighs_more_than_a_common_one(store: SqlMemoryStore):
    for number in range(20):
        await store.store(a_memory(f"dog{number}", "the dog was in the garden"))
    await store.store(a_memory("vet", "the veterinarian called"))
    assert ids(await store.search_keyword("the dog and the veterinarian", 3))[0] == "vet"


@pytest.mark.proves("S4.2-STORE")
async def test_the_raw_lane_is_found_only_where_it_is_asked_for(store: SqlMemoryStore):
    await store.store_raw(a_memory("raw", "the blue suitcase", session_id="s"))
    await store.store(a_memory("active", "the blue suitcase", session_id="s"))
    assert ids(await store.search_keyword("blue suitcase", 5)) == ["active"]
    assert ids(await store.search_raw("blue suitcase", 5)) == ["raw"]
    assert ids(await store.search_session("s")) == ["active"]
    assert ids(await store.search_temporal(NOW - HOUR, NOW + HOUR, 5)) == ["active"]
    raw = await store.get("raw")
    assert raw is not None
    assert raw.reingestion_tier is ReingestionTier.low_reingestion


@pytest.mark.proves("S4.2-STORE")
async def test_a_change_is_found_by_its_new_words_and_no_longer_by_the_old(
    store: SqlMemoryStore, clock: MockClock
):
    await store.store(a_memory("m", "the appointment is on Monday", sources=("channel:web",)))
    clock.advance(60)
    await store.update("m", content="the appointment is on Friday", sources=("channel:cli",))
    item = await store.get("m")
    assert item is not None
    assert (item.updated_at, item.created_at) == (clock.now(), NOW)
    assert ids(await store.search_keyword("friday", 5)) == ["m"]
    assert await store.search_keyword("monday", 5) == []
    assert await store.forget("channel:web") == 0
    await store.update("m", reingestion_tier=ReingestionTier.low_reingestion)
    assert await store.search_keyword("friday", 5) == []
    assert ids(await store.search_raw("friday", 5)) == ["m"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"colour": "red"}, "E_MEM_FIELD"),
        ({"created_at": NOW}, "E_MEM_FIELD"),
        ({"content": 5}, "E_MEM_FIELD"),
        ({"valid_until": datetime(2026, 1, 1)}, "E_MEM_FIELD"),
        ({"access_count": -1}, "E_MEM_FIELD"),
        ({"trust_level": TrustLevel.verified, "taint": TaintLevel.external}, "E_MEM_TRUST"),
        ({"trust_level": TrustLevel.constitutional}, "E_MEM_CONSTITUTIONAL"),
    ],
    ids=str,
)
async def test_a_change_that_does_not_fit_changes_nothing(
    store: SqlMemoryStore, changes: dict[str, Any], code: str
):
    before = a_memory("m", "as it was")
    await store.store(before)
    with pytest.raises(MemoryRefused, match=code):
        await store.update("m", **changes)
    assert await store.get("m") == before


async def test_what_is_not_there_can_be_neither_changed_nor_deleted(store: SqlMemoryStore):
    await store.store(a_memory("m", "mine"))
    for act in (
        store.update("m", scope_id="guest", content="x"),
        store.update("x", content="x"),
        store.delete("m", "guest"),
        store.delete("x"),
    ):
        with pytest.raises(MemoryRefused, match="E_MEM_UNKNOWN"):
            await act
    assert await store.get("m") == a_memory("m", "mine")


@pytest.mark.proves("S4.2-STORE")
async def test_what_was_deleted_is_found_by_nothing(store: SqlMemoryStore):
    item = a_memory("m", "secret garden", session_id="s", sources=("channel:web",))
    await store.store(item)
    await store.store(a_memory("n", "secret cellar"))
    await store.delete("m")
    assert await store.get("m") is None
    assert ids(await store.search_keyword("secret garden", 5)) == ["n"]
    assert await store.search_session("s") == []
    assert await store.forget("channel:web") == 0
    await store.store(item)
    assert ids(await store.search_keyword("garden", 5)) == ["m"]


@pytest.mark.proves("S5.12-NO-SILENT-TRUST", "S5.12-CONSTITUTION-PROTECTED")
@pytest.mark.parametrize("trust", [TrustLevel.verified, TrustLevel.constitutional])
async def test_nothing_external_is_ever_stored_as_verified(
    store: SqlMemoryStore, trust: TrustLevel
):
    item = a_memory("m", "trust me", taint=TaintLevel.external, trust_level=trust)
    for keep in (store.store, store.store_raw):
        with pytest.raises(MemoryRefused, match="E_MEM_TRUST"):
            await keep(item)
    assert await store.get("m") is None


@pytest.mark.proves("S15-NEVER-CONSTITUTIONAL", "S5.12-CONSTITUTION-PROTECTED")
async def test_a_constitutional_memory_stays_whoever_writes(store: SqlMemoryStore):
    item = a_memory(
        "c",
        "Silas never lies",
        trust_level=TrustLevel.constitutional,
        memory_type=MemoryType.preference,
        sources=("config",),
    )
    await store.store(item)
    for act in (
        store.update("c", content="Silas may lie"),
        store.update("c", trust_level=TrustLevel.working),
        store.delete("c"),
    ):
        with pytest.raises(MemoryRefused, match="E_MEM_CONSTITUTIONAL"):
            await act
    assert await store.forget("config") == 0
    assert await store.get("c") == item


async def test_a_session_is_told_in_its_order(store: SqlMemoryStore):
    for number in (2, 0, 1):
        moment = NOW + number * HOUR
        await store.store(a_memory(f"m{number}", "said", session_id="s", created_at=moment))
    await store.store(a_memory("else", "said", session_id="t"))
    assert ids(await store.search_session("s")) == ["m0", "m1", "m2"]


async def test_a_window_of_time_finds_what_was_made_or_valid_in_it(store: SqlMemoryStore):
    old = NOW - timedelta(days=100)
    await store.store(a_memory("made", "in the window", created_at=NOW))
    await store.store(a_memory("later", "after it", created_at=NOW + 3 * HOUR))
    await store.store(a_memory("holds", "long since", created_at=old, valid_from=old))
    await store.store(
        a_memory("over", "no longer", created_at=old, valid_from=old, valid_until=old + HOUR)
    )
    await store.store(a_memory("old", "of no time", created_at=old))
    assert ids(await store.search_temporal(NOW - HOUR, NOW + HOUR, 5)) == ["made", "holds"]
    assert ids(await store.search_temporal(NOW - HOUR, NOW + HOUR, 1)) == ["made"]
    assert set(ids(await store.search_temporal(old, old + HOUR / 2, 5))) == {"over", "old", "holds"}


async def test_what_is_not_valid_now_is_not_recalled(store: SqlMemoryStore, clock: MockClock):
    rule = {"memory_type": MemoryType.preference, "trust_level": TrustLevel.verified}
    spans = {"past": (None, NOW), "now": (NOW, NOW + HOUR), "future": (NOW + HOUR, None)}
    for name, (begin, end) in spans.items():
        span = {"valid_from": begin, "valid_until": end, "session_id": "s"}
        await store.store(a_memory(name, "the door code", **rule, **span))
    for expected in ("now", "future"):
        assert ids(await store.search_keyword("door code", 5)) == [expected]
        assert ids(await store.search_session("s")) == [expected]
        assert ids(await store.rules()) == [expected]
        clock.advance(3600)


async def test_the_standing_rules_are_the_confirmed_preferences(store: SqlMemoryStore):
    preference = MemoryType.preference
    rows = [
        ("second", preference, TrustLevel.verified, NOW + HOUR),
        ("first", preference, TrustLevel.constitutional, NOW),
        ("inferred", preference, TrustLevel.working, NOW),
        ("fact", MemoryType.fact, TrustLevel.verified, NOW),
    ]
    for name, kind, trust, moment in rows:
        item = a_memory(name, name, memory_type=kind, trust_level=trust, created_at=moment)
        await store.store(item)
        await store.store(item.model_copy(update={"scope_id": "guest", "memory_id": f"g{name}"}))
    assert ids(await store.rules()) == ["first", "second"]


SOURCES = {
    "exact": ("channel:web", "tool:web_fetch https://example.org"),
    "below": ("tool:web_fetch https://example.org/page?q=1",),
    "longer": ("tool:web_fetch https://example.organic.test/",),
    "other tool": ("tool:web_fetcher https://example.org/",),
    "file": ("tool:file_read notes.md",),
    "nothing": (),
}


@pytest.mark.parametrize(
    ("source", "gone"),
    [
        ("tool:web_fetch", {"exact", "below", "longer"}),
        ("tool:web_fetch https://example.org", {"exact", "below"}),
        ("tool:web_fetch https://example.org/", {"below"}),
        ("channel:web", {"exact"}),
        ("tool", {"exact", "below", "longer", "other tool", "file"}),
        ("tool:", {"exact", "below", "longer", "other tool", "file"}),
        ("channel:we", set[str]()),
        ("tool:web_fetch https://example.%", set[str]()),
        ("", set[str]()),
    ],
)
async def test_forgetting_a_source_deletes_what_came_from_it_in_both_lanes(
    store: SqlMemoryStore, source: str, gone: set[str]
):
    for name, sources in SOURCES.items():
        await store.store(a_memory(name, "kept", sources=sources))
        await store.store_raw(a_memory(f"raw {name}", "kept", sources=sources))
        await store.store(a_memory(name, "kept", sources=sources, scope_id="guest"))
    assert await store.forget(source) == 2 * len(gone)
    left = set(SOURCES) - gone
    assert set(ids(await store.search_keyword("kept", 50))) == left
    assert set(ids(await store.search_raw("kept", 50))) == {f"raw {name}" for name in left}
    assert set(ids(await store.search_keyword("kept", 50, "guest"))) == set(SOURCES)


async def test_a_source_with_very_many_memories_is_forgotten_whole(store: SqlMemoryStore):
    many = [a_memory(f"m{n}", "spam", sources=("bundle:friend",)) for n in range(1_203)]
    await store.store_many(many)
    assert await store.forget("bundle:friend") == 1_203
    assert await store.search_keyword("spam", 5) == []


async def test_access_is_counted_for_the_scope_that_looked(store: SqlMemoryStore):
    await store.store(a_memory("m", "mine"))
    await store.store(a_memory("m", "theirs", scope_id="guest"))
    await store.count_access(["m", "no such"])
    await store.count_access([])
    mine, theirs = await store.get("m"), await store.get("m", "guest")
    assert mine is not None
    assert theirs is not None
    assert (mine.access_count, mine.last_accessed, theirs.access_count) == (1, NOW, 0)


async def test_a_moment_outside_the_calendar_is_refused(store: SqlMemoryStore):
    moment = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
    with pytest.raises(MemoryRefused, match="E_MEM_FIELD"):
        await store.store(a_memory("m", "before time", created_at=moment))
    with pytest.raises(MemoryRefused, match="E_MEM_FIELD"):
        await store.search_temporal(moment, NOW, 5)


async def test_how_long_the_memories_of_a_lane_are_is_counted_with_every_change(
    tmp_path: Path, clock: MockClock
):
    db = Database(tmp_path / "lengths.db", clock)
    db.migrate("silas.memory")
    store = SqlMemoryStore(db, clock)

    def counted() -> tuple[int, int]:
        with db.read() as tx:
            lanes = (ReingestionTier.active, ReingestionTier.low_reingestion)
            active, raw = (scope_in(tx, "owner", partition_of(tier)).characters for tier in lanes)
        return active, raw

    await store.store_many([a_memory("m1", "12345"), a_memory("m2", "123")])
    assert counted() == (8, 0)
    await store.update("m1", content="1234567")
    assert counted() == (10, 0)
    await store.update("m2", reingestion_tier=ReingestionTier.low_reingestion)
    assert counted() == (7, 3)
    await store.delete("m1")
    assert counted() == (0, 3)
    db.close()


def test_what_was_kept_by_a_former_version_is_counted_when_it_is_opened(
    tmp_path: Path, clock: MockClock
):
    db = Database(tmp_path / "former.db", clock)
    db.migrate("silas.memory")
    with db.write() as tx:
        records.insert(tx, [a_memory("m1", "12345")])
        tx.driver.execute("ALTER TABLE memory_scopes DROP COLUMN active_characters")
        tx.driver.execute("ALTER TABLE memory_scopes DROP COLUMN raw_characters")
        tx.driver.execute("DELETE FROM schema_migrations WHERE domain = 'memory' AND number = 5")
    db.close()
    db = Database(tmp_path / "former.db", clock)
    db.migrate("silas.memory")
    with db.read() as tx:
        assert scope_in(tx, "owner", partition_of(ReingestionTier.active)).characters == 5
    db.close()


def test_every_field_of_a_memory_has_its_column() -> None:
    assert list(MemoryItem.model_fields) == list(FIELDS)


@pytest.mark.parametrize("damage", ["{", b"\xff\x00", -1])
async def test_counts_that_are_damaged_are_counted_anew_and_lose_no_memory(
    tmp_path: Path, clock: MockClock, damage: object
) -> None:
    with a_store(tmp_path, clock) as store:
        await store.store(a_memory("m1", "the key lies under the mat"))
    with Database(tmp_path / "silas.db", clock).write() as tx:
        tx.run("UPDATE memory_scopes SET active_last = :d, active_items = :d", d=damage)
    with a_store(tmp_path, clock) as store:
        found = await store.search_keyword("key mat", 5)
        await store.store(a_memory("m2", "the key is red"))
        both = await store.search_keyword("key", 5)
    assert ids(found) == ["m1"]
    assert sorted(ids(both)) == ["m1", "m2"]
