"""Whether what the work left would be run in place of what a check means to run (spec 5.3). Pure.

A `json.py` beside a check is imported instead of Python's own, and then says what it likes: a
verdict that rests on it is none. Asked before the checks run, from the changes, the commands and
the names that are there.
"""

import posixpath
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from silas.plans import VerificationCheck, show
from silas.plans.commands.executed_files import FileUse, program_of, programs_in, uses_of_text
from silas.plans.commands.script_runners import LAUNCHERS, LOOKS_ONLY
from silas.plans.commands.shell_words import SimpleCommand
from silas.work.changes.copy_view import CopyTree
from silas.workspace.copy import Change

_OWN: Final = frozenset(sys.stdlib_module_names) - {"test"}  # a folder of tests is often called so
_AT_START: Final = frozenset({"sitecustomize", "usercustomize"})
_PARTS: Final[Mapping[str, frozenset[str]]] = {
    "pytest": frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "py", "packaging"}),
    "coverage": frozenset({"coverage"}),
    "tox": frozenset({"tox", "pluggy", "virtualenv", "packaging"}),
    "nox": frozenset({"nox", "virtualenv"}),
    "nose2": frozenset({"nose2"}),
    **{
        name: frozenset({name, name.replace("-", "_")})
        for name in ("ruff", "mypy", "pyright", "basedpyright", "flake8", "pylint", "black",
                     "isort", "bandit", "hypothesis", "build", "twine", "pip", "poetry", "hatch",
                     "sphinx")
    },
}  # fmt: skip
"""Of programs that check, the modules that their verdict comes from."""

_RUNNERS: Final = frozenset({"pytest", "py.test", "unittest", "tox", "nox", "nose2", "coverage"})
_OTHERS: Final = LOOKS_ONLY | frozenset(
    {"node", "nodejs", "npx", "npm", "pnpm", "yarn", "bun", "deno", "go", "cargo", "git", "diff",
     "cmp", "ruby", "rspec", "perl", "php", "java", "javac", "gcc", "cc", "clang", "rustc"}
)  # fmt: skip
"""Programs that run no Python."""
_LAUNCHERS: Final = LAUNCHERS - {"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage"}

_ENVIRONMENT: Final = re.compile(r"(?:^|/)(?:site-packages|dist-packages)/(?P<inside>.+)")
_PROGRAMS: Final = frozenset({"bin", ".bin", "sbin", "Scripts", "shims"})
_SOURCES: Final = ("src", "lib", "python")
_EXECUTABLE: Final = 0o111


class ShadowingFile(NamedTuple):
    """A file that stands in for another, and in words what it would be run as, by which check."""

    path: str
    instead_of: str
    check: str


def shadows(
    changes: Iterable[Change], checks: Iterable[VerificationCheck], tree: CopyTree
) -> tuple[ShadowingFile, ...]:
    """What the work added or changed that a check would run in another's place.

    Args:
        changes: What the work did to its copy.
        checks: The checks that are about to run.
        tree: The copy as it is now.
    """
    left = [change for change in changes if change.after is not None]
    found = [
        ShadowingFile(change.path, stands_for, check.name)
        for check in checks
        for change, stands_for in _of_check(check.run, left, tree)
    ]
    return tuple(dict.fromkeys(found))


def refusal(found: Sequence[ShadowingFile]) -> str:
    """Why a verdict is none, in a sentence about the first."""
    first = found[0]
    others = len({shadow.path for shadow in found}) - 1
    more = f" (and {others} more)" if others else ""
    return (
        f"The verdict is refused: the work added or changed {show(first.path)}{more}, which the "
        f"check {first.check!r} would run in place of {first.instead_of}. Nothing was checked or "
        "applied; give the file another name, or run the check yourself."
    )


def _of_check(run: str, changes: Sequence[Change], tree: CopyTree) -> Iterator[tuple[Change, str]]:
    commands = tuple(programs_in(run))
    told = frozenset(_python_path_folders(commands))
    roots = told | frozenset(_roots(run, commands, changes, tree))
    parts = _parts(commands)
    for change in changes:
        stands_for = (
            _module(change, roots, parts, tree)
            or _at_start(change, told)
            or _installed_part(change, parts)
            or _program(change, commands, tree)
        )
        if stands_for:
            yield change, stands_for


def _parts(commands: Sequence[SimpleCommand]) -> frozenset[str]:
    named = {word.removeprefix("-m") for one in commands for word in _program_words(one)}
    known = {"pytest" if name == "py.test" else name for name in named}
    return frozenset(part for name in known for part in _PARTS.get(name, ()))


def _program_words(command: SimpleCommand) -> Iterator[str]:
    """The names of what a command runs: its program, and the module behind `-m`."""
    argv = command.argv
    yield program_of(argv[0])
    if program_of(argv[0]) in ("python", "pypy"):
        yield from (argv[at + 1] for at, word in enumerate(argv[:-1]) if word.endswith("m"))
        yield from (word for word in argv if word.startswith("-m"))


def _python_path_folders(commands: Sequence[SimpleCommand]) -> Iterator[str]:
    """The directories that `PYTHONPATH` names."""
    for command in commands:
        for variable, value in command.assigned:
            if variable == "PYTHONPATH":
                yield from (_join_folder(command.cwd, part) for part in value.split(":"))


def _roots(
    run: str, commands: Sequence[SimpleCommand], changes: Sequence[Change], tree: CopyTree
) -> Iterator[str]:
    """The directories from which Python of this check may import, in the workspace."""
    tests = False
    for command in commands:
        name = program_of(command.argv[0])
        tests = tests or bool(_RUNNERS & set(_program_words(command)))
        python = name in ("python", "pypy")
        if name in _OTHERS | _LAUNCHERS or (python and _is_isolated(command.argv)):
            continue
        yield _join_folder(command.cwd, "")
        if python and (script := next((w for w in command.argv[1:] if w[:1] != "-"), "")):
            yield _join_folder(command.cwd, posixpath.dirname(script))
            yield _join_folder(command.cwd, script)  # a directory with a `__main__.py`
    if tests:
        yield from _test_roots(run, changes, tree)


def _test_roots(run: str, changes: Sequence[Change], tree: CopyTree) -> Iterator[str]:
    """Directories that a test runner imports from: those of sources, and those that hold tests.

    Of a test inside a package it is the directory that holds the package.
    """
    yield from (place for place in _SOURCES if "__init__.py" not in tree.names(place))
    for use in uses_of_text(run):
        if use.how is FileUse.collects:
            place = posixpath.dirname(use.within) if use.within.endswith(".py") else use.within
            yield from (place, _above(place, tree)) if "unittest" in run else (_above(place, tree),)
    for changed in {posixpath.dirname(change.path) for change in changes}:
        for place in (changed, posixpath.dirname(changed)):
            if any(map(_is_test, tree.names(place))):
                yield _above(place, tree)


def _above(place: str, tree: CopyTree) -> str:
    """The first directory upwards that is no package."""
    while place and "__init__.py" in tree.names(place):
        place = posixpath.dirname(place)
    return "" if place == "." else place


def _is_test(name: str) -> bool:
    return name == "conftest.py" or name.startswith("test_") or name.endswith("_test.py")


def _is_isolated(argv: Sequence[str]) -> bool:
    """Whether this Python imports nothing from where it stands (`-I`, `-P`)."""
    for word in argv[1:]:
        flags = re.match(r"-(?P<own>[A-Za-z]*?)(?P<last>[cmWX]|$)", word)
        if flags is None:
            return False  # the script
        if {"I", "P"} & set(flags["own"]):
            return True
        if flags["last"] in ("c", "m"):
            return False
    return False


def _join_folder(cwd: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(cwd, path))
    return "" if joined == "." else joined


def _module(change: Change, roots: frozenset[str], parts: frozenset[str], tree: CopyTree) -> str:
    """Which module a file is in the way of; nothing where it is in none's."""
    for root in roots:
        inside = change.path if not root else change.path.removeprefix(f"{root}/")
        if root and inside == change.path:
            continue
        name = _imported_as(change, root, inside, tree)
        if name in _OWN:
            return f"Python's own `{name}`"
        if name in parts:
            return f"the `{name}` that belongs to the program"
    return ""


def _at_start(change: Change, told: frozenset[str]) -> str:
    """What Python imports by itself before the check begins: from `PYTHONPATH`, not from there."""
    directory, name = posixpath.split(change.path)
    started = directory in told and name.partition(".")[0] in _AT_START and _is_code(name)
    return "nothing, at the start of every Python" if started else ""


def _imported_as(change: Change, root: str, inside: str, tree: CopyTree) -> str:
    """The top name under which Python would import a file from this directory, or nothing."""
    first, _, rest = inside.partition("/")
    link = change.after is not None and change.after.kind == "link"
    if not rest:
        stem, dot, ending = first.partition(".")
        return stem if (ending if dot else link) and (link or _is_code(first)) else ""
    package = posixpath.join(root, first)
    inits = ("__init__.py", "__init__.pyc")
    is_package = any(tree.exists(f"{package}/{one}") for one in inits)
    return first if is_package and (link or _is_code(rest)) else ""


def _is_code(name: str) -> bool:
    return name.endswith((".py", ".pyc", ".pyw", ".so", ".pyd"))


def _installed_part(change: Change, parts: frozenset[str]) -> str:
    """What lies among installed packages, or says where they are."""
    if posixpath.basename(change.path) == "pyvenv.cfg":
        return "the settings of a Python environment"
    found = _ENVIRONMENT.search(change.path)
    if found is None:
        return ""
    first = found["inside"].partition("/")[0]
    if first.endswith((".pth", "._pth")) or first.partition(".")[0] in _AT_START:
        return "nothing, at the start of every Python of this environment"
    return f"the `{first}` that the check runs" if first.partition(".")[0] in parts else ""


def _program(change: Change, commands: Sequence[SimpleCommand], tree: CopyTree) -> str:
    """An executable with the name of a program of the check, where programs are looked for."""
    after = change.after
    if (
        after is None
        or after.kind == "dir"
        or (after.kind == "file" and not after.mode & _EXECUTABLE)
    ):
        return ""
    directory, name = posixpath.split(change.path)
    environment = posixpath.basename(directory) == ".bin" or tree.exists(
        posixpath.join(posixpath.dirname(directory), "pyvenv.cfg")
    )
    for command in commands:
        program = command.argv[0]
        placed = posixpath.basename(directory) in _PROGRAMS or directory in _path(command)
        if program == name and placed:
            return f"the program `{name}`"
        if environment and _join_folder(command.cwd, program) == change.path:
            return f"the environment's `{name}`"
    return ""


def _path(command: SimpleCommand) -> frozenset[str]:
    given = [value for variable, value in command.assigned if variable == "PATH"]
    parts = (part for value in given for part in value.split(":"))
    return frozenset(_join_folder(command.cwd, part.removeprefix("$PWD/")) for part in parts)
