import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest

from silas.db import Database
from silas.testing import FakeSandbox, FakeTool, Harness, MockClock
from silas.testing.tools import a_context, exit_result, unsafe_approve_all
from silas.tools import RateLimited, RiskLevel, ToolConfig, ToolHealth, ToolRegistry
from silas.tools.health import NOT_KEPT, HealthStore, SqlHealthStore
from silas.tools.models import HealthStatus
from silas.tools.registry import HealthOutcome, next_health
from tests.support.command import environment, run, silas
from tests.support.waits import SECONDS
from tests.support.web import answer, serving

ANY = ToolConfig(connector_id="test", risk_default=RiskLevel.low)


class Noting:
    """A store that counts what it is told."""

    def __init__(self) -> None:
        self.kept: list[ToolHealth] = []

    def get_health(self, tool_name: str) -> ToolHealth:
        return self.kept[-1] if self.kept else ToolHealth()

    def keep(self, tool_name: str, health: ToolHealth) -> None:
        self.kept.append(health)


def registry(clock: MockClock, store: HealthStore) -> ToolRegistry:
    made = ToolRegistry(clock, store)
    made.register(FakeTool("lamp"), ANY)
    return made


def after(made: ToolRegistry, clock: MockClock, *errors: str) -> ToolHealth:
    for error in errors:
        known = made.get("lamp")
        assert known is not None
        clock.advance(1)
        made.update_health("lamp", next_health(known.health, HealthOutcome(error), clock.now()))
    known = made.get("lamp")
    assert known is not None
    return known.health


def test_health_is_what_it_was_when_another_process_opens_the_same_database(
    db: Database, clock: MockClock
) -> None:
    before = after(registry(clock, SqlHealthStore(db)), clock, "", "E_DOWN", "E_DOWN")
    again = registry(clock, SqlHealthStore(db))
    known = again.get("lamp")
    assert known is not None
    assert known.health == before
    assert (before.status, before.consecutive_errors) == (HealthStatus.degraded, 2)
    assert after(again, clock, "").status is HealthStatus.healthy
    healed = registry(clock, SqlHealthStore(db)).get("lamp")
    assert healed is not None
    assert healed.health.consecutive_errors == 0


def test_only_a_change_of_health_is_written(clock: MockClock) -> None:
    store = Noting()
    made = registry(clock, store)
    after(made, clock, "", "", "")
    assert len(store.kept) == 1
    after(made, clock, "E_DOWN", "", "", "")
    assert [health.consecutive_errors for health in store.kept] == [0, 1, 0]


def test_a_tool_that_is_due_for_another_try_is_not_shown_as_unavailable(clock: MockClock) -> None:
    made = registry(clock, NOT_KEPT)
    after(made, clock, *["E_DOWN"] * 5)
    (lamp,) = made.all()
    assert made.standing(lamp) is HealthStatus.unavailable
    clock.advance(61)
    assert made.standing(lamp) is HealthStatus.degraded


def test_what_cannot_be_read_is_as_if_nothing_had_been_kept(db: Database) -> None:
    store = SqlHealthStore(db)
    store.keep("lamp", ToolHealth(consecutive_errors=3))
    with db.write() as tx:
        tx.driver.execute('UPDATE tool_health SET health = \'{"status": "fine"}\'')
    assert store.get_health("lamp") == store.get_health("never heard of") == ToolHealth()


def test_a_database_that_refuses_the_write_ends_no_call(db: Database) -> None:
    store = SqlHealthStore(db)
    with db.write() as tx:
        tx.driver.execute("DROP TABLE tool_health")
    store.keep("lamp", ToolHealth())


@pytest.mark.proves("TR-REGISTRY")
async def test_a_pause_that_a_provider_wants_outlasts_a_restart_and_ends_in_its_time(
    tmp_path: Path,
) -> None:
    """And `silas tools list`, which is another process, shows it."""
    settings = {"search": {"provider": "tavily", "api_key": "k" * 20}}
    clock, sandbox = MockClock(), FakeSandbox(lambda run: exit_result())

    def house() -> Harness:
        return Harness(
            home=tmp_path, clock=clock, settings=settings, sandbox=sandbox, web=site.web()
        )

    async with serving(lambda asked: answer(status=429, Retry_After="600")) as site:
        async with house() as h:
            context = a_context(authorise=unsafe_approve_all)
            call = h.tools.call("web_search", "search", {"query": "x"}, context)
            with pytest.raises(RateLimited):
                await asyncio.wait_for(call, SECONDS)
        async with house() as h:
            known = h.silas.registry.get("web_search")
            assert known is not None
            assert known.health.rate_limit_resets_at == clock.now() + timedelta(seconds=600)
            assert known.health.last_error == "E_TOOL_RATE_LIMITED"
            assert known.tool_name not in {t.tool_name for t in h.silas.registry.list_healthy()}
            clock.advance(601)
            assert known.tool_name in {t.tool_name for t in h.silas.registry.list_healthy()}
    told = {**environment(tmp_path), "SILAS_SEARCH__API_KEY": "k" * 20}
    done = run(silas("tools", "list", "--json"), told)
    rows = {row["name"]: row for row in json.loads(done.out)}
    assert rows["web_search"]["last_error"] == "E_TOOL_RATE_LIMITED"
    assert {"risk", "scopes", "health"} <= rows["web_search"].keys()
