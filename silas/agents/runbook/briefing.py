"""Reading a briefing as a runbook: its fenced `sh` and `python` blocks, in order, strictly."""

import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

# What the runtime appends to an approved briefing. It may quote output of tools and checks, so
# nothing after it is ever followed, whatever it looks like.
_APPENDED = re.compile(r"^#{1,6} (Previous attempt \d+ failed|Planner guidance)\s*$")
_OPEN = re.compile(r"^[ \t]*+(?P<fence>`{3,}+|~{3,}+)(?P<info>[^`]*+)$")
# Characters that mean something to a shell outside of quotes; inside double quotes only two do.
_SHELL = frozenset("|&;<>()$`*?[]~")
_SHELL_QUOTED = frozenset("$`")
_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


class BriefingStep(NamedTuple):
    """One tool call the briefing asks for.

    Attributes:
        tool: `shell_exec` or `python_exec`.
        args: The tool's arguments.
        shown: The line or first line it came from, for the report.
    """

    tool: str
    args: dict[str, Any]
    shown: str


class BriefingError(ValueError):
    """A block cannot be followed literally; one sentence with its line."""


def steps_of(briefing: str) -> tuple[BriefingStep, ...]:
    """The steps a briefing asks for.

    Every line of an `sh` block is one call; comments and blank lines are passed over, a backslash
    at the end joins lines, and a line that needs a shell is given to `/bin/sh -c`. A `python`
    block is one call. Other blocks and all prose are not followed.

    Raises:
        BriefingError: A block never ends, or a line cannot be split into arguments.
    """
    steps: list[BriefingStep] = []
    for language, start, body in _blocks(briefing):
        if language == "sh":
            steps += [_shell_step(line, number) for number, line in _commands(body, start)]
        elif language == "python" and "".join(body).strip():
            steps.append(BriefingStep("python_exec", {"code": "\n".join(body)}, _first(body)))
    return tuple(steps)


def _blocks(briefing: str) -> list[tuple[str, int, list[str]]]:
    found: list[tuple[str, int, list[str]]] = []
    fence, indent, language, start = "", 0, "", 0
    body: list[str] = []
    for number, line in enumerate(briefing.splitlines(), 1):
        if _APPENDED.match(line):
            break
        if not fence:
            if opened := _OPEN.match(line):
                fence, language, start = opened["fence"], opened["info"].strip().lower(), number
                indent, body = len(line) - len(line.lstrip()), []
        elif _closes(line, fence):
            found.append((language, start, body))
            fence = ""
        else:
            body.append(_dedent(line, indent))
    if fence:
        raise BriefingError(f"The block that begins in line {start} of the briefing never ends.")
    return found


def _closes(line: str, fence: str) -> bool:
    mark = line.strip()
    return len(mark) >= len(fence) and set(mark) == {fence[0]}


def _dedent(line: str, indent: int) -> str:
    head = line[:indent]
    return line[indent:] if not head.strip() else line


def _commands(body: list[str], start: int) -> list[tuple[int, str]]:
    commands: list[tuple[int, str]] = []
    joined, first = "", 0
    for number, line in enumerate(body, start + 1):
        text = line.strip()
        if not joined and (not text or text.startswith("#")):
            continue
        first = first if joined else number
        if text.endswith("\\") and not text.endswith("\\\\"):
            joined += text[:-1] + " "
            continue
        commands.append((first, (joined + text).strip()))
        joined = ""
    if joined:
        raise BriefingError(f"Line {first} of the briefing ends in a backslash with nothing after.")
    return commands


def _shell_step(line: str, number: int) -> BriefingStep:
    if "\0" in line:
        raise BriefingError(f"Line {number} of the briefing contains a null character.")
    line = _without_comment(line)
    try:
        argv = shlex.split(line)
    except ValueError as error:
        raise BriefingError(
            f"Line {number} of the briefing is not one whole command: {error}."
        ) from error
    if not argv or needs_shell(line):
        argv = ["/bin/sh", "-c", line]
    return BriefingStep("shell_exec", {"argv": argv}, line)


def needs_shell(line: str) -> bool:
    """Whether a line means something else to a shell than to `execve`."""
    if _ASSIGNMENT.match(line):
        return True
    return any(
        char in (_SHELL_QUOTED if quote else _SHELL) for _, char, quote in _significant(line)
    )


def _without_comment(line: str) -> str:
    for index, char, quote in _significant(line):
        if char == "#" and not quote and (index == 0 or line[index - 1].isspace()):
            return line[:index].rstrip()
    return line


def _significant(line: str) -> Iterator[tuple[int, str, str]]:
    """Characters that are neither escaped nor inside single quotes, with the quote around them."""
    quote, escaped = "", False
    for index, char in enumerate(line):
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif quote and char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif quote != "'":
            yield index, char, quote


def _first(body: list[str]) -> str:
    return next((line.strip() for line in body if line.strip()), "")
