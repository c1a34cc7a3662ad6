"""`file_read`, `file_write`, `file_edit`, `file_list`, `file_search`: files of the workspace.

Each runs one fixed program (`file_program.py`) inside the sandbox, on the run's private copy and
the plan's `read` paths as they are mounted there. So links, FIFOs, huge files and races meet the
same walls as any command of the task, and a secret is taken out of what they say as of any output.
"""

from functools import cache
from importlib.resources import files as resources
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from silas.canonical import canonical_bytes
from silas.sandbox import Credentials, Sandbox, SandboxFiles, SandboxLimits, SandboxResult
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.file_program import REFUSED
from silas.tools.builtin.sandboxed import SandboxedTool
from silas.tools.models import CONTAINED, CallFacts, PreviewResult, ToolCallContext, ToolResult
from silas.types import OriginKind, TaintLevel
from silas.workspace.protected import protection

MAX_TEXT: Final = 1_000_000
"""Bytes of a text that is written, or put in place of another."""

_MAX_ANSWER = 64_000  # bytes; below what a run may print, so that an answer is never cut by force
_MAX_PATH = 4096  # bytes, the kernel's own limit
INTERPRETER_OPTIONS: Final = ("-I", "-B", "-c")
"""Nothing of the environment or of the directory that it stands in has a part in the program."""


def _readable(path: str) -> str:
    if not path or len(path.encode("utf-8", "replace")) > _MAX_PATH or not path.isprintable():
        raise ValueError(f"must be a printable path of 1 to {_MAX_PATH} bytes")
    parts = PurePosixPath(path).parts
    if ".." in parts:
        raise ValueError("must not contain '..'")
    return str(PurePosixPath(path))


def _writable(path: str) -> str:
    for part in PurePosixPath(path).parts:
        why = protection(part)
        if why:
            raise ValueError(f"{part} is protected ({why})")
    return path


def _text(text: str) -> str:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise ValueError("must be valid Unicode") from error
    if size > MAX_TEXT:
        raise ValueError(f"must not be longer than {MAX_TEXT} bytes")
    return text


Readable = Annotated[str, AfterValidator(_readable)]
"""A path of the workspace, or an absolute one below it or a `read` path."""

Writable = Annotated[Readable, AfterValidator(_writable)]
"""A path whose every name a task may write (decision B3)."""

FileText = Annotated[str, AfterValidator(_text)]
LineNumber = Annotated[int, Field(ge=1, le=1_000_000_000)]


class ReadArguments(ToolArguments):
    """A file, and which lines of it; all of them where none are named."""

    path: Readable
    from_line: LineNumber | None = None
    to_line: LineNumber | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "ReadArguments":
        if (self.to_line or 1_000_000_000) < (self.from_line or 1):
            raise ValueError("`to_line` must not be before `from_line`")
        return self


class WriteArguments(ToolArguments):
    """A file and its whole new text."""

    path: Writable
    content: FileText


class EditArguments(ToolArguments):
    """A file, a text that is in it exactly once, and the text to put in its place."""

    path: Writable
    old: Annotated[FileText, StringConstraints(min_length=1)]
    new: FileText


class ListArguments(ToolArguments):
    """A directory, and how deep to look."""

    path: Readable = "."
    depth: Annotated[int, Field(ge=1, le=10)] = 1


class FileSearchArguments(ToolArguments):
    """A text or regular expression, where to look, and a pattern of file names."""

    text: Annotated[FileText, StringConstraints(min_length=1, max_length=1000)]
    regex: bool = False
    path: Readable = "."
    files: Annotated[str, StringConstraints(min_length=1, max_length=200)] = "*"


class FileTool(SandboxedTool):
    """One request to the program inside; a subclass names itself and its arguments."""

    writes: ClassVar[bool] = False

    def __init__(self, sandbox: Sandbox, interpreter: str = "python3") -> None:
        super().__init__(sandbox)
        self._interpreter = interpreter

    @property
    def idempotent(self) -> bool:
        """Looking is harmless to repeat; a write is not, with other calls in between."""
        return not self.writes

    def facts(self, action: str, request: dict[str, Any]) -> CallFacts:
        """It stays in the private copy. What is written can leave with a later command where the
        plan names hosts; what is only looked at cannot.
        """
        return CONTAINED if self.writes else CONTAINED.model_copy(update={"contained": False})

    def command(
        self, request: dict[str, Any], files: SandboxFiles
    ) -> tuple[list[str], SandboxFiles]:
        """The fixed program; the request goes in by standard input, where no process list is."""
        roots = [str(files.cwd), *(str(mount.target) for mount in files.mounts)]
        # a read-only mount inside a writable one refuses by itself
        writable = [str(mount.target) for mount in files.mounts if mount.writable]
        asked: dict[str, Any] = {
            "tool": self.name,
            "args": request,
            "roots": roots,
            "writable": writable,
            "limit": _MAX_ANSWER,
            "guard": {"shut": [], "named": [], "largest": 0, "kinds": {}},
        }
        argv = [self._interpreter, *INTERPRETER_OPTIONS, program()]
        # the system's interpreter: what a workspace brings has no part in what Silas itself runs
        alone = {"network": (), "loopback": False, "credentials": Credentials(), "path": ()}
        return argv, files.model_copy(update={"stdin": canonical_bytes(asked), **alone})

    async def preview(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> PreviewResult | None:
        """What it would be asked."""
        return PreviewResult(summary=f"Would call {self.name} in the sandbox.", details=request)

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Ask the program inside; what it cannot do is a result, not an error.

        Raises:
            SandboxUnavailable: Nothing ran.
            SandboxError: The sandbox failed; whether something ran is unknown.
        """
        argv, files = self.command(request, context.files)
        needed = {"output_bytes": max(context.limits.output_bytes, 2 * _MAX_ANSWER)}
        limits: SandboxLimits = context.limits.model_copy(update=needed)
        answer = answer_of(self.name, await self._sandbox.run(argv, limits, files))
        where = {"origin": OriginKind.file, "source": request["path"]}
        return answer.model_copy(update=where)


@cache
def program() -> str:
    """The text of the program that runs inside."""
    return resources("silas.tools.builtin").joinpath("file_program.py").read_text(encoding="utf-8")


def answer_of(name: str, result: SandboxResult) -> ToolResult:
    """What the program inside said; a refusal of its own is an error in its words."""
    error = None
    if not result.ok:
        refused = result.ended_by == "exit" and result.exit_code == REFUSED
        how = f"exit code {result.exit_code}" if result.ended_by == "exit" else result.ended_by
        error = result.stdout if refused else f"{name} broke off ({how}); nothing is known."
    return ToolResult(
        ok=result.ok,
        return_value=result.stdout if result.ok else "",
        error=error,
        metadata={"exit_code": result.exit_code, "ended_by": result.ended_by},
        taint=TaintLevel.external,
        duration_seconds=result.duration_seconds,
    )


class FileReadTool(FileTool):
    """Reads lines of a text file."""

    arguments = ReadArguments
    name = "file_read"
    words = (
        "Read a text file of the workspace, or of the plan's read paths. `from_line` and `to_line` "
        "choose lines, counted from 1; long files are cut, and the first line says so."
    )


class FileWriteTool(FileTool):
    """Writes a whole file, all or nothing."""

    arguments = WriteArguments
    name = "file_write"
    writes = True
    words = (
        "Write a whole text file in the workspace; `content` replaces what is there. Directories "
        "are made. For a change inside a file use `file_edit`."
    )


class FileEditTool(FileTool):
    """Replaces one exact text in a file, all or nothing."""

    arguments = EditArguments
    name = "file_edit"
    writes = True
    words = (
        "Replace the text `old` by `new` in a file of the workspace. `old` must be in the file "
        "exactly once, white space included; otherwise nothing is changed."
    )


class FileListTool(FileTool):
    """Lists a directory."""

    arguments = ListArguments
    name = "file_list"
    words = "List a directory of the workspace, `depth` levels deep, with sizes and link targets."


class FileSearchTool(FileTool):
    """Finds lines in files."""

    arguments = FileSearchArguments
    name = "file_search"
    words = (
        "Find lines that hold `text`, or match it as a Python regular expression with `regex`, in "
        "the files below `path`. `files` is a pattern of names such as *.py. Links, binary files "
        "and directories such as .git and node_modules are left out."
    )


FILE_TOOLS: Final = (FileReadTool, FileWriteTool, FileEditTool, FileListTool, FileSearchTool)

FILE_TOOL_NAMES: Final = frozenset(tool.name for tool in FILE_TOOLS)
