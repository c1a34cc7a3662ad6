"""`python_exec`: code, or a script of the workspace, in the sandbox (spec 9.2)."""

from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from silas.sandbox import Sandbox, SandboxFiles
from silas.tools.builtin.sandboxed import MAX_ARGUMENTS, Argument, Arguments, SandboxedTool

# Bytecode caches would show up in the workspace's diff; user packages are not part of the plan.
_OPTIONS = ("-B", "-s")


def _inside(script: str) -> str:
    path = PurePosixPath(script)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in script:
        raise ValueError("must be a path inside the workspace, relative and without '..'")
    return str(path)


class PythonArguments(Arguments):
    """Either `code`, or `script` with its `args`."""

    code: Annotated[Argument, Field(min_length=1)] | None = None
    script: Annotated[Argument, AfterValidator(_inside)] | None = None
    args: Annotated[list[Argument], Field(max_length=MAX_ARGUMENTS)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "PythonArguments":
        if (self.code is None) == (self.script is None):
            raise ValueError("give either `code` or `script`")
        if self.args is not None and self.script is None:
            raise ValueError("`args` belong to a `script`")
        return self


class PythonTool(SandboxedTool):
    """Runs Python in the workspace's private copy.

    Args:
        sandbox: Where it runs.
        interpreter: Its name or path inside the sandbox.
    """

    name = "python_exec"
    words = (
        "Run Python in the sandboxed workspace and return its exit code and output: `code` as "
        "text, or `script` as a path inside the workspace with `args`."
    )
    arguments = PythonArguments

    def __init__(self, sandbox: Sandbox, interpreter: str = "python3") -> None:
        super().__init__(sandbox)
        self._interpreter = interpreter

    def command(
        self, request: dict[str, Any], files: SandboxFiles
    ) -> tuple[list[str], SandboxFiles]:
        """Code goes in by standard input, where no process list shows it.

        A script is named with a leading `./`, so that it cannot be read as an option.
        """
        python = [self._interpreter, *_OPTIONS]
        if "code" in request:
            stdin = str(request["code"]).encode("utf-8")
            return [*python, "-"], files.model_copy(update={"stdin": stdin})
        return [*python, f"./{request['script']}", *request.get("args", ())], files
