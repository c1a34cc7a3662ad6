"""Hosts that tools call without being clients themselves: git, pip, `nc`. Pure.

Read is only what is sure. `pip install NAME` is not: it calls nobody where NAME is there already.
Nor is npm, whose registry a project's own file names.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

_REMOTE: Final = re.compile(
    r"(?:(?:https?|ssh|git|ftps?)://(?:[^@/\s]*@)?(?P<host>[\w.-]*[A-Za-z0-9])(?::\d+)?(?:/.*)?"
    r"|[\w.-]+@(?P<short>[\w.-]*[A-Za-z0-9]):(?!//).+)",
    re.IGNORECASE | re.DOTALL,
)
_CALLS_OF_GIT: Final = frozenset({"clone", "fetch", "pull", "push", "ls-remote"})
_OPTIONS_OF_GIT: Final = frozenset({"-C", "--git-dir", "--work-tree"})
_SET_ELSEWHERE: Final = re.compile(r"-c.*|--config(?:-env)?(?:=.*)?|-h|--help")
_VALUED: Final = frozenset(
    {
        *("--reference", "--origin", "-o", "--branch", "-b", "--depth", "--template", "-u"),
        *("--upload-pack", "--receive-pack", "--exec", "--push-option", "-j", "--jobs"),
    }
)
_NAME: Final = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)*(?:\[[\w,.-]+\])?(?:(?:[=<>~!]=?=?).*)?")
_FILE: Final = re.compile(r".*\.(?:whl|zip|tgz|tar|tar\.\w+|txt|toml|git)")
_WITHOUT_INDEX: Final = re.compile(
    r"--no-index|--find-links(?:=.*)?|-f.*|--(?:extra-)?index-url(?:=.*)?|-i.*|--help|-h|--proxy.*"
)
_FRESH: Final = re.compile(r"-U|--upgrade|--force-reinstall|--target(?:=.*)?|-t.*")
"""Options with which pip asks its index also where the package is installed."""
_VALUED_OF_PIP: Final = frozenset(
    {"-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-t", "--target", "-d"}
    | {"--dest", "--python-version", "--platform", "--prefix", "--root", "--cache-dir"}
)
_PORT: Final = re.compile(r"\d{1,5}(?:-\d{1,5})?")
_VALUED_OF_NC: Final = frozenset({"-w", "-p", "-s", "-i", "-q", "-e", "-c", "-g", "-G", "-I", "-O"})
_HOST: Final = re.compile(r"[A-Za-z][\w-]*(?:\.[\w-]+)*|\d+(?:\.\d+){3}")


def _positional(words: Sequence[str], valued: frozenset[str]) -> list[str]:
    """The words that are neither options nor values of theirs."""
    return [
        word
        for before, word in zip(("", *words), words, strict=False)
        if not word.startswith("-") and before not in valued
    ]


def _of_git(words: Sequence[str]) -> str:
    while words and words[0] in _OPTIONS_OF_GIT:
        words = words[2:]
    if not words or words[0] not in _CALLS_OF_GIT or any(map(_SET_ELSEWHERE.fullmatch, words)):
        return ""
    first = next(iter(_positional(words[1:], _VALUED)), "")
    found = _REMOTE.fullmatch(first)
    return "" if found is None else found["host"] or found["short"]


def _of_pip(words: Sequence[str]) -> str:
    if (
        not words
        or words[0] not in ("install", "download")
        or any(map(_WITHOUT_INDEX.fullmatch, words))
    ):
        return ""
    if words[0] == "install" and not any(map(_FRESH.fullmatch, words)):
        return ""
    named = _positional(words[1:], _VALUED_OF_PIP)
    names = [one for one in named if _NAME.fullmatch(one) and not _FILE.fullmatch(one)]
    return "pypi.org" if names else ""


def _of_nc(words: Sequence[str]) -> str:
    if any(re.match(r"-[a-zA-Z]*[lxXUhV]|--", word) for word in words):
        return ""
    match _positional(words, _VALUED_OF_NC):
        case [host, port] if _PORT.fullmatch(port) and _HOST.fullmatch(host):
            return host
        case _:
            return ""


def _of_module(words: Sequence[str]) -> str:
    """What `pip` calls where Python runs it as a module."""
    while words and words[0] in ("-I", "-E", "-s", "-B", "-u"):
        words = words[1:]
    return _of_pip(words[2:]) if list(words[:2]) == ["-m", "pip"] else ""


TOOLS: Final[Mapping[str, Callable[[Sequence[str]], str]]] = {
    "git": _of_git,
    "pip": _of_pip,
    "pip3": _of_pip,
    "python": _of_module,
    "nc": _of_nc,
    "ncat": _of_nc,
    "netcat": _of_nc,
}
"""Which host the words after a program's name have it call for sure; empty where none."""

SET_BEFORE: Final = re.compile(r"(?:GIT_(?!TERMINAL)|PIP_|HOME|XDG_).*")
"""Variables that lead such a tool elsewhere."""
