"""Hosts that a check calls without a network, and paths that no sandbox shows (decision D522).

Read is only what is sure: a client with an address in its own words, and a path below a home or
where a machine keeps its own files, in a command that does nothing but look.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from silas.plans.commands.executed_files import program_of
from silas.plans.commands.hidden_from_checks import LOOPBACK, TEXT_AFTER
from silas.plans.commands.python_calls import addresses_called
from silas.plans.commands.remote_tools import SET_BEFORE, TOOLS
from silas.plans.commands.script_runners import LOOKS_ONLY
from silas.plans.commands.shell_reading import alternatives_in
from silas.plans.commands.shell_words import SimpleCommand, tokens_in

_ADDRESS: Final = re.compile(
    r"(?:https?|wss?|ftp|sftp|ssh)://(?:[^@/\s]*@)?(?P<host>[\w.-]*[A-Za-z0-9])(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE | re.DOTALL,
)
_HOST: Final = re.compile(r"(?:[\w.-]+@)?(?P<host>(?:[\w-]+\.)+[\w-]*[A-Za-z0-9])(?::\d+)?(?:/.*)?")
_ONE_NAME: Final = re.compile(r"(?:[\w.-]+@)?(?P<host>[A-Za-z][\w-]*(?:\.[\w-]+)*|\d+(?:\.\d+){3})")
_BY_ADDRESS: Final = frozenset({"curl", "wget", "http", "https", "xh"})
_BY_HOST: Final = frozenset({"curl", "wget"})
_BY_NAME: Final = frozenset({"ping", "ssh"})
_SWITCHES: Final = re.compile(
    r"-[sSfLkIvgiNqOATtnCaXY46]+-?|-[a-zA-Z]\d+"
    r"|--(?:silent|fail|location|head|insecure|spider|quiet|show-error|verbose|url|compressed)"
)
"""Options of clients after which no value comes, or the address itself."""

_LED_ELSEWHERE: Final = re.compile(
    r"--(?:resolve|connect-to|unix-socket|abstract-unix-socket|proxy|socks\w*|preproxy)\b"
    r"|--(?:help|version|manual)$|-[a-zA-Z]*x$|-V$"
)
"""Options that lead a client elsewhere, or have it call nobody."""
_OF_SSH: Final = re.compile(r"-[oJFVGQ]")
_PROXIES: Final = re.compile(r"(?:https?|all)_proxy|PATH|CURL_HOME", re.IGNORECASE)
_BRANCHES: Final = frozenset({"if", "while", "until", "!", "case", "trap"})
_INNER_ALTERNATIVE: Final = re.compile(r"(?:\$\(|`|<\().*\|\|", re.DOTALL)
"""What a command's words are made of may have another source where the first fails."""
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_GIVES_UP: Final = frozenset({"exit", "false", "return", "logger"})

_OF_MACHINE: Final = re.compile(
    r"/(?:home/[^/*?\[{]+|root|Users/[^/*?\[{]+|media|mnt|var/(?:log|spool|mail))(?:/.*)?"
)
_HOME: Final = re.compile(r"(?:~|\$HOME|\$\{HOME\})/(?P<below>.+)", re.DOTALL)
_HIDDEN: Final = re.compile(r"/\.")
"""In a directory that starts with a dot there may be a toolchain, which is shown."""
_LOOKS: Final = LOOKS_ONLY - {"mkdir", "touch", "cp", "mv", "tee"} | {"[[", "find", "diff", "cmp"}
_EDITS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fls"})
_PATTERN_FIRST: Final = frozenset({"grep", "egrep", "fgrep", "rg", "jq", "tr"})
_NO_PATHS: Final = frozenset(
    {"echo", "printf", ":", "true", "false", "basename", "dirname", "exit"}
)
_COMPARES: Final = frozenset({"=", "==", "!=", "=~"})
_LONG_TEST: Final = frozenset(f"-{one}" for one in "abcdefghknprsuwxzGLNOS")
"""How a command that begins with `[[` is read: without it."""
_ASKS: Final = frozenset({"test", "["})
_OF_FILES: Final = re.compile(r"-[a-hkprsuwxGLNOS]$")
_PATTERN_OPTIONS: Final = frozenset({"-e", "--regexp", "-path", "-wholename", "-not-path", "-name"})


class Surroundings(NamedTuple):
    """What of the machine a check has.

    Attributes:
        offline: Whether it has no network at all.
        shown: Directories and files that its sandbox shows at their own places.
    """

    offline: bool = False
    shown: tuple[str, ...] = ()


NOTHING_KNOWN: Final = Surroundings()


def host_called(command: SimpleCommand) -> str:
    """The host outside of the sandbox that a client calls for sure; empty where none is."""
    program, words = program_of(command.argv[0]), command.argv[1:]
    if "/" in command.argv[0]:
        return ""
    if (tool := TOOLS.get(program)) is not None:
        elsewhere = any(
            SET_BEFORE.fullmatch(one) or _PROXIES.fullmatch(one) for one, _ in command.assigned
        )
        said = takewhile(lambda word: not word.startswith("#"), words)
        return "" if elsewhere else _abroad(tool([*said]))
    if program not in _BY_ADDRESS | _BY_NAME:
        return ""
    leads = _OF_SSH if program == "ssh" else _LED_ELSEWHERE
    if any(map(leads.match, words)) or any(_PROXIES.fullmatch(one) for one, _ in command.assigned):
        return ""
    before = ""
    for word in words:
        if word.startswith("#"):
            return ""
        given = before.startswith("-") and not _SWITCHES.fullmatch(before)
        if not word.startswith("-") and not given and before not in TEXT_AFTER:
            if program in _BY_NAME:
                found = _ONE_NAME.fullmatch(word)
                return "" if found is None else _abroad(found["host"])
            if host := address_called(word) or (_bare_host(word) if program in _BY_HOST else ""):
                return host
        before = word
    return ""


def host_of_code(code: str) -> str:
    """The host that a text in Python calls for sure; empty where none is."""
    hosts = (address_called(address) for address in addresses_called(code))
    return next((host for host in hosts if host), "")


def _bare_host(word: str) -> str:
    found = _HOST.fullmatch(word)
    return "" if found is None else _abroad(found["host"])


def address_called(address: str) -> str:
    """The host of an address that code calls; empty where it is none outside of the sandbox."""
    found = _ADDRESS.fullmatch(address)
    return "" if found is None else _abroad(found["host"])


def _abroad(host: str) -> str:
    local = LOOPBACK.match(host) is not None or host == "sandbox"
    return "" if local else host


def may_do_without(text: str) -> bool:
    """Whether a text for a shell may want a call to fail, or goes on without it."""
    words = tokens_in(text)
    if _INNER_ALTERNATIVE.search(text) or "insteadOf" in text:
        return True
    bare = _QUOTED.sub("''", text)  # what is quoted defines nothing: `python -c "x.read()"`
    if not _BRANCHES.isdisjoint(words) or re.search(r"\b[\w-]+[ \t]*\([ \t]*\)|\balias\b", bare):
        return True
    return any(program_of(one[0] if one else "-") not in _GIVES_UP for one in alternatives_in(text))


def hidden_path(commands: Sequence[SimpleCommand], text: str, shown: Sequence[str]) -> str:
    """A path that a text looks at and no sandbox shows; empty where reading is not sure of one."""
    programs = {program_of(one.argv[0]) for one in commands}
    plain = re.sub(r"[12&]?>>?[ \t]*/dev/null\b", "", text)
    if not programs <= _LOOKS | _LONG_TEST or re.search(r">(?!&)|\balias\b|\([ \t]*\)", plain):
        return ""
    if _INNER_ALTERNATIVE.search(text):
        return ""
    if any(not _EDITS.isdisjoint(one.argv) or one.assigned for one in commands):
        return ""
    found = [[word for word in _paths(one) if _is_hidden(word, shown)] for one in commands]
    for words in alternatives_in(text):
        one = SimpleCommand(words) if words else None
        given_up = one is not None and program_of(words[0]) in _GIVES_UP | {"echo", "printf"}
        if not given_up and (one is None or not any(_is_hidden(w, shown) for w in _paths(one))):
            return ""
    return next((word for words in found for word in words), "")


def _paths(command: SimpleCommand) -> Iterator[str]:
    """The words of a command that are paths for sure."""
    program, words = program_of(command.argv[0]), command.argv[1:]
    if program in _LONG_TEST:
        program, words = "test", command.argv
    if program in _NO_PATHS:
        return
    pattern = program in _PATTERN_FIRST and _PATTERN_OPTIONS.isdisjoint(words)
    for at, word in enumerate(words):
        before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
        if word.startswith("#"):
            return
        if word.startswith("-"):
            continue
        if pattern:
            pattern = False
        elif program in _ASKS:
            if _OF_FILES.match(before) and after not in _COMPARES:
                yield word
        elif before not in _PATTERN_OPTIONS and not {before, after} & _COMPARES:
            yield word


def _is_hidden(word: str, shown: Sequence[str]) -> bool:
    if home := _HOME.fullmatch(word):
        return not home["below"].startswith((".", "*", "?", "$"))
    if not _OF_MACHINE.fullmatch(word) or "$" in word or _HIDDEN.search(word):
        return False
    path = PurePosixPath(posixpath.normpath(word))
    places = [PurePosixPath(place) for place in shown]
    return not any(
        place == path or place in path.parents or path in place.parents for place in places
    )


def call_words(name: str, host: str) -> str:
    """That a check calls a host and has no network."""
    return (
        f"The check {name!r} asks {host}, and it has no network; give it the host under `network`, "
        "or let it look at a file."
    )


def path_words(name: str, path: str) -> str:
    """That a check looks at a path that its sandbox does not show."""
    return (
        f"The check {name!r} looks at {path}, and the sandbox that checks run in shows the plan's "
        "workspace and what it has under `read` only; let it look at a file of the workspace, or "
        "put the folder under `read` by its whole path."
    )
