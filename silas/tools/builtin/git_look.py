"""`workspace_git`: status, log or diff of the repository at the top of the workspace.

A repository's own configuration can name programs that git runs: filters, hooks, fsmonitor, diff
drivers, pagers, helpers, includes of more such. So git never reads it: it is given a directory of
its own in the sandbox, made empty, into which references and index are copied, and the workspace's
objects to read. What the copy does not have cannot be named by a `.gitattributes` either.
"""

import shlex
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from silas.sandbox import SandboxFiles
from silas.sandbox.toolchains.table import CREDENTIALS
from silas.tools.builtin.arguments import ToolArguments
from silas.tools.builtin.file_program import REFUSED
from silas.tools.builtin.files import Readable
from silas.tools.builtin.folder_look import WorkspaceFilesTool
from silas.tools.builtin.workspace_looks import WORKSPACE_FILE_TOOLS, WorkspaceTool
from silas.tools.look_limits import LookLimits

_PLACE: Final = "/tmp/look.git"  # noqa: S108 - inside the sandbox, where /tmp is private

ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat",
    "GIT_DIR": _PLACE,
}
"""No configuration but the one that git makes here, no question, no fetching of what is missing."""

_OPTIONS: Final = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"),
    *("-c", "core.attributesFile=/dev/null", "-c", "submodule.recurse=false"),
    *("-c", "core.bigFileThreshold=8m"),  # a larger file is said to differ, and not held in memory
)
"""Said once more, though no configuration that says otherwise is read."""

_NO_SUBMODULES: Final = "--ignore-submodules=all"  # git would run there with their configuration
_SHOWS: Final = {
    "status": ("status", "--short", "--branch", _NO_SUBMODULES),
    "log": ("log", "--no-color", "--date=short", "--format=%h %ad %an: %s", "--no-show-signature"),
    "diff": ("diff", "--no-color", "--no-ext-diff", "--no-textconv", _NO_SUBMODULES),
}
_SHUT_NAMES: Final = tuple(
    f"glob,icase)**/{name}{rest}" for name in (".*", *CREDENTIALS) for rest in ("", "/**")
)
_SHUT: Final = tuple(f":(exclude,{one}" for one in _SHUT_NAMES)
_ONLY_SHUT: Final = tuple(f":({one}" for one in _SHUT_NAMES)

_SCRIPT: Final = f"""
set -euf
ws=$1; shift
refuse() {{ echo "$1"; exit {REFUSED}; }}
command -v git >/dev/null || refuse "There is no git in the sandbox."
there() {{ [ -f "$ws/.git/$1" ] && [ ! -L "$ws/.git/$1" ]; }}
[ ! -L "$ws/.git" ] && [ ! -f "$ws/.git" ] ||
  refuse "The .git of this workspace leads elsewhere (a worktree or submodule), which is not read."
[ -d "$ws/.git/objects" ] && there HEAD ||
  refuse "There is no git repository at the top of the workspace."
[ ! -e "$ws/.git/reftable" ] || refuse "The repository keeps its references in a form not read."
form=sha1
setting() {{
  if there config; then
    git config --file "$ws/.git/config" --no-includes --get "$1" 2>/dev/null || true
  fi
}}
if [ "$(setting extensions.objectformat)" = sha256 ]; then form=sha256; fi
git init --quiet --bare --template= --object-format=$form "$GIT_DIR" ||
  refuse "git could not begin."
for one in HEAD index packed-refs shallow; do
  [ ! -L "$ws/.git/$one" ] || refuse ".git/$one is a link, which is not followed."
  if there "$one"; then cp -P -- "$ws/.git/$one" "$GIT_DIR/$one"; fi
done
set +f
for one in "$ws"/.git/sharedindex.*; do
  if [ -f "$one" ] && [ ! -L "$one" ]; then cp -P -- "$one" "$GIT_DIR/"; fi
done
set -f
rm -rf "$GIT_DIR/refs"
cp -RP -- "$ws/.git/refs" "$GIT_DIR/refs"
if there info/exclude; then
  mkdir -p "$GIT_DIR/info"; cp -P -- "$ws/.git/info/exclude" "$GIT_DIR/info/exclude"
fi
git config core.bare false
git config core.worktree "$ws"
for one in filemode ignorecase symlinks autocrlf; do
  value=$(setting "core.$one")
  case "$value" in true|false|input) git config "core.$one" "$value" ;; esac
done
export GIT_OBJECT_DIRECTORY="$ws/.git/objects"
cd "$ws"
"""

_HEAD: Final = """
if git rev-parse --quiet --verify HEAD >/dev/null; then since=HEAD; else since=--cached; fi
"""

_RENAMED: Final = f"""
moved() {{
  git {shlex.join(_OPTIONS)} diff {_NO_SUBMODULES} "$@" 2> /tmp/why ||
    refuse "git cannot say: $(tail -n 1 /tmp/why | head -c 300)"
}}
moved --name-only --no-renames "$since" -- {shlex.join(_ONLY_SHUT)} > /tmp/shut
moved --name-status --find-renames --diff-filter=R "$since" > /tmp/moved
if grep -q '"' /tmp/shut /tmp/moved; then
  refuse "Files with unusual names were renamed, so this difference is not shown."
fi
while IFS="$(printf '\\t')" read -r how old new; do
  if grep -Fxq -e "$old" -e "$new" /tmp/shut; then
    set -- "$@" ":(exclude,literal)$old" ":(exclude,literal)$new"
  fi
done < /tmp/moved
"""
"""What had the name of a file that may hold secrets, or has it now, stays out under both names."""

_SAY: Final = """
cd /tmp
[ -s said ] || echo "Nothing to show."
head -c "$ROOM" said
[ "$(wc -c < said)" -le "$ROOM" ] || echo "(cut here; ask for one path)"
"""


class GitArguments(ToolArguments):
    """What to show, of which path, and how many commits of a log."""

    show: Literal["status", "log", "diff"] = "status"
    path: Readable = "."
    count: Annotated[int, Field(ge=1, le=100)] = 20


class WorkspaceGitTool(WorkspaceTool):
    """Shows what a repository says of its files."""

    arguments = GitArguments
    name = "workspace_git"
    words = (
        "Look at the git repository of the owner's workspace: `status`, the `log` of the last "
        "`count` commits, or the `diff` of tracked text against the last commit; of `path` alone "
        "where one is named. A diff leaves out hidden files and secrets."
    )

    def command(self, request: dict[str, Any], looks: LookLimits) -> tuple[list[str], SandboxFiles]:
        """One fixed script; what the model chose stands in its arguments."""
        files, what = looks.files(str(request["path"])), request["show"]
        words = ["git", *_OPTIONS, *_SHOWS[what]]
        if what == "log":
            words.append(f"--max-count={request['count']}")
        since = ' "$since"' if what == "diff" else ""
        call = f'{shlex.join(words)}{since} -- "$@" > /tmp/said 2> /tmp/why'
        failed = 'refuse "git cannot say: $(tail -n 1 /tmp/why | head -c 300)"'
        shown = (_HEAD, _RENAMED) if since else ()
        script = "\n".join((_SCRIPT, *shown, f"{call} || {failed}", _SAY))
        paths = [f":(literal){request['path']}", *(_SHUT if what == "diff" else ())]
        env = {**ENVIRONMENT, "ROOM": str(looks.room)}
        argv = ["/bin/sh", "-c", script, "git", str(files.cwd), *paths]
        return argv, files.model_copy(update={"env": env})


WORKSPACE_TOOLS: Final = (*WORKSPACE_FILE_TOOLS, WorkspaceFilesTool, WorkspaceGitTool)

WORKSPACE_TOOL_NAMES: Final = frozenset(tool.name for tool in WORKSPACE_TOOLS)
