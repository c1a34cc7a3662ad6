"""Which files a command line runs, collects, and lets itself be told in (decision D305). Pure.

Paths are as the words have them, joined with the directory that a `cd` led to; whether a file is
there is for the caller to see. What a script runs in its turn is not known here.
"""

import ast
import posixpath
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

from silas.plans.commands.copied_files import copied_from
from silas.plans.commands.script_runners import (
    ANYWHERE,
    CODE,
    COLLECTS,
    INTERPRETERS,
    LAUNCHERS,
    LOOKS_ONLY,
    READ_BY,
    RUN_BY,
    SCRIPTED,
    SHELLS,
    VALUED,
    WORDS,
)
from silas.plans.commands.shell_words import SimpleCommand, commands_in


class FileUse(StrEnum):
    """What becomes of a file that a command names."""

    runs = "runs"
    imports = "imports"
    """Run, but as what is looked at: the module under test."""
    collects = "collects"
    """A directory in which a test runner finds what it runs; empty where none is named."""
    told = "told"
    """Read by a program as its own settings."""
    names = "names"
    """Given to a program that may do anything with it."""
    mentions = "mentions"
    """A word beside something that is worked out, in a text that runs nothing it works out."""


class Use(NamedTuple):
    """A file, or of several names the one that is there.

    Attributes:
        how: What becomes of it.
        paths: The names, the first that exists counts. Of `told` and `collects` patterns.
        within: Of `collects`: the directory.
        compared: Of `runs`: whether another program looks at what it prints.
    """

    how: FileUse
    paths: tuple[str, ...]
    within: str = ""
    compared: bool = False


_VERSION: Final = re.compile(r"[-0-9.]+$")
_DIRECTORY: Final = frozenset({"-C", "--directory", "-s", "--start-directory"})
_FILE: Final = frozenset({"-f", "--file", "--makefile", "-jar", "-r", "--require", "--import"})
_STARTS: Final = frozenset(
    {
        "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput",
        "system", "popen", "run_path", "execv", "execvp", "spawnv", "spawnvp",
        "create_subprocess_exec", "create_subprocess_shell",
    }
)  # fmt: skip
_TEXTS: Final = frozenset({"exec", "eval", "run_module", "import_module", "__import__"})
"""Python's own ways to run what a text names or holds."""
_DEPTH: Final = 4


def program_of(word: str) -> str:
    """A program's name without directory and version: `python` for `/usr/bin/python3.12`."""
    name = posixpath.basename(word)
    plain = _VERSION.sub("", name)
    return plain if plain in INTERPRETERS or plain in RUN_BY else name


def uses_of_text(text: str, cwd: str = "", depth: int = _DEPTH) -> tuple[Use, ...]:
    """What a line or script for a shell runs."""
    commands = commands_in(text, cwd)
    found = [
        use._replace(compared=use.compared or one.piped)
        for one in commands
        for use in uses_of(one, depth)
    ]
    found += [
        use._replace(paths=(path,))
        for use in found
        if use.how is FileUse.runs
        for run in use.paths
        for path in copied_from(text, commands, run)
    ]
    some = any(map(_works_out, commands))
    whole = any(one.argv[0] == "$" for one in commands)  # what a command prints is a command
    if some or any("$" in word for one in commands for word in one.argv):
        # what it works out, or reads from a pipe, may be any file that the text names
        found += [
            Use(
                FileUse.runs if whole or (some and _may_be_run(one)) else FileUse.mentions,
                (_at(one, word),),
            )
            for one in commands
            for word in (*one.argv, *(value for _, value in one.assigned))
            if word
        ]
    return tuple(dict.fromkeys(found))


def _works_out(command: SimpleCommand) -> bool:
    """Whether which file this command runs is worked out, or comes by its input."""
    argv, name = command.argv, program_of(command.argv[0])
    if "$" in argv[0] or _waits(command):
        return True
    if name in LAUNCHERS:
        return any(_works_out(one) for one in [*_programs(command, 2)][1:])
    if name not in INTERPRETERS or any(_after(argv, one) is not None for one in ("-c", "-m")):
        return False
    script = _script(argv, INTERPRETERS[name]) or ""
    return "$" in script or "{}" in script


def _may_be_run(command: SimpleCommand) -> bool:
    """Whether the words of a command may be what another one runs: not where they are looked at."""
    return command.piped or program_of(command.argv[0]) not in LOOKS_ONLY


def programs_in(text: str, cwd: str = "", depth: int = _DEPTH) -> Iterator[SimpleCommand]:
    """Every command of a line for a shell, those behind launchers and inner shells included."""
    for command in commands_in(text, cwd):
        yield from _programs(command, depth)


def _programs(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    argv = command.argv
    if not argv or not depth:
        return
    yield command
    name = program_of(argv[0])
    if name in LAUNCHERS:
        for at in range(1, len(argv)):
            if re.match(r"[^-0-9=]+(?![^=]*=)", argv[at]):
                yield from _programs(command._replace(argv=argv[at:]), depth - 1)
    elif name in SHELLS and (inner := _after(argv, "-c")) is not None:
        yield from programs_in(inner, command.cwd, depth - 1)


def uses_of(command: SimpleCommand, depth: int = _DEPTH) -> Iterator[Use]:
    """What one simple command runs."""
    argv = command.argv
    if not argv or not depth:
        return
    name = program_of(argv[0])
    if "/" in argv[0]:
        yield _file(FileUse.runs, command, argv[0])
    if name in LAUNCHERS:
        yield from _uses_launched(command, depth)
    if name in SHELLS and (text := _after(argv, "-c")) is not None:
        yield from uses_of_text(text, command.cwd, depth - 1)
    elif name in INTERPRETERS:
        yield from _uses_interpreted(name, command, depth)
    elif name in SCRIPTED:
        yield from (_file(FileUse.runs, command, given) for given in _values(argv, _FILE))
    yield from _runner(name, command)
    if name not in LOOKS_ONLY:
        yield from (_file(FileUse.names, command, word) for word in argv[1:] if _is_path(word))


def _uses_launched(command: SimpleCommand, depth: int) -> Iterator[Use]:
    for at, word in enumerate(command.argv[1:], 1):
        name = program_of(word)
        if name in INTERPRETERS or name in RUN_BY or name in COLLECTS or "/" in word:
            yield from uses_of(command._replace(argv=command.argv[at:]), depth - 1)


def _uses_interpreted(name: str, command: SimpleCommand, depth: int) -> Iterator[Use]:
    """The script of an interpreter, its module, or what its text imports and starts."""
    argv, code = command.argv, CODE.get(name)
    if name in ("python", "pypy"):
        if (module := _after(argv, "-m")) is not None:
            yield from _module(module, command, depth)
            return
        if code and (text := _after(argv, code)) is not None:
            yield from uses_of_python(text, command.cwd, depth - 1)
            return
    script = _script(argv, INTERPRETERS[name])
    if script is not None:
        ends = ("", "/__main__.py") if name in ("python", "pypy") else ("",)
        yield Use(FileUse.runs, tuple(_at(command, f"{script}{end}") for end in ends))
    for given in _values(argv, _FILE):
        yield _file(FileUse.runs, command, given)


def _module(module: str, command: SimpleCommand, depth: int) -> Iterator[Use]:
    path = module.replace(".", "/")
    yield Use(FileUse.runs, tuple(_at(command, f"{path}{end}") for end in ("/__main__.py", ".py")))
    at = command.argv.index(module) if module in command.argv else 0
    if program_of(module) in INTERPRETERS:
        return
    yield from uses_of(command._replace(argv=(module, *command.argv[at + 1 :])), depth - 1)


def _runner(name: str, command: SimpleCommand) -> Iterator[Use]:
    """What a runner takes from its directory, and the tests that it collects."""
    argv = command.argv
    there = command
    for directory in _values(argv, _DIRECTORY - {"-s"} if "make" in name else _DIRECTORY):
        there = there._replace(cwd=_at(there, directory))
    named = _values(argv, _FILE)
    if name in RUN_BY:
        groups = tuple((one,) for one in named) if named and "make" in name else RUN_BY[name]
        for group in groups:
            yield Use(FileUse.runs, tuple(_at(there, one) for one in group))
    if name in READ_BY:
        yield Use(FileUse.told, READ_BY[name])
    if name in COLLECTS:
        yield from _uses_collected(name, command)


def _uses_collected(name: str, command: SimpleCommand) -> Iterator[Use]:
    """Where a test runner looks: the paths that it is given, or everywhere."""
    argv = command.argv
    words = [word for before, word in pairwise(argv) if before not in VALUED and word not in WORDS]
    given = [word.partition("::")[0] for word in words if not word.startswith("-")]
    places = [] if name in ANYWHERE else [*given, *_values(argv, _DIRECTORY)]
    for place in places:
        yield Use(FileUse.collects, COLLECTS[name], _at(command, place))
        if name == "unittest":
            module = place.replace(".", "/")
            yield Use(
                FileUse.runs, (_at(command, f"{module}.py"), _at(command, f"{module}/__init__.py"))
            )
    if not places:
        yield Use(FileUse.collects, COLLECTS[name])


def uses_of_python(code: str, cwd: str = "", depth: int = _DEPTH) -> tuple[Use, ...]:
    """The modules that Python code imports, and what it starts as far as that is written out."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    here = SimpleCommand((), cwd)
    found: list[Use] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [_import(here, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append(_import(here, node.module))
        elif isinstance(node, ast.Call) and _called_name(node) in _STARTS and depth:
            found += _uses_started(node, cwd, depth)
        elif isinstance(node, ast.Call) and _called_name(node) in _TEXTS:
            found += _uses_loaded(node, here)
    return tuple(dict.fromkeys(found))


def _import(here: SimpleCommand, module: str) -> Use:
    path = module.replace(".", "/")
    return Use(FileUse.imports, (_at(here, f"{path}/__init__.py"), _at(here, f"{path}.py")))


def _called_name(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def _uses_loaded(node: ast.Call, here: SimpleCommand) -> Iterator[Use]:
    """Every text in the call may be a file's path, or a module's name."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.strip():
            name = part.value.replace(".", "/")
            ends = ("", "/__main__.py", "/__init__.py", ".py")
            yield Use(
                FileUse.runs, (_at(here, part.value), *(_at(here, name + end) for end in ends))
            )


def _uses_started(node: ast.Call, cwd: str, depth: int) -> Iterator[Use]:
    for given in node.args[:2]:
        match given:
            case ast.Constant(value=str(text)):
                yield from uses_of_text(text, cwd, depth - 1)
                yield Use(FileUse.runs, (_at(SimpleCommand((), cwd), text),))
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                words = tuple(
                    part.value if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    else ""
                    for part in parts
                )  # fmt: skip
                yield from uses_of(SimpleCommand(words, cwd), depth - 1)
            case _:
                pass


def _script(argv: Sequence[str], valued: frozenset[str]) -> str | None:
    """The first word that is no option and no option's value."""
    words = iter(argv[1:])
    for word in words:
        if word in valued:
            next(words, None)
        elif word == "--":
            return next(words, None)
        elif not word.startswith(("-", "+")) and word != "run":
            return word
    return None


def _after(argv: Sequence[str], option: str) -> str | None:
    """The value of a one-letter option, also bundled (`-lc`) or attached (`-mpytest`)."""
    letter = option[1]
    for at, word in enumerate(argv[1:], 1):
        if not word.startswith("-") or word.startswith("--"):
            if not word.startswith(("-", "+")):
                return None  # the script: what follows is its own
            continue
        head, found, rest = word[1:].partition(letter)
        if found and (head.isalpha() or not head) and not set(head) & set("WXcmo"):
            return rest or (argv[at + 1] if at + 1 < len(argv) else None)
    return None


def _values(argv: Sequence[str], options: frozenset[str]) -> list[str]:
    found = [argv[at + 1] for at, word in enumerate(argv[:-1]) if at and word in options]
    return found + [
        value
        for word in argv[1:]
        for option, is_given, value in (word.partition("="),)
        if is_given and option in options
    ]


def _waits(command: SimpleCommand) -> bool:
    """Whether an interpreter is given no file and no text: it runs what comes by its input."""
    argv, name = command.argv, program_of(command.argv[0])
    if name not in SHELLS and name not in ("python", "pypy", "node", "perl", "ruby"):
        return False
    if _after(argv, "-c") is not None or _after(argv, "-m") is not None:
        return False
    return _script(argv, INTERPRETERS[name]) is None and not {"-e", "-V", "--version"} & set(argv)


def _file(how: FileUse, command: SimpleCommand, word: str) -> Use:
    return Use(how, (_at(command, word),))


def _is_path(word: str) -> bool:
    return bool(word) and not word.startswith("-") and ("/" in word or "." in word)


def _at(command: SimpleCommand, word: str) -> str:
    return posixpath.normpath(posixpath.join(command.cwd, word)) if word else ""
