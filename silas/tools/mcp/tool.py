"""One tool of one MCP server, behind the tool door like every other (decision D122)."""

from typing import Any, Final, NamedTuple, Protocol

from silas.canonical import canonical_json, read_json
from silas.context import scrub
from silas.tools.builtin.base import SANDBOX_SCOPE
from silas.tools.mcp.arguments import check_arguments
from silas.tools.mcp.definitions import McpToolDefinition, shown_schema
from silas.tools.mcp.settings import MCPEntry
from silas.tools.models import (
    CallFacts,
    PreviewResult,
    ProviderType,
    RiskLevel,
    Stance,
    ToolCallContext,
    ToolConfig,
    ToolResult,
)
from silas.tools.refusals import OutcomeUnknown
from silas.types import TaintLevel

SAYS: Final = ", in that server's words: "
"""What stands before a server's own words about its tool."""

_CUT = "\n[cut: the server said more than a result may hold]"


class McpAnswer(NamedTuple):
    """What a server answered: in words, and whether it calls that a success."""

    ok: bool
    text: str


class McpCallNotSent(Exception):
    """There was nobody to send a call to; nothing happened. The words are for a model."""


class McpCallInterrupted(Exception):
    """A call was sent, and what became of it is unknown. The words are for the record."""


class McpLink(Protocol):
    """The way to a server: `silas.tools.mcp.link.ServerLink` is one."""

    async def call(self, tool: str, args: dict[str, Any], seconds: float) -> McpAnswer:
        """Send one call. Raises `McpCallNotSent` or `McpCallInterrupted`."""
        ...


def tool_config(entry: MCPEntry, tool: str) -> ToolConfig:
    """What the registry is told: high, until the owner rates it; results are always external."""
    return ToolConfig(
        connector_id=f"mcp.{entry.name}",
        risk_default=entry.handling.rate.get(tool, RiskLevel.high),
        provider_type=ProviderType.mcp,
        config_ref=f"mcpServers.{entry.name}",
        result_taint=TaintLevel.external,
    )


class MCPTool:
    """A trusted definition, and the link to whoever serves it.

    What it says of itself (its description, its hints) decides nothing: risk and whether it only
    reads are the owner's words.
    """

    def __init__(self, entry: MCPEntry, definition: McpToolDefinition, link: McpLink) -> None:
        self._entry = entry
        self._definition = definition
        self._link = link
        self._reads = definition.name in entry.handling.reads
        self._shown = canonical_json(shown_schema(definition))

    @property
    def tool_name(self) -> str:
        """The name a model calls: `server__tool`."""
        return self._definition.tool_name

    @property
    def description(self) -> str:
        """The server's own words, scrubbed, and whose they are."""
        words = scrub(self._definition.description).strip() or "(no description)"
        return f"A tool of the MCP server {self._entry.name!r}{SAYS}{words}"

    @property
    def capabilities(self) -> list[str]:
        """Only approved work may use it."""
        return ["executor"]

    @property
    def scopes_required(self) -> list[str]:
        """It runs a program of somebody else's."""
        return [SANDBOX_SCOPE]

    @property
    def actions(self) -> list[str]:
        """It is called."""
        return ["call"]

    @property
    def requires_authority(self) -> bool:
        """Whatever may change something needs an approval (spec 15)."""
        return not self._reads

    @property
    def idempotent(self) -> bool:
        """Only what changes nothing may be repeated."""
        return self._reads

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments, its explanations scrubbed."""
        shown: dict[str, Any] = read_json(self._shown)
        return {"additionalProperties": False, **shown}

    def validate(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments, if they have the shape the schema asks for; `ValueError` otherwise."""
        check_arguments(self.schema, args)
        canonical_json(args)
        return dict(args)

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """The owner's word: a read changes nothing, and stays here if its server reaches nobody."""
        leaves = self._entry.leaves or not self._reads
        return CallFacts(state_changing=not self._reads, egress=leaves)

    def needs_approval(self, action: str, request: dict[str, Any]) -> Stance:
        """Its rating decides."""
        return Stance.silent

    @property
    def supports_preview(self) -> bool:
        """It can show what would be sent."""
        return True

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What would be sent."""
        return PreviewResult(
            summary=f"Would call {self._definition.name!r} of the MCP server {self._entry.name!r}.",
            details={"arguments": request},
        )

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Send the call; what the server calls an error is a failed result.

        Raises:
            OutcomeUnknown: It was sent, and no answer came back.
        """
        seconds = min(self._entry.handling.timeout_seconds, context.limits.wall_seconds)
        try:
            answer = await self._link.call(self._definition.name, request, seconds)
        except McpCallNotSent as error:
            return ToolResult(ok=False, error=f"{error} Nothing was sent.")
        except McpCallInterrupted as error:
            raise OutcomeUnknown(
                f"The MCP server {self._entry.name!r} did not answer ({error}); whether the call "
                "took effect is unknown. Check before repeating it.",
                repeatable=self.idempotent,
            ) from error
        text = _cut_bytes(answer.text, context.limits.output_bytes)
        return ToolResult(
            ok=answer.ok,
            return_value=text,
            metadata={"server": self._entry.name},
            taint=TaintLevel.external,
            error=None if answer.ok else (text or "The server reports an error."),
        )


def _cut_bytes(text: str, most: int) -> str:
    encoded = text.encode("utf-8", "replace")
    return text if len(encoded) <= most else encoded[:most].decode("utf-8", "ignore") + _CUT
