"""Whether a test runner came to its own end, or what it imported ended it with 0 (5.3). Pure.

`os._exit(0)` in a module that tests import ends pytest and unittest with the exit code of success
before a single test has run. Their closing summary shows that they were done. It is asked for only
where it must be there (decision D463); what prints a summary of its own and then ends is not found.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from silas.language import tr_later
from silas.plans.commands.executed_files import program_of
from silas.plans.commands.script_runners import SHELLS
from silas.plans.commands.shell_words import commands_in
from silas.work.changes.copy_view import CopyTree

Runner = Literal["pytest", "unittest"]

UNFINISHED: Final = tr_later(
    "Refused: the tests ended before they were done: exit code 0 without {runner}'s closing "
    "summary. Something that they run ends Python, as `os._exit(0)` does"
)
NO_TESTS: Final = tr_later("Refused: it ran 0 tests, and an empty test run is no proof")

_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_INNER: Final = re.compile(r"\$\(|`")  # runs between double quotes, too
_UNSURE: Final = re.compile(r"[|>]|<<|(?<!&)&(?!&)")
"""A pipe, an alternative, a redirection or the background: the summary may go elsewhere."""
_MERGED: Final = re.compile(r"\d?>&\d")
_MAY_SKIP: Final = re.compile(
    r"(?:^|[\s;&(])(?:if|case|for|while|until|function|eval|trap|exit|alias|!)(?=\s)"
    r"|&&[^;\n]*[;\n]\s*\S"
)
"""Words around which a command may run never, or many times."""

_WRAPPERS: Final = frozenset(
    {"env", "nice", "timeout", "stdbuf", "setsid", "ionice", "time", "chrt", "taskset"}
)
_MANAGERS: Final = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage"})
"""Programs that start another one behind `run`."""
_NO_PROGRAM: Final = re.compile(r"-.*|[A-Za-z_]\w*=.*|[0-9.]+[smhd]?", re.DOTALL)
_DEPTH: Final = 4

_QUIET: Final = re.compile(r"(?:^|[\s\"'=\[,])-([a-zA-Z]*q[a-zA-Z]*)(?=[\s\"',\]]|$)")
_SAYS_LITTLE: Final = re.compile(r"--(?:quiet|verbosity)\b|no:terminal")
_RUNS_NONE: Final = re.compile(
    r"--(?:version|help|co|collect-only|fixtures|fixtures-per-test|markers|cache-show|setup-plan|"
    r"setup-only)$|-[hV]$"
)
_SETTINGS: Final = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_OPTIONS_CHARS: Final = 500  # of what follows `addopts`; a list that is longer is rare

_ESCAPES: Final = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_COUNTS: Final = re.compile(
    r"(?<!\d)\d{1,9} (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed)\b|no tests ran"
    r"|\[100%\]\s{0,9}$"
)
_RAN: Final = re.compile(r"Ran (\d{1,9}) tests? in ")


class _Start(NamedTuple):
    """A runner that the line starts, with its words and the directory it starts in."""

    runner: Runner
    words: tuple[str, ...]
    cwd: str
    options: str


def why_no_pass(run: str, output: str, tree: CopyTree) -> str:
    """Why exit code 0 of a check is no pass, in one clause; empty where it is one.

    Args:
        run: The check's command line.
        output: Everything that it printed, on both streams.
        tree: Where it ran: pytest's settings there may make it say less.
    """
    starts = tuple(dict.fromkeys(_starts(run)))
    lines = _ESCAPES.sub("", output).splitlines()
    if any(one.runner == "unittest" for one in starts):
        ran = [found[1] for line in lines if (found := _RAN.match(line))]
        if ran and not any(map(int, ran)):
            return NO_TESTS
    if not _sure(run):
        return ""
    for runner in ("pytest", "unittest"):
        wanted = [one for one in starts if one.runner == runner and _tells(one, tree)]
        if len(wanted) > _summaries(runner, lines):
            return UNFINISHED.format(runner=runner)
    return ""


def _sure(run: str, depth: int = _DEPTH) -> bool:
    """Whether every runner of the line runs once, and everything that it prints is kept."""
    plain = _MERGED.sub("", _QUOTED.sub("''", run))
    if _INNER.search(run) or _UNSURE.search(plain) or _MAY_SKIP.search(plain):
        return False
    inner = [text for one in commands_in(run) if (text := _shell_text(_unwrap_command(one.argv)))]
    return all(depth and _sure(text, depth - 1) for text in inner)


def _shell_text(argv: Sequence[str]) -> str:
    """What a shell is given to run with `-c`; nothing where it is another command."""
    if not argv or program_of(argv[0]) not in SHELLS or "-c" not in argv[1:-1]:
        return ""
    return argv[argv.index("-c") + 1]


def _summaries(runner: Runner, lines: Sequence[str]) -> int:
    if runner == "pytest":
        return sum(1 for line in lines if _COUNTS.search(line))
    ended = any(line.startswith(("OK", "FAILED", "NO TESTS RAN")) for line in lines)
    return sum(1 for line in lines if _RAN.match(line)) if ended else 0


def _starts(run: str, cwd: str = "", depth: int = _DEPTH) -> Iterator[_Start]:
    """Every runner that the line starts itself; what a script or `make` starts is not known."""
    for command in commands_in(run, cwd):
        argv = _unwrap_command(command.argv)
        name = program_of(argv[0]) if argv else ""
        if depth and (text := _shell_text(argv)):
            yield from _starts(text, command.cwd, depth - 1)
        if name == "python" and argv[1:2] == ("-c",) and _MAIN.search(" ".join(argv[2:3])):
            yield _Start("unittest", (), command.cwd, "")
        module = argv[2:] if name == "python" and argv[1:2] == ("-m",) else argv
        runner = _RUNNERS.get(posixpath.basename(module[0])) if module else None
        if runner is not None and (runner == "pytest" or module is not argv):
            given = " ".join(value for key, value in command.assigned if key == "PYTEST_ADDOPTS")
            yield _Start(runner, module[1:], command.cwd, given)


_MAIN: Final = re.compile(r"(?:^|[;\n=]) *unittest\.main\((?![^\n;]*testRunner)")
"""A statement that runs tests with unittest's own runner."""

_RUNNERS: Final[dict[str, Runner]] = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
}


def _unwrap_command(argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command without what only starts it; a program with `-m` as `python -m`."""
    for _ in range(_DEPTH):
        name = program_of(argv[0]) if argv else ""
        if name == "coverage" and argv[1:2] == ("run",) and "-m" in argv:
            return ("python", *argv[argv.index("-m") :])
        if name in _MANAGERS and argv[1:2] == ("run",):
            argv = argv[2:]
        elif name in _WRAPPERS:
            argv = argv[1:]
        elif name in ("python", "pypy"):
            # options that change nothing about what is started
            at = next((n for n, word in enumerate(argv) if n and word not in _PLAIN), len(argv))
            return ("python", *argv[at:])
        else:
            return argv
        while argv and _NO_PROGRAM.fullmatch(argv[0]):
            argv = argv[1:]
    return argv


_PLAIN: Final = frozenset(
    {"-B", "-E", "-I", "-P", "-s", "-S", "-u", "-O", "-OO", "-v", "-b", "-bb"}
)


def _tells(start: _Start, tree: CopyTree) -> bool:
    """Whether the runner prints a summary: it runs tests, and was not told to be very quiet."""
    if any(_RUNS_NONE.match(word) for word in start.words):
        return False
    if start.runner == "unittest":
        return True
    said = [" ".join(start.words), start.options, *_options(start, tree)]
    quiet = sum(flags.count("q") for text in said for flags in _QUIET.findall(text))
    return quiet <= 1 and not any(map(_SAYS_LITTLE.search, said))


def _options(start: _Start, tree: CopyTree) -> Iterator[str]:
    """What pytest's settings add, in its directory and above what it was told to collect."""
    places = {"", start.cwd}
    for word in start.words:
        place = posixpath.normpath(posixpath.join(start.cwd, word.partition("::")[0]))
        while place and not word.startswith("-") and not place.startswith(("/", "..")):
            places.add(place)
            place = posixpath.dirname(place)
    for place in sorted(places):
        for name in _SETTINGS:
            _, found, after = tree.text(posixpath.join(place, name)).partition("addopts")
            if found:
                yield after[:_OPTIONS_CHARS]
