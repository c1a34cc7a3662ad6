"""`workspace_files`: which files lie below a directory of the workspace, how many and how big.

As the other looks it runs in the sandbox, without network, on the workspace mounted read-only. It
tells names, sizes and times alone, of hidden files as well, and opens no file.
"""

from functools import cache
from importlib.resources import files as resources
from typing import Annotated, Any, Final, Literal

from pydantic import Field, StringConstraints

from silas.canonical import canonical_bytes
from silas.sandbox import Sandbox, SandboxFiles
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.files import INTERPRETER_OPTIONS, Readable
from silas.tools.builtin.workspace_looks import WorkspaceTool
from silas.tools.look_limits import LookLimits

MOST_FILES: Final = 200
"""Files that one call shows; it counts them all."""

_MOST_PATTERNS: Final = 20

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Order = Literal["name", "biggest", "smallest", "newest", "oldest"]


class FilesArguments(ToolArguments):
    """Where to begin, patterns of names of which one has to fit, and which to show first."""

    path: Readable = "."
    names: list[Pattern] = Field(
        default_factory=lambda: ["*"], min_length=1, max_length=_MOST_PATTERNS
    )
    order: Order = "name"
    count: Annotated[int, Field(ge=1, le=MOST_FILES)] = 20


@cache
def _program() -> str:
    program_file = resources("silas.tools.builtin").joinpath("folder_program.py")
    return program_file.read_text(encoding="utf-8")


class WorkspaceFilesTool(WorkspaceTool):
    """Counts files and shows some of them."""

    arguments = FilesArguments
    name = "workspace_files"
    words = (
        "Count the files of the owner's workspace below `path`, at any depth, whose names fit one "
        "of `names` (such as *.pdf), and show `count` of them with size and time, by `order`."
    )

    def __init__(self, sandbox: Sandbox, interpreter: str = "python3") -> None:
        super().__init__(sandbox)
        self._interpreter = interpreter

    def command(self, request: dict[str, Any], looks: LookLimits) -> tuple[list[str], SandboxFiles]:
        """The fixed program, told where to begin."""
        files = looks.files(str(request["path"]))
        asked = {"root": str(files.cwd), "args": request, "limit": looks.room}
        argv = [self._interpreter, *INTERPRETER_OPTIONS, _program()]
        return argv, files.model_copy(update={"stdin": canonical_bytes(asked)})
