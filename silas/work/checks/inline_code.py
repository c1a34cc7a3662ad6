"""Python that stands in a check itself: whether it only looks at the files that it is given. Pure.

Such a file is what the work was about, as that of `cat` or `test`: to say that the check runs it
would be a warning at every file that is deleted or rewritten as it was asked.
"""

import ast
import re
from collections.abc import Iterator
from typing import Final

from silas.plans.commands.code_reading import read_python
from silas.plans.commands.executed_files import program_of, programs_in

_ISOLATED: Final = "-I"
_RUNS: Final = re.compile(
    r"exec\w*|eval|__\w+__|builtins|getattr|globals|locals|vars|runpy|run_\w+|importlib|import_\w+"
    r"|imp|subprocess|ctypes|code|codeop|pty|pdb|site|pickle|marshal|shelve|multiprocessing|spawn\w*"
    r"|posix_spawn\w*|system|popen|Popen|startfile|fork\w*|path_hooks|meta_path|settrace|setprofile"
)
"""Names by which Python runs what it reads, or reaches what does."""


def looked_at(run: str) -> frozenset[str]:
    """The words, as they are written, at which inline Python of a check only looks."""
    looked, others = set[str](), set[str]()
    for argv in (command.argv for command in programs_in(run)):
        (looked if _only_looks(argv) else others).update(argv[1:])
    return frozenset(looked - others)


def _only_looks(argv: tuple[str, ...]) -> bool:
    """Whether it is `python -I -c CODE` whose code runs nothing that it reads."""
    isolated, option, *given = (*argv[1:], "", "")
    python = program_of(argv[0]) in ("python", "pypy")
    if not python or (isolated, option) != (_ISOLATED, "-c"):
        return False
    code = given[0]
    try:
        names = set(_names(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    reading = read_python(code)
    return not (reading.serves or reading.lines or any(map(_RUNS.fullmatch, names)))


def _names(code: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id="compile"):  # `re.compile` makes no program
                yield "exec"
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=taken):
                yield from (part for one in taken for part in one.name.split("."))
            case ast.ImportFrom(module=module, names=taken):
                yield from (module or "").split(".")
                yield from (one.name for one in taken)
            case _:
                pass
