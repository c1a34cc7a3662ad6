from datetime import timedelta

import pytest

from silas.context import ContentKind
from silas.errors import ToolError
from silas.testing import MockClock
from silas.testing.tools import FakeTool
from silas.tools import (
    HealthOutcome,
    HealthStatus,
    RiskLevel,
    ToolConfig,
    ToolHealth,
    ToolRegistry,
    next_health,
)
from silas.tools.registry import DEGRADED_AFTER, RETRY_AFTER, UNAVAILABLE_AFTER, is_usable
from silas.types import TaintLevel

CONFIG = ToolConfig(connector_id="test", risk_default=RiskLevel.low)


def names(registry: ToolRegistry) -> list[str]:
    return [tool.tool_name for tool in registry.list_healthy()]


@pytest.mark.proves("TR-REGISTRY")
def test_a_registered_tool_carries_what_it_and_its_configuration_say(clock: MockClock) -> None:
    registry = ToolRegistry(clock)
    tool = FakeTool("mail", scopes=["mail.send"], capabilities=["executor", "proxy"], shows="x")
    registry.register(
        tool,
        ToolConfig(
            connector_id="gmail",
            risk_default=RiskLevel.medium,
            risk_map={"other": RiskLevel.high},
            config_ref="connections/1",
        ),
    )
    known = registry.get("mail")
    assert known is not None
    assert known.model_dump(exclude={"tool", "health"}) == {
        "tool_name": "mail",
        "connector_id": "gmail",
        "capabilities": ("executor", "proxy"),
        "scopes": ("mail.send",),
        "risk_default": "medium",
        "risk_map": {"other": "high"},
        "supports_preview": True,
        "provider_type": "native",
        "config_ref": "connections/1",
        "pre_approved": False,
        "blocked": False,
        "result_taint": TaintLevel.external,
        "content": ContentKind.prose,
    }
    assert known.tool is tool
    assert known.health.status is HealthStatus.healthy


def test_a_name_is_registered_once_and_never_replaced(clock: MockClock) -> None:
    registry = ToolRegistry(clock)
    first = FakeTool("mail")
    registry.register(first, CONFIG)
    with pytest.raises(ToolError, match="already registered"):
        registry.register(FakeTool("mail"), CONFIG)
    known = registry.get("mail")
    assert known is not None
    assert known.tool is first


@pytest.mark.proves("TR-REGISTRY")
def test_an_unknown_tool_is_nobody(clock: MockClock) -> None:
    registry = ToolRegistry(clock)
    assert registry.get("ghost") is None
    with pytest.raises(ToolError, match="no tool named"):
        registry.update_health("ghost", ToolHealth())


@pytest.mark.proves("C-HEALTH-MOVES")
def test_consecutive_errors_degrade_a_tool_and_then_make_it_unavailable(clock: MockClock) -> None:
    health = ToolHealth()
    seen: list[str] = []
    for _ in range(UNAVAILABLE_AFTER):
        health = next_health(health, HealthOutcome("broken"), clock.now())
        seen.append(health.status.value)
    assert seen == ["healthy"] * (DEGRADED_AFTER - 1) + ["degraded"] * (
        UNAVAILABLE_AFTER - DEGRADED_AFTER
    ) + ["unavailable"]
    assert not is_usable(health, clock.now())
    assert is_usable(health, clock.now() + RETRY_AFTER)


def test_one_success_heals_whatever_was_before(clock: MockClock) -> None:
    sick = ToolHealth(
        status=HealthStatus.unavailable, consecutive_errors=9, last_error="x", retry_at=clock.now()
    )
    assert next_health(sick, HealthOutcome(), clock.now()) == ToolHealth(
        last_success_at=clock.now()
    )


def test_a_failed_retry_waits_again(clock: MockClock) -> None:
    health = ToolHealth()
    for _ in range(UNAVAILABLE_AFTER):
        health = next_health(health, HealthOutcome("broken"), clock.now())
    later = clock.now() + RETRY_AFTER
    again = next_health(health, HealthOutcome("broken"), later)
    assert not is_usable(again, later)
    assert is_usable(again, later + RETRY_AFTER)


@pytest.mark.proves("C-HEALTH-MOVES")
def test_a_rate_limit_lasts_until_it_resets_and_is_not_an_error(clock: MockClock) -> None:
    resets = clock.now() + timedelta(minutes=5)
    health = next_health(ToolHealth(), HealthOutcome("slow down", resets), clock.now())
    assert health.consecutive_errors == 0
    assert health.rate_limit_resets_at == resets
    assert not is_usable(health, resets - timedelta(seconds=1))
    assert is_usable(health, resets)


@pytest.mark.proves("TR-REGISTRY", "C-UNAVAILABLE")
def test_an_unavailable_tool_is_not_listed_until_it_may_be_tried_again(clock: MockClock) -> None:
    registry = ToolRegistry(clock)
    registry.register(FakeTool("a"), CONFIG)
    registry.register(FakeTool("b"), CONFIG)
    resets = clock.now() + timedelta(seconds=30)
    registry.update_health(
        "a", next_health(ToolHealth(), HealthOutcome("limit", resets), clock.now())
    )
    assert names(registry) == ["b"]
    assert [tool.tool_name for tool in registry.all()] == ["a", "b"]
    clock.advance(30)
    assert names(registry) == ["a", "b"]


def test_an_outage_stands_until_it_is_taken_back_whatever_luck_calls_have(
    clock: MockClock,
) -> None:
    registry = ToolRegistry(clock)
    registry.register(FakeTool("mail"), CONFIG)
    registry.suspend("mail", "the line is down")
    registry.update_health("mail", ToolHealth(last_success_at=clock.now()))
    clock.advance(10_000)
    assert names(registry) == []
    known = registry.get("mail")
    assert known is not None
    assert (known.health.status, known.health.last_error) == (
        HealthStatus.unavailable,
        "the line is down",
    )
    registry.restore("mail")
    assert names(registry) == ["mail"]
    with pytest.raises(ToolError):
        registry.suspend("nobody", "why")
