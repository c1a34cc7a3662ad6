"""The conversation on disk (spec 4.14)."""

import json
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from silas.context import ChronicleConfig, SqlChronicleStore, scrub
from silas.damage import damaged_rows
from silas.db import Database
from silas.errors import DatabaseError
from silas.testing import MockClock
from silas.types import TaintLevel
from tests.context.kit import A, B, item


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    database = Database(tmp_path / "silas.db", MockClock())
    database.migrate("silas.context")
    yield database
    database.close()


def _store(db: Database, clock: MockClock | None = None, **config: object) -> SqlChronicleStore:
    return SqlChronicleStore(db, clock or MockClock(), ChronicleConfig.model_validate(config))


@pytest.mark.proves("S4.14-CHRONICLE-DURABLE")
async def test_the_newest_come_back_in_order_in_a_new_process(db: Database) -> None:
    items = [item(f"{i}", f"Message {i} ✓", turn_number=i) for i in range(10)]
    await _store(db).append(A, *items[:7])
    await _store(db).append(A, *items[7:])
    await _store(db).append(B, item("b"))
    again = Database(db.path, MockClock())
    try:
        assert await _store(again).get_recent(A, 4) == items[6:]
        assert await _store(again).get_recent(A, 100) == items
        assert await _store(again).get_recent(A, 0) == []
        assert await _store(again).get_recent("nobody", 5) == []
        assert await _store(again).scopes() == [B, A]
    finally:
        again.close()


@pytest.mark.proves("S4.14-CHRONICLE-RETENTION")
async def test_what_is_older_than_the_retention_is_pruned_and_archived_first(
    db: Database, tmp_path: Path
) -> None:
    clock = MockClock()
    archive = tmp_path / "archive" / "chronicle.jsonl"
    store = _store(db, clock, retention_days=90, archive_file=archive)
    for day in range(120):
        await store.append(A, item(f"{day}", created_at=clock.now()))
        clock.advance(timedelta(days=1).total_seconds())
    assert await store.prune() == 30
    left = await store.get_recent(A, 1000)
    assert [one.ctx_id for one in left] == [str(day) for day in range(30, 120)]
    lines = [json.loads(line) for line in archive.read_text().splitlines()]
    assert [(line["scope_id"], line["item"]["ctx_id"]) for line in lines] == [
        (A, str(day)) for day in range(30)
    ]
    assert archive.stat().st_mode & 0o777 == 0o600
    assert await store.prune() == 0


async def test_nothing_is_pruned_that_could_not_be_archived(db: Database, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    store = _store(db, archive_file=tmp_path / "link")
    await store.append(A, item())
    with pytest.raises(DatabaseError, match="nothing was pruned"):
        await store.prune_before(MockClock().now() + timedelta(days=1000))
    assert len(await store.get_recent(A, 5)) == 1


async def test_external_text_lies_there_as_it_stood_in_the_context(db: Database) -> None:
    nasty = "A\u202e\ud800 <script>x()</script>"
    await _store(db).append(A, item(content=nasty, taint=TaintLevel.external))
    assert (await _store(db).get_recent(A, 1))[0].content == scrub(nasty)


async def test_forgetting_a_source_deletes_what_was_made_of_it_in_this_scope_alone(
    db: Database,
) -> None:
    store = _store(db)
    made = item("made", source="agent:proxy", sources=("agent:proxy", "bundle:friend"))
    for scope in (A, B):
        await store.append(scope, made, item("other"))
    assert await store.forget(A, "bundle:friend") == 1
    assert [one.ctx_id for one in await store.get_recent(A, 5)] == ["other"]
    assert len(await store.get_recent(B, 5)) == 2


async def test_a_damaged_entry_is_named_and_never_a_message(db: Database) -> None:
    await _store(db).append(A, item())
    with db.write() as tx:
        tx.driver.execute("UPDATE chronicle SET item = '{}'")
    await _store(db).append(A, item("c"))
    assert [one.ctx_id for one in await _store(db).get_recent(A, 2)] == ["c"]
    assert [(one.place, one.key) for one in damaged_rows(db)] == [("chronicle", "entry 1")]


async def test_an_entry_is_found_by_its_name_the_newest_of_it_and_of_its_own_scope(
    db: Database,
) -> None:
    store = _store(db)
    await store.append(A, item("plan:1", "first"), item("c"), item("plan:2"))
    await store.append(A, item("plan:1", "last"))
    await store.append(B, item("plan:3"))
    found = await store.list_by_ids(A, ["plan:1", "plan:2", "plan:3", "plan:4"])
    assert [(one.ctx_id, one.content) for one in found][1] == ("plan:1", "last")
    assert {one.ctx_id for one in found} == {"plan:1", "plan:2"}
    assert await store.list_by_ids(A, []) == []
