"""What the blocks, the checks and the grants of a plan run (decision D305). Pure."""

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from silas.approval.grants import ExactItems, Grant, GrantRefused, Literal, grants_of
from silas.plans.commands.executed_files import Use, uses_of, uses_of_python, uses_of_text
from silas.plans.commands.shell_words import SimpleCommand
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.spawn import product_policy

_FENCE: Final = re.compile(r"[ \t]*+(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<info>[^`\s]*+)[^`]*+")
_SHELL: Final = frozenset({"sh", "bash", "shell", "zsh", "console", "shell-session"})
_PYTHON: Final = frozenset({"python", "python3", "py"})
_PROMPT: Final = re.compile(r"^\s*[$%>] ", re.MULTILINE)


def uses_of_plan(item: WorkItem) -> tuple[Use, ...]:
    """What the work and the checks of an item run, each once, in the order of the plan."""
    found: list[Use] = []
    for language, text in blocks_of(briefing_of(item)):
        found += uses_of_python(text) if language in _PYTHON else uses_of_text(text)
    for grant in _grants(item):
        found += _uses_granted(grant)
    for check in item.verify:
        found += uses_of_text(check.run)
    return tuple(dict.fromkeys(found))


def briefing_of(item: WorkItem) -> str:
    """The text that is followed. What a goal spawns follows its template, whatever failed; work
    that recurs follows its own.
    """
    if item.cycle is not None:
        return item.body
    spawns = item.type is WorkItemType.goal or product_policy(item)
    return (item.failure_context or "") if spawns else item.body


def blocks_of(body: str) -> Iterator[tuple[str, str]]:
    """The fenced blocks of a briefing that hold commands, with their language."""
    fence, language, lines = "", "", list[str]()
    for line in body.split("\n"):
        opened = _FENCE.fullmatch(line)
        mark = line.strip()
        if not fence:
            if opened:
                fence, language, lines = opened["fence"], opened["info"].lower(), []
        elif len(mark) >= len(fence) and set(mark) == {fence[0]}:
            if language in _SHELL | _PYTHON:
                yield language, _PROMPT.sub("", "\n".join(lines).replace("\\\n", " "))
            fence = ""
        else:
            lines.append(line.strip() if language in _SHELL else line)


def _grants(item: WorkItem) -> tuple[Grant, ...]:
    try:
        return grants_of(item.tools)
    except GrantRefused:
        return ()  # it allows no call


def _uses_granted(grant: Grant) -> Iterator[Use]:
    """What a granted call runs, as far as the grant fixes it."""
    argv = grant.args.get("argv")
    if isinstance(argv, Literal) and isinstance(argv.value, list):
        yield from uses_of(SimpleCommand(tuple(map(str, cast(list[object], argv.value)))))
    elif isinstance(argv, ExactItems):
        yield from uses_of(SimpleCommand(tuple(_fixed_text(one) for one in argv.items)))
    if code := _fixed_text(grant.args.get("code")):
        yield from uses_of_python(code)
    if script := _fixed_text(grant.args.get("script")):
        yield from uses_of(SimpleCommand(("python3", script)))


def _fixed_text(argument: Any) -> str:
    """The text that a grant fixes for an argument; nothing where it leaves it open."""
    value = argument.value if isinstance(argument, Literal) else ""
    return value if isinstance(value, str) else ""
