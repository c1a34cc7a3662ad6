"""Every tool there is, and whether it can be used now (`tool-runtime.md`)."""

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from silas.clock import Clock
from silas.errors import ToolError
from silas.tools.health import NOT_KEPT, HealthStore
from silas.tools.models import (
    HealthStatus,
    ToolConfig,
    ToolHealth,
)
from silas.tools.port import BaseTool, RegisteredTool

DEGRADED_AFTER: Final = 2  # consecutive errors; one may be bad luck
UNAVAILABLE_AFTER: Final = 5  # consecutive errors; more tries would only cost time
RETRY_AFTER: Final = timedelta(seconds=60)  # when an unavailable tool gets one more chance


class HealthOutcome(NamedTuple):
    """How a call ended, as far as the tool's health is concerned. An empty error is a success."""

    error: str = ""
    rate_limit_resets_at: datetime | None = None


def next_health(health: ToolHealth, outcome: HealthOutcome, now: datetime) -> ToolHealth:
    """The health after one more call: success heals at once, errors add up.

    A rate limit makes the tool unavailable until it resets, and is not counted as an error.
    """
    if not outcome.error:
        return ToolHealth(last_success_at=now)
    if outcome.rate_limit_resets_at is not None:
        return health.model_copy(
            update={
                "status": HealthStatus.unavailable,
                "last_error": outcome.error,
                "rate_limit_resets_at": outcome.rate_limit_resets_at,
                "retry_at": outcome.rate_limit_resets_at,
            }
        )
    errors = health.consecutive_errors + 1
    unavailable = errors >= UNAVAILABLE_AFTER
    degraded = HealthStatus.degraded if errors >= DEGRADED_AFTER else HealthStatus.healthy
    return health.model_copy(
        update={
            "status": HealthStatus.unavailable if unavailable else degraded,
            "last_error": outcome.error,
            "consecutive_errors": errors,
            "rate_limit_resets_at": None,
            "retry_at": now + RETRY_AFTER if unavailable else None,
        }
    )


def is_usable(health: ToolHealth, now: datetime) -> bool:
    """Whether a call may be tried: an unavailable tool only once its time to retry has come."""
    if health.status is not HealthStatus.unavailable:
        return True
    return health.retry_at is not None and now >= health.retry_at


def _has_changed(before: ToolHealth, after: ToolHealth) -> bool:
    """Whether anything is worth a write: one more success in a row of them is not."""
    same = {"last_success_at": after.last_success_at}
    first = before.last_success_at is None and after.last_success_at is not None
    return first or before.model_copy(update=same) != after


class ToolRegistry:
    """The tools by name. A name is registered once and never replaced.

    Args:
        clock: For when a tool may be tried again.
        store: Where health is kept from one process to the next.
    """

    def __init__(self, clock: Clock, store: HealthStore = NOT_KEPT) -> None:
        self._clock = clock
        self._store = store
        self._tools: dict[str, RegisteredTool] = {}
        self._absent: dict[str, str] = {}
        self._outages: dict[str, str] = {}

    def register(self, tool: BaseTool, config: ToolConfig) -> None:
        """Add a tool.

        Raises:
            ToolError: The name is taken, or the tool names no action.
        """
        name = tool.tool_name
        if name in self._tools:
            raise ToolError(
                f"A tool named {name!r} is already registered; give this one another name.",
                code="E_TOOL_DUPLICATE_NAME",
            )
        if not tool.actions:
            raise ToolError(
                f"The tool {name!r} names no action; let it name at least one.",
                code="E_TOOL_NO_ACTION",
            )
        self._tools[name] = RegisteredTool(
            tool_name=name,
            connector_id=config.connector_id,
            capabilities=tuple(tool.capabilities),
            scopes=tuple(tool.scopes_required),
            risk_default=config.risk_default,
            risk_map=dict(config.risk_map),
            supports_preview=tool.supports_preview,
            provider_type=config.provider_type,
            health=self._store.get_health(name),
            config_ref=config.config_ref,
            pre_approved=config.pre_approved,
            blocked=config.blocked,
            result_taint=config.result_taint,
            content=config.content,
            tool=tool,
        )

    def get(self, tool_name: str) -> RegisteredTool | None:
        """The tool of that name, whatever its health."""
        tool = self._tools.get(tool_name)
        return None if tool is None else self._as_it_stands(tool)

    def all(self) -> list[RegisteredTool]:
        """Every tool, in the order of registration."""
        if not self._outages:
            return list(self._tools.values())
        return [self._as_it_stands(tool) for tool in self._tools.values()]

    def _as_it_stands(self, tool: RegisteredTool) -> RegisteredTool:
        why = self._outages.get(tool.tool_name)
        if why is None:
            return tool
        out = {"status": HealthStatus.unavailable, "last_error": why, "retry_at": None}
        return tool.model_copy(update={"health": tool.health.model_copy(update=out)})

    def suspend(self, tool_name: str, why: str) -> None:
        """Take a tool out of use until `restore`: an outage is no bad luck, and no call ends it.

        Raises:
            ToolError: There is no such tool.
        """
        self._find_tool(tool_name)
        self._outages[tool_name] = why

    def withdraw(self, tool_name: str) -> None:
        """Forget a tool, so that another may have its name; one that is not there is none."""
        self._tools.pop(tool_name, None)
        self._outages.pop(tool_name, None)

    def restore(self, tool_name: str) -> None:
        """End an outage; the tool's own luck counts again."""
        self._outages.pop(tool_name, None)

    def list_healthy(self) -> list[RegisteredTool]:
        """The tools that may be tried now: healthy, degraded, or due for another try."""
        now = self._clock.now()
        return [tool for tool in self.all() if is_usable(tool.health, now)]

    def note_absent(self, source: str, words: str) -> None:
        """Remember that the tools of a source could not be had, and why, in one sentence."""
        self._absent[source] = words

    def note_there(self, source: str) -> None:
        """Forget that the tools of a source could not be had."""
        self._absent.pop(source, None)

    def absent(self) -> dict[str, str]:
        """The sources whose tools are missing, with the reasons."""
        return dict(self._absent)

    def update_health(self, tool_name: str, health: ToolHealth) -> None:
        """Record a tool's health.

        Raises:
            ToolError: There is no such tool.
        """
        known = self._find_tool(tool_name)
        self._tools[tool_name] = known.model_copy(update={"health": health})
        if _has_changed(known.health, health):
            self._store.keep(tool_name, health)

    def standing(self, tool: RegisteredTool) -> HealthStatus:
        """The health as it counts now: what is due for another try is not unavailable any more."""
        status = tool.health.status
        if status is HealthStatus.unavailable and is_usable(tool.health, self._clock.now()):
            return HealthStatus.degraded
        return status

    def _find_tool(self, tool_name: str) -> RegisteredTool:
        if tool_name not in self._tools:
            raise ToolError(f"There is no tool named {tool_name!r}.", code="E_TOOL_UNKNOWN")
        return self._tools[tool_name]


def tool_rows(registry: ToolRegistry) -> list[dict[str, Any]]:
    """Every tool's name, risk, scopes, health and last error, for people and `--json`.

    A source whose tools are missing has a row of its own, without a risk.
    """
    there = [
        {
            "name": tool.tool_name,
            "risk": tool.risk_default.value,
            "scopes": list(tool.scopes),
            "health": registry.standing(tool).value,
            "last_error": tool.health.last_error,
        }
        for tool in registry.all()
    ]
    unavailable = HealthStatus.unavailable.value
    return there + [
        {"name": name, "risk": "-", "scopes": [], "health": unavailable, "last_error": words}
        for name, words in registry.absent().items()
    ]
