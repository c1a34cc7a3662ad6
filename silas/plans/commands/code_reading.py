"""What a program's text asks for, as far as its literals say (decision D522). Pure.

Whoever starts a server, or takes in a module that is not known here, may ask for its own: nothing
is then said of it. A text that is only compared, printed or searched for is asked for nothing.
"""

import ast
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class CodeReading(NamedTuple):
    """What a text asks for.

    Attributes:
        serves: Whether it starts something, or takes in what may.
        places: Literals that may be files that it looks at.
        addresses: Literals that may be addresses that it calls.
        lines: What it gives a shell or starts as a program, as lines for a shell.
        askers: Names of `COMMANDS` for what it asks of the system itself.
    """

    serves: bool = False
    places: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    askers: tuple[str, ...] = ()


_SERVES: Final = re.compile(
    r"\w*(?:serve|Server|listen|bind|Thread|Process|fork|spawn)\w*|daemon\w*"
)
_CALLS: Final = frozenset(
    {
        "urllib", "urllib.request", "http", "http.client", "socket", "ssl", "ftplib", "smtplib",
        "imaplib", "poplib", "telnetlib", "xmlrpc", "xmlrpc.client", "asyncio", "requests",
        "httpx", "urllib3", "aiohttp", "websocket", "websockets", "redis", "psycopg", "psycopg2",
        "pymysql", "pymongo",
    }
)  # fmt: skip
"""Modules of Python that call an address."""
_HARMLESS: Final = frozenset(
    {
        "yaml", "toml", "tomli", "numpy", "pandas", "dateutil", "pytz", "rich", "dotenv", "bs4",
        "lxml", "jsonschema", "psutil",
    }
)  # fmt: skip
_KNOWN: Final = sys.stdlib_module_names | {one.partition(".")[0] for one in _CALLS} | _HARMLESS
_RUNS: Final = frozenset(
    {
        "run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput",
        "system", "popen",
    }
)  # fmt: skip
_STARTERS: Final = frozenset({"subprocess", "os"})
_TEXT_CALLS: Final = frozenset(
    {
        "startswith", "endswith", "count", "find", "index", "replace", "split", "strip", "search",
        "match", "fullmatch", "findall", "compile", "sub", "print", "write", "write_text",
        "writelines", "loads", "fail", "debug", "info", "warning", "error", "exit", "format",
        "removeprefix", "removesuffix",
    }
)  # fmt: skip
"""Functions of Python to which a text is only a text."""


def read_python(code: str) -> CodeReading:
    """Read Python; what does not parse says nothing."""
    try:
        tree = ast.parse(code)
        nodes = [*ast.walk(tree)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return CodeReading(serves=True)
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    modules, bare = _imports_of(nodes)
    lines, started = _python_lines(nodes, bare)
    names = {
        getattr(node, "attr", getattr(node, "id", ""))
        for node in nodes
        if _root(node) not in ("psutil", *_STARTERS)
    }
    texts = tuple(
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and not _only_text(node, parents, nodes)
    )
    tried = {
        one.name
        for node in nodes
        if isinstance(node, ast.Try)
        for part in node.body
        if isinstance(part, ast.Import)
        for one in part.names
    }
    unknown = any(one.partition(".")[0] not in _KNOWN for one in modules)
    askers = ["psutil"] if "psutil" in modules - tried else []
    askers += ["kill" for node in nodes if _probes(node)]
    return CodeReading(
        serves=started or unknown or any(map(_SERVES.fullmatch, names | bare.keys())),
        places=texts,
        addresses=texts if modules & _CALLS else (),
        lines=lines,
        askers=tuple(askers),
    )


def _imports_of(nodes: Sequence[ast.AST]) -> tuple[set[str], Mapping[str, str]]:
    """The modules that are imported, and from which one a bare name comes."""
    modules, bare = set[str](), dict[str, str]()
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            modules.add(module)
            # `from urllib import request`, `from http import client`
            modules |= {f"{module}.{one.name}" for one in node.names if module in _CALLS}
            bare |= {one.asname or one.name: module for one in node.names}
        elif isinstance(node, ast.Call) and _function(node) in ("__import__", "import_module"):
            given = node.args[:1]
            modules |= {str(one.value) for one in given if isinstance(one, ast.Constant)}
    if "urllib.parse" in modules and not modules & {"urllib.request"}:
        modules.discard("urllib")
    return modules, bare


def _python_lines(
    nodes: Sequence[ast.AST], bare: Mapping[str, str]
) -> tuple[tuple[str, ...], bool]:
    """What it starts, and whether it starts what is not written out."""
    lines, unknown = list[str](), False
    for node in nodes:
        if not isinstance(node, ast.Call) or _function(node) not in _RUNS:
            continue
        if _root(node.func) not in _STARTERS and bare.get(_function(node)) not in _STARTERS:
            continue
        match node.args[:1]:
            case [ast.Constant(value=str(text))]:
                lines.append(text)
            case [ast.List(elts=[ast.Constant(value=str()), *_] as parts)] | [
                ast.Tuple(elts=[ast.Constant(value=str()), *_] as parts)
            ]:
                lines.append(shlex.join(_word(part) for part in parts))
            case _:
                unknown = True
    return tuple(lines), unknown


def _word(part: ast.AST) -> str:
    match part:
        case ast.Constant(value=str(text)):
            return text
        case _:
            return "_"


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _function(node: ast.Call) -> str:
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


def _probes(node: ast.AST) -> bool:
    """Whether it asks by signal 0 whether a process is there."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="os"), attr="kill" | "killpg"),
            args=[given, ast.Constant(value=0)],
        ):
            return "getpid" not in ast.dump(given)
        case _:
            return False


def _only_text(node: ast.AST, parents: Mapping[ast.AST, ast.AST], nodes: Sequence[ast.AST]) -> bool:
    """Whether a text is only compared, searched for, printed or written down."""
    above = parents.get(node)
    while isinstance(above, ast.Tuple | ast.List | ast.Set | ast.JoinedStr | ast.BinOp):
        node, above = above, parents.get(above)
    match above:
        case ast.Compare() | ast.Expr() | ast.Raise() | ast.Assert():
            return True
        case ast.Call():
            name = _function(above)
            return node is not above.func and (name in _TEXT_CALLS or name.endswith("Error"))
        case ast.Attribute():  # a method of the text itself
            return True
        case ast.Dict():
            return node in above.keys
        case ast.Assign(targets=[ast.Name(id=name)]):
            uses = [
                one
                for one in nodes
                if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load)
            ]
            return all(_only_text(one, parents, ()) for one in uses) if nodes else False
        case _:
            return False


_LITERAL: Final = re.compile(r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`((?:[^`\\]|\\.)*)`")
_COMMENT: Final = re.compile(r"^\s*(?://|#|\*|/\*).*$", re.MULTILINE)
_COMPARED: Final = re.compile(
    r"(?:[=!]==?|=~|\beq|\bne|(?:includes|indexOf|startsWith|endsWith|match|search|replace|split"
    r"|log|warn|error|include\?|start_with\?|Error|str_contains)\s*\("
    r"|\b(?:print|say|puts|echo|warn|die))\s*$"
)
_COMPARED_AFTER: Final = re.compile(r"\s*(?:[=!]==?|eq\b|ne\b|\.\w)")
_REQUIRED: Final = re.compile(
    r"(?:\brequire|\bfrom|\bimport)\s*\(?\s*['\"](?:node:)?([^'\"]+)['\"]"
)
_USED: Final = re.compile(r"^\s*(?:use|require)\s+([\w:.]+)|[;'\"]\s*use\s+([\w:.]+)", re.MULTILINE)
_KNOWN_OTHER: Final = re.compile(
    r"https?|net|tls|fs(?:/promises)?|dns|os|path|url?i?|util|child_process|process|assert|timers"
    r"(?:/promises)?|http2|axios|got|node-fetch|undici|ws|redis|pg|mysql2?|net/http|socket"
    r"|open-uri|json|time|timeout|openssl|yaml|open3"
    r"|strict|warnings|utf8|feature|v?5[.\d]*|(?:LWP|HTTP|IO|JSON|Time|File|Getopt|Net|POSIX"
    r"|Socket)\b.*"
)
_CALLS_OTHER: Final = re.compile(
    r"\b(?:fetch|https?|net|axios|got|WebSocket|\w*Socket\w*|LWP|HTTP|Net|curl_init|fsockopen"
    r"|file_get_contents|URI|getprint|connect|createConnection|Redis)\b|\bnet/http\b"
)
_SERVES_OTHER: Final = re.compile(
    r"\b(?:listen|createServer|fork|serve|bind|daemon\w*|\w*Server|Thread)\b"
)
_STARTS_OTHER: Final = re.compile(
    r"\b(?:exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|system|popen|passthru"
    r"|shell_exec|capture2e?|capture3)\b[\s({]*"
)
_PROBES_OTHER: Final = re.compile(
    r"\bkill\s*\(?(?:\s*0\s*,|(?![^,\n]*process\.pid)[^;\n]*,\s*0\s*\))"
)
_TICKS_RUN: Final = frozenset({"perl", "ruby", "php"})


def read_other(code: str, language: str) -> CodeReading:
    """Read JavaScript, Perl, Ruby or PHP by its literals.

    Args:
        code: The text.
        language: The interpreter's name.
    """
    code = _COMMENT.sub("", code)
    blank = _LITERAL.sub("''", code)
    modules = {one[1] for one in _REQUIRED.finditer(code)}
    modules |= {one[1] or one[2] for one in _USED.finditer(blank)}
    texts, lines, started = list[str](), list[str](), False
    taken = {one[1] for one in _REQUIRED.finditer(code)}
    at = {found.end(): True for found in _STARTS_OTHER.finditer(code)} if (
        language in _TICKS_RUN or "child_process" in modules
    ) else {}  # fmt: skip
    for found in _LITERAL.finditer(code):
        text = next(part for part in found.groups("") if part) if any(found.groups()) else ""
        if text in taken:
            continue
        if at.pop(found.start(), False) or (found[3] and language in _TICKS_RUN):
            lines.append(text)
        elif not _COMPARED.search(code[max(0, found.start() - 40) : found.start()]) and not (
            _COMPARED_AFTER.match(code, found.end())
        ):
            texts.append(text)
    started = bool(at)  # what it starts is worked out
    unknown = not all(map(_KNOWN_OTHER.fullmatch, modules))
    calls = _CALLS_OTHER.search(blank) or any(map(_CALLS_OTHER.search, modules))
    return CodeReading(
        serves=started or unknown or _SERVES_OTHER.search(blank) is not None,
        places=tuple(texts),
        addresses=tuple(texts) if calls else (),
        lines=tuple(lines),
        askers=("kill",) if _PROBES_OTHER.search(blank) else (),
    )


def python_or_other(code: str, language: str) -> CodeReading:
    """Read a text in the language of its interpreter."""
    return read_python(code) if language in ("python", "pypy") else read_other(code, language)
