import hashlib
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.damage import damaged_rows
from silas.db import Database
from silas.errors import DatabaseError
from silas.testing import MockClock
from silas.testing.tools import MemoryOutcomeStore, a_context
from silas.tools import (
    CallFacts,
    DuplicateKey,
    OutcomeStatus,
    OutcomeStore,
    OutcomeUnknown,
    SqlOutcomeStore,
    ToolResult,
    idempotency_key,
    validated_call,
)
from silas.tools.outcomes import CALLS_OF_A_TASK, cooling_down
from silas.tools.sqlite_statements import ANSWERS_OF_A_TASK

CALL = validated_call("mail", "send", {"to": "a@example.org"})
OTHER = validated_call("mail", "send", {"to": "b@example.org"})
DONE = ToolResult(ok=True, return_value="sent", metadata={"n": 1}, ran=CALL)
FACTS = CallFacts()


@pytest.fixture(params=["sql", "memory"])
def store(request: pytest.FixtureRequest, db: Database, clock: MockClock) -> OutcomeStore:
    return SqlOutcomeStore(db, clock) if request.param == "sql" else MemoryOutcomeStore(clock)


def begin(store: OutcomeStore, key: str = "k", *, idempotent: bool = False) -> ToolResult | None:
    return store.begin(key, CALL, a_context(), FACTS, idempotent=idempotent)


def test_a_call_nobody_made_may_be_attempted(store: OutcomeStore) -> None:
    assert store.find("k", CALL, idempotent=False) is None
    assert begin(store) is None


@pytest.mark.proves("C-REPEAT-DEDUPED")
@pytest.mark.parametrize("status", [OutcomeStatus.succeeded, OutcomeStatus.failed])
def test_a_repeat_returns_the_recorded_outcome(store: OutcomeStore, status: OutcomeStatus) -> None:
    begin(store)
    store.finish("k", status, DONE)
    assert store.find("k", CALL, idempotent=False) == DONE
    assert begin(store) == DONE


@pytest.mark.proves("C-KEY-REUSE-IS-ERROR")
def test_a_key_used_for_other_arguments_is_an_error(store: OutcomeStore) -> None:
    begin(store)
    store.finish("k", OutcomeStatus.succeeded, DONE)
    with pytest.raises(DuplicateKey):
        store.find("k", OTHER, idempotent=True)
    with pytest.raises(DuplicateKey):
        store.begin("k", OTHER, a_context(), FACTS, idempotent=True)
    assert store.find("k", CALL, idempotent=False) == DONE


@pytest.mark.proves("B4-NEVER-REPEATED")
def test_an_attempt_without_outcome_is_never_silently_repeated(store: OutcomeStore) -> None:
    begin(store)
    with pytest.raises(OutcomeUnknown) as caught:
        begin(store)
    assert not caught.value.repeatable


def test_an_idempotent_attempt_without_outcome_may_be_repeated(store: OutcomeStore) -> None:
    begin(store, idempotent=True)
    assert begin(store, idempotent=True) is None
    store.finish("k", OutcomeStatus.succeeded, DONE)
    assert store.find("k", CALL, idempotent=True) == DONE


@pytest.mark.proves("C-UNKNOWN-IS-NOT-SUCCESS")
def test_an_unknown_outcome_is_never_success(store: OutcomeStore) -> None:
    begin(store)
    store.finish("k", OutcomeStatus.unknown, None)
    with pytest.raises(OutcomeUnknown):
        store.find("k", CALL, idempotent=False)
    assert store.find("k", CALL, idempotent=True) is None


def test_an_outcome_is_recorded_once_and_only_for_an_attempt(store: OutcomeStore) -> None:
    with pytest.raises(DuplicateKey):
        store.finish("k", OutcomeStatus.succeeded, DONE)
    begin(store)
    store.finish("k", OutcomeStatus.failed, DONE)
    with pytest.raises(DuplicateKey):
        store.finish("k", OutcomeStatus.succeeded, DONE)


@pytest.mark.proves("B4-UNKNOWN-AFTER-CRASH")
def test_after_a_restart_every_open_attempt_is_unknown(store: OutcomeStore) -> None:
    begin(store, "open-1")
    begin(store, "open-2")
    begin(store, "done")
    store.finish("done", OutcomeStatus.succeeded, DONE)
    records = store.mark_unfinished_unknown()
    assert [(r.key, r.status, r.task_id, r.tool_name) for r in records] == [
        ("open-1", "unknown", "task-1", "mail"),
        ("open-2", "unknown", "task-1", "mail"),
    ]
    assert store.mark_unfinished_unknown() == records
    with pytest.raises(OutcomeUnknown):
        store.find("open-1", CALL, idempotent=False)
    assert store.find("done", CALL, idempotent=False) == DONE


def test_the_owner_can_say_how_an_unknown_call_ended(store: OutcomeStore) -> None:
    begin(store)
    store.mark_unfinished_unknown()
    store.resolve("k", OutcomeStatus.succeeded, DONE)
    assert store.find("k", CALL, idempotent=False) == DONE
    with pytest.raises(DuplicateKey):
        store.resolve("k", OutcomeStatus.failed, DONE)


def test_the_owner_can_allow_an_unknown_call_to_be_repeated(store: OutcomeStore) -> None:
    begin(store)
    store.mark_unfinished_unknown()
    store.resolve("k", OutcomeStatus.attempted, None)
    assert begin(store) is None
    with pytest.raises(DuplicateKey):
        store.resolve("k", OutcomeStatus.attempted, None)


def test_the_last_attempt_on_a_target_is_remembered(store: OutcomeStore, clock: MockClock) -> None:
    def attempt(key: str, target: str) -> None:
        store.begin(key, CALL, a_context(), CallFacts(target=target), idempotent=False)

    attempt("1", "door")
    first = clock.now()
    clock.advance(10)
    attempt("2", "window")
    attempt("3", "")
    assert store.last_attempt("mail", "send", "door") == first
    assert store.last_attempt("mail", "send", "window") == clock.now()
    assert store.last_attempt("mail", "send", "") is None
    assert store.last_attempt("mail", "read", "door") is None
    assert store.last_attempt("post", "send", "door") is None


@pytest.mark.proves("C-STORM")
def test_outbound_notifications_are_counted_over_a_window(
    store: OutcomeStore, clock: MockClock
) -> None:
    for number in range(3):
        outbound = CallFacts(outbound=True)
        store.begin(f"out-{number}", CALL, a_context(), outbound, idempotent=False)
        store.begin(f"in-{number}", CALL, a_context(), FACTS, idempotent=False)
        clock.advance(60)
    now = clock.now()
    assert store.outbound_since(now - timedelta(seconds=1000)) == 3
    assert store.outbound_since(now - timedelta(seconds=100)) == 1
    assert store.outbound_since(now - timedelta(seconds=180)) == 2
    assert store.outbound_since(now) == 0


def test_the_journal_joins_an_open_transaction_and_vanishes_with_it(
    db: Database, clock: MockClock
) -> None:
    store = SqlOutcomeStore(db, clock)

    def attempt_without_audit() -> None:
        with db.write():
            begin(store)
            raise DatabaseError("the audit could not be written")

    with pytest.raises(DatabaseError):
        attempt_without_audit()
    assert store.find("k", CALL, idempotent=False) is None


@pytest.mark.proves("B4-UNKNOWN-AFTER-CRASH")
def test_the_journal_survives_closing_the_database(db: Database, clock: MockClock) -> None:
    begin(SqlOutcomeStore(db, clock))
    again = Database(db.path, clock)
    again.migrate("silas.tools")
    reopened = SqlOutcomeStore(again, clock)
    assert [r.key for r in reopened.mark_unfinished_unknown()] == ["k"]
    again.close()


@pytest.mark.proves("C-KEY-COVERS")
def test_the_key_is_the_digest_of_task_step_action_and_arguments() -> None:
    plain = (
        '{"action":"shell_exec.run","args":{"argv":["ls","\\u00e9"]},"step":"3","task":"task-1"}'
    )
    assert (
        idempotency_key("task-1", "3", "shell_exec.run", {"argv": ["ls", "é"]})
        == hashlib.sha256(plain.encode()).hexdigest()
        == "419b88c35e3b3c74e22e7b73aa9a774f6883e2092445d977bf089a0a2bb04f9f"
    )


JSON = st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3)


@pytest.mark.proves("C-KEY-COVERS")
@given(
    st.tuples(st.text(), st.text(), st.text(), JSON),
    st.tuples(st.text(), st.text(), st.text(), JSON),
)
def test_two_keys_agree_exactly_when_everything_agrees(
    one: tuple[str, str, str, dict[str, Any]], two: tuple[str, str, str, dict[str, Any]]
) -> None:
    assert (idempotency_key(*one) == idempotency_key(*two)) == (one == two)


@pytest.mark.proves("C-ANTIFLAP")
@pytest.mark.parametrize(("seconds", "expected"), [(0, True), (59, True), (60, False), (61, False)])
def test_the_cooldown_ends_when_its_seconds_have_passed(
    clock: MockClock, seconds: float, expected: bool
) -> None:
    last = clock.now()
    assert cooling_down(last, last + timedelta(seconds=seconds), 60) is expected
    assert not cooling_down(None, last, 60)


def test_what_answered_a_task_is_told_once_with_where_it_came_from(store: OutcomeStore) -> None:
    for key, where in (("a", "x.org"), ("b", "x.org"), ("c", "")):
        begin(store, key)
        store.finish(key, OutcomeStatus.succeeded, ToolResult(ok=True, source=where))
    begin(store, "d")
    assert store.answers_of(a_context().task_id) == [("mail", ""), ("mail", "x.org")]
    assert store.answers_of("another") == []


def test_the_calls_of_a_task_are_found_without_reading_those_of_others(db: Database) -> None:
    with db.read() as tx:
        for query in (CALLS_OF_A_TASK, ANSWERS_OF_A_TASK):
            (how, *_) = tx.driver.execute(
                f"EXPLAIN QUERY PLAN {query}", {"task_id": "task"}
            ).fetchall()
            assert "USING INDEX tool_outcomes_task" in how[-1]


@pytest.mark.parametrize("damage", ["{", b"\xff\xfe", 7])
def test_a_call_whose_row_is_damaged_is_unknown_and_is_not_repeated(
    db: Database, clock: MockClock, damage: Any
) -> None:
    store = SqlOutcomeStore(db, clock)
    begin(store)
    store.finish("k", OutcomeStatus.succeeded, DONE)
    with db.write() as tx:
        tx.driver.execute("UPDATE tool_outcomes SET result = ?", (damage,))
    with pytest.raises(OutcomeUnknown):
        store.find("k", CALL, idempotent=False)
    with pytest.raises(OutcomeUnknown):
        begin(store)
    with db.write() as tx:
        tx.driver.execute("UPDATE tool_outcomes SET attempted_at = ?", (damage,))
    [call] = store.calls_of(a_context().task_id)
    assert call.status is OutcomeStatus.unknown
    assert len(store.answers_of(a_context().task_id)) <= 1  # and no error
    assert store.last_attempt("mail", "send", "") is None
    assert [one.place for one in damaged_rows(db)] == ["tool_outcomes"]
