"""Where the plan is in a text: out of code fences, front matter apart from the body.

Positions always refer to the text as it was given, so that an error can be found by who wrote it.
"""

import re
from typing import NamedTuple

from silas.plans.characters import first_hidden, name_of
from silas.plans.errors import PlanError

MAX_PLAN_BYTES = 256 * 1024
"""A briefing that is longer is not read by anybody before it is approved."""

MAX_FRONT_MATTER_CHARS = 64 * 1024
"""Enough for hundreds of checks; bounds the time the YAML reader takes."""

# Possessive, and blanks left to the info: a line that is no fence is known for it in one pass.
_NO_TEXT = re.compile(r"[\0\ud800-\udfff]")  # NUL, and half characters, which have no UTF-8
_FENCE = re.compile(r"^(?P<indent>[ ]*+)(?P<marks>`{3,}+|~{3,}+)(?P<info>[^`]*+)$")


class Line(NamedTuple):
    """One line of a plan, and where it was: its number and how many characters were cut off."""

    text: str
    number: int
    cut: int


class Envelope(NamedTuple):
    """A plan in two parts. `opening` and `closing` are the line numbers of the two `---`."""

    front: tuple[Line, ...]
    body: str
    opening: int
    closing: int
    closing_column: int

    def position(self, line: int, column: int) -> tuple[int, int]:
        """The original place of a place in the front matter, both counted from 0; 1-based."""
        if line < len(self.front):
            found = self.front[line]
            return found.number, found.cut + column + 1
        return self.closing, self.closing_column


def open_envelope(text: str) -> Envelope:
    """Find the plan in a text.

    A text that starts with `---` is a plan. Otherwise the plan is the one code fence whose content
    starts with `---`; prose around it is dropped.

    Raises:
        PlanError: There is no plan, more than one, its fence is open or ambiguous, its front
            matter is missing, or the text has characters that no plan needs.
    """
    lines = _lines(text)
    plan = lines if _starts_plan(lines) else _unwrap(lines)
    start = next(i for i, line in enumerate(plan) if line.text.strip())
    end = next((i for i in range(start + 1, len(plan)) if _is_marker(plan[i])), None)
    if end is None:
        raise PlanError(
            plan[start].number,
            plan[start].cut + 1,
            "the front matter is not closed; end it with a line that is only ---",
            code="E_PLAN_FRONT_MATTER",
        )
    front = tuple(plan[start + 1 : end])
    _screen(front)
    body = "\n".join(line.text for line in plan[end + 1 :])
    return Envelope(
        front, _trim_body(body), plan[start].number, plan[end].number, plan[end].cut + 1
    )


def _lines(text: str) -> list[Line]:
    if len(text) > MAX_PLAN_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_PLAN_BYTES:
        raise PlanError(
            1, 1, f"a plan has at most {MAX_PLAN_BYTES // 1024} KB; shorten it", code="E_PLAN_TEXT"
        )
    shift = 1 if text.startswith("\ufeff") else 0
    lines = [
        Line(line.removesuffix("\r"), number, shift if number == 1 else 0)
        for number, line in enumerate(text[shift:].split("\n"), start=1)
    ]
    for line in lines:
        if bad := _NO_TEXT.search(line.text):
            raise PlanError(
                line.number,
                line.cut + bad.start() + 1,
                f"{name_of(bad[0])} is not text; remove it",
                code="E_PLAN_TEXT",
            )
    return lines


def _is_marker(line: Line) -> bool:
    return line.text.rstrip() == "---"


def _starts_plan(lines: list[Line]) -> bool:
    first = next((line for line in lines if line.text.strip()), None)
    return first is not None and _is_marker(first)


def _unwrap(lines: list[Line]) -> list[Line]:
    """The content of the one fence that holds a plan; its indentation is cut."""
    opening = _opening(lines)
    fence = _fence(lines[opening])
    assert fence is not None
    closing = _closing(lines, opening, fence)
    indent = len(fence["indent"])
    content = [_dedent(line, indent) for line in lines[opening + 1 : closing]]
    rest = next((line for line in lines[closing + 1 :] if _fence(line)), None)
    if rest is not None:
        raise PlanError(
            rest.number,
            1,
            "after the plan's code fence comes another one, so its end is not certain; "
            "give the plan a fence of four backticks",
            code="E_PLAN_FENCE",
        )
    return content


def _opening(lines: list[Line]) -> int:
    """The line of the first fence whose content starts a plan; other fences are stepped over."""
    index = 0
    while index < len(lines):
        fence = _fence(lines[index])
        if fence is not None:
            first = next(
                (one for i in range(index + 1, len(lines)) if (one := lines[i]).text.strip()), None
            )
            if first is not None and _is_marker(_dedent(first, len(fence["indent"]))):
                return index
            index = _closing(lines, index, fence)
        index += 1
    raise PlanError(
        1,
        1,
        "there is no front matter; a plan starts with a line that is only ---",
        code="E_PLAN_FRONT_MATTER",
    )


def _closing(lines: list[Line], opening: int, outer: re.Match[str]) -> int:
    """The line that ends the outer fence; fences with a language inside are stepped over."""
    inner = ""
    for index in range(opening + 1, len(lines)):
        fence = _fence(lines[index])
        if fence is None:
            continue
        marks, info = fence["marks"], fence["info"].strip()
        if inner:
            inner = "" if _closes(marks, info, inner) else inner
        elif _closes(marks, info, outer["marks"]):
            return index
        else:
            inner = marks
    raise PlanError(
        lines[opening].number,
        lines[opening].cut + len(outer["indent"]) + 1,
        "the code fence is never closed, so the plan may be cut off; close it",
        code="E_PLAN_FENCE",
    )


def _closes(marks: str, info: str, opened: str) -> bool:
    return not info and marks[0] == opened[0] and len(marks) >= len(opened)


def _fence(line: Line) -> re.Match[str] | None:
    return _FENCE.match(line.text.rstrip())


def _dedent(line: Line, indent: int) -> Line:
    blank = len(line.text) - len(line.text.lstrip(" "))
    cut = min(indent, blank)
    return Line(line.text[cut:], line.number, line.cut + cut)


def _screen(front: tuple[Line, ...]) -> None:
    if sum(len(line.text) + 1 for line in front) > MAX_FRONT_MATTER_CHARS:
        raise PlanError(
            front[0].number,
            front[0].cut + 1,
            f"the front matter has at most {MAX_FRONT_MATTER_CHARS // 1024} KB; "
            "put prose into the body",
            code="E_PLAN_TEXT",
        )
    for line in front:
        bad = first_hidden(line.text, allowed="\t")
        if bad >= 0:
            raise PlanError(
                line.number,
                line.cut + bad + 1,
                f"{name_of(line.text[bad])} is invisible or a control character; remove it",
                code="E_PLAN_TEXT",
            )


def _trim_body(body: str) -> str:
    """Without blank lines before and blanks after: an editor's habits are not part of a plan."""
    lines = body.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    return "\n".join(lines[first:]).rstrip()
