"""`shell_exec`: one program by argument list, never a shell string (spec 9.2; decision A3)."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from silas.sandbox import SandboxFiles
from silas.tools.builtin.sandboxed import MAX_ARGUMENTS, Argument, Arguments, SandboxedTool


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
