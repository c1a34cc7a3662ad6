"""What a check's own scripts run in their turn, as far as their text says it (spec 5.3). Pure.

Followed are scripts for a shell, Python scripts, targets of a makefile and the scripts of a
`package.json`. This decides what is asked about and told, never what an approval binds.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any, Final, cast

from silas.plans.commands.executed_files import (
    FileUse,
    Use,
    program_of,
    programs_in,
    uses_of,
    uses_of_python,
    uses_of_text,
)
from silas.plans.commands.script_runners import SHELLS
from silas.plans.commands.shell_words import SimpleCommand
from silas.work.changes.copy_view import CopyTree

_DEPTH: Final = 3  # scripts that run scripts
_MOST: Final = 400  # uses of one check; beyond these only the check's own words count
_MAKE: Final = frozenset({"make", "gmake"})
_PACKAGE: Final = frozenset({"npm", "pnpm", "yarn", "bun"})
_RULE: Final = re.compile(r"(?P<targets>[^\s:#=][^:=]*)::?(?!=)(?P<needs>[^;]*)(?:;(?P<does>.*))?")
_GIVEN: Final = re.compile(r"\s*(?:export\s+)?(?P<name>\w+)\s*(?:::?|\?)?=\s*(?P<value>.*)")
_VARIABLE: Final = re.compile(r"\$[({](?P<name>\w+)[)}]")


def inside(path: str, workspace: str) -> str:
    """A path of a command, relative to the workspace where it lies in it."""
    if workspace and path.startswith(f"{workspace}/"):
        return path[len(workspace) + 1 :]
    return "" if path in (".", workspace) else path


def uses_within(text: str, workspace: str, tree: CopyTree) -> tuple[Use, ...]:
    """What a line for a shell runs, and what the scripts that it runs run in their turn.

    What is found inside a script is marked as `compared`: its exit code is not the line's own.
    """
    if workspace:
        text = text.replace(f"{workspace}/", "")
    own = dict.fromkeys(uses_of_text(text))
    for inner in _in_turn(text, "", tree, _DEPTH):
        if len(own) >= _MOST:
            break
        own.setdefault(inner._replace(compared=True))
    return tuple(own)


def _in_turn(text: str, cwd: str, tree: CopyTree, depth: int) -> Iterator[Use]:
    if not depth:
        return
    for command in programs_in(text, cwd):
        for lines, place in _lines(command, tree):
            yield from uses_of_text(lines, place)
            yield from _in_turn(lines, place, tree, depth - 1)
        yield from _python(command, tree)


def _lines(command: SimpleCommand, tree: CopyTree) -> Iterator[tuple[str, str]]:
    """Texts for a shell that a command leads to, and the directory in which each is run."""
    name = program_of(command.argv[0])
    for path in _files(command, tree):
        place, text = posixpath.dirname(path), tree.text(path)
        if name in _MAKE:
            yield from ((line, place) for line in _recipes(text, _script_names(command)))
        elif name in _PACKAGE:
            yield from ((line, place) for line in _scripts(text, _script_names(command)))
        elif name in SHELLS or name in ("source", ".") or _for_shell(path, text):
            yield text, command.cwd


def _python(command: SimpleCommand, tree: CopyTree) -> Iterator[Use]:
    for path in _files(command, tree):
        if path.endswith(".py"):
            for use in uses_of_python(tree.text(path), command.cwd):
                if use.how is not FileUse.imports:
                    yield use


def _files(command: SimpleCommand, tree: CopyTree) -> Iterator[str]:
    """The files of the copy that a command runs: of several names the first that is there."""
    for use in uses_of(command):
        if use.how is FileUse.runs:
            yield from [path for path in use.paths if path and tree.exists(path)][:1]


def _for_shell(path: str, text: str) -> bool:
    first = text.partition("\n")[0]
    return path.endswith((".sh", ".bash")) or (first.startswith("#!") and "sh" in first)


def _script_names(command: SimpleCommand) -> tuple[str, ...]:
    words = [word for word in command.argv[1:] if not word.startswith("-") and "=" not in word]
    return tuple(word for word in words if word not in ("run", "run-script"))


def _recipes(makefile: str, wanted: tuple[str, ...]) -> Iterator[str]:
    """The command lines of targets and of what they need; of the first one where none is named."""
    given: dict[str, str] = {}
    rules: dict[str, tuple[list[str], list[str]]] = {}
    under: list[str] = []
    for line in makefile.replace("\\\n", " ").split("\n"):
        if line.startswith("\t"):
            for target in under:
                rules[target][1].append(_expand_variables(line.lstrip("\t @+-"), given))
        elif assigned := _GIVEN.fullmatch(line):
            given[assigned["name"]] = assigned["value"]
        elif rule := _RULE.fullmatch(line):
            under = _expand_variables(rule["targets"], given).split()
            for target in under:
                needs, does = rules.setdefault(target, ([], []))
                needs += _expand_variables(rule["needs"], given).split()
                does += [_expand_variables(rule["does"], given)] if rule["does"] else []
    first = [name for name in rules if not name.startswith(".")][:1]
    left, seen = [name for name in wanted if name in rules] or first, set[str]()
    while left:
        target = left.pop(0)
        if target in rules and target not in seen:
            seen.add(target)
            left += rules[target][0]
            yield from rules[target][1]


def _expand_variables(text: str, given: dict[str, str]) -> str:
    """With the variables that the makefile gives; what is not known is left out."""
    known = {"MAKE": "make", "SHELL": "sh", **given}
    return _VARIABLE.sub(lambda found: known.get(found["name"], ""), text).replace("$$", "$")


def _scripts(package: str, wanted: tuple[str, ...]) -> Iterator[str]:
    """The lines of the named scripts of a `package.json`, with what runs before and after."""
    try:
        found: Any = json.loads(package)
    except (ValueError, RecursionError):
        return
    scripts: Any = cast(dict[str, Any], found).get("scripts") if isinstance(found, dict) else None
    if not isinstance(scripts, dict):
        return
    named = ["test" if word in ("t", "tst") else word for word in wanted]
    for word in named:
        for name in (f"pre{word}", word, f"post{word}"):
            line = cast(dict[str, Any], scripts).get(name)
            if isinstance(line, str):
                yield line
