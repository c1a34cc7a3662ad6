"""What every built-in tool is made of (spec 9.2, 9.3)."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final

from silas.tools.builtin.arguments import ToolArguments, schema_of, validated_arguments
from silas.tools.models import CallFacts, PreviewResult, Stance, ToolCallContext, ToolResult

SANDBOX_SCOPE: Final = "sandbox.execute"


class BuiltInTool(ABC):
    """A tool that a subclass describes in its class, with `facts` and `execute`.

    What a subclass does not say is the strictest: the executor alone, with an approval, within the
    scope of running things, never repeated blindly.

    Attributes:
        name: What a model calls.
        words: What it does, for the model.
        action: The one thing it does.
        arguments: Their model.
        roles: Whom it is offered to.
        scopes: What a call needs.
        approved: Whether nothing runs without an approved work item (spec 15).
        repeatable: Whether repeating an unfinished call is harmless.
        previewed: The sentence of a preview, whose details are the arguments; empty for none.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    action: ClassVar[str]
    arguments: ClassVar[type[ToolArguments]]
    roles: ClassVar[tuple[str, ...]] = ("executor",)
    scopes: ClassVar[tuple[str, ...]] = (SANDBOX_SCOPE,)
    approved: ClassVar[bool] = True
    repeatable: ClassVar[bool] = False
    previewed: ClassVar[str] = ""

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
        """The one thing it does."""
        return [self.action]

    @property
    def scopes_required(self) -> list[str]:
        """What a call needs."""
        return list(self.scopes)

    @property
    def requires_authority(self) -> bool:
        """Whether every call needs a verified approval, whatever the matrix says."""
        return self.approved

    @property
    def idempotent(self) -> bool:
        """Whether repeating an unfinished call is harmless."""
        return self.repeatable

    @property
    def supports_preview(self) -> bool:
        """Whether it can show what a call would do."""
        return bool(self.previewed)

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments; the caller's own copy."""
        return schema_of(self.arguments)

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The canonical arguments; `ValueError` with one sentence otherwise."""
        return validated_arguments(self.arguments, args)

    @abstractmethod
    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """What the call would touch, from its validated arguments."""

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """No stance of its own."""
        return Stance.silent

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What it would be asked; None where it cannot say."""
        if not self.previewed:
            return None
        return PreviewResult(summary=self.previewed, details=dict(request))

    @abstractmethod
    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Do it, with validated arguments."""
