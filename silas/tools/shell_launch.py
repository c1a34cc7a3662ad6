"""What a command line starts besides its own program, as far as the words say (decision A3).

Tables and pure functions. A launcher is a program whose arguments are a command line of their own.
What cannot be read is said to be unreadable, never guessed at: the rules treat it as a program
that nobody named.
"""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from silas.tools.interpreter import SHELLS

LaunchWords = tuple[str, ...]


class LauncherSyntax(NamedTuple):
    """How a launcher's command line is read.

    Attributes:
        values: Options that take the next word as their value.
        plain: Options that take none.
        positions: Words of its own that stand before the command.
        assigns: Whether `NAME=value` may stand before the command.
    """

    values: frozenset[str] = frozenset()
    plain: frozenset[str] = frozenset()
    positions: int = 0
    assigns: bool = False


def _launcher(
    values: str = "", plain: str = "", *, positions: int = 0, assigns: bool = False
) -> LauncherSyntax:
    return LauncherSyntax(frozenset(values.split()), frozenset(plain.split()), positions, assigns)


LAUNCHERS: Final[Mapping[str, LauncherSyntax]] = {
    "env": _launcher("-u --unset -C --chdir", "-i - -0 -v --ignore-environment", assigns=True),
    "nice": _launcher("-n --adjustment"),
    "ionice": _launcher("-c -n --class --classdata", "-t --ignore"),
    "nohup": _launcher(),
    "setsid": _launcher(plain="-c -f -w --ctty --fork --wait"),
    "timeout": _launcher(
        "-k --kill-after -s --signal",
        "-v --verbose --foreground --preserve-status",
        positions=1,
    ),
    "stdbuf": _launcher("-i -o -e --input --output --error"),
    "time": _launcher("-f --format -o --output", "-p -v -a --portability --verbose --append"),
    "chrt": _launcher("-T -P -D", "-b -f -i -o -r -a -m -v", positions=1),
    "taskset": _launcher(plain="-a -c --all-tasks --cpu-list", positions=1),
    "prlimit": _launcher(),
    "setarch": _launcher(plain="-R -v", positions=1),
    "chroot": _launcher(positions=1),
    "xargs": _launcher(
        "-I -n -P -d -E -L -s -a --max-args --max-procs --delimiter --arg-file --replace",
        "-0 -r -t -x -p --null --no-run-if-empty --verbose",
    ),
    "busybox": _launcher(),
    "toybox": _launcher(),
    "sudo": _launcher("-u -g -h -p -C -r -t -T -U -D -R", "-n -E -H -i -S -k -b", assigns=True),
    "doas": _launcher("-u -C", "-n -s"),
    "unshare": _launcher(plain="-r -n -p -m -u -i -U -f"),
    "setpriv": _launcher(),
    "strace": _launcher("-e -o -p -s -a", "-f -ff -c -q -v -t -tt"),
    "ltrace": _launcher("-e -o -n", "-f -c -S"),
    "watch": _launcher("-n --interval", "-d -g -e -t -b -c -x"),
    "parallel": _launcher("-j --jobs"),
    "entr": _launcher(plain="-r -c -d -n -p -s"),
    "command": _launcher(plain="-p"),
    "exec": _launcher("-a", "-c -l"),
    "builtin": _launcher(),
    "eatmydata": _launcher(),
    "fakeroot": _launcher(),
    "catchsegv": _launcher(),
    "valgrind": _launcher(),
    "bwrap": _launcher(),
    "firejail": _launcher(),
    "nsenter": _launcher(),
    "dbus-run-session": _launcher(),
    "systemd-run": _launcher(),
    "ssh": _launcher("-p -l -i -o", "-q -n -t -T", positions=1),
    "su": _launcher(positions=1),
    "runuser": _launcher("-u"),
    "flock": _launcher("-w --timeout -E --conflict-exit-code", "-n -e -s -x -u -o", positions=1),
    "script": _launcher(positions=1),
}  # fmt: skip
"""Programs whose arguments are a command line; an option that is not here makes it unreadable."""

INTERPRETERS: Final[Mapping[str, frozenset[str]]] = {
    "python": frozenset({"-c"}),
    "pypy": frozenset({"-c"}),
    "perl": frozenset({"-e", "-E"}),
    "ruby": frozenset({"-e"}),
    "node": frozenset({"-e", "-p", "--eval", "--print"}),
    "deno": frozenset({"eval"}),
    "bun": frozenset({"-e", "--eval"}),
    "php": frozenset({"-r"}),
    "lua": frozenset({"-e"}),
    "Rscript": frozenset({"-e"}),
    "tclsh": frozenset({"-c"}),
    "expect": frozenset({"-c"}),
    "osascript": frozenset({"-e"}),
    "sqlite3": frozenset({"-cmd"}),
    "gdb": frozenset({"-ex", "--eval-command"}),
    "vim": frozenset({"-c", "--cmd"}),
    "vi": frozenset({"-c"}),
    "nvim": frozenset({"-c", "--cmd"}),
    "emacs": frozenset({"--eval"}),
    "ed": frozenset({"-p"}),
    "git": frozenset({"-c", "--exec-path", "--upload-pack", "--receive-pack", "-x", "--exec"}),
    "tar": frozenset({"-I", "--use-compress-program", "--to-command", "--checkpoint-action"}),
    "rsync": frozenset({"-e", "--rsh", "--rsync-path"}),
    "make": frozenset({"--eval", "-E"}),
}
"""Programs that run text they are given, and the options that give it."""

SCRIPTED: Final = frozenset({"awk", "gawk", "mawk", "nawk", "sed", "dc", "bc"})
"""Programs whose first argument is a program that may start others."""

FIND_RUNS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})

CODE_OPTION: Final = re.compile(
    r"-[a-zA-Z]*[ceErx]|--?(?:eval|exec|cmd|command|execute|run|script|shell|code)(?:=.*)?"
)
"""How programs that nobody knows are usually given text to run."""

OPERATORS: Final = frozenset(
    {"|", "||", "|&", "&", "&&", ";", ";;", ">", ">>", "<", "<<", "<<<", "<>", ">|", "&>", "2>"}
)
"""Words that no program is started with, unless somebody hoped for a shell."""

META: Final = re.compile(r"[|&;<>()`$\n\r\0]")
"""Characters with which one command line becomes another."""

_SPLIT = re.compile(r"[|&;<>(){}`\n\r]|\$\(")
_LOADER = re.compile(r"ld(?:-linux|-musl)?[-.0-9a-z_]*\.so(?:\.\d+)*")
_VERSION = re.compile(r"[-0-9.]+$")
_ASSIGNED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=.*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z0-9_./+-]+")
WINDOW: Final = 8
"""Words of a pattern, at most: as far as a search through an argument looks from each word."""

_QUOTING = re.compile(r"['\"\\]")
_DEPTH = 8  # launchers inside launchers; deeper is nobody's honest command line


class StartedPrograms(NamedTuple):
    """What a command line starts besides its own program.

    Attributes:
        commands: Command lines that were read.
        words: Where a named program occurs in it, with the words that follow.
        readable: Whether `commands` is certain to be all.
    """

    commands: tuple[LaunchWords, ...] = ()
    words: tuple[LaunchWords, ...] = ()
    readable: bool = True


NOTHING: Final = StartedPrograms()


def program(word: str) -> str:
    """The name of a program, without its directory."""
    return word.rpartition("/")[2]


def started_by(argv: Sequence[str], named: Collection[str]) -> StartedPrograms:
    """What this command line starts, itself left out.

    Args:
        argv: The command line.
        named: The programs for which its words are searched.
    """
    whole = tuple(argv)
    found = _find_started(whole, _DEPTH)
    return found if found is NOTHING else found._replace(words=_words_of(whole[1:], named))


def _find_started(argv: LaunchWords, depth: int) -> StartedPrograms:
    if not argv:
        return NOTHING
    if depth == 0:
        return StartedPrograms(readable=False)
    found = _direct(program(argv[0]), argv)
    if found is NOTHING:
        return found
    # of a thousand equal commands one is as good as all
    inner = [_find_started(command, depth - 1) for command in dict.fromkeys(found.commands)]
    return StartedPrograms(
        tuple(dict.fromkeys((*found.commands, *(c for one in inner for c in one.commands)))),
        readable=found.readable and all(one.readable for one in inner),
    )


def _direct(name: str, argv: LaunchWords) -> StartedPrograms:
    if name in SHELLS and (text := _given_text(argv)) is not None:
        return _of_text(argv, text)
    if name in LAUNCHERS or _LOADER.fullmatch(name):
        return _behind_launcher(LAUNCHERS.get(name, LauncherSyntax()), argv)
    if name == "find" and FIND_RUNS.intersection(argv):
        return _behind_find(argv)
    if name in SCRIPTED and len(argv) > 1:
        return StartedPrograms(readable=not META.search(" ".join(argv[1:])))
    options = INTERPRETERS.get(_VERSION.sub("", name)) or INTERPRETERS.get(name)
    if options and _gives_code(argv[1:], options):
        return StartedPrograms(readable=False)
    return NOTHING


def _given_text(argv: LaunchWords) -> str | None:
    """The text a shell is given, joined; None where it is given none."""
    for at, word in enumerate(argv[1:], 1):
        long = word.startswith("--")
        name, _, value = word.partition("=")
        if long and name in ("--command", "--session-command", "--init-command"):
            return value or " ".join(argv[at + 1 :])
        if not long and word.startswith(("-", "+")) and "c" in word.lower():
            return " ".join((word.partition("c")[2], *argv[at + 1 :]))
    return None


def _of_text(argv: LaunchWords, text: str) -> StartedPrograms:
    """The simple commands of a line for a shell. Anything that it would first work out, a variable
    or a substitution, leaves the line unreadable.
    """
    commands = [words for part in _SPLIT.split(text) if (words := _simple(part))]
    opaque = bool(re.search(r"[$`{}\\*?\[<>]", text)) or any(
        command[0] in _KEYWORDS for command in commands
    )
    return StartedPrograms(tuple(commands), readable=not opaque)


_KEYWORDS: Final = frozenset(
    {
        "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
        "function", "select", "eval", "source", ".", "exec", "alias", "trap", "coproc", "!", "[[",
    }
)  # fmt: skip


def _simple(part: str) -> LaunchWords:
    try:
        words = shlex.split(part)
    except ValueError:
        words = [word.strip("'\"") for word in part.split()]
    while words and (_ASSIGNED.fullmatch(words[0]) or words[0] == "!"):
        words.pop(0)
    return tuple(words)


def _behind_launcher(launcher: LauncherSyntax, argv: LaunchWords) -> StartedPrograms:
    """The command behind a launcher's own words, and every word that could be one."""
    command = _behind(launcher, argv[1:])
    if not command:
        return StartedPrograms(readable=command is not None)
    # a launcher such as `ssh`, `watch` or `xargs -I` hands a word with blanks to a shell
    lines = tuple(_simple(word) for word in command if re.search(r"\s", word))
    plain = not any(META.search(word) for word in command)
    return StartedPrograms((command, *filter(None, lines)), readable=plain)


def _behind(launcher: LauncherSyntax, words: LaunchWords) -> LaunchWords | None:
    """The words of the command; None where an option is not known."""
    at, left = 0, launcher.positions
    while at < len(words):
        word = words[at]
        if word == "--":
            at += 1
            break
        if word in launcher.values:
            at += 2
        elif word.startswith("-"):
            if not _is_option(launcher, word):
                return None
            at += 1
        elif launcher.assigns and _ASSIGNED.fullmatch(word):
            at += 1
        elif left:
            at, left = at + 1, left - 1
        else:
            break
    return tuple(words[at + left :])


def _is_option(launcher: LauncherSyntax, word: str) -> bool:
    """Whether a word is one known option: alone, with its value attached, or bundled letters."""
    if word in launcher.plain or re.fullmatch(r"-[0-9]+", word):
        return True
    if word.startswith("--"):
        return word.partition("=")[0] in launcher.values
    if word[:2] in launcher.values:
        return True
    return len(word) > 1 and all(f"-{letter}" in launcher.plain for letter in word[1:])


def _behind_find(argv: LaunchWords) -> StartedPrograms:
    """The commands behind `find -exec` and its like, each up to `;` or `+`."""
    commands: list[LaunchWords] = []
    for at, word in enumerate(argv):
        if word in FIND_RUNS:
            rest = argv[at + 1 :]
            end = next((i for i, w in enumerate(rest) if w in (";", "\\;", "+")), len(rest))
            commands.append(rest[:end])
    return StartedPrograms(tuple(filter(None, commands)))


def _gives_code(words: LaunchWords, options: frozenset[str]) -> bool:
    """An option that gives code, also with its value attached or among bundled letters."""
    for word in words:
        if word in options or word.partition("=")[0] in options:
            return True
        for option in options:
            short = len(option) == len("-c") and option.startswith("-")
            bundled = re.match(rf"-[A-Za-z]*{re.escape(option[-1])}", word)
            if short and not word.startswith("--") and bundled:
                return True
    return False


def _words_of(words: LaunchWords, named: Collection[str]) -> tuple[LaunchWords, ...]:
    """Where a named program stands, as a word or inside one: any may be where a command begins.

    Values that are attached to an option (`--to-command=rm`) and text for a shell are searched,
    too, with its quotes as they are and as a shell would take them off.
    """
    found = set[LaunchWords]()
    lines = [words, *(pieces for word in words for pieces in _pieces(word))]
    for line in lines:
        for at, word in enumerate(line):
            attached = word[2:] if re.match(r"-[A-Za-z]", word) else ""
            for name in filter(None, (word, attached)):
                if program(name) in named:
                    found.add((name, *line[at + 1 : at + WINDOW]))
    return tuple(sorted(found))


def _pieces(word: str) -> Iterator[LaunchWords]:
    if _WORD.fullmatch(word):
        return
    yield tuple(_WORD.findall(word))
    yield tuple(_WORD.findall(_QUOTING.sub("", word)))


def lines_in(argv: Sequence[str]) -> Iterator[str]:
    """The arguments in which a line for a shell could hide."""
    return (word for word in argv[1:] if META.search(word))
