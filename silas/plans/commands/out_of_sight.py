"""What a check asks for and no sandbox shows it, told from what it runs (decision D522).

The sandbox of the checks has its own processes, its own loopback and its own `/run`. What a command
starts beside itself it can see, so its processes, connections and loopback are then its own. Where
reading cannot tell what a program starts, nothing is said.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Final, NamedTuple

from silas.plans.commands.code_reading import CodeReading, python_or_other
from silas.plans.commands.executed_files import program_of
from silas.plans.commands.hidden_from_checks import (
    CLIENTS,
    COMMANDS,
    CONNECTIONS,
    DEV_TCP,
    GIVEN_HOST,
    LISTS,
    LOCAL,
    LOOPBACK,
    OWN,
    PROC,
    RUN,
    TEXT_AFTER,
    loopback_words,
    machine_words,
    proc_words,
    run_words,
)
from silas.plans.commands.outside_sandbox import (
    NOTHING_KNOWN,
    Surroundings,
    call_words,
    hidden_path,
    host_called,
    host_of_code,
    may_do_without,
    path_words,
)
from silas.plans.commands.script_runners import INTERPRETERS, LAUNCHERS, LOOKS_ONLY, SHELLS
from silas.plans.commands.shell_reading import (
    alternatives_in,
    decisive_part,
    starts_beside,
    without_documents,
)
from silas.plans.commands.shell_words import SimpleCommand, commands_in

ReadScript = Callable[[str], str | None]
"""The text of a file that a check runs, by its path from the workspace; None where it is unknown.
"""

_PRINTS: Final = frozenset({"echo", "printf", ":", "true", "export"})
_PATTERN_FIRST: Final = frozenset({"grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk"})
_COMPARES: Final = frozenset({"=", "==", "!=", "=~"})
_NOT_THERE: Final = frozenset({"-path", "-not-path", "-wholename", "--exclude", "-e", "--regexp"})
"""Options whose value is a pattern."""

_RUNS_NEXT: Final = frozenset({"run", "exec", "-exec", "-execdir", "-ok"})
_SYSTEM: Final = re.compile(r"/(?:usr/)?(?:local/)?s?bin/[^/]+")
_OF_SYSTEM: Final = re.compile(_SYSTEM.pattern + r"$|/(?:proc|sys|dev|(?:var/)?run)(?:/|$)")
_ASKS_ITSELF: Final = frozenset({"--version", "--help", "-V", "version", "help"})
_DAEMON: Final = frozenset({"--daemon", "--daemonize", "-D", "start", "--fork", "--detach"})
_DAEMONS: Final = frozenset(
    {
        *("nginx", "sshd", "dnsmasq", "lighttpd", "daemonize", "start-stop-daemon", "supervisord"),
        *("start-server-and-test", "concurrently", "tmux", "screen", "at", "batch"),
        *("make", "gmake", "just", "task", "rake", "npm", "pnpm", "yarn", "bun", "npx", "invoke"),
        *("inv", "gradle", "composer", "bundle"),
    }
)
"""Programs that leave something running, or run what may."""
_GIVES_UP: Final = frozenset({"exit", "false", "return", "logger"})
_PASSES: Final = frozenset({"true", ":", "echo", "printf"})
_CODE: Final = {
    "python": "-[a-zA-Z]*c",
    "pypy": "-[a-zA-Z]*c",
    "node": "-e|-p|-pe|--eval|--print",
    "nodejs": "-e|-p|-pe|--eval|--print",
    "perl": "-[a-zA-Z]*[eE]",
    "ruby": "-[a-zA-Z]*e",
    "php": "-r",
}
"""Interpreters, and the option after which their text stands."""
_ENDINGS: Final = {
    ".py": "python",
    ".js": "node",
    ".mjs": "node",
    ".cjs": "node",
    ".pl": "perl",
    ".rb": "ruby",
    ".php": "php",
    ".sh": "sh",
    ".bash": "sh",
}
_SHEBANG: Final = re.compile(r"#!\s*\S*/(?:env\s+(?:-S\s+)?)?([\w.]+)")
_LOOKED_UP: Final = re.compile(r"\b(?:command -v|which|type|hash)\s+(?:-\w+\s+)*([\w-]+)")
_ITSELF: Final = re.compile(r"\$\$|\$\{?(?:PPID|BASHPID)\b")
_DEPTH: Final = 4


class _Reader(NamedTuple):
    """How one text is read.

    Attributes:
        name: The check's name.
        script: Gives the text of a file.
        depth: How many texts inside each other are still read.
        in_file: Whether the text is that of a file, and not the check's own.
        skipped: Programs that a file looks for before it asks them.
        outside: What of the machine the check has.
    """

    name: str
    script: ReadScript
    depth: int = _DEPTH
    in_file: bool = False
    skipped: frozenset[str] = frozenset()
    outside: Surroundings = NOTHING_KNOWN


def unknown_script(path: str) -> str | None:
    """Of no file is the text known."""
    del path


def out_of_sight(
    name: str, run: str, script: ReadScript = unknown_script, outside: Surroundings = NOTHING_KNOWN
) -> str:
    """The first thing that a check asks for in vain, in one sentence; nothing where none is.

    Args:
        name: The check's name.
        run: Its command.
        script: Gives the text of a file that it runs.
        outside: What of the machine it has.
    """
    reader = _Reader(name, script, outside=outside)
    if words := next(_in_line(reader, run, own=False), ""):
        return words
    path = hidden_path(commands_in(run), run, outside.shown) if outside.shown else ""
    return path_words(name, path) if path else ""


def looks_beyond_files(run: str) -> bool:
    """Whether a command may ask for more than files: anything but what only looks at them."""
    return any(program_of(one.argv[0]) not in LOOKS_ONLY for one in commands_in(run))


def _in_line(reader: _Reader, run: str, *, own: bool, cwd: str = "") -> Iterator[str]:
    """What a text for a shell asks for; nothing where something else may answer instead."""
    text, documents = without_documents(run)
    own = own or starts_beside(text)
    found, own_then = list[str](), own
    before: SimpleCommand | None = None
    for command in commands_in(text, cwd):
        for launched in _commands_launched(command):
            found += _requests_of(reader, launched, own=own_then)
            for inner in _texts(reader, launched, before, documents):
                found += _in_text(reader, inner, own=own_then)
        own_then = own_then or _leaves_running(reader, command)
        before = command
    passes = frozenset[str]() if not reader.in_file else _PASSES
    for words in alternatives_in(text) if found else ():
        program = words[0] if words else "exit"
        if program in _GIVES_UP or program in _PASSES - passes:
            continue
        if not any(_requests_of(reader, SimpleCommand(words), own=own)):
            return
    yield from found
    if reader.outside.offline and not may_do_without(text):
        called = (one for each in commands_in(text, cwd) for one in _commands_launched(each))
        asked = (one for one in called if program_of(one.argv[0]) not in reader.skipped)
        for one in asked:
            texts = (given for given in _texts(reader, one, None, documents))
            codes = (given.text for given in texts if given.language in ("python", "pypy"))
            hosts = (host_called(one), *map(host_of_code, codes))
            yield from (call_words(reader.name, host) for host in hosts if host)


class _Text(NamedTuple):
    """A text that a command runs: in which language, and whether it is a file's."""

    language: str
    text: str
    in_file: bool = False
    cwd: str = ""


def _in_text(reader: _Reader, given: _Text, *, own: bool) -> Iterator[str]:
    if not reader.depth:
        return
    reader = reader._replace(depth=reader.depth - 1)
    if given.language in SHELLS:
        text = given.text
        if given.in_file:
            skipped = reader.skipped | {*_LOOKED_UP.findall(text)}
            reader = reader._replace(in_file=True, skipped=skipped)
            own = own or starts_beside(without_documents(text)[0])
            text = decisive_part(text)
        yield from _in_line(reader, text, own=own, cwd=given.cwd)
    elif given.language in _CODE:
        yield from _in_code(reader, python_or_other(given.text, given.language), own=own)


def _in_code(reader: _Reader, code: CodeReading, *, own: bool) -> Iterator[str]:
    own = own or code.serves or any(_starts(reader, line) for line in code.lines)
    for asker in code.askers if not own else ():
        yield machine_words(reader.name, asker)
    for place in code.places:
        yield from _place(reader.name, place, own=own)
    for address in code.addresses if not own else ():
        if there := LOOPBACK.match(address):
            yield loopback_words(reader.name, there["host"])
    for line in code.lines:
        yield from _in_line(reader, line, own=own)


def _starts(reader: _Reader, line: str) -> bool:
    """Whether a line leaves something running, or what runs is not known."""
    return starts_beside(line) or any(_leaves_running(reader, one) for one in commands_in(line))


def _texts(
    reader: _Reader,
    command: SimpleCommand,
    before: SimpleCommand | None,
    documents: Mapping[str, str],
) -> Iterator[_Text]:
    """The texts that a command runs: given to it, printed into it, or those of a file."""
    program, argv = program_of(command.argv[0]), command.argv
    if re.search(r"\s", argv[0]):  # `eval`
        yield _Text("sh", argv[0], cwd=command.cwd)
        return
    if program not in SHELLS and program not in _CODE and program not in ("source", "."):
        if path := _own_program(argv[0]):
            yield from _of_file(reader, command, path, "")
        return
    language = "sh" if program in ("source", ".") else program
    option = "-[a-zA-Z]*c" if program in SHELLS else _CODE.get(program, "")
    for at, word in enumerate(argv[1:-1] if option else (), 1):
        if re.fullmatch(option, word):
            yield _Text(language, argv[at + 1], cwd=command.cwd)
            return
        if not word.startswith(("-", "+")):
            break
    document = next((documents[word] for word in argv if word in documents), None)
    path = next((word for word in _files(argv, program) if word not in documents), "")
    if document is not None and not path:
        yield _Text(language, document, cwd=command.cwd)
    elif re.search(r"\s", path):  # `<<<`
        yield _Text(language, path, cwd=command.cwd)
    elif path:
        yield from _of_file(reader, command, path, language)
    elif before is not None and before.piped and before.argv[0] in ("echo", "printf"):
        yield _Text(language, " ".join(before.argv[1:]), cwd=command.cwd)


def _files(argv: tuple[str, ...], program: str) -> Iterator[str]:
    """The first word that is no option and no option's value."""
    valued = INTERPRETERS.get(program, frozenset())
    for before, word in pairwise(argv):
        if before == "-m":
            return
        if word not in ("-", "") and not word.startswith(("-", "+")) and before not in valued:
            yield word
            return


def _of_file(reader: _Reader, command: SimpleCommand, path: str, language: str) -> Iterator[_Text]:
    text = reader.script(posixpath.normpath(posixpath.join(command.cwd, path)))
    if text is None:
        return
    shebang = _SHEBANG.match(text)
    named = _ENDINGS.get(posixpath.splitext(path)[1], "")
    language = language or (program_of(shebang[1]) if shebang else named)
    yield _Text(language, text, in_file=True, cwd=command.cwd)


def _own_program(word: str) -> str:
    """A program by its path, where it is none of the system's."""
    is_own = "/" in word and "$" not in word and not _OF_SYSTEM.match(word)
    return word if is_own and not word.endswith("/") else ""


def _leaves_running(reader: _Reader, command: SimpleCommand) -> bool:
    """Whether something may run on after a command has ended."""
    program = _program(command.argv[0])
    if program in CLIENTS or program in COMMANDS:
        return False
    if program in _DAEMONS or not _DAEMON.isdisjoint(command.argv[1:]):
        return True
    for launched in _commands_launched(command):
        texts = [*_texts(reader, launched, None, {})]
        if not texts and (
            _own_program(launched.argv[0])
            or (program_of(launched.argv[0]) in INTERPRETERS and [*_files_of(launched)])
        ):
            return True  # what is not known may start anything
        if reader.depth and any(_text_starts(reader, one) for one in texts):
            return True
    return False


def _files_of(command: SimpleCommand) -> Iterator[str]:
    yield from _files(command.argv, program_of(command.argv[0]))


def _text_starts(reader: _Reader, given: _Text) -> bool:
    reader = reader._replace(depth=reader.depth - 1)
    if given.language in SHELLS:
        return _starts(reader, without_documents(given.text)[0])
    if given.language in _CODE:
        code = python_or_other(given.text, given.language)
        return code.serves or any(_starts(reader, line) for line in code.lines)
    return True


def _commands_launched(command: SimpleCommand) -> Iterator[SimpleCommand]:
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
            yield from _commands_launched(command._replace(argv=argv[at:]))
            if not before.startswith("-"):
                return  # after an option it may be its value


def _requests_of(reader: _Reader, command: SimpleCommand, *, own: bool) -> Iterator[str]:
    """What one simple command asks for."""
    name, program, words = reader.name, _program(command.argv[0]), command.argv[1:]
    kind = COMMANDS.get(program, "") if program not in reader.skipped | {"psutil"} else ""
    own_kind = kind in OWN and (own or any(map(_ITSELF.search, words)))
    if kind and not own_kind and not _ASKS_ITSELF.issuperset(words[:1] or "-"):
        yield machine_words(name, program)
    for word in _read(command):
        yield from _place(name, word, own=own)
        if program in LISTS and word.rstrip("/") == "/proc" and not own:
            yield proc_words(name, word)
        if not own and (there := DEV_TCP.match(word)) and (at := LOOPBACK.match(there["at"])):
            yield loopback_words(name, at["host"])
    if program in CLIENTS and not own:
        yield from _loopback_calls(name, program, command)


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
    if PROC.match(word) and not own:
        yield proc_words(name, word)
    elif RUN.match(word):
        yield run_words(name, word)


def _loopback_calls(name: str, program: str, command: SimpleCommand) -> Iterator[str]:
    """That a client calls the loopback."""
    for before, word in pairwise(command.argv):
        given = word
        if word.startswith("-"):
            given = word.partition("=")[2] if "=" in word else word[2:]
        named = re.search(r"\bhost=(\S+)", given)
        found = LOOPBACK.match(named[1] if named else given)
        if found and before not in TEXT_AFTER:
            yield loopback_words(name, found["host"])
    given_host = command.assigned or any(map(GIVEN_HOST.match, command.argv[1:]))
    if program in LOCAL and not given_host:
        yield machine_words(name, program, CONNECTIONS)
