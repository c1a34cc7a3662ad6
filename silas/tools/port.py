"""What a tool must answer, and a tool as the registry knows it (`tool-runtime.md`)."""

from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, SkipValidation

from silas.context import ContentKind
from silas.tools.models import (
    CallFacts,
    PreviewResult,
    ProviderType,
    RiskLevel,
    Stance,
    ToolCallContext,
    ToolHealth,
    ToolResult,
)
from silas.types import FrozenModel, TaintLevel


class BaseTool(Protocol):
    """An adapter the tool door can call. Only the tool door calls it."""

    @property
    def tool_name(self) -> str:
        """The name a model calls."""
        ...

    @property
    def description(self) -> str:
        """What it does, for the model."""
        ...

    @property
    def capabilities(self) -> list[str]:
        """Roles it is offered to: `proxy`, `planner`, `executor`."""
        ...

    @property
    def scopes_required(self) -> list[str]:
        """Scopes a call needs, for example `sandbox.execute`."""
        ...

    @property
    def actions(self) -> list[str]:
        """What it can do, at least one; the first is the one that a model's call means."""
        ...

    @property
    def requires_authority(self) -> bool:
        """Whether every call needs a verified approval, whatever the matrix says (spec 15)."""
        ...

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments; extra arguments are refused."""
        ...

    @property
    def idempotent(self) -> bool:
        """Whether repeating an unfinished call is harmless."""
        ...

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical, validated arguments; `ValueError` with one sentence otherwise."""
        ...

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """What the call would touch, from its validated arguments."""
        ...

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """The toolset's own stance on this call (`toolset-plugins.md`)."""
        ...

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Do it, with validated arguments."""
        ...

    @property
    def supports_preview(self) -> bool:
        """Whether `preview` can say what a call would do."""
        ...

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What it would do; None where the tool cannot say."""
        ...


class RegisteredTool(FrozenModel):
    """A tool as the registry knows it (`tool-runtime.md`); `config_ref` never holds a secret."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    tool_name: str
    connector_id: str
    capabilities: tuple[str, ...]
    scopes: tuple[str, ...]
    risk_default: RiskLevel
    risk_map: dict[str, RiskLevel]
    supports_preview: bool
    provider_type: ProviderType
    health: ToolHealth
    config_ref: str
    pre_approved: bool
    blocked: bool
    result_taint: TaintLevel
    content: ContentKind
    tool: Annotated[BaseTool, SkipValidation]
