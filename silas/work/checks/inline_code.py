"""Python that stands in a check itself: whether it only looks at the files that it is given. Pure.

Such a file is what the work was about, as that of `cat` or `test`: to say that the check runs it
would be a warning at every file that is deleted or rewritten as it was asked. What is known to
look is listed here; of every other module and name it is said that it may run what it reads. What
writes may make of it a file that another command runs.
"""

import ast
import builtins
import re
import sys
from typing import Final

from silas.plans.commands.code_reading import read_python
from silas.plans.commands.executed_files import program_of, programs_in

_ISOLATED: Final = "-I"
_LOOK: Final = frozenset(
    {
        "csv", "difflib", "fnmatch", "glob", "hashlib", "json", "os", "os.path", "pathlib", "re",
        "stat", "sys", "tarfile", "time", "zipfile",
    }
)  # fmt: skip
"""Modules that run nothing of what they read, but for what `_OF_SYSTEM` leaves out."""
_OF: Final = {
    "ast": frozenset({"parse", "literal_eval", "dump"}),
    "io": frozenset({"BytesIO", "StringIO", "TextIOWrapper"}),
    "shutil": frozenset({"disk_usage", "get_terminal_size", "which"}),
}
"""Of these modules no more than the names."""
_OF_SYSTEM: Final = {
    "sys": frozenset(
        {
            "argv", "byteorder", "exit", "getdefaultencoding", "getfilesystemencoding", "maxsize",
            "platform", "stderr", "stdin", "stdout", "version", "version_info",
        }
    ),
    "os": frozenset(
        {
            "R_OK", "W_OK", "X_OK", "F_OK", "access", "altsep", "curdir", "extsep", "fsdecode",
            "fsencode", "fspath", "getcwd", "lexists", "linesep", "listdir", "lstat", "name",
            "pardir", "path", "readlink", "scandir", "sep", "stat", "walk",
        }
    ),
}  # fmt: skip
"""What `sys` and `os` have that only looks; `os.path` is a module of `_LOOK`."""
_BUILTINS: Final = frozenset(
    {
        "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr",
        "dict", "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash", "hex",
        "id", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min",
        "next", "oct", "open", "ord", "pow", "print", "range", "repr", "reversed", "round", "set",
        "slice", "sorted", "str", "sum", "tuple", "type", "zip",
    }
)  # fmt: skip
_INNER: Final = re.compile(r"_\w*|modules|(?:ag|co|cr|f|gi|tb)_\w+")
"""Attributes by which one gets from an object to what it was made of."""
_OPENERS: Final = frozenset({"open", "ZipFile", "TarFile"})
"""What opens a file for reading, or for writing where its mode says so."""
_WRITES: Final = re.compile(
    r"write_(?:text|bytes)|touch|mkdir|rename|unlink|rmdir|\w+link_to|link_to|l?chmod|l?chown|utime"
    r"|copy_into|move|move_into|extract|extractall|make\w+|main|PyZipFile|FileIO|\w+_?open(?:_\w+)?"
    r"|open_\w+"
)
"""Attributes of paths and archives that write, or open without a mode that stands there."""
_MODULES: Final = sys.stdlib_module_names - (_LOOK - {"os", "sys"}) - {"copy", "string"}
"""Attributes that may be a module which a listed one takes in: `shutil.os`."""


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
        looks = _takes_only_what_looks(ast.parse(code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    reading = read_python(code)
    return looks and not (reading.serves or reading.lines)


def _takes_only_what_looks(tree: ast.Module) -> bool:
    nodes = [*ast.walk(tree)]
    named = sum(_is_listed(node) for node in nodes)
    # such a module under another name could not be told from anything else
    held = sum(isinstance(node, ast.Attribute) and _is_listed(node.value) for node in nodes)
    may_write = sum(_may_write(node) for node in nodes)
    read = sum(isinstance(node, ast.Call) and _only_reads(node) for node in nodes)
    return named == held and may_write == read and all(map(_looks, nodes))


def _may_write(node: ast.AST) -> bool:
    """Whether it is what writes or does not, by what it is called with."""
    match node:
        case ast.Attribute(attr=name):
            return name in _OPENERS or name in ("copy", "replace")
        case ast.Name(id=name):
            return name in _OPENERS
        case _:
            return False


def _only_reads(call: ast.Call) -> bool:
    """Whether it calls such a thing as one that does not write."""
    match call:
        case ast.Call(func=ast.Attribute(attr="replace"), args=[old, new, *_]):  # of a text
            return not any(isinstance(one, ast.Starred) for one in (old, new))
        case ast.Call(func=ast.Attribute(attr="copy"), args=[], keywords=[]):  # of no path
            return True
        case ast.Call(func=ast.Attribute(attr="replace" | "copy")):
            return False
        case _:
            return _may_write(call.func) and _opens_to_read(call)


def _opens_to_read(call: ast.Call) -> bool:
    """Whether the mode that stands there does not write."""
    given = {one.arg: one.value for one in call.keywords}
    first, *after = call.args or [ast.Constant("")]
    match call.func:
        case ast.Attribute(value=ast.Name(id="tarfile")) | ast.Name():
            first_reads = not isinstance(first, ast.Starred)
        case ast.Attribute(attr="open"):  # of a path, whose first argument is the mode
            first_reads = isinstance(first, ast.Constant) and not _is_write_mode(first.value)
        case _:
            first_reads = not isinstance(first, ast.Starred)
    modes = [*after[:1], *([given["mode"]] if "mode" in given else [])]
    return (
        first_reads
        and not given.keys() & {None, "opener"}
        and not any(isinstance(one, ast.Starred) for one in call.args)
        and all(isinstance(one, ast.Constant) and _is_read_mode(one.value) for one in modes)
    )


def _is_read_mode(mode: object) -> bool:
    return isinstance(mode, str) and mode.startswith("r") and "+" not in mode


def _is_write_mode(text: object) -> bool:
    return isinstance(text, str) and set(text) <= set("rwaxbt+") and bool(set(text) & set("wax+"))


def _is_listed(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in (*_OF, *_OF_SYSTEM)


def _looks(node: ast.AST) -> bool:
    """Whether a piece of code takes nothing but what is known to look."""
    match node:
        case ast.Import(names=taken):
            return all(one.asname is None and _is_listed_module(one.name) for one in taken)
        case ast.ImportFrom(module=str(module), names=taken, level=0):
            known = all(one.name not in _OPENERS or one.asname is None for one in taken)
            return known and _is_listed_module(module) and all(_has(module, n.name) for n in taken)
        case ast.ImportFrom() | ast.MatchClass():  # a pattern takes attributes by their names
            return False
        case ast.Attribute(value=ast.Name(id=module), attr=name) if _is_listed(node.value):
            return _has(module, name)
        case ast.Attribute(attr=name):
            return not _is_inner(name)
        case ast.Name(id=name, ctx=ast.Load()):
            return name in _BUILTINS or not (hasattr(builtins, name) or name.startswith("__"))
        case _:
            return True


def _is_listed_module(module: str) -> bool:
    return module in _LOOK or module in _OF


def _has(module: str, name: str) -> bool:
    """Whether a name of a module only looks; `*` is every name."""
    listed = _OF.get(module) or _OF_SYSTEM.get(module)
    return name in listed if listed is not None else name != "*" and not _is_inner(name)


def _is_inner(name: str) -> bool:
    taken = _INNER.fullmatch(name) or _WRITES.fullmatch(name)
    return name in _MODULES or taken is not None
