"""What the built-in tools share that run a program in the sandbox (spec 9.2, 9.3)."""

from abc import abstractmethod
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from silas.context import ContentKind
from silas.sandbox import Sandbox, SandboxFiles, SandboxResult
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.base import BuiltInTool
from silas.tools.models import (
    CONTAINED,
    CallFacts,
    PreviewResult,
    RiskLevel,
    ToolCallContext,
    ToolConfig,
    ToolResult,
)
from silas.types import TaintLevel

SECRETS_SCOPE: Final = "secrets.use"
"""Granted to work whose plan names secrets; each of its calls is at least CONFIRM (table C)."""

SANDBOX_TOOL: Final = ToolConfig(
    connector_id="sandbox", risk_default=RiskLevel.low, content=ContentKind.source
)
"""Low: these tools act only inside the private copy, and reach only hosts that the plan names."""

_NOWHERE = Path("/nowhere")  # rating a command needs no place

MAX_ARGUMENT = 120_000  # bytes; the kernel refuses a longer single argument (MAX_ARG_STRLEN)
MAX_ARGUMENTS = 1000


def _plain(text: str) -> str:
    if "\0" in text:
        raise ValueError("must not contain a NUL character")
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    if size > MAX_ARGUMENT:
        raise ValueError(f"must not be longer than {MAX_ARGUMENT} bytes")
    return text


Argument = Annotated[str, AfterValidator(_plain)]
"""One word of a command line: no NUL, valid Unicode, bounded."""

Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]
"""A time limit; it can only lower the limit of the run."""


class Arguments(ToolArguments):
    """The arguments of a tool that runs somebody's program."""

    timeout_seconds: Seconds | None = None


class SandboxedTool(BuiltInTool):
    """A tool that runs one program and reports its exit code and output.

    A subclass names itself and its arguments, and turns them into a command.
    """

    action = "run"
    previewed = "Would run a program in the sandbox."

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @abstractmethod
    def command(
        self, request: dict[str, Any], files: SandboxFiles
    ) -> tuple[list[str], SandboxFiles]:
        """The argument list, and what it may see."""

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """The argument list, so that a shell interpreter is rated higher."""
        argv, _ = self.command(request, SandboxFiles(cwd=_NOWHERE))
        return CONTAINED.model_copy(update={"argv": tuple(argv)})

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """The command that would run."""
        argv, _ = self.command(request, context.files)
        return PreviewResult(summary=self.previewed, details={"argv": argv})

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Run it within the limits of the context; a failing program is a result, not an error.

        Raises:
            SandboxUnavailable: Nothing ran.
            SandboxError: The sandbox failed; whether something ran is unknown.
        """
        argv, files = self.command(request, context.files)
        limits = context.limits
        wanted: float = request.get("timeout_seconds", limits.wall_seconds)
        limits = limits.model_copy(update={"wall_seconds": min(wanted, limits.wall_seconds)})
        return tool_result(await self._sandbox.run(argv, limits, files))


def exit_code_of(result: ToolResult) -> int | None:
    """How a program that a call ran ended by itself; None where it did not, or the call failed."""
    code = result.metadata.get("exit_code")
    told = result.ok or result.error == f"exit code {code}"
    return code if isinstance(code, int) and told else None


def tool_result(result: SandboxResult) -> ToolResult:
    """What the model sees: the exit code first, then each stream under its own heading."""
    ended = "" if result.ended_by == "exit" else f" (ended by {result.ended_by})"
    parts = [f"exit code {result.exit_code}{ended}"]
    parts += [
        f"{name} ({len(text)} characters):\n{text}"
        for name, text in (("stdout", result.stdout), ("stderr", result.stderr))
        if text
    ]
    return ToolResult(
        ok=result.ok,
        return_value="\n".join(parts),
        metadata={
            "exit_code": result.exit_code,
            "ended_by": result.ended_by,
            "duration_seconds": result.duration_seconds,
            **({"network": [one._asdict() for one in result.traffic]} if result.traffic else {}),
        },
        taint=TaintLevel.external,
        error=None if result.ok else parts[0],
        duration_seconds=result.duration_seconds,
    )
