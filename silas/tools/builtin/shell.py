"""`shell_exec`: one program by argument list, never a shell string (spec 9.2; decision A3)."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from silas.sandbox import SandboxFiles
from silas.tools.builtin.sandboxed import MAX_ARGUMENTS, Argument, Arguments, SandboxedTool
from silas.tools.models import ToolCallContext, ToolResult

NOT_FOUND: Final = 127
"""The exit code where no such program is there, as shells have it."""

ONE_WORD: Final = 'No shell reads `argv`: each word is an item of its own, as in `["ls", "-l"]`.'
"""Said of a whole command line in one word."""


def _require_program(argv: list[str]) -> list[str]:
    if not argv[0].strip():
        raise ValueError("the first word must name a program")
    return argv


class ShellArguments(Arguments):
    """The program and its arguments, word by word; no shell reads them."""

    argv: Annotated[
        list[Argument],
        Field(min_length=1, max_length=MAX_ARGUMENTS),
        AfterValidator(_require_program),
    ]


class ShellTool(SandboxedTool):
    """Runs one program in the workspace's private copy."""

    name = "shell_exec"
    words = (
        "Run one program in the sandboxed workspace and return its exit code and output. "
        "`argv` is a list of words; no shell reads it, so pipes and globs need an explicit "
        '["sh", "-c", ...], which is rated riskier.'
    )
    arguments = ShellArguments

    def command(
        self, request: dict[str, Any], files: SandboxFiles
    ) -> tuple[list[str], SandboxFiles]:
        """The argument list as it was given."""
        return list(request["argv"]), files

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Run it; of a whole command line in one word the result says that no shell read it."""
        result = await super().execute(action, request, context)
        (word, *more) = request["argv"]
        if more or len(word.split()) == 1 or result.metadata["exit_code"] != NOT_FOUND:
            return result
        told = "\n".join((result.return_value.rstrip("\n"), ONE_WORD))
        return result.model_copy(update={"return_value": told})
