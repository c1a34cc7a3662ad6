"""Fuzz target: whatever stands in a plan, its card is plain lines that nobody else wrote."""

import json
import unicodedata
from functools import cache
from typing import Any

from silas.canonical import read_json
from silas.channels import render_card
from silas.plans import plan_bytes, plan_card
from silas.testing.builders import a_plan

_EDGE = b"\xff"  # stands between the parts of an input
SEEDS = (
    b"\x00T\xffDo it.\xffn\xfftrue\xffp\xffwhy\xff"
    b'{"tool": "send", "args": {"to": ["a@b.example"], "body": {"slot": "text", "from": "any"}}}',
    b"\x01T\xffb\xffn\xff\xff\xff\xffwords that a grant fixes",
)
_WIDTHS = (40, 60, 80, 88)


@cache
def _labels() -> tuple[str, ...]:
    card = plan_card(plan_bytes(a_plan()), rationale="x")
    return tuple(f"  {n}  {action.label}" for n, action in enumerate(card.actions, 1))


def run(data: bytes) -> None:
    """Show a plan whose title, briefing, check, path, reason and grants are parts of `data`.

    Raises:
        AssertionError: A line drives the terminal, hides something, is wider than the terminal, or
            stands where only the card's own lines stand.
    """
    width = _WIDTHS[data[0] % len(_WIDTHS)] if data else 88
    parts = [part.decode("utf-8", errors="replace") for part in data[1:].split(_EDGE, 6)]
    title, body, name, run_, path, why, grants = [*parts, *[""] * 7][:7]
    check = {"name": name or "n", "run": run_ or "true", "expect": {"equals": body}}
    touched: dict[str, Any] = {"read": [f"/{path}"], "skills": [name], "tools": _tools(grants)}
    item = a_plan(title=title or "t", body=body, verify=[check], **touched)
    lines = render_card(plan_card(plan_bytes(item), rationale=why), width).split("\n")
    assert [line for line in lines if line[:3] in ("  1", "  2", "  3")] == list(_labels())
    assert lines.count("=" * width) == 2
    for label in ("Intent: ", "Risk: ", "Effect: ", "Why: ", "What it does:", "Hash:"):
        assert sum(line.startswith(label) for line in lines) == 1, label
    for line in lines:
        assert line.isprintable(), line
        assert sum(map(_columns, line)) <= width, line


def _tools(text: str) -> list[dict[str, Any]]:
    """Grants made of a text: the one that it is, or those that fix it and look for it."""
    if not text:
        return []
    try:
        raw = read_json(text)
        json.dumps(raw, ensure_ascii=False).encode()  # no plan has half a character
    except ValueError:
        raw = None
    if isinstance(raw, dict):
        return [raw]
    return [
        {"tool": "t", "args": {"a": text, "b": [f"{text} x"]}},
        {"tool": "t", "args": {"a": {"pattern": text}, text: 1}},
        {"tool": text},
    ]


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
