"""What an approval binds besides its plan, as the configuration and this machine have it."""

from typing import TYPE_CHECKING

from silas.home.sandbox_tools import tool_search
from silas.plans.binding import Grants, PlanBinding
from silas.plans.goals.lapsed import Lapsed
from silas.sandbox import SandboxLimits
from silas.services.skills.catalogue import owners_key, skill_loader
from silas.services.tools.look_tools import shown_by_work
from silas.services.workers import teams_of, worker_library

if TYPE_CHECKING:
    from silas.audit import Audit
    from silas.config import SilasConfig


def sandbox_limits(config: "SilasConfig") -> SandboxLimits:
    """Memory and processor time of one run, as configured."""
    return SandboxLimits(
        memory_mb=config.sandbox.default_memory_mb,
        cpu_seconds=config.sandbox.default_cpu_seconds,
    )


def lapsed_here(config: "SilasConfig", audit: "Audit") -> Lapsed:
    """Says why an approval covers nothing any more, where no sandbox and no model was opened."""
    workers = worker_library(config)
    binding = PlanBinding(
        skill_loader(config, owners_key(config)),
        Grants("", sandbox_limits(config), shown_by_work(lambda: config.models, workers)),
        audit,
        teams_of(workers),
        tool_search(config),
    )
    return binding.lapsed
