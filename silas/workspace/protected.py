"""Names that no task may write: what other programs run without being asked (decision B3).

The question for each row: is something run because a person opens, enters, commits in or starts an
ordinary tool in the directory, or is it kept where nobody reads it? A `Makefile`, a test or a
workflow of a CI service is ordinary work instead: it is shown in the diff, and runs when somebody
says so or pushes.
"""

import unicodedata
from collections.abc import Iterable
from typing import NamedTuple


class ProtectedNames(NamedTuple):
    """Names that are protected for one reason."""

    names: tuple[str, ...]
    why: str


GUARDS = (
    ProtectedNames(
        (".git",), "history is not a task's to rewrite; hooks and config run at every git call"
    ),
    ProtectedNames((".hg", ".svn", ".bzr", ".jj"), "as .git"),
    ProtectedNames((".gitmodules",), "git fetches what it names at the next pull with submodules"),
    ProtectedNames(
        (".gitconfig", ".hgrc"), "its aliases, pagers and filters run at every git or hg call"
    ),
    ProtectedNames((".husky", ".githooks"), "git runs these hooks once they are its hooks path"),
    ProtectedNames(
        (".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".overcommit.yml"),
        "names what the installed hook runs at the next commit",
    ),
    ProtectedNames(
        (".venv", "venv", ".tox", ".nox", "node_modules", ".yarn"),
        "large, and what is installed runs outside the sandbox, too",
    ),
    ProtectedNames(
        (".pnp.cjs", ".pnp.loader.mjs", ".pnpmfile.cjs"), "run at every yarn or pnpm call"
    ),
    ProtectedNames(
        (".npmrc", ".yarnrc", ".yarnrc.yml"), "names programs and registries for every call"
    ),
    ProtectedNames(
        (".cargo", ".mvn", ".jvmopts", ".bundle"), "names programs that every build starts"
    ),
    ProtectedNames(
        (".envrc", ".direnv", ".autoenv", ".autoenv.zsh", ".mise", ".mise.toml", "mise.toml"),
        "run when a shell enters the directory",
    ),
    ProtectedNames(
        (".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
        "run when a shell starts; dotfile repositories link them into the home directory",
    ),
    ProtectedNames((".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"), "as .bashrc"),
    ProtectedNames((".kshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc"), "as .bashrc"),
    ProtectedNames(
        (".xinitrc", ".xprofile", ".xsession", ".xsessionrc"), "run when a session starts"
    ),
    ProtectedNames(
        (".config",), "holds start-up files of shells, editors, services and the session"
    ),
    ProtectedNames((".tmux.conf", ".screenrc"), "run when a terminal multiplexer starts"),
    ProtectedNames(
        (".vscode", ".idea", ".fleet", ".zed"), "editors start tasks and tools named in it"
    ),
    ProtectedNames(
        (".devcontainer", ".devcontainer.json"), "editors build and enter what it describes"
    ),
    ProtectedNames(
        (".vim", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".emacs", ".emacs.d", ".dir-locals.el"),
        "editors run it when they start or open a file here",
    ),
    ProtectedNames(
        (".mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".aider.conf.yml"),
        "assistants start programs and take orders from it when they are opened here",
    ),
    ProtectedNames((".gdbinit", ".lldbinit"), "run when a debugger starts here"),
    ProtectedNames(
        (".rprofile", ".renviron", ".irbrc", ".pryrc", ".ghci"),
        "run when an interpreter starts here",
    ),
)
"""Shown read-only instead of copied, at any depth, and never written back."""

_IGNORED = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164)),
    *((0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Characters that some file systems leave out when they compare names (Unicode's default-ignorable
ones)."""

_SHORT = {"git~1": ".git", "gitmod~1": ".gitmodules"}
"""What Windows calls these where it makes short names."""


def plainest(name: str) -> str:
    """A name as the most careless file system compares it.

    Some take upper for lower case, leave out invisible characters, or drop what follows a colon
    and dots and spaces at the end.
    """
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
        name = "".join(c for c in name if not any(a <= ord(c) <= b for a, b in _IGNORED))
    name = name.casefold().partition(":")[0].rstrip(". ")
    return _SHORT.get(name, name)


_WHY = {plainest(name): guard.why for guard in GUARDS for name in guard.names}


def protection(name: str) -> str:
    """Why this name is protected; empty if it is not."""
    return _WHY.get(plainest(name), "")


def is_repository(names: Iterable[str]) -> bool:
    """Whether git would take a directory with these names for a repository's inside.

    It then runs what its `config` names as soon as a prompt or an editor asks for the state of the
    directory, though there is no `.git` anywhere.
    """
    held = {plainest(name) for name in names}
    return "head" in held and ("commondir" in held or {"objects", "refs"} <= held)
