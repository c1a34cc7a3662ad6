"""The tool door and what stands behind it."""

from typing import TYPE_CHECKING

from silas.config.servers_file import ReadServers
from silas.home.web_tools import add_web_tools, record_connections
from silas.plans.binding import Grants, PlanBinding
from silas.services.mcp_servers.running import RunningServers
from silas.services.tools.look_tools import shown_by_work
from silas.services.tools.registry import built_in_tools
from silas.services.workers import teams_of
from silas.tools import ToolExecutor, ToolRegistry
from silas.tools.health import SqlHealthStore
from silas.tools.policy import ToolPolicyConfig

if TYPE_CHECKING:
    from silas.wiring.parts import Parts


def tool_registry(parts: "Parts", read: ReadServers) -> tuple[ToolRegistry, RunningServers]:
    """The built-in tools and those of the web; toolsets and servers of others come later."""
    runtime, config, clock = parts.runtime, parts.config, parts.runtime.clock
    registry = built_in_tools(clock, parts.sandbox, SqlHealthStore(parts.db))
    record = record_connections(parts.audit)
    add_web_tools(registry, config, clock, runtime.web, runtime.secrets, record)
    secrecy = parts.secrecy
    servers = RunningServers(config, runtime, registry, parts.db, parts.audit, secrecy, read)
    return registry, servers


def tool_door(parts: "Parts") -> ToolExecutor:
    """The one door through which every call goes."""
    config = parts.config
    return ToolExecutor(
        parts.registry,
        parts.gates,
        audit=parts.audit,
        outcomes=parts.outcomes,
        clock=parts.time,
        db=parts.db,
        config=ToolPolicyConfig(
            quiet_from=config.quiet_hours.start,
            quiet_until=config.quiet_hours.end,
            timezone=config.scheduler.zone.key,
        ),
        require_running=parts.stop.sentinel.require_running,
        scrub=parts.secrecy.redact,
    )


def plan_binding(parts: "Parts") -> PlanBinding:
    """What an approval binds of a plan besides its text: skills, grants, workers, toolchains."""
    shown = shown_by_work(parts.models.choices, parts.workers, parts.server_entries)
    grants = Grants(parts.runtime.sandbox.name, parts.limits, shown)
    teams = teams_of(parts.workers)
    return PlanBinding(parts.skills, grants, parts.audit, teams, parts.tools)
