"""How the window is divided among its zones (spec 3.5)."""

from math import floor
from typing import NamedTuple

from silas.context.models import ContextConfig, ContextProfile, ContextZone


class ZoneBudget(NamedTuple):
    """What each part of the window may hold, in tokens.

    Attributes:
        system_actual: What the system zone takes, at most its cap.
        allocable: The rest of the window.
        chronicle, memory, workspace: Budgets of the zones.
        headroom: What stays free: at least a fifth of the allocable budget.
    """

    system_actual: int
    allocable: int
    chronicle: int
    memory: int
    workspace: int
    headroom: int

    def of(self, zone: ContextZone) -> int:
        """The budget of a zone; the system zone's is what it takes."""
        match zone:
            case ContextZone.system:
                return self.system_actual
            case ContextZone.chronicle:
                return self.chronicle
            case ContextZone.memory:
                return self.memory
            case ContextZone.workspace:
                return self.workspace


def divide(config: ContextConfig, profile: ContextProfile, system_tokens: int) -> ZoneBudget:
    """The division of the window while the system zone holds so many tokens."""
    system_actual = min(system_tokens, config.system_max)
    allocable = max(config.total_tokens - system_actual, 0)
    chronicle, memory, workspace = (
        floor(allocable * share)
        for share in (profile.chronicle_pct, profile.memory_pct, profile.workspace_pct)
    )
    headroom = allocable - (chronicle + memory + workspace)
    return ZoneBudget(system_actual, allocable, chronicle, memory, workspace, headroom)
