"""The work item store's contract, on the database and in memory (spec 4.13)."""

import hashlib
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import pytest

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict
from silas.db import Database
from silas.errors import DatabaseError
from silas.plans import (
    BudgetUsed,
    PlanParser,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
    plan_bytes,
    plan_hash,
)
from silas.plans.columns import ITEMS, JSON, PLAIN
from silas.plans.store import SqlWorkItemStore
from silas.testing import MockClock
from silas.testing.builders import a_plan
from silas.testing.work_items import InMemoryWorkItemStore

EXAMPLES = sorted((Path(__file__).parents[2] / "plans").glob("*.md"))
NOW = MockClock().now()


@pytest.fixture
def db(tmp_path: Path) -> Generator[Database]:
    database = Database(tmp_path / "silas.db", MockClock())
    database.migrate("silas.plans")
    yield database
    database.close()


@pytest.fixture(params=["sql", "memory"])
def store(request: pytest.FixtureRequest, db: Database) -> WorkItemStore:
    if request.param == "sql":
        return SqlWorkItemStore(db, MockClock())
    return InMemoryWorkItemStore()


def _token() -> ApprovalToken:
    return ApprovalToken(
        token_id="token-1",
        plan_hash=plan_hash(a_plan()),
        work_item_id="task-example",
        scope=ApprovalScope.standing,
        verdict=ApprovalVerdict.approved,
        signature=bytes(range(64)),
        issued_at=NOW,
        expires_at=NOW + timedelta(minutes=30),
        nonce="n",
        conditions={"spawn_policy_hash": "x", "max": 1.5},
        executions_used=2,
        max_executions=5,
        execution_nonces=("a", "b"),
    )


def _full() -> WorkItem:
    return a_plan(
        type="goal",
        parent="goal-0",
        follow_up_of="task-0",
        title="Größe \U0001f600 'quoted' \u202e",
        needs_approval=False,
        approval_token=_token(),
        access_levels={"z": {"description": "last"}, "a": {"description": "first"}},
        escalation={"z": {"action": "report"}, "a": {"action": "respond"}},
        gates=[{"name": "g", "on": "after_step", "after_step": 1, "block": {"outside": [0, 1]}}],
        tools=[{"name": "t", "nested": {"b": [1, 2.5, None, True]}}],
        workspace="/w",
        read=["/b", "/a"],
        schedule="0 * * * *",
        status="running",
        attempts=2,
        budget_used={"tokens": 7, "cost_usd": 0.25, "wall_time_seconds": 1.5},
        verification_results=[{"attempt": 1, "results": []}],
        created_at=NOW,
    )


@pytest.mark.proves("S3.3-TOKEN-WHOLE")
async def test_an_item_comes_back_exactly_as_it_was_saved(store: WorkItemStore) -> None:
    item = _full()
    await store.save(item)
    loaded = await store.get(item.id)
    assert loaded == item
    assert loaded is not None
    assert loaded.approval_token == _token()
    assert list(loaded.access_levels) == ["z", "a"]
    assert plan_hash(loaded) == plan_hash(item)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
async def test_the_example_plans_come_back(store: WorkItemStore, path: Path) -> None:
    item = PlanParser().parse(path.read_text(encoding="utf-8"))
    await store.save(item)
    assert await store.get(item.id) == item


async def test_what_is_not_there_is_none(store: WorkItemStore) -> None:
    assert await store.get("task-none") is None
    assert await store.get_result("task-none") is None
    assert await store.list_by_status(WorkItemStatus.running) == []


async def test_saving_again_replaces(store: WorkItemStore) -> None:
    await store.save(a_plan())
    await store.save(a_plan(status="done", attempts=1, title="Changed"))
    loaded = await store.get("task-example")
    assert loaded is not None
    assert (loaded.status, loaded.attempts, loaded.title) == ("done", 1, "Changed")
    assert await store.list_by_status(WorkItemStatus.pending) == []


async def test_a_loaded_item_is_a_copy(store: WorkItemStore) -> None:
    item = a_plan()
    await store.save(item)
    item.attempts = 9
    first = await store.get(item.id)
    assert first is not None
    first.skills.append("root")
    again = await store.get(item.id)
    assert again is not None
    assert (again.attempts, again.skills) == (0, [])


@pytest.mark.proves("S4.13-LISTS")
async def test_lists_are_ordered_by_creation_then_by_first_saving(store: WorkItemStore) -> None:
    moments = {
        "c": NOW,
        "b": NOW + timedelta(milliseconds=500),
        "a": NOW,
        "d": NOW - timedelta(days=1),
    }
    for name, moment in moments.items():
        await store.save(
            a_plan(id=name, status="running", parent="p", follow_up_of="f", created_at=moment)
        )
    await store.save(a_plan(id="other"))
    await store.update_status("c", WorkItemStatus.running, BudgetUsed(tokens=1))
    for items in (
        await store.list_by_status(WorkItemStatus.running),
        await store.list_by_parent("p"),
        await store.list_by_follow_up("f"),
    ):
        assert [item.id for item in items] == ["d", "c", "a", "b"]


@pytest.mark.proves("S4.13-STATUS-ATOMIC")
async def test_status_and_budget_change_together_and_nothing_else_does(
    store: WorkItemStore,
) -> None:
    await store.save(_full())
    used = BudgetUsed(tokens=99, executor_runs=1)
    await store.update_status("task-example", WorkItemStatus.stuck, used)
    expected = _full()
    expected.status, expected.budget_used = WorkItemStatus.stuck, used
    assert await store.get("task-example") == expected


@pytest.mark.proves("S4.13-STATUS-ATOMIC")
@pytest.mark.parametrize("column", ["status", "budget_used"])
async def test_where_one_of_the_two_cannot_change_neither_does(db: Database, column: str) -> None:
    store = SqlWorkItemStore(db, MockClock())
    await store.save(_full())
    with db.write() as tx:
        tx.driver.execute(
            f"CREATE TRIGGER broken BEFORE UPDATE OF {column} ON work_items "
            "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    with pytest.raises(DatabaseError):
        await store.update_status("task-example", WorkItemStatus.stuck, BudgetUsed(tokens=99))
    assert await store.get("task-example") == _full()


async def test_the_status_of_an_unknown_item_cannot_be_changed(store: WorkItemStore) -> None:
    with pytest.raises(DatabaseError) as refused:
        await store.update_status("task-none", WorkItemStatus.done, BudgetUsed())
    assert refused.value.code == "E_DB_MISSING"


@pytest.mark.proves("S3.3-RESULT-CONTRACT")
async def test_a_result_comes_back_with_its_artifacts(store: WorkItemStore) -> None:
    result = WorkItemResult(
        work_item_id="task-example",
        status=WorkItemStatus.done,
        summary="Done",
        verification_results=[{"name": "a", "passed": True}],
        budget_used=BudgetUsed(tokens=3),
        artifacts={"report": "text\n\U0001f600"},
        next_steps=["more"],
        diff="+x",
    )
    await store.save_result(result.model_copy(update={"summary": "Earlier"}))
    await store.save_result(result)
    assert await store.get_result("task-example") == result


@pytest.mark.proves("S4.13-DURABLE")
async def test_items_survive_a_new_process(db: Database, tmp_path: Path) -> None:
    await SqlWorkItemStore(db, MockClock()).save(_full())
    again = Database(tmp_path / "silas.db", MockClock())
    try:
        again.migrate("silas.plans")
        assert await SqlWorkItemStore(again, MockClock()).get("task-example") == _full()
    finally:
        again.close()


@pytest.mark.proves("A24-STORED-BYTES")
@pytest.mark.parametrize(
    "change",
    [
        "body = 'rm -rf'",
        "workspace = '/'",
        "verify = '[]'",
        "read = '[]'",
        "parent = 'goal-other'",
        "budget = '{\"max_tokens\": 999999}'",
        "plan_hash = 'x'",
        "plan_bytes = replace(plan_bytes, 'task-example', 'task-exampla')",
        "verify = 'not json'",
        "gates = '[{}]'",
        'approval_token = \'{"token_id": "forged"}\'',
        "status = 'finished'",
        "attempts = '\"many\"'",
        f"gates = '{'[' * 100_000}'",
    ],
)
async def test_a_row_that_is_not_the_stored_plan_any_more_is_refused(
    db: Database, change: str
) -> None:
    store = SqlWorkItemStore(db, MockClock())
    await store.save(_full())
    with db.write() as tx:
        tx.driver.execute(f"UPDATE work_items SET {change}")
    with pytest.raises(DatabaseError) as refused:
        await store.get("task-example")
    assert refused.value.code == "E_DB_CORRUPT"
    assert "task-example" in str(refused.value)


@pytest.mark.proves("A24-STORED-BYTES")
@pytest.mark.parametrize("used", ['{"tokens": -1}', '{"cost_usd": NaN}', '{"cost_usd": -1e9}'])
async def test_a_row_that_was_made_to_have_used_less_than_nothing_is_refused(
    db: Database, used: str
) -> None:
    await SqlWorkItemStore(db, MockClock()).save(a_plan())
    with db.write() as tx:
        tx.driver.execute("UPDATE work_items SET budget_used = ?", (used,))
    with pytest.raises(DatabaseError, match="changed or damaged"):
        await SqlWorkItemStore(db, MockClock()).get("task-example")


async def test_the_bytes_that_were_hashed_are_the_bytes_that_are_stored(db: Database) -> None:
    item = _full()
    await SqlWorkItemStore(db, MockClock()).save(item)
    with db.read() as tx:
        stored, name = tx.driver.execute("SELECT plan_bytes, plan_hash FROM work_items").fetchone()
    assert stored.encode("utf-8") == plan_bytes(item)
    assert hashlib.sha256(stored.encode("utf-8")).hexdigest() == name == plan_hash(item)


async def test_a_damaged_result_is_refused(db: Database) -> None:
    store = SqlWorkItemStore(db, MockClock())
    await store.save_result(
        WorkItemResult(work_item_id="task-example", status=WorkItemStatus.done, summary="x")
    )
    with db.write() as tx:
        tx.driver.execute("UPDATE work_item_results SET result = '{}'")
    with pytest.raises(DatabaseError) as refused:
        await store.get_result("task-example")
    assert refused.value.code == "E_DB_CORRUPT"


async def test_an_end_that_cannot_be_recorded_is_not_kept(store: WorkItemStore) -> None:
    item = a_plan()
    await store.save(item)
    ended = item.model_copy(update={"status": WorkItemStatus.done})
    result = WorkItemResult(work_item_id=item.id, status=WorkItemStatus.done, summary="Done.")

    def refuse() -> None:
        raise DatabaseError("no room", code="E_DB_OPERATION")

    with pytest.raises(DatabaseError):
        await store.finish(ended, result, refuse)
    kept = await store.get(item.id)
    assert kept is not None
    assert kept.status is WorkItemStatus.pending
    assert await store.get_result(item.id) is None
    witnessed: list[str] = []
    await store.finish(ended, result, lambda: witnessed.append("recorded"))
    kept = await store.get(item.id)
    assert kept is not None
    assert (kept.status, await store.get_result(item.id)) == (WorkItemStatus.done, result)
    assert witnessed == ["recorded"]


def test_every_field_of_a_work_item_has_its_column() -> None:
    assert sorted(WorkItem.model_fields) == sorted((*PLAIN, *JSON, *ITEMS))
