"""What a check asks for and no sandbox shows it, told from its command alone (decision D522). Pure.

The sandbox of the checks has its own processes, its own loopback and its own `/run`. What a command
starts beside itself it can see, so its processes, connections and loopback are then its own.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from silas.language import tr_later
from silas.plans.commands.executed_files import program_of
from silas.plans.commands.script_runners import LAUNCHERS, SHELLS
from silas.plans.commands.shell_words import SimpleCommand, commands_in, starts_beside

_PROCESSES: Final = tr_later("processes")
_CONNECTIONS: Final = tr_later("connections")
_OWN: Final = frozenset({_PROCESSES, _CONNECTIONS})
"""What a command sees of what it started itself."""

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    _PROCESSES: (
        *("pgrep", "pidof", "ps", "pkill", "killall", "kill", "top", "htop", "lsof", "pstree"),
        *("pmap", "pwdx", "fuser", "psutil"),
    ),
    tr_later("services"): (
        *("systemctl", "service", "journalctl", "supervisorctl", "pm2", "launchctl", "initctl"),
        *("rc-service", "rc-status", "busctl", "dbus-send", "gdbus"),
    ),
    tr_later("containers"): ("docker", "podman", "nerdctl", "crictl", "machinectl", "virsh"),
    _CONNECTIONS: ("ss", "netstat"),
    tr_later("network interfaces"): (
        *("ip", "ifconfig", "iptables", "nft", "nmcli", "arp", "route", "ethtool"),
    ),
    tr_later("sessions"): ("who", "w", "last", "lastlog", "users", "loginctl"),
}
_COMMANDS: Final = {command: kind for kind, commands in _KINDS.items() for command in commands}

_CLIENTS: Final = frozenset(
    {
        "curl", "wget", "nc", "ncat", "netcat", "telnet", "http", "https", "xh", "socat", "ping",
        "ssh", "nmap", "wscat", "websocat", "grpcurl", "wait-on", "wait-for-it", "mongosh", "mongo",
        "redis-cli", "pg_isready", "mysqladmin", "psql", "mysql",
    }
)  # fmt: skip
_LOCAL: Final = frozenset({"redis-cli", "pg_isready", "mysqladmin", "psql", "mysql", "mongosh"})
"""Of them what asks the loopback or a socket where it is given no host."""
_GIVEN_HOST: Final = re.compile(r"-h|--host|[a-z0-9+]+://|(?:.*\s)?host=|--(?:version|help)|-V$")
_TEXT_AFTER: Final = frozenset(
    {
        "-H", "--header", "-d", "--data", "--data-raw", "--data-binary", "--json", "-A", "-e", "-F",
        "--user-agent", "--referer", "-w", "--write-out", "-X", "--request", "--resolve",
        "--noproxy",
    }
)  # fmt: skip
"""Options of clients whose value is no address."""

_LOOPBACK: Final = re.compile(
    r"(?:[a-z][a-z0-9+-]*:(?://)?)?(?:[^@/\s]*@)?"
    r"(?P<host>(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|0\.0\.0\.0|\[?::1\]?|ip6-localhost"
    r"|host\.docker\.internal)(?=[:/?#,]|$)",
    re.IGNORECASE,
)
_DEV_TCP: Final = re.compile(r"/dev/(?:tcp|udp)/(?P<at>.*)")
_PROC: Final = re.compile(r"/proc/(?:\d|[*?\[{]|\$(?!\$)|net(?:/|$))")
_LISTS: Final = frozenset({"ls", "find", "cd", "tree"})
_RUN: Final = re.compile(r"(?:unix:|file:)?(?://(?=/))?(?:/var)?/run(?:/|$)|\$\{?XDG_RUNTIME_DIR\b")

_PRINTS: Final = frozenset({"echo", "printf", ":", "true", "export"})
_PATTERN_FIRST: Final = frozenset({"grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk"})
_COMPARES: Final = frozenset({"=", "==", "!=", "=~"})
_NOT_THERE: Final = frozenset({"-path", "-not-path", "-wholename", "--exclude", "-e", "--regexp"})
"""Options whose value is a pattern."""

_RUNS_NEXT: Final = frozenset({"run", "exec", "-exec", "-execdir", "-ok"})
_SYSTEM: Final = re.compile(r"/(?:usr/)?(?:local/)?s?bin/[^/]+")
_ASKS_ITSELF: Final = frozenset({"--version", "--help", "-V", "version", "help"})
_DAEMON: Final = frozenset({"--daemon", "--daemonize", "-D", "start"})
_SERVES: Final = re.compile(r"\w*(?:serve|Server|listen|bind|Popen|Thread|Process)\w*")
_DEPTH: Final = 4


def out_of_sight(name: str, run: str) -> str:
    """The first thing that a check asks for in vain, in one sentence; nothing where none is.

    Args:
        name: The check's name.
        run: Its command.
    """
    return next((words for words in _in_line(name, run, own=False, depth=_DEPTH)), "")


def _in_line(name: str, run: str, *, own: bool, depth: int) -> Iterator[str]:
    own = own or starts_beside(run)
    for found in commands_in(run):
        for command in _launched(found):
            yield from _asked(name, command, own=own)
            yield from _inside(name, command, own=own, depth=depth)
        own = own or _leaves_running(found)


def _leaves_running(command: SimpleCommand) -> bool:
    program = _program(command.argv[0])
    return program not in _CLIENTS | _COMMANDS.keys() and not _DAEMON.isdisjoint(command.argv[1:])


def _launched(command: SimpleCommand) -> Iterator[SimpleCommand]:
    """A command, and what it launches as its own words have it."""
    yield command
    argv = command.argv
    launcher = program_of(argv[0])
    if launcher not in LAUNCHERS:
        return
    for at in range(1, len(argv)):
        before, word = argv[at - 1], argv[at]
        if launcher == "find":
            if before in _RUNS_NEXT:
                yield command._replace(argv=argv[at:])
        elif re.match(r"[^-0-9=]+(?![^=]*=)", word) and word not in _RUNS_NEXT:
            yield from _launched(command._replace(argv=argv[at:]))
            if not before.startswith("-"):
                return  # after an option it may be its value


def _inside(name: str, command: SimpleCommand, *, own: bool, depth: int) -> Iterator[str]:
    """What the text that a shell or Python is given asks for."""
    program, argv = program_of(command.argv[0]), command.argv
    text = next((after for word, after in pairwise(argv) if re.fullmatch("-[a-zA-Z]*c", word)), "")
    if not text or not depth:
        return
    if program in SHELLS:
        yield from _in_line(name, text, own=own, depth=depth - 1)
    elif program in ("python", "pypy"):
        yield from _in_python(name, text, own=own)


def _in_python(name: str, code: str, *, own: bool) -> Iterator[str]:
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    names = {getattr(node, "attr", getattr(node, "id", "")) for node in nodes}
    own = own or any(map(_SERVES.fullmatch, names))
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            given = getattr(node, "module", None) or node.names[0].name
            if given.partition(".")[0] == "psutil" and not own:
                yield _of_machine(name, "psutil")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _place(name, node.value, own=own)
            if not own and (there := _LOOPBACK.match(node.value)):
                yield _loopback(name, there["host"])


def _asked(name: str, command: SimpleCommand, *, own: bool) -> Iterator[str]:
    """What one simple command asks for."""
    program, words = _program(command.argv[0]), command.argv[1:]
    kind = _COMMANDS.get(program, "") if program != "psutil" else ""
    if kind and not (own and kind in _OWN) and not _ASKS_ITSELF.issuperset(words[:1] or "-"):
        yield _of_machine(name, program)
    for word in _read(command):
        yield from _place(name, word, own=own)
        if program in _LISTS and word.rstrip("/") == "/proc" and not own:
            yield _proc(name, word)
        if not own and (there := _DEV_TCP.match(word)) and (at := _LOOPBACK.match(there["at"])):
            yield _loopback(name, at["host"])
    if program in _CLIENTS and not own:
        yield from _called(name, program, command)


def _program(word: str) -> str:
    """The name of a program of the system; nothing for a file of the plan's own."""
    return program_of(word) if "/" not in word or _SYSTEM.fullmatch(word) else ""


def _read(command: SimpleCommand) -> Iterator[str]:
    """The words that may be files which a command looks at, without those that are only texts."""
    program, argv = program_of(command.argv[0]), command.argv
    if program in _PRINTS:
        return
    yield from (value for _, value in command.assigned)
    pattern = program in _PATTERN_FIRST and _NOT_THERE.isdisjoint(argv)
    for at, word in enumerate(argv):
        before, after = argv[at - 1] if at else "", argv[at + 1] if at + 1 < len(argv) else ""
        if at and pattern and not word.startswith("-"):
            pattern = False
        elif before not in _COMPARES | _NOT_THERE and after not in _COMPARES:
            yield word.partition("=")[2] if word.startswith("-") and "=" in word else word


def _place(name: str, word: str, *, own: bool) -> Iterator[str]:
    if _PROC.match(word) and not own:
        yield _proc(name, word)
    elif _RUN.match(word):
        yield (
            f"The check {name!r} looks at {word}, and the sandbox that checks run in shows nothing "
            "that runs on this machine; let it look at a file of the plan's workspace that is kept "
            "up to date, or at an address."
        )


def _called(name: str, program: str, command: SimpleCommand) -> Iterator[str]:
    """That a client calls the loopback."""
    for before, word in pairwise(command.argv):
        given = word
        if word.startswith("-"):
            given = word.partition("=")[2] if "=" in word else word[2:]
        named = re.search(r"\bhost=(\S+)", given)
        found = _LOOPBACK.match(named[1] if named else given)
        if found and before not in _TEXT_AFTER:
            yield _loopback(name, found["host"])
    given_host = command.assigned or any(map(_GIVEN_HOST.match, command.argv[1:]))
    if program in _LOCAL and not given_host:
        yield _of_machine(name, program, _CONNECTIONS)


def _of_machine(name: str, command: str, kind: str = "") -> str:
    return (
        f"The check {name!r} asks with {command} for {kind or _COMMANDS[command]} of this machine, "
        "and checks run in a sandbox that shows none; let it look at a file that is kept up to "
        "date, or at an address."
    )


def _proc(name: str, word: str) -> str:
    return (
        f"The check {name!r} looks at {word}, and the sandbox that checks run in has processes and "
        "connections of its own only; let it look at a file that is kept up to date, or at an "
        "address."
    )


def _loopback(name: str, host: str) -> str:
    return (
        f"The check {name!r} asks {host}, and in the sandbox that checks run in this is the "
        "sandbox itself; start the server in the same command with `&`, or ask by a host name that "
        "the check has under `network`."
    )
