"""`workspace_list`, `workspace_read`, `workspace_search`: what a turn may see before any plan.

They run the program of the file tools in the sandbox, without network, on the workspace itself,
mounted read-only. Hidden files and files that may hold secrets are listed and not read, unless the
owner's own words of this turn name them; a link on the way is not followed.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Final

from silas.canonical import canonical_bytes
from silas.context import ContentKind
from silas.errors import SandboxError
from silas.sandbox import Credentials, Sandbox, SandboxFiles, SandboxLimits
from silas.sandbox.toolchains.table import CREDENTIALS
from silas.tools.builtin.files import (
    INTERPRETER_OPTIONS,
    FileSearchArguments,
    ListArguments,
    ReadArguments,
    answer_of,
    program,
)
from silas.tools.builtin.read_only import ReadOnlyTool
from silas.tools.look_limits import LOOK_SCOPE, LookLimits
from silas.tools.models import RiskLevel, ToolCallContext, ToolConfig, ToolResult
from silas.types import OriginKind, TaintLevel

WORKSPACE_TOOL: Final = ToolConfig(
    connector_id="workspace", risk_default=RiskLevel.low, content=ContentKind.source
)
"""Low: nothing is changed and nothing leaves; what is read is external all the same."""

LARGEST: Final = 1_000_000
"""Bytes of a file that is searched with its directory; one that is named may be larger."""

SHUT: Final = (".*", *CREDENTIALS)
"""Names of what is listed and not read: hidden ones, and those that may hold secrets."""

KINDS: Final = {
    "pyproject.toml": "Python",
    "setup.py": "Python",
    "requirements.txt": "Python",
    "package.json": "JavaScript",
    "tsconfig.json": "TypeScript",
    "Cargo.toml": "Rust",
    "go.mod": "Go",
    "pom.xml": "Java (Maven)",
    "build.gradle": "Java (Gradle)",
    "CMakeLists.txt": "C or C++ (CMake)",
    "Makefile": "make",
    "Gemfile": "Ruby",
    "composer.json": "PHP",
    ".git": "git repository",
}
"""What the name of an entry at the top says about a project; nothing of a file is told by it."""

_LIMITS = SandboxLimits(wall_seconds=20.0, cpu_seconds=10, processes=32)
_ALONE = {"network": (), "loopback": False, "credentials": Credentials(), "path": ()}
_TURN_ROLES = ("proxy", "planner")


class WorkspaceTool(ReadOnlyTool):
    """Looks at the workspace of the turn, within what the turn has left; a subclass says how."""

    roles = _TURN_ROLES
    scopes = (LOOK_SCOPE,)  # only turns of the owner's own words are given it

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.limits = _LIMITS

    @abstractmethod
    def command(self, request: dict[str, Any], looks: LookLimits) -> tuple[list[str], SandboxFiles]:
        """What runs inside, and what it may see."""

    async def execute(
        self, action: str, request: dict[str, Any], context: ToolCallContext
    ) -> ToolResult:
        """Look; what cannot be seen, or not any more, is a result and not an error."""
        looks = context.looks
        async with looks.turnstile:  # calls of one answer count one after the other
            if refusal := await looks.refusal(str(request.get("path", "."))):
                # Silas's own words
                return ToolResult(ok=False, error=refusal, taint=TaintLevel.owner)
            argv, files = self.command(request, looks)
            limits = self.limits.model_copy(update={"output_bytes": 2 * looks.room})
            try:
                ran = await self.sandbox.run(argv, limits, files.model_copy(update=_ALONE))
            except SandboxError as error:
                return ToolResult(ok=False, error=f"Nothing was looked at: {error.message}")
            answer = answer_of(self.name, ran)
            looks.count_answer(answer.return_value or answer.error or "")
        where = {"origin": OriginKind.file, "source": str(request.get("path", "."))}
        return answer.model_copy(update=where)


class _WorkspaceFileTool(WorkspaceTool):
    does: ClassVar[str]

    def __init__(self, sandbox: Sandbox, interpreter: str = "python3") -> None:
        super().__init__(sandbox)
        self._interpreter = interpreter

    def command(self, request: dict[str, Any], looks: LookLimits) -> tuple[list[str], SandboxFiles]:
        """The fixed program of the file tools, told what stays shut."""
        files = looks.files(str(request["path"]))
        asked: dict[str, Any] = {
            "tool": self.does,
            "args": request,
            "roots": [str(files.cwd)],
            "writable": [],
            "limit": looks.room,
            "guard": {
                "shut": list(SHUT),
                "named": list(looks.named),
                "largest": LARGEST,
                "kinds": KINDS,
            },
        }
        argv = [self._interpreter, *INTERPRETER_OPTIONS, program()]
        return argv, files.model_copy(update={"stdin": canonical_bytes(asked)})


class WorkspaceListTool(_WorkspaceFileTool):
    """Lists a directory, and says what kind of project it is."""

    arguments = ListArguments
    name, does = "workspace_list", "file_list"
    words = (
        "Look at a directory of the owner's workspace: its entries with sizes, `depth` levels "
        "deep, and what kind of project it is. Needs no approval."
    )


class WorkspaceReadTool(_WorkspaceFileTool):
    """Reads a text file."""

    arguments = ReadArguments
    name, does = "workspace_read", "file_read"
    words = (
        "Read a text file of the owner's workspace, or the lines `from_line` to `to_line` of it. "
        "Hidden files and files that may hold secrets are read only where the owner names them."
    )


class WorkspaceSearchTool(_WorkspaceFileTool):
    """Finds lines in files."""

    arguments = FileSearchArguments
    name, does = "workspace_search", "file_search"
    words = (
        "Find lines that hold `text`, or match it as a regular expression with `regex`, in the "
        "files of the owner's workspace below `path`; `files` is a pattern of names such as *.py."
    )


WORKSPACE_FILE_TOOLS: Final = (WorkspaceListTool, WorkspaceReadTool, WorkspaceSearchTool)
