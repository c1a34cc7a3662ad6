"""What the built-in tools share that only look: nothing is changed and nothing leaves."""

from typing import Any, Final

from silas.tools.builtin.base import BuiltInTool
from silas.tools.models import CallFacts, RiskLevel, ToolConfig
from silas.types import TaintLevel

LOOKING: Final = ToolConfig(
    connector_id="silas", risk_default=RiskLevel.low, result_taint=TaintLevel.owner
)
"""Their results come from Silas's own rooms, and the tool says of each how far it is trusted."""

_LOOKS: Final = CallFacts(state_changing=False, egress=False, addressed=False)


class ReadOnlyTool(BuiltInTool):
    """A tool that looks something up in Silas's own house; a subclass names itself and looks."""

    action = "look"
    scopes = ()
    approved = False
    repeatable = True

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Nothing changes, nothing leaves."""
        return _LOOKS
