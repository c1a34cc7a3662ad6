"""What the built-in tools share that only look: nothing is changed and nothing leaves."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from silas.tools.builtin.arguments import Exact, schema_of, validated_arguments
from silas.tools.models import (
    CallFacts,
    PreviewResult,
    RiskLevel,
    Stance,
    ToolCallContext,
    ToolConfig,
    ToolResult,
)
from silas.types import TaintLevel

LOOKING: Final = ToolConfig(
    connector_id="silas", risk_default=RiskLevel.low, result_taint=TaintLevel.owner
)
"""Their results come from Silas's own rooms, and the tool says of each how far it is trusted."""

_LOOKS: Final = CallFacts(state_changing=False, egress=False, addressed=False)


class LookingTool(ABC):
    """A tool that looks something up in Silas's own house; a subclass names itself and looks."""

    arguments: ClassVar[type[Exact]]
    name: ClassVar[str]
    words: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]

    @property
    def tool_name(self) -> str:
        """The name a model calls."""
        return self.name

    @property
    def description(self) -> str:
        """What it does, for the model."""
        return self.words

    @property
    def capabilities(self) -> list[str]:
        """The roles it is offered to."""
        return list(self.roles)

    @property
    def actions(self) -> list[str]:
        """It looks."""
        return ["look"]

    @property
    def scopes_required(self) -> list[str]:
        """None."""
        return []

    @property
    def requires_authority(self) -> bool:
        """Nothing is executed."""
        return False

    @property
    def idempotent(self) -> bool:
        """Looking twice is harmless."""
        return True

    @property
    def supports_preview(self) -> bool:
        """There is nothing to show before."""
        return False

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments; the caller's own copy."""
        return schema_of(self.arguments)

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical arguments; `ValueError` with one sentence otherwise."""
        return validated_arguments(self.arguments, args)

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """Nothing changes, nothing leaves."""
        return _LOOKS

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """No stance."""
        return Stance.silent

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """None: looking is its own preview."""
        return None

    @abstractmethod
    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Look, with validated arguments."""
