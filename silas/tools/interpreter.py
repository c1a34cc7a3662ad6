"""Whether an argument list hands text to a shell (decision A3).

It decides one risk step, not safety: a program that starts a shell by itself, or a shell under
another name, is not seen here. The sandbox holds either way.
"""

import re
from collections.abc import Sequence
from typing import Final

# The last four hand the text of their own `-c` to a shell.
SHELLS: Final = frozenset(
    {
        "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "mksh", "rbash", "csh", "tcsh",
        "su", "runuser", "script", "flock",
    }
)  # fmt: skip

# Programs whose arguments are themselves a command line. Their own options are not parsed: a shell
# anywhere behind them counts, which can only be too strict.
WRAPPERS: Final = frozenset(
    {
        "env", "xargs", "nice", "timeout", "nohup", "sudo", "doas", "busybox", "toybox",
        "stdbuf", "setsid", "ionice", "chroot", "unshare", "flock", "time", "taskset", "strace",
        "watch", "find", "parallel", "script", "su", "runuser", "setpriv",
    }
)  # fmt: skip


def starts_a_shell(argv: Sequence[str]) -> bool:
    """Whether the program is a shell given a command (`-c`), directly or through wrappers."""
    if not argv:
        return False
    if _is_shell_with_command(argv):
        return True
    if _basename(argv[0]) not in WRAPPERS:
        return False
    words = [*argv[1:], *_split_strings(argv)]
    return any(_is_shell_with_command(words[at:]) for at in range(len(words)))


def _is_shell_with_command(argv: Sequence[str]) -> bool:
    return _basename(argv[0]) in SHELLS and any(_gives_command(word) for word in argv[1:])


def _gives_command(word: str) -> bool:
    """`-c`, also among bundled letters (`-lc`), and the long forms."""
    if word.startswith("--"):
        return word.partition("=")[0] in ("--command", "--session-command", "--init-command")
    return word.startswith("-") and "c" in word.lower()


def _split_strings(argv: Sequence[str]) -> list[str]:
    """The words inside arguments: `env -S` and the like take a whole line as one argument."""
    lines = (word.removeprefix("-S") for word in argv[1:] if re.search(r"\s", word))
    return [piece.strip("'\"") for line in lines for piece in re.split(r"[\s=;&|]+", line) if piece]


def _basename(program: str) -> str:
    return program.rpartition("/")[2]
